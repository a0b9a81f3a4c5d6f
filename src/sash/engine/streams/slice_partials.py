"""Partials as slices close: to an operator, slices are windows that do not overlap, and partials their answers."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from sash.engine.sizes import row_bytes, stretches
from sash.engine.streams.assigners.base import MOST, Positions, SortedStore
from sash.engine.streams.assigners.by_time import Behind, EventTimeAssigner, Missed, TimePositions
from sash.engine.streams.buffer import Buffer
from sash.engine.streams.cells import Cells
from sash.engine.streams.emitting import WindowAnswers
from sash.engine.streams.keys import Keys
from sash.engine.streams.limits import Limits
from sash.engine.streams.partial_columns import END, FIRSTS, START, TIMES, VALUES, as_column, cell_columns, row_columns
from sash.engine.streams.scheme import Scheme
from sash.engine.streams.timed_stream import FIRST
from sash.engine.tables import one_array
from sash.errors import SashError
from sash.kernels.slices.due import bounds_of
from sash.windows.intervals import Interval
from sash.windows.slicers import Edges

PARTIALS = "partials"  # the way of giving answers
NONE = np.zeros(0, np.int64)


def refuse_no_slices(scheme: Scheme) -> None:
    """Refuse boards whose windows are not made of slices of time."""
    for query in scheme.queries:
        assigner = scheme.assigners[scheme.specs[query.extent.key]]
        if not assigner.by_time:
            raise SashError(
                f"partials are of slices of time, got windows by {assigner.kind} in {query.name}, whose rows are known "
                "by what came before them: two tables of partials could not be put together"
            )
        if not assigner.known_ends:
            raise SashError(
                f"partials are of slices of time, got windows by {assigner.kind} in {query.name}, which rows bound and "
                "no slice does"
            )
    names = {*scheme.key_names} & {START, END}
    if names:
        raise SashError(f"key must not be named {min(names)}, as a column of partials is; rename the column")


class SliceAssigner(EventTimeAssigner):
    """The slices of a stream as its windows."""

    kind: ClassVar[str] = "slice"

    def __init__(self, edges: Edges, scheme: Scheme) -> None:
        super().__init__(None, scheme)
        self.edges = edges

    @classmethod
    def takes(cls, extent: Any) -> bool:
        """No user asks for it."""
        return False

    @property
    def lengths(self) -> tuple[Interval, ...]:
        """No slice is longer than a window."""
        return ()

    def ended(self, store: SortedStore, after: int, upto: int) -> tuple[np.ndarray, np.ndarray]:
        """Keys and ends of slices that hold a row, and end after one time and up to another."""
        heads, ends = self._heads(store, after, upto)
        return store.key[heads], ends[heads]

    def _heads(self, store: SortedStore, after: int, upto: int) -> tuple[np.ndarray, np.ndarray]:
        """Where the first cell or row of each such slice is, and the end of each one's slice."""
        key, ends = store.key, self.last_ends(store.at)
        heads = np.append(True, (key[1:] != key[:-1]) | (ends[1:] != ends[:-1]))[: len(key)]
        return np.flatnonzero(heads & (ends > after) & (ends <= upto)), ends

    def counts(self, store: SortedStore, after: int, upto: int, out: np.ndarray) -> None:
        """Add how many such slices each key has."""
        places = np.cumsum(np.append(0, store.key[1:] != store.key[:-1])[: len(store.key)])
        out += np.bincount(places[self._heads(store, after, upto)[0]], minlength=len(out))

    def open_windows(self, store: SortedStore, after: int) -> int:
        """How many slices hold a row and end after a time."""
        return len(self._heads(store, after, MOST)[0])

    def ends_between(self, after: int, upto: int) -> bool:
        """Whether any slice ends after one time and up to another."""
        return bool(self.edges.floor(np.array([upto]))[0] > after)

    def ends_at(self, ends: np.ndarray) -> np.ndarray | None:
        """Whether a slice ends at some times."""
        return self.edges.floor(ends) == ends if len(ends) else np.zeros(0, np.bool_)

    def starts(self, keys: np.ndarray, ends: np.ndarray, store: Any) -> np.ndarray:
        """Where slices begin."""
        return self.edges.floor(ends - 1) if len(ends) else ends

    def last_ends(self, at: np.ndarray) -> np.ndarray:
        """The ends of the slices that hold some positions."""
        return self.edges.ceiling(at) if len(at) else at

    def opens(self, passed: int) -> int:
        """Where the slice begins that ends after a time."""
        return int(self.edges.floor(np.array([passed]))[0])

    def missed(self, rows: Behind) -> Missed:
        """Rows of slices that have been given missed these."""
        first = self.last_ends(rows.time)
        last = first if rows.last is None else self.last_ends(rows.last)
        closed = self.opens(rows.watermark)
        return Missed(first <= rows.watermark, last > rows.watermark, first, np.minimum(last, closed))


class SlicePositions(TimePositions):
    """Positions of which the windows are slices, the same for each extent."""

    def last_ends(self, at: np.ndarray) -> np.ndarray:
        """Where the slices end that hold some positions."""
        return self.assigners[0].last_ends(at)

    def needed(self, store: Any) -> np.ndarray:
        """Which rows or cells are of slices that have not been given."""
        return self.last_ends(store.at) > self.passed

    def open_windows(self, store: SortedStore) -> int:
        """How many slices hold a row and have not been given, each key's on its own."""
        return self.assigners[0].open_windows(store, self.passed)


def slice_positions(scheme: Scheme, edges: Edges) -> Positions:
    """The positions of an operator that gives partials."""
    return SlicePositions([SliceAssigner(edges, scheme)] * len(scheme.assigners))


class SlicePartials:
    """The partials of slices, in the place of the answers of windows."""

    with_starts = False

    def __init__(self, scheme: Scheme, starts: bool = False) -> None:
        refuse_no_slices(scheme)
        self.scheme = scheme
        self.since: dict[str, int] = {}
        self.filling: Any = None
        self.least_starts: dict[int, int] = {}
        self.cell_columns = cell_columns(scheme)
        self.row_columns = row_columns(scheme) if scheme.buffered else {}

    def answers(
        self, positions: Any, cells: Cells, buffer: Buffer, upto: int, limits: Limits | None = None
    ) -> Iterator[WindowAnswers]:
        """The partials of slices that end up to a position, in parts where there are limits."""
        scheme = self.scheme
        store: Any = cells.compact() if scheme.folded or scheme.spans else buffer
        if scheme.buffered:
            buffer.compact()
        if not len(store.key):
            return
        key, end = positions.ended(0, store, upto)
        start = positions.starts(0, key, end, store)
        lo, hi = bounds_of(buffer.key, buffer.at, key, start, end) if scheme.buffered else (end, end)
        weights = np.full(len(key), cells.width)
        if limits is not None and scheme.buffered and len(buffer):
            sizes = np.broadcast_to(row_bytes(buffer.table), len(buffer.key))
            before = np.append(0, np.cumsum(sizes))
            weights = weights + before[hi] - before[lo]
        parts = [(0, len(key))] if limits is None else stretches(weights, limits.body)
        for first, last in parts:
            some = slice(first, last)
            columns = [*self._of_cells(cells, key[some], start[some], end[some]),
                       *self._of_rows(buffer, start[some], lo[some], hi[some])]  # fmt: skip
            starts = [pa.array(start[some])]
            yield WindowAnswers(key[some], end[some], end[some], columns, starts, [None] * len(columns))

    def _of_cells(self, cells: Cells, key: np.ndarray, start: np.ndarray, end: np.ndarray) -> list[pa.Array]:
        if not self.cell_columns:
            return []
        place, _ = bounds_of(cells.key, cells.at, key, start, end)
        stores = zip(cells.layouts, cells.states, cells.filled, strict=True)
        return [as_column(layout, states[place], filled[place]) for layout, states, filled in stores]

    def _of_rows(self, buffer: Buffer, start: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> list[pa.Array]:
        """Lists of the rows of each slice, in order."""
        if not self.row_columns:
            return []
        counts = hi - lo
        offsets = np.append(0, np.cumsum(counts))
        rows = np.arange(offsets[-1]) + np.repeat(lo - offsets[:-1], counts)
        begins = np.repeat(start, counts)
        table = buffer.table.take(pa.array(rows))
        lists = []
        for what, column in self.row_columns.items():
            if what == TIMES:
                values = pa.array(buffer.at[rows] - begins)
            elif what == FIRSTS:
                values = pa.array(one_array(table[FIRST]).to_numpy() - begins)
            else:
                values = one_array(table[what.removeprefix(f"{VALUES} ")])
            values = values if values.type == column.dtype.value_type else values.cast(column.dtype.value_type)
            lists.append(pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values, type=column.dtype))
        return lists

    @cached_property
    def fields(self) -> list[pa.Field]:
        """The columns of partials."""
        return [column.field for column in (*self.cell_columns, *self.row_columns.values())]

    @cached_property
    def types(self) -> list[pa.DataType]:
        """Their types."""
        return [field.type for field in self.fields]

    @property
    def none(self) -> WindowAnswers:
        """No partials, of the right types."""
        columns = [pa.array([], dtype) for dtype in self.types]
        return WindowAnswers(NONE, NONE, NONE, columns, [pa.array(NONE)], [None] * len(columns))

    def table(self, answers: WindowAnswers, keys: Keys) -> pa.Table:
        """Partials as a user sees them."""
        scheme = self.scheme
        values = zip(scheme.key_names, scheme.key_types, keys.values(answers.key), strict=True)
        named = [(pa.field(name, dtype), column if column.type == dtype else column.cast(dtype))
                 for name, dtype, column in values]  # fmt: skip
        for name, times in ((START, answers.starts[0]), (END, pa.array(answers.end))):
            named.append((pa.field(name, scheme.time_type), times.cast(pa.int64()).view(scheme.time_type)))
        named += zip(self.fields, answers.columns, strict=True)
        fields, columns = zip(*named, strict=True)
        return pa.Table.from_arrays(list(columns), schema=pa.schema(fields))
