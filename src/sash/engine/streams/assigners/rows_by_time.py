"""The last so many rows of a key, at steps of time: the last 1,000 rows, every minute.

Such windows end where those of one step's length do, and only behind steps that brought rows of the key: where nothing
came, nothing has changed. Where one begins, rows say. So rows are buffered, the last ones of each key for good.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from sash.engine.streams.assigners.base import LEAST, MOST, Positions, SortedStore
from sash.engine.streams.assigners.by_time import TimePositions
from sash.engine.streams.assigners.time import TimeAssigner
from sash.errors import SashError
from sash.kernels.slices.due import bounds_of
from sash.windows.extents import RowsByTimeExtent, TimeExtent
from sash.windows.intervals import Interval


class RowsByTimePositions(TimePositions):
    """Positions are times; of such windows alone, as others keep slices."""

    kind: ClassVar[str] = "rows by time"

    @property
    def grids(self) -> None:
        """None: rows, not times, say where windows begin."""


class RowsByTimeAssigner(TimeAssigner):
    """Windows of one number of rows."""

    kind: ClassVar[str] = "rows by time"
    positions: ClassVar[type[Positions]] = RowsByTimePositions
    holds_spans: ClassVar[bool] = False
    folds: ClassVar[bool] = False
    known_ends: ClassVar[bool] = False
    extent: RowsByTimeExtent  # type: ignore[assignment]

    @classmethod
    def takes(cls, extent: Any) -> bool:
        """Numbers of rows with steps of time."""
        return isinstance(extent, RowsByTimeExtent)

    def check_lateness(self) -> None:
        """Refuse it: a late row would change all windows that follow."""
        raise SashError(f"lateness needs windows that a late row leaves after a while, got {self.extent}")

    @cached_property
    def grid(self) -> Any:
        """The steps."""
        self.stream.ticks("slide", self.extent.slide)  # which is of a fixed length
        return TimeAssigner(TimeExtent(self.extent.slide, self.extent.slide), self.stream).grid

    @property
    def cuts(self) -> tuple[Any, ...]:
        """Rows are buffered."""
        return ()

    @property
    def lengths(self) -> tuple[Interval, ...]:
        """The step."""
        return (self.extent.slide,)

    def between(self, after: int, upto: int, most: int) -> None:
        """Only rows say where windows begin."""
        return

    def bounds(
        self, store: Any, keys: np.ndarray, starts: np.ndarray, ends: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Where the rows of each window begin and end."""
        first, hi = bounds_of(store.key, store.at, keys, np.full(len(keys), LEAST), ends)
        return np.maximum(first, hi - self.extent.rows), hi

    def starts(self, keys: np.ndarray, ends: np.ndarray, store: SortedStore) -> np.ndarray:
        """The times of first rows."""
        return store.at[self.bounds(store, keys, ends, ends)[0]]

    def last_ends(self, at: np.ndarray) -> np.ndarray:
        """Only rows to come decide."""
        return np.full(len(at), MOST)

    def needed(self, store: SortedStore, passed: int) -> np.ndarray:
        """The last rows of each key before a time, and all from then on."""
        if not len(store.key):
            return np.zeros(0, np.bool_)
        heads = np.flatnonzero(np.append(True, store.key[1:] != store.key[:-1]))
        sizes = np.diff(np.append(heads, len(store.key)))
        before = np.add.reduceat(store.at < passed, heads, dtype=np.int64)
        place = np.arange(len(store.key)) - np.repeat(heads, sizes)
        return place >= np.repeat(before, sizes) - self.extent.rows

    def opens(self, passed: int) -> int:
        """Anywhere."""
        return LEAST
