"""Windows by delta: at a row, the rows of its key of which a column is not far behind."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from sash.engine.limbs import words
from sash.engine.streams.assigners.base import MOST, NONE, Assigner, Numbered, Positions, longer, refuse_beyond
from sash.engine.streams.assigners.listed import ListedPositions
from sash.engine.streams.restoring import array_of, counts_of, flags_of, refuse_longer, refused
from sash.engine.tables import one_array
from sash.errors import SashError, column_named
from sash.expressions.binding import check_names
from sash.expressions.evaluation import evaluate, infer
from sash.kernels.slices import row_positions
from sash.windows.extents import DeltaExtent


class DeltaPositions(ListedPositions):
    """Positions are the numbers of rows in their key, whose column must not go back."""

    kind: ClassVar[str] = "delta"
    assigners: tuple[DeltaAssigner, ...]

    def __init__(self, assigners: Sequence[Any]) -> None:
        super().__init__(assigners)
        self.extents = [each.distance for each in self.assigners]
        self.column, self.type = self.extents[0].column, self.assigners[0].end_type
        self.dtype = np.dtype(np.float64 if pa.types.is_floating(self.type) else np.int64)
        self.reached, self.last = NONE, np.zeros(0, self.dtype)
        self.started = np.zeros(0, np.uint8)
        self.last_ends_at = [np.zeros(0, self.dtype) for _ in self.extents]
        self.moved = [np.zeros(0, np.uint8) for _ in self.extents]

    def _size(self, size: float, rounded: Callable[[Decimal], Any]) -> np.ndarray:
        """A distance as the column has them: whole numbers are rounded to what they compare to in the same way."""
        if self.dtype.kind == "f":
            return np.array([size], self.dtype)
        scale = self.type.scale if pa.types.is_decimal(self.type) else 0
        return np.array([min(int(rounded(Decimal(repr(size)).scaleb(scale))), MOST)], self.dtype)

    def values(self, table: pa.Table) -> tuple[np.ndarray, np.ndarray]:
        """The column as numbers, and which of them are known; of decimals and unsigned ones, what is as far apart."""
        array = one_array(evaluate(self.column, table))
        known = array.is_valid().to_numpy(zero_copy_only=False)
        if pa.types.is_decimal(self.type):
            return np.ascontiguousarray(words(array, "range by delta")[0]), known
        values = array.fill_null(0).to_numpy(zero_copy_only=False)
        if self.type == pa.uint64():
            return (values ^ np.uint64(1 << 63)).view(np.int64), known
        values = np.ascontiguousarray(values, self.dtype)
        return values, known & np.isfinite(values)

    def shown(self, keys: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """The column's values at the rows that end windows, as it has them."""
        values = super().shown(keys, ends)
        return (values.view(np.uint64) ^ np.uint64(1 << 63)) if self.type == pa.uint64() and len(values) else values

    def number(self, codes: np.ndarray, keys: int, table: pa.Table, time: np.ndarray | None) -> Numbered:
        """The number of each row that counts, and which these are: those that do not go back."""
        self.reached = longer(self.reached, keys)
        self.last, self.started = longer(self.last, keys), longer(self.started, keys)
        values, known = self.values(table)
        good = np.empty(len(codes), np.uint8)
        row_positions.grows(codes, values, known.view(np.uint8), self.last, self.started, good)
        counts = None if good.all() else np.flatnonzero(good)
        if counts is not None:
            codes, values = codes[counts], values[counts]
        out = np.empty(len(codes), np.int64)
        row_positions.count_rows(codes, self.reached, out)
        ends = np.zeros(len(codes), np.bool_)
        for spec, extent in enumerate(self.extents):
            due = self._due(spec, extent, keys, codes, values, out)
            where = np.flatnonzero(due)
            self.listed[spec].append((codes[where], out[where] + 1))
            ends |= due
        where = np.flatnonzero(ends)
        self.said.append((codes[where], out[where] + 1, values[where]))
        return Numbered(out, counts, f"{self.column} is NULL, not a number, or goes back")

    def _due(
        self, spec: int, extent: DeltaExtent, keys: int, codes: np.ndarray, values: np.ndarray, number: np.ndarray
    ) -> np.ndarray:
        """At which rows a window ends."""
        if extent.slide is None:
            return (number + 1) % extent.rows == 0
        self.last_ends_at[spec], self.moved[spec] = (
            longer(self.last_ends_at[spec], keys),
            longer(self.moved[spec], keys),
        )
        due = np.empty(len(codes), np.uint8)
        row_positions.moved(
            codes, values, self._size(extent.slide, math.ceil), self.last_ends_at[spec], self.moved[spec], due
        )
        return due != 0

    def starts(self, spec: int, keys: np.ndarray, ends: np.ndarray, store: Any) -> np.ndarray:
        """Where windows begin: at the first row that is not too far behind the one that ends it."""
        if not len(keys):
            return NONE
        values, _ = self.values(store.table)
        first = np.searchsorted(store.key, keys)  # where each key's rows begin
        place = first + (ends - 1 - store.at[first])  # numbers of a key follow each other
        starts = np.empty(len(keys), np.int64)
        reach = self._size(self.extents[spec].range, math.floor)
        row_positions.near(store.key, store.at, values, keys, values[place], reach, starts)
        return starts

    def needed(self, store: Any) -> np.ndarray:
        """Which rows a window may still hold."""
        values, _ = self.values(store.table)
        reach = self._size(max(extent.range for extent in self.extents), math.floor)
        with np.errstate(over="ignore"):
            apart = self.last[store.key] - values
        return (apart >= 0) & (apart <= reach[0])  # what overflows is far apart

    def parts(self) -> dict[str, Any]:
        """All that must be kept to go on later."""
        parts: dict[str, Any] = {"reached": self.reached, "last": self.last, "started": self.started}
        for spec, (last_ends, moved) in enumerate(zip(self.last_ends_at, self.moved, strict=True)):
            parts |= {f"told {spec}": last_ends, f"moved {spec}": moved}
        return parts

    def restore(self, parts: dict[str, Any], keys: int) -> None:
        """Go on with what was kept of so many keys."""
        self.reached = counts_of(parts, "reached", keys)
        self.last, self.started = array_of(parts, "last", self.dtype), flags_of(parts, "started", None)
        self.last_ends_at = [array_of(parts, f"told {spec}", self.dtype) for spec in range(len(self.extents))]
        self.moved = [flags_of(parts, f"moved {spec}", None) for spec in range(len(self.extents))]
        arrays: list[np.ndarray] = [self.last, self.started, *self.last_ends_at, *self.moved]
        for array in arrays:
            refuse_longer(array, "what keys have come to", keys)

    def refuse_rows(self, store: Any) -> None:
        """Refuse rows that do not follow each other, or go back, or of which the last is not where their key is."""
        refuse_beyond(store, self.reached[: len(self.last)], 0)
        key, at = store.key, store.at
        values, known = self.values(store.table)
        ends = np.append(key[1:] != key[:-1], True)[: len(key)]
        follow = ends[:-1] | ((at[1:] == at[:-1] + 1) & (values[1:] >= values[:-1]))
        last = key[ends]
        latest = (at[ends] + 1 == self.reached[last]) & (values[ends] == self.last[last])
        if not (known.all() and follow.all() and latest.all()):
            raise refused("held rows", "rows that follow each other", "others")


class DeltaAssigner(Assigner):
    """Windows that rows end; they overlap as the column says, so that rows are buffered."""

    kind: ClassVar[str] = "delta"
    positions: ClassVar[type[Positions]] = DeltaPositions
    folds: ClassVar[bool] = False
    known_ends: ClassVar[bool] = False
    known_starts: ClassVar[bool] = False
    whole_rows: ClassVar[bool] = True
    extent: DeltaExtent

    @classmethod
    def takes(cls, extent: Any) -> bool:
        """Distances in a column."""
        return isinstance(extent, DeltaExtent)

    def check(self) -> None:
        """Refuse a column that has no distances."""
        super().check()
        self.check_column()

    def check_column(self) -> None:
        """Refuse a column without distances."""
        with column_named("range"):
            column, dtype = self.extent.column, self.end_type
            if not (pa.types.is_integer(dtype) or pa.types.is_floating(dtype) or pa.types.is_decimal(dtype)):
                raise SashError(f"range by delta takes a column of numbers, got {column} of type {dtype}")
            if pa.types.is_decimal(dtype) and dtype.precision > 18:
                raise SashError(f"range by delta takes decimals of at most 18 digits, got {column} of type {dtype}")
            check_names(column, self.stream.schema.names)

    def check_beside(self, first: Assigner) -> None:
        """Refuse a second column."""
        mine, theirs = self.distance.column, first.distance.column  # type: ignore[attr-defined]
        if mine.key != theirs.key:
            raise SashError(f"the queries of a stream must have one delta, got {theirs} and {mine}; use two streams")

    @property
    def columns(self) -> tuple[Any, ...]:
        """The column of distances."""
        return (self.distance.column,)

    @property
    def distance(self) -> DeltaExtent:
        """How far rows of a window are apart, and at which rows one ends."""
        return self.extent

    @property
    def end_type(self) -> pa.DataType:
        """Ends are values of the column."""
        return infer(self.extent.column, self.stream.schema)
