"""Windows by punctuation: the rows of a key up to and with the next that ends a window."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from sash.engine.streams.assigners.base import NONE, Assigner, Numbered, Positions, SortedStore, longer, refuse_beyond
from sash.engine.streams.assigners.listed import ListedPositions
from sash.engine.streams.restoring import counts_of
from sash.errors import SashError, column_named
from sash.expressions.binding import check_names
from sash.expressions.evaluation import infer, predicate
from sash.kernels.slices import row_positions
from sash.windows.extents import PunctuationExtent
from sash.windows.grids import Grid


class PunctuationPositions(ListedPositions):
    """Positions are how many punctuations of its key came before a row."""

    kind: ClassVar[str] = "punctuation"
    assigners: tuple[PunctuationAssigner, ...]

    def __init__(self, assigners: Sequence[Any]) -> None:
        super().__init__(assigners)
        self.condition = self.assigners[0].extent.condition
        self.reached, self.rows = NONE, NONE

    def number(self, codes: np.ndarray, keys: int, table: pa.Table, time: np.ndarray | None) -> Numbered:
        """The position of each row; windows that end here are listed, shown by time or by their key's rows."""
        self.reached, self.rows = (longer(array, keys) for array in (self.reached, self.rows))
        ends = predicate(self.condition, table).view(np.uint8)
        out, rows = np.empty(len(codes), np.int64), np.empty(len(codes), np.int64)
        row_positions.count_punctuations(codes, ends, self.reached, out)
        row_positions.count_rows(codes, self.rows, rows)
        where = np.flatnonzero(ends)
        if len(where):
            for listed in self.listed:
                listed.append((codes[where], out[where] + 1))
            self.said.append((codes[where], out[where] + 1, rows[where] + 1 if time is None else time[where]))
        return Numbered(out)

    def starts(self, spec: int, keys: np.ndarray, ends: np.ndarray, store: Any) -> np.ndarray:
        """Where windows begin."""
        return ends - 1

    def needed(self, store: Any) -> np.ndarray:
        """Which rows or cells a window may still hold."""
        return store.at >= self.reached[store.key]

    def reached_by(self, keys: np.ndarray) -> np.ndarray:
        """How many punctuations have come."""
        return self.reached[keys]

    def parts(self) -> dict[str, Any]:
        """All that must be kept to go on later."""
        return {"reached": self.reached, "rows": self.rows}

    def restore(self, parts: dict[str, Any], keys: int) -> None:
        """Go on with what was kept of so many keys."""
        self.reached, self.rows = counts_of(parts, "reached", keys), counts_of(parts, "rows", keys)

    def refuse_unknown(self, store: SortedStore) -> None:
        """Refuse positions beyond the punctuations of their keys."""
        refuse_beyond(store, self.reached, 1)


class PunctuationAssigner(Assigner):
    """Windows that tumble, each with the row that ends it."""

    kind: ClassVar[str] = "punctuation"
    positions: ClassVar[type[Positions]] = PunctuationPositions
    known_ends: ClassVar[bool] = False
    known_starts: ClassVar[bool] = False
    extent: PunctuationExtent

    @classmethod
    def takes(cls, extent: Any) -> bool:
        """Conditions that end a window."""
        return isinstance(extent, PunctuationExtent)

    def check(self) -> None:
        """Refuse what is no condition."""
        super().check()
        with column_named("range"):
            condition, schema = self.extent.condition, self.stream.schema
            check_names(condition, schema.names)
            dtype = infer(condition, schema)
            if not pa.types.is_boolean(dtype) and not pa.types.is_null(dtype):
                raise SashError(f"punctuation takes a condition, got {condition} of type {dtype}")

    def check_beside(self, first: Assigner) -> None:
        """Refuse a second condition."""
        mine, theirs = self.extent.condition, first.extent.condition
        if mine.key != theirs.key:
            raise SashError(f"the queries of a stream must have one punctuation, got {theirs} and {mine}; "
                            "use two streams")  # fmt: skip

    @property
    def cuts(self) -> tuple[Grid, ...]:
        """A slice for each window."""
        return (Grid(1, 1),)

    @property
    def columns(self) -> tuple[Any, ...]:
        """The condition."""
        return (self.extent.condition,)

    @property
    def end_type(self) -> pa.DataType:
        """Ends are times, or numbers of rows."""
        return pa.int64() if self.stream.settings.time is None else self.stream.time_type

    @property
    def words(self) -> list[str]:
        """Slices are windows."""
        return ["slices: one for each window, ended by its punctuation"]
