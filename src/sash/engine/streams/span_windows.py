"""Windows over buffered spans, for what no partial can hold: each window has a list of its spans."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from sash.algebra.catalogue import builtin
from sash.algebra.window_function import SpanFunction
from sash.engine.answering.asking import Question
from sash.engine.answering.folds import counted, read
from sash.engine.encoding import biased
from sash.engine.placing import placed
from sash.engine.sorted_partitions import SortedPartitions
from sash.engine.streams.buffer import Buffer, WindowRows
from sash.engine.streams.partial_layouts import PartialLayout
from sash.engine.streams.query_answers import PlannedQuery, answer_of_rows
from sash.engine.streams.scheme import Scheme
from sash.engine.streams.span_cells import SpanCells
from sash.engine.streams.timed_stream import FIRST
from sash.engine.tables import one_array
from sash.expressions.evaluation import predicate
from sash.expressions.parsing import as_predicate
from sash.kernels.algorithm import Algorithm
from sash.kernels.answers import finished
from sash.kernels.slices.due import bounds_of
from sash.kernels.slices.overlaps import Overlaps
from sash.kernels.slices.partials import columns_of, of_partials
from sash.kernels.sorting import argsort
from sash.kernels.structures.segment_tree import ALGORITHM as SEGMENT_TREE
from sash.kernels.structures.sparse_table import ALGORITHM as SPARSE_TABLE
from sash.planner.techniques import technique
from sash.windows.bounds import MONOTONIC, Bounds
from sash.windows.slicers import edges_of

LISTED = 1 << 22  # spans of windows that are listed at a time


class DueWindows(NamedTuple):
    """Windows that some queries answer, and in which rows of all answers they are; None for all rows."""

    key: np.ndarray
    start: np.ndarray
    end: np.ndarray
    due: np.ndarray | None


class SpanWindows:
    """Buffered spans, as windows that are asked for have them."""

    def __init__(self, buffer: Buffer) -> None:
        self.buffer, self.last = buffer, buffer.at
        self.first = one_array(buffer.table[FIRST]).to_numpy()
        self._overlaps: dict[int, Overlaps] = {}
        self._rows: dict[Any, tuple[WindowRows, np.ndarray]] = {}

    def answer(self, scheme: Scheme, planned: PlannedQuery, windows: DueWindows) -> pa.Array:
        """The answers of a query."""
        if is_swept(planned):
            return self._swept(scheme, planned, windows)
        if planned.lifted is not None:
            return self._by_events(scheme, planned, windows)
        key = id(windows)  # alive as long as this is
        if key not in self._overlaps:
            self._overlaps[key] = Overlaps(
                self.buffer.key, self.first, self.last, windows.key, windows.start, windows.end
            )
        overlaps = self._overlaps[key]
        answers = []
        for low, high in overlaps.pieces(LISTED) or [(0, 0)]:
            rows, offsets = self._listed(overlaps, key, low, high)
            answers.append(answer_of_rows(rows, planned, offsets[:-1], offsets[1:]))
        return pa.concat_arrays(answers) if len(answers) > 1 else answers[0]

    def _listed(self, overlaps: Overlaps, key: int, low: int, high: int) -> tuple[WindowRows, np.ndarray]:
        """The spans of some windows as rows, each window a partition; those of the last windows are remembered."""
        if (key, low) not in self._rows:
            which, offsets = overlaps.spans(low, high)
            listed = Buffer(self.buffer.table.schema)
            listed.table = self.buffer.table.take(pa.array(which)).combine_chunks()
            listed.key = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
            listed.at = listed.key
            self._rows = {(key, low): (WindowRows(listed), offsets)}
        return self._rows[key, low]

    def _by_events(self, scheme: Scheme, planned: PlannedQuery, windows: DueWindows) -> pa.Array:
        """An aggregate by a technique that takes spans one by one, as they ended."""
        named = technique(planned.query.using)
        assert named is not None
        whole = SortedPartitions(self.buffer.table, (), ())
        selection, lifted = counted(Question(whole, planned.question.over))
        layout = PartialLayout(lifted.aggregate, tuple(column.dtype for column in lifted.columns))
        values, _ = layout.inputs.columns("fold", lifted.columns, selection.length)
        which = slice(None) if selection.positions is None else selection.positions
        key, first, last = self.buffer.key[which], self.first[which], self.last[which]
        whole.forget()
        states, filled = np.zeros(len(windows.key), layout.partial.state), np.zeros(len(windows.key), np.uint8)
        if len(key):
            span_cells = SpanCells(first, last, key, int(key.max()) + 1, edges_of(scheme.cuts, "pairs"))
            lo, hi = bounds_of(span_cells.key, span_cells.at, windows.key, windows.start, windows.end)
            longest = int((span_cells.end - span_cells.begin).max())
            states, filled = named.run(layout.inputs, values, span_cells.begin, span_cells.end, lo, hi, longest)
        folded = of_partials(layout.inputs.aggregate, None, [layout.partial])
        places = np.arange(len(states))
        bounds = Bounds(places, places + filled, len(states))
        folded = replace(folded, finish=None, empty=None)
        answered = SEGMENT_TREE.run(folded, columns_of(states), len(states), bounds)
        return placed(
            whole, read(planned.question, lifted, planned.selection, finished(layout.inputs.aggregate, answered))
        )

    def _swept(self, scheme: Scheme, planned: PlannedQuery, windows: DueWindows) -> pa.Array:
        """The most spans at one moment, or the time that any of them covers."""
        key, first, last = self.buffer.key, self.first, self.last
        if planned.query.call.condition is not None:
            some = predicate(as_predicate(planned.query.call.condition), self.buffer.table)
            key, first, last = key[some], first[some], last[some]
        sweep: SpanSweep = SWEEP.run(key, first, last)
        if planned.query.call.aggregate.peaks:
            return pa.array(sweep.peaks(windows))
        return pa.array(sweep.covered(windows)).view(swept_type(scheme, planned))


class SpanSweep:
    """How many spans of a key there are, from each start or end to the next."""

    def __init__(self, key: np.ndarray, first: np.ndarray, last: np.ndarray) -> None:
        keys, at = np.concatenate([key, key]), np.concatenate([last + 1, first])
        change = np.repeat([-1, 1], len(key))
        order = argsort([keys.view(np.uint64), biased(at), (change + 1).view(np.uint64)])  # ends come first
        self.key, self.at = keys[order], at[order]
        self.running = np.cumsum(change[order])  # zero after the last of a key

    def _after(self, windows: DueWindows, at: np.ndarray) -> np.ndarray:
        """The first change of the window's key after a position."""
        return bounds_of(self.key, self.at, windows.key, at + 1, at + 1)[0]

    def peaks(self, windows: DueWindows) -> np.ndarray:
        """The most spans at one moment of each window."""
        if not len(self.key):
            return np.zeros(len(windows.key), np.int64)
        lo, hi = bounds_of(self.key, self.at, windows.key, windows.start + 1, windows.end)
        before = np.where(lo > 0, self.running[np.maximum(lo - 1, 0)], 0)
        bounds = Bounds(lo, hi, len(self.key), MONOTONIC)
        within = SPARSE_TABLE.run(builtin("max"), (self.running,), len(self.key), bounds)
        return np.maximum(before, np.where(within.valid, within.values, 0))

    def covered(self, windows: DueWindows) -> np.ndarray:
        """How much of each window's time some span covers."""
        if not len(self.key):
            return np.zeros(len(windows.key), np.int64)
        lengths = np.append(0, np.diff(self.at) * (self.running[:-1] > 0))
        total = np.cumsum(lengths)

        def upto(at: np.ndarray) -> np.ndarray:
            change = self._after(windows, at) - 1
            here = np.maximum(change, 0)
            open_ = np.where((change >= 0) & (self.running[here] > 0), at - self.at[here], 0)
            return np.where(change >= 0, total[here] + open_, 0)

        return upto(windows.end) - upto(windows.start)


SWEEP = Algorithm(
    name="sweeping",
    operation="spans at a time",
    words="starts and ends of spans in order",
    cost=lambda load: load.each,
    run=SpanSweep,
)


def is_swept(planned: PlannedQuery) -> bool:
    """Whether a query asks how many spans there are at a time."""
    return isinstance(planned.query.call.aggregate, SpanFunction)


def swept_type(scheme: Scheme, planned: PlannedQuery) -> pa.DataType:
    """The type of such an answer."""
    return pa.int64() if planned.query.call.aggregate.peaks else pa.duration(scheme.unit)
