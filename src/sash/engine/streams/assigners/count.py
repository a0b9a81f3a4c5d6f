"""Windows by count: the last so many rows of a key, which end when their last row has come."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from sash.engine.streams.assigners.base import (
    MOST,
    NONE,
    Assigner,
    Ending,
    Numbered,
    Positions,
    SortedStore,
    longer,
    refuse_beyond,
)
from sash.engine.streams.assigners.time import ending_between
from sash.engine.streams.restoring import counts_of, refused
from sash.kernels.slices import row_positions
from sash.kernels.slices.due import count_windows_by_key, windows_of
from sash.windows.extents import CountExtent
from sash.windows.grids import Grid


class CountPositions(Positions):
    """Positions are the numbers of rows in their key."""

    kind: ClassVar[str] = "count"
    assigners: tuple[CountAssigner, ...]

    def __init__(self, assigners: Sequence[Any]) -> None:
        super().__init__(assigners)
        self.reached, self.answered = NONE, NONE  # rows of each key, and up to which windows have been answered
        self._came: list[np.ndarray] = []  # keys of which rows came since windows were answered
        self._passed = NONE  # those of which windows were answered last

    def number(self, codes: np.ndarray, keys: int, table: pa.Table, time: np.ndarray | None) -> Numbered:
        """The number of each row in its key."""
        self.reached, self.answered = (longer(array, keys) for array in (self.reached, self.answered))
        out = np.empty(len(codes), np.int64)
        row_positions.count_rows(codes, self.reached, out)
        self._came.append(codes)
        return Numbered(out)

    @property
    def _moved(self) -> np.ndarray:
        """Keys of which rows came since windows were answered."""
        if len(self._came) != 1 or len(self._came[0]) > 1:
            self._came = [np.unique(np.concatenate([NONE, *self._came]))]
        return self._came[0]

    def ending(self, spec: int, upto: int, most: int) -> Ending | None:
        """The windows whose last row has come since windows were answered."""
        grid, keys = self.assigners[spec].grid, self._moved
        if upto == MOST:
            return None
        first, last = grid.ending(self.answered[keys], self.reached[keys])
        counts = np.maximum(last - first + 1, 0)
        if (count := int(counts.sum())) > most:
            return None
        windows = np.arange(count) + np.repeat(first - (np.cumsum(counts) - counts), counts)
        return Ending(np.repeat(keys, counts), np.maximum(grid.starts(windows), 0), grid.ends(windows))

    def cuts(self) -> tuple[np.ndarray, np.ndarray]:
        """Where the first window begins that waits for a row, of the keys of which windows were answered last."""
        keys = self._passed
        reached = self.reached[keys]
        starts = [grid.starts(grid.ending(reached, reached)[0]) for grid in (each.grid for each in self.assigners)]
        return keys, np.minimum.reduce(starts)

    def ended(self, spec: int, store: SortedStore, upto: int) -> tuple[np.ndarray, np.ndarray]:
        """Keys and ends of windows whose last row has come; with ``upto`` beyond all, those that are open, too."""
        windows = windows_of(store.key, *self._ending(spec, store, upto))
        return windows.key, self.assigners[spec].grid.ends(windows.number)

    def counts(self, spec: int, store: SortedStore, upto: int, out: np.ndarray) -> None:
        """Add how many windows of each key have ended."""
        count_windows_by_key(store.key, *self._ending(spec, store, upto), out)

    def _ending(self, spec: int, store: SortedStore, upto: int) -> tuple[np.ndarray, np.ndarray]:
        reached = self.reached[store.key] if upto < MOST else MOST
        return ending_between(self.assigners[spec].grid, store.at, self.answered[store.key], reached)

    def ends_at(self, spec: int, ends: np.ndarray) -> np.ndarray:
        """Whether a window ends at some positions."""
        return self.assigners[spec].grid.ends_at(ends)

    def starts(self, spec: int, keys: np.ndarray, ends: np.ndarray, store: Any) -> np.ndarray:
        """Where windows begin: the first ones at the first row."""
        return np.maximum(self.assigners[spec].grid.starts_of(ends), 0)

    def passes(self, upto: int) -> None:
        """All windows whose last row has come were answered."""
        keys = self._passed = self._moved
        self._came = []
        self.answered[keys] = self.reached[keys]

    def needed(self, store: Any) -> np.ndarray:
        """Which rows or cells a window may still hold."""
        last = [grid.ends(grid.holding(store.at)[1]) for grid in (each.grid for each in self.assigners)]
        return np.maximum.reduce(last) > self.reached[store.key]

    def reached_by(self, keys: np.ndarray) -> np.ndarray:
        """How many rows have come."""
        return self.reached[keys]

    def parts(self) -> dict[str, Any]:
        """All that must be kept to go on later."""
        return {"reached": self.reached, "answered": self.answered}

    def restore(self, parts: dict[str, Any], keys: int) -> None:
        """Go on with what was kept of so many keys."""
        self.reached, self.answered = counts_of(parts, "reached", keys), counts_of(parts, "answered", keys)
        if len(self.answered) != len(self.reached) or (self.answered > self.reached).any():
            raise refused("answered", "positions that were reached", "others")
        self._came = [np.flatnonzero(self.answered < self.reached)]

    def refuse_unknown(self, store: SortedStore) -> None:
        """Refuse positions beyond the number of rows of their keys."""
        refuse_beyond(store, self.reached, 0)


class CountAssigner(Assigner):
    """Windows on a grid of numbers of rows, of which the first ends after a slide."""

    kind: ClassVar[str] = "count"
    positions: ClassVar[type[Positions]] = CountPositions
    extent: CountExtent

    @classmethod
    def takes(cls, extent: Any) -> bool:
        """Numbers of rows."""
        return isinstance(extent, CountExtent)

    @cached_property
    def grid(self) -> Grid:
        """The windows as a grid."""
        return Grid(self.extent.range, self.extent.slide, -self.extent.range % self.extent.slide)

    @property
    def end_type(self) -> pa.DataType:
        """Ends are numbers of rows."""
        return pa.int64()
