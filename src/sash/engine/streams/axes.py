"""Axes: the position of each row on which windows are cut, by time, count, punctuation or delta.

An axis of time or count has windows on a grid. The other two list their windows as the rows come that end them.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from decimal import Decimal
from functools import reduce
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.limbs import words
from sash.engine.streams.restoring import array_of, counts_of, flags_of, refuse_longer, refused, whole_of
from sash.engine.tables import one_array
from sash.expressions.columns import Expression
from sash.expressions.evaluation import evaluate, predicate
from sash.kernels.slices import numbering
from sash.kernels.slices.due import count_windows_by_key, windows_of
from sash.kernels.sorting import argsort
from sash.windows.extents import DeltaExtent
from sash.windows.grids import CalendarGrid, Grid

LEAST, MOST = -(2**63), 2**63 - 1
NONE = np.zeros(0, np.int64)


class Axis(ABC):
    """What all axes have: windows by extent, each known by its key and its end."""

    @abstractmethod
    def number(
        self, codes: np.ndarray, keys: int, table: pa.Table, time: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """The position of each row that counts, and which rows these are; None for all."""

    @abstractmethod
    def ended(self, spec: int, key: np.ndarray, at: np.ndarray, upto: int) -> tuple[np.ndarray, np.ndarray]:
        """Keys and ends of windows that hold a row and have ended, sorted; ``upto`` is where the watermark is."""

    @abstractmethod
    def counts(self, spec: int, key: np.ndarray, at: np.ndarray, upto: int, out: np.ndarray) -> None:
        """Add to a number for each key that there is, in order, how many such windows it has."""

    def ends_by(self, upto: int) -> bool:
        """Whether a window may have ended since the last were answered."""
        return True

    def ends_at(self, spec: int, key: np.ndarray, ends: np.ndarray) -> np.ndarray | None:
        """Whether a window ends at some positions, with rows or without; None where only those that ended do."""
        return None

    @abstractmethod
    def starts(self, spec: int, keys: np.ndarray, ends: np.ndarray, held: Any) -> np.ndarray:
        """Where windows begin."""

    def shown(self, keys: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """What a user sees as the ends of windows."""
        return ends

    @abstractmethod
    def passes(self, upto: int) -> None:
        """All windows that have ended by now were answered."""

    @abstractmethod
    def needed(self, key: np.ndarray, at: np.ndarray, held: Any) -> np.ndarray:
        """Which rows or cells a window may still hold."""

    def reached_by(self, keys: np.ndarray) -> np.ndarray:
        """The position up to which all windows of some keys have surely been answered."""
        return np.full(len(keys), LEAST)

    def of_keys(self, numbers: np.ndarray) -> dict[str, Any]:
        """The same as ``parts``, of some keys alone, which are numbered anew."""
        keyed = self.by_key()
        return {
            name: _longer(part, int(numbers.max(initial=-1)) + 1)[numbers] if name in keyed else part
            for name, part in self.parts().items()
        }

    def by_key(self) -> set[str]:
        """Which parts have a place for each key."""
        return set(self.parts())

    @abstractmethod
    def parts(self) -> dict[str, Any]:
        """All that must be kept to go on later."""

    @abstractmethod
    def restore(self, parts: dict[str, Any], keys: int) -> None:
        """Go on with what was kept of so many keys."""

    def refuse_unknown(self, key: np.ndarray, at: np.ndarray) -> None:
        """Refuse sorted cells or rows, as they were kept, at positions that their keys have not come to."""
        return

    def refuse_rows(self, key: np.ndarray, at: np.ndarray, rows: pa.Table) -> None:
        """The same of rows, where what these have says more."""
        self.refuse_unknown(key, at)


class TimeAxis(Axis):
    """Positions are ticks of event time, and windows end when the watermark passes."""

    def __init__(self, grids: Sequence[Grid | CalendarGrid]) -> None:
        self.grids = tuple(grids)
        self.passed = LEAST  # windows that end up to here have been answered

    def number(
        self, codes: np.ndarray, keys: int, table: pa.Table, time: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """The position of each row: its time."""
        assert time is not None
        return time, None

    def ended(self, spec: int, key: np.ndarray, at: np.ndarray, upto: int) -> tuple[np.ndarray, np.ndarray]:
        """Keys and ends of windows that hold a row and end after what has passed, up to the watermark."""
        first, last = self._range(spec, at, self.passed, upto)
        found = windows_of(key, first, last)
        return found.key, self.grids[spec].ends(found.number)

    def counts(self, spec: int, key: np.ndarray, at: np.ndarray, upto: int, out: np.ndarray) -> None:
        """Add how many windows of each key have ended."""
        count_windows_by_key(key, *self._range(spec, at, self.passed, upto), out)

    def ends_by(self, upto: int) -> bool:
        """Whether a window ends after what has passed, up to the watermark."""
        if self.passed == LEAST or upto == MOST:
            return True
        return any(first <= last for first, last in (grid.ending(self.passed, upto) for grid in self.grids))

    def _range(self, spec: int, at: np.ndarray, after: Any, upto: Any) -> tuple[np.ndarray, np.ndarray]:
        """The first and the last window that holds each position and ends after one and up to another."""
        grid = self.grids[spec]
        first, last = grid.holding(at)
        if np.ndim(after) or after > LEAST:
            first = np.maximum(first, grid.ending(after, after)[0])
        if np.ndim(upto) or upto < MOST:
            last = np.minimum(last, grid.ending(upto, upto)[1])
        return first, last

    def ends_at(self, spec: int, key: np.ndarray, ends: np.ndarray) -> np.ndarray | None:
        """Whether a window ends at some positions."""
        return self.grids[spec].ends_at(ends)

    def starts(self, spec: int, keys: np.ndarray, ends: np.ndarray, held: Any) -> np.ndarray:
        """Where windows begin."""
        return self.grids[spec].starts_of(ends)

    def passes(self, upto: int) -> None:
        """All windows that end up to the watermark were answered."""
        self.passed = max(self.passed, upto)

    def needed(self, key: np.ndarray, at: np.ndarray, held: Any) -> np.ndarray:
        """Which rows or cells a window may still hold."""
        return self.last_ends(at) > self.passed

    def reached_by(self, keys: np.ndarray) -> np.ndarray:
        """Where the watermark is."""
        return np.full(len(keys), self.passed)

    def last_ends(self, at: np.ndarray) -> np.ndarray:
        """The ends of the last windows that hold some positions."""
        return reduce(np.maximum, (grid.ends(grid.holding(at)[1]) for grid in self.grids))

    def parts(self) -> dict[str, Any]:
        """All that must be kept to go on later."""
        return {"passed": self.passed}

    def by_key(self) -> set[str]:
        """Time is the same for all keys."""
        return set()

    def restore(self, parts: dict[str, Any], keys: int) -> None:
        """Go on with what was kept."""
        self.passed = whole_of(parts, "passed")


class CountAxis(TimeAxis):
    """Positions are the numbers of rows in their key, and windows end when their last row has come."""

    def __init__(self, grids: Sequence[Grid | CalendarGrid]) -> None:
        super().__init__(grids)
        self.reached, self.answered = NONE, NONE  # rows of each key, and up to which windows have been answered

    def number(
        self, codes: np.ndarray, keys: int, table: pa.Table, time: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """The number of each row in its key."""
        self.reached, self.answered = (_longer(array, keys) for array in (self.reached, self.answered))
        out = np.empty(len(codes), np.int64)
        numbering.count_rows(codes, self.reached, out)
        return out, None

    def ended(self, spec: int, key: np.ndarray, at: np.ndarray, upto: int) -> tuple[np.ndarray, np.ndarray]:
        """Keys and ends of windows whose last row has come; with ``upto`` beyond all, those that are open, too."""
        first, last = self._range(spec, at, self.answered[key], self.reached[key] if upto < MOST else MOST)
        found = windows_of(key, first, last)
        return found.key, self.grids[spec].ends(found.number)

    def counts(self, spec: int, key: np.ndarray, at: np.ndarray, upto: int, out: np.ndarray) -> None:
        """Add how many windows of each key have ended."""
        after, reached = self.answered[key], self.reached[key] if upto < MOST else MOST
        count_windows_by_key(key, *self._range(spec, at, after, reached), out)

    def ends_by(self, upto: int) -> bool:
        """Whether a window may have ended since the last were answered."""
        return True

    def starts(self, spec: int, keys: np.ndarray, ends: np.ndarray, held: Any) -> np.ndarray:
        """Where windows begin: the first ones at the first row."""
        return np.maximum(super().starts(spec, keys, ends, held), 0)

    def passes(self, upto: int) -> None:
        """All windows whose last row has come were answered."""
        self.answered = self.reached.copy()

    def needed(self, key: np.ndarray, at: np.ndarray, held: Any) -> np.ndarray:
        """Which rows or cells a window may still hold."""
        return self.last_ends(at) > self.reached[key]

    def reached_by(self, keys: np.ndarray) -> np.ndarray:
        """How many rows have come."""
        return self.reached[keys]

    def parts(self) -> dict[str, Any]:
        """All that must be kept to go on later."""
        return {"reached": self.reached, "answered": self.answered}

    def by_key(self) -> set[str]:
        """Each key has its count."""
        return set(self.parts())

    def restore(self, parts: dict[str, Any], keys: int) -> None:
        """Go on with what was kept of so many keys."""
        self.reached, self.answered = counts_of(parts, "reached", keys), counts_of(parts, "answered", keys)
        if len(self.answered) != len(self.reached) or (self.answered > self.reached).any():
            raise refused("answered", "positions that were reached", "others")

    def refuse_unknown(self, key: np.ndarray, at: np.ndarray) -> None:
        """Refuse positions beyond the number of rows of their keys."""
        _refuse_beyond(key, at, self.reached, 0)


class ListedAxis(Axis):
    """Windows are listed by the rows that end them."""

    def __init__(self, specs: int) -> None:
        self.listed: list[list[tuple[np.ndarray, np.ndarray]]] = [[] for _ in range(specs)]  # keys and ends
        self.said: list[tuple[np.ndarray, np.ndarray, np.ndarray]] = []  # keys, ends, and what is shown of these

    def ended(self, spec: int, key: np.ndarray, at: np.ndarray, upto: int) -> tuple[np.ndarray, np.ndarray]:
        """Keys and ends of the windows that have ended since the last were answered."""
        if not self.listed[spec] or not len(key):
            return NONE, NONE
        keys, ends = (np.concatenate(parts) for parts in zip(*self.listed[spec], strict=True))
        here = (keys >= key[0]) & (keys <= key[-1])
        keys, ends = keys[here], ends[here]
        order = argsort([keys.view(np.uint64), ends.view(np.uint64)])
        return keys[order], ends[order]

    def counts(self, spec: int, key: np.ndarray, at: np.ndarray, upto: int, out: np.ndarray) -> None:
        """Add how many windows of each key have ended."""
        there = key[np.append(True, key[1:] != key[:-1])]
        for keys, _ in self.listed[spec]:
            out += np.bincount(np.searchsorted(there, keys), minlength=len(out))[: len(out)]

    def shown(self, keys: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """What a user sees as the ends of windows: of all that have ended of these keys."""
        if not self.said or not len(keys):
            return NONE
        all_keys, all_ends, shown = (np.concatenate(parts) for parts in zip(*self.said, strict=True))
        here = (all_keys >= keys[0]) & (all_keys <= keys[-1])
        return shown[here][argsort([all_keys[here].view(np.uint64), all_ends[here].view(np.uint64)])]

    def passes(self, upto: int) -> None:
        """All windows that have ended were answered."""
        self.listed, self.said = [[] for _ in self.listed], []


class PunctuationAxis(ListedAxis):
    """Positions are how many punctuations of its key came before a row."""

    def __init__(self, condition: Expression, specs: int) -> None:
        super().__init__(specs)
        self.condition = condition
        self.reached, self.rows = NONE, NONE

    def number(
        self, codes: np.ndarray, keys: int, table: pa.Table, time: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """The position of each row; windows that end here are listed, shown by time or by their key's rows."""
        self.reached, self.rows = (_longer(array, keys) for array in (self.reached, self.rows))
        ends = predicate(self.condition, table).view(np.uint8)
        out, rows = np.empty(len(codes), np.int64), np.empty(len(codes), np.int64)
        numbering.count_punctuations(codes, ends, self.reached, out)
        numbering.count_rows(codes, self.rows, rows)
        where = np.flatnonzero(ends)
        if len(where):
            for listed in self.listed:
                listed.append((codes[where], out[where] + 1))
            self.said.append((codes[where], out[where] + 1, rows[where] + 1 if time is None else time[where]))
        return out, None

    def starts(self, spec: int, keys: np.ndarray, ends: np.ndarray, held: Any) -> np.ndarray:
        """Where windows begin."""
        return ends - 1

    def needed(self, key: np.ndarray, at: np.ndarray, held: Any) -> np.ndarray:
        """Which rows or cells a window may still hold."""
        return at >= self.reached[key]

    def reached_by(self, keys: np.ndarray) -> np.ndarray:
        """How many punctuations have come."""
        return self.reached[keys]

    def parts(self) -> dict[str, Any]:
        """All that must be kept to go on later."""
        return {"reached": self.reached, "rows": self.rows}

    def restore(self, parts: dict[str, Any], keys: int) -> None:
        """Go on with what was kept of so many keys."""
        self.reached, self.rows = counts_of(parts, "reached", keys), counts_of(parts, "rows", keys)

    def refuse_unknown(self, key: np.ndarray, at: np.ndarray) -> None:
        """Refuse positions beyond the punctuations of their keys."""
        _refuse_beyond(key, at, self.reached, 1)


class DeltaAxis(ListedAxis):
    """Positions are the numbers of rows in their key, whose column must not go back."""

    def __init__(self, extents: Sequence[DeltaExtent], kind: pa.DataType) -> None:
        super().__init__(len(extents))
        self.extents, self.column, self.kind = tuple(extents), extents[0].column, kind
        self.dtype = np.dtype(np.float64 if pa.types.is_floating(kind) else np.int64)
        self.reached, self.last = NONE, np.zeros(0, self.dtype)
        self.started = np.zeros(0, np.uint8)
        self.told = [np.zeros(0, self.dtype) for _ in extents]
        self.moved = [np.zeros(0, np.uint8) for _ in extents]

    def _size(self, size: float, rounded: Callable[[Decimal], Any]) -> np.ndarray:
        """A distance as the column has them: whole numbers are rounded to what they compare to in the same way."""
        if self.dtype.kind == "f":
            return np.array([size], self.dtype)
        scale = self.kind.scale if pa.types.is_decimal(self.kind) else 0
        return np.array([min(int(rounded(Decimal(repr(size)).scaleb(scale))), MOST)], self.dtype)

    def values(self, table: pa.Table) -> tuple[np.ndarray, np.ndarray]:
        """The column as numbers, and which of them are known; of decimals and unsigned ones, what is as far apart."""
        array = one_array(evaluate(self.column, table))
        known = array.is_valid().to_numpy(zero_copy_only=False)
        if pa.types.is_decimal(self.kind):
            return np.ascontiguousarray(words(array, "range by delta")[0]), known
        values = array.fill_null(0).to_numpy(zero_copy_only=False)
        if self.kind == pa.uint64():
            return (values ^ np.uint64(1 << 63)).view(np.int64), known
        values = np.ascontiguousarray(values, self.dtype)
        return values, known & np.isfinite(values)

    def shown(self, keys: np.ndarray, ends: np.ndarray) -> np.ndarray:
        """The column's values at the rows that end windows, as it has them."""
        values = super().shown(keys, ends)
        return (values.view(np.uint64) ^ np.uint64(1 << 63)) if self.kind == pa.uint64() and len(values) else values

    def number(
        self, codes: np.ndarray, keys: int, table: pa.Table, time: np.ndarray | None
    ) -> tuple[np.ndarray, np.ndarray | None]:
        """The number of each row that counts, and which these are: those that do not go back."""
        self.reached = _longer(self.reached, keys)
        self.last, self.started = _longer(self.last, keys), _longer(self.started, keys)
        values, known = self.values(table)
        good = np.empty(len(codes), np.uint8)
        numbering.grows(codes, values, known.view(np.uint8), self.last, self.started, good)
        counts = None if good.all() else np.flatnonzero(good)
        if counts is not None:
            codes, values = codes[counts], values[counts]
        out = np.empty(len(codes), np.int64)
        numbering.count_rows(codes, self.reached, out)
        told = np.zeros(len(codes), np.bool_)
        for spec, extent in enumerate(self.extents):
            due = self._due(spec, extent, keys, codes, values, out)
            where = np.flatnonzero(due)
            self.listed[spec].append((codes[where], out[where] + 1))
            told |= due
        where = np.flatnonzero(told)
        self.said.append((codes[where], out[where] + 1, values[where]))
        return out, counts

    def _due(
        self, spec: int, extent: DeltaExtent, keys: int, codes: np.ndarray, values: np.ndarray, number: np.ndarray
    ) -> np.ndarray:
        """At which rows a window ends."""
        if extent.slide is None:
            return (number + 1) % extent.rows == 0
        self.told[spec], self.moved[spec] = _longer(self.told[spec], keys), _longer(self.moved[spec], keys)
        due = np.empty(len(codes), np.uint8)
        numbering.moved(codes, values, self._size(extent.slide, math.ceil), self.told[spec], self.moved[spec], due)
        return due != 0

    def starts(self, spec: int, keys: np.ndarray, ends: np.ndarray, held: Any) -> np.ndarray:
        """Where windows begin: at the first row that is not too far behind the one that ends it."""
        if not len(keys):
            return NONE
        values, _ = self.values(held.table)
        first = np.searchsorted(held.key, keys)  # where each key's rows begin
        place = first + (ends - 1 - held.at[first])  # numbers of a key follow each other
        starts = np.empty(len(keys), np.int64)
        reach = self._size(self.extents[spec].range, math.floor)
        numbering.near(held.key, held.at, values, keys, values[place], reach, starts)
        return starts

    def needed(self, key: np.ndarray, at: np.ndarray, held: Any) -> np.ndarray:
        """Which rows a window may still hold."""
        values, _ = self.values(held.table)
        reach = self._size(max(extent.range for extent in self.extents), math.floor)
        with np.errstate(over="ignore"):
            apart = self.last[key] - values
        return (apart >= 0) & (apart <= reach[0])  # what overflows is far apart

    def parts(self) -> dict[str, Any]:
        """All that must be kept to go on later."""
        found: dict[str, Any] = {"reached": self.reached, "last": self.last, "started": self.started}
        for spec, (told, moved) in enumerate(zip(self.told, self.moved, strict=True)):
            found |= {f"told {spec}": told, f"moved {spec}": moved}
        return found

    def restore(self, parts: dict[str, Any], keys: int) -> None:
        """Go on with what was kept of so many keys."""
        self.reached = counts_of(parts, "reached", keys)
        self.last, self.started = array_of(parts, "last", self.dtype), flags_of(parts, "started", None)
        self.told = [array_of(parts, f"told {spec}", self.dtype) for spec in range(len(self.extents))]
        self.moved = [flags_of(parts, f"moved {spec}", None) for spec in range(len(self.extents))]
        arrays: list[np.ndarray] = [self.last, self.started, *self.told, *self.moved]
        for array in arrays:
            refuse_longer(array, "what keys have come to", keys)

    def refuse_rows(self, key: np.ndarray, at: np.ndarray, rows: pa.Table) -> None:
        """Refuse rows that do not follow each other, or go back, or of which the last is not where their key is."""
        _refuse_beyond(key, at, self.reached[: len(self.last)], 0)
        values, known = self.values(rows)
        ends = np.append(key[1:] != key[:-1], True)[: len(key)]
        follow = ends[:-1] | ((at[1:] == at[:-1] + 1) & (values[1:] >= values[:-1]))
        last = key[ends]
        latest = (at[ends] + 1 == self.reached[last]) & (values[ends] == self.last[last])
        if not (known.all() and follow.all() and latest.all()):
            raise refused("held rows", "rows that follow each other", "others")


def _refuse_beyond(key: np.ndarray, at: np.ndarray, reached: np.ndarray, beyond: int) -> None:
    """Refuse positions that are not below what their keys have reached, or so many beyond."""
    if len(key) and key[-1] >= len(reached):
        raise refused("keys", f"keys of which rows came, {len(reached)}", int(key[-1]))
    if len(key) and ((at < 0) | (at >= reached[key] + beyond)).any():
        raise refused("positions", "numbers of rows that came", "others")


def _longer(array: np.ndarray, keys: int) -> np.ndarray:
    """The array with a zero for each key that is new."""
    return array if len(array) >= keys else np.concatenate([array, np.zeros(keys - len(array), array.dtype)])
