"""Rows of another table, and the frames over them of each row that asks: both sides sorted once, bounds by a merge.

Positions, partitions and selections are of the other table's rows; there is a frame for each row that asks, in the
order of its partition and its ``at``, so that bounds only move forward where offsets are constant.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.common_type import together
from sash.engine.encoding import combined, equality_key, known_rows, order_key
from sash.engine.frame_bounds import FrameBounds, offsets_of_rows, on_all, whole_offsets
from sash.engine.memo import Memo
from sash.engine.sorted_partitions import SortedPartitions
from sash.engine.tables import one_array
from sash.errors import SashError
from sash.expressions.columns import Expression
from sash.expressions.evaluation import evaluate
from sash.kernels import framing as routines
from sash.kernels.sorting import argsort
from sash.kernels.sorting.radix import in_order
from sash.kernels.threads import shares
from sash.windows.bounds import ARBITRARY, MONOTONIC, Bounds, positions
from sash.windows.frame import CLOSED, Bound, Frame
from sash.windows.range_keys import RangeKeys
from sash.windows.window import WindowSpec


class OtherRows(SortedPartitions):
    """The rows of another table by partition and order, and the rows that ask for frames of them.

    Rows of either side with a NULL among their keys find nothing, and are found by none.
    """

    def __init__(self, asking: pa.Table, table: pa.Table, window: WindowSpec) -> None:
        others = window.others
        assert others is not None
        self.asking = asking
        theirs = [*window.partition, *(order.column for order in window.order[:1])]
        known = known_rows([evaluate(column, table) for column in theirs])
        table = table if known is None else table.filter(pa.array(known))
        ours = [one_array(evaluate(column, asking)) for column in others.on]
        self._asking_at = None if others.at is None else one_array(evaluate(others.at, asking))
        codes = self._codes(table, window, ours)
        self._codes_of_rows = codes[: table.num_rows]
        self._sort_askers(codes[table.num_rows :], [*ours, *([] if self._asking_at is None else [self._asking_at])])
        self._asked: Memo[Any, pa.Array] = Memo()
        self._edges: Memo[Any, np.ndarray] = Memo()
        super().__init__(table, window.partition, window.order)
        self._match()

    def _codes(self, table: pa.Table, window: WindowSpec, ours: list[pa.Array]) -> np.ndarray:
        """A number for the partition of each row of the other table, and then of each row that asks."""
        others = window.others
        assert others is not None
        keys = []
        for left, right, our in zip(others.on, window.partition, ours, strict=True):
            their = one_array(evaluate(right, table))
            both = together(their, our)
            if both is None:
                raise SashError(
                    f"on must pair columns that compare, got {left} of {our.type} and {right} of {their.type}"
                )
            keys.append(equality_key(both))
        return combined(keys) if keys else np.zeros(table.num_rows + self.asking.num_rows, np.uint64)

    def _sort_askers(self, codes: np.ndarray, keys: list[pa.Array]) -> None:
        """Sort the rows that ask by partition and ``at``; those that find nothing are last."""
        count, known = self.asking.num_rows, known_rows(keys)
        words = [codes, *([] if self._asking_at is None else order_key(self._asking_at))]
        if known is not None:
            words.insert(0, (~known).astype(np.uint64))
        whole = np.array([0, count], np.int64)
        ordered = count < 2 or in_order(words, whole)
        self._askers = None if ordered else argsort(words)
        self._asking_codes = codes if self._askers is None else codes[self._askers]
        self.finding = count if known is None else int(np.count_nonzero(known))  # so many rows may find some

    def _match(self) -> None:
        """Where the rows that ask for each partition begin, and where the rows of that partition do, and end."""
        codes, asking = self.placed(self._codes_of_rows)[self.segments[:-1]], self._asking_codes[: self.finding]
        changes = np.ones(len(asking), np.bool_)
        changes[1:] = asking[1:] != asking[:-1]
        starts = np.flatnonzero(changes)
        place = np.searchsorted(codes, asking[starts])
        self._partition = np.where(np.append(codes, np.uint64(0))[place] == asking[starts], place, -1)
        self._partition[place == len(codes)] = -1
        firsts = np.append(self.segments[:-1], self.rows)[place]
        lasts = np.where(self._partition < 0, firsts, np.append(self.segments[1:], self.rows)[place])
        self.starts = np.concatenate([starts, [self.finding, self.asking.num_rows]]).astype(np.int64)
        self.firsts = np.append(firsts, self.rows).astype(np.int64)  # the last ones find nothing
        self.lasts = np.append(lasts, self.rows).astype(np.int64)

    def _partition_keys(self, partition: tuple[Expression, ...]) -> list[np.ndarray]:
        return [self._codes_of_rows] if partition else []

    @property
    def askers(self) -> np.ndarray | None:
        """Which row each frame answers, by its number as the rows came; None where they came in this order."""
        return self._askers

    def of_asker(self, expression: Expression) -> pa.Array:
        """A column of the rows that ask, as these came."""
        return self._asked.once(expression.key, lambda: one_array(evaluate(expression, self.asking)))

    def by_partition(self) -> tuple[np.ndarray, np.ndarray | slice]:
        """How many rows ask for frames of each partition, and which of the frames these are, partition by partition."""
        lengths = np.diff(self.starts[:-1])
        some = self._partition >= 0
        counts = np.zeros(len(self.segments) - 1, np.int64)
        counts[self._partition[some]] = lengths[some]
        return counts, np.flatnonzero(np.repeat(some, lengths))

    def _framed(self, frame: Frame) -> FrameBounds:
        start_in, end_in = CLOSED[frame.closed]
        lo = self._edge(frame, frame.start, stops=False, past=not start_in)
        hi = self._edge(frame, frame.end, stops=True, past=end_in)
        flags = self._survey(lo, hi)
        if flags & routines.CROSSES:
            hi = np.maximum(lo, hi)  # moves right wherever both do
            flags = self._survey(lo, hi)
        return FrameBounds(Bounds(lo, hi, self.rows, ARBITRARY if flags & routines.FALLS else MONOTONIC))

    def _edge(self, frame: Frame, bound: Bound, stops: bool, past: bool) -> np.ndarray:
        """Where frames begin, or stop; ``past`` the rows exactly at the bound, or before them."""
        key = frame.kind, bound.key, stops, past
        return self._edges.once(key, lambda: self._searched_edge(frame.kind, bound, stops, past))

    def _searched_edge(self, kind: str, bound: Bound, stops: bool, past: bool) -> np.ndarray:
        if bound.is_unbounded:
            return self._of_partition(stops)
        name = f"{kind}Between: {'end' if stops else 'start'}"
        offsets = None if bound.column is None else self._offsets(bound, name)
        if kind == "rows":
            return self._counted(bound, None if offsets is None else whole_offsets(offsets, name), stops)
        if bound.is_current_row:
            return self._at_or_before if past else self._before
        return self._reached(bound.constant if offsets is None else offsets, past, name)

    def _of_partition(self, stops: bool) -> np.ndarray:
        return np.repeat(self.lasts if stops else self.firsts, np.diff(self.starts)).astype(positions(self.rows))

    def _counted(self, bound: Bound, offsets: np.ndarray | None, stops: bool) -> np.ndarray:
        """So many rows on from the last that is at or before the row that asks."""
        shift: Any = offsets if offsets is not None else bound.constant
        shift = np.clip(shift, -self.rows - 1, self.rows + 1)
        edge = self._at_or_before + (shift + int(stops) - 1)
        return np.clip(edge, self._of_partition(False), self._of_partition(True)).astype(positions(self.rows))

    @cached_property
    def _before(self) -> np.ndarray:
        """How many rows are before the time of each row that asks."""
        return self._compared(past=False)

    @cached_property
    def _at_or_before(self) -> np.ndarray:
        return self._compared(past=True)

    def _compared(self, past: bool) -> np.ndarray:
        words = order_key(self._ats)
        return self._merged(combined(words), None, np.zeros(1, np.uint64), past)

    @cached_property
    def _ats(self) -> pa.Array:
        """Times of the other rows by position, and then of those that ask, in the order in which they do."""
        order = self.order[0]
        assert self._asking_at is not None
        theirs, ours = self.column(order.column), self._asking_at
        both = together(theirs, ours if self._askers is None else ours.take(pa.array(self._askers)))
        if both is None:
            raise SashError(f"at must be columns that compare, got types {ours.type} and {theirs.type}")
        return both

    @cached_property
    def _range_keys(self) -> RangeKeys:
        return RangeKeys(self._ats, descending=False)

    def _reached(self, offset: Any, past: bool, name: str) -> np.ndarray:
        """Where the rows begin, or stop, that an offset, or one for each row that asks, leads to."""
        if isinstance(offset, pa.Array):
            offset = pa.concat_arrays([_zeros(offset.type, self.rows), offset])
        searched = self._range_keys.targets(offset, past, name)
        keys, targets = searched.keys[: self.rows], searched.targets[self.rows :]
        return self._merged(keys, targets, searched.shift, past, searched.ascend)

    def _merged(
        self, keys: np.ndarray, targets: np.ndarray | None, shift: np.ndarray, past: bool, ascend: bool = True
    ) -> np.ndarray:
        if targets is None:
            keys, targets = keys[: self.rows], keys[self.rows :]
        out = self._of_partition(False)
        count = self.finding
        parts = shares(count)
        partitions = [int(np.searchsorted(self.starts, r0, "right")) - 1 for r0, _ in parts]
        arrays = (keys, targets, shift) if ascend else (keys, targets)
        routine = routines.merge_between if ascend else routines.seek_between
        on_all(
            lambda r0, r1, p: routine(self.starts, p, r0, r1, self.firsts, self.lasts, *arrays, int(past), out),
            parts,
            partitions,
        )
        return out

    def _offsets(self, bound: Bound, name: str) -> pa.Array:
        values = offsets_of_rows(self.of_asker(bound.column), self.asking.num_rows, name)
        return values if self._askers is None else values.take(pa.array(self._askers))

    def _survey(self, lo: np.ndarray, hi: np.ndarray) -> int:
        flags = on_all(lambda r0, r1: routines.survey(lo, hi, r0, r1), shares(len(lo)))
        return int(np.bitwise_or.reduce(flags)) if flags else 0


def _zeros(dtype: pa.DataType, rows: int) -> pa.Array:
    """As many offsets of nothing."""
    if pa.types.is_interval(dtype):
        return pa.array([pa.MonthDayNano([0, 0, 0])] * rows, dtype)
    return pa.repeat(pa.scalar(0, dtype), rows)
