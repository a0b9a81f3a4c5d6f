"""Answers of windows: from the partials of cells, or from buffered rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from sash.algebra import Aggregate
from sash.algebra.sharing import Answer, partial_key
from sash.engine.answering.asking import Evaluation, Question
from sash.engine.answering.folds import read
from sash.engine.answering.lifted import Lifted
from sash.engine.evaluating import evaluation_of
from sash.engine.frame_bounds import remapped, selected_before
from sash.engine.placing import placed
from sash.engine.sorted_rows import Ranking, Selection
from sash.engine.streams.buffer import StreamWindow, WindowFrame, WindowRows
from sash.engine.streams.cells import Cells
from sash.engine.streams.partial_layouts import PartialLayout
from sash.engine.streams.queries import Query
from sash.kernels.algorithm import FOLD
from sash.kernels.answers import Answered, finished
from sash.kernels.compiling import Specialised, pinned, specialise
from sash.kernels.fifo.recalc import ALGORITHM as RECALC
from sash.kernels.inputs import Inputs, exact
from sash.kernels.operations.merging import merged, unlowered
from sash.kernels.slices.partials import columns_of, of_partials
from sash.kernels.slices.trees import lowering
from sash.planner import Choice, Task, choose
from sash.planner.techniques import BY_EVENTS, TECHNIQUES
from sash.windows.bounds import ARBITRARY, MONOTONIC, Bounds
from sash.windows.over import Over

NONE = np.zeros(0, np.int64)


@dataclass(frozen=True)
class PlannedQuery:
    """A query on rows that there are none of yet: how it is asked, and by which partials it is answered, if any."""

    query: Query
    spec: int
    question: Question
    selection: Selection
    lifted: Lifted | None = None  # of an aggregate that partials hold

    @property
    def by_partials(self) -> bool:
        """Whether partials of slices answer it; otherwise rows are buffered."""
        return self.lifted is not None and self.query.using not in BY_EVENTS


class Folding:
    """How queries of one aggregate are answered from the partials that cells hold."""

    def __init__(
        self,
        answer: Answer,
        aggregate: Aggregate,
        every: list[PartialLayout],
        beyond: tuple[int, ...],
        first: PlannedQuery,
    ) -> None:
        self.aggregate, self.beyond, self._first, self._layouts = aggregate, beyond, first, every
        layouts = [every[source] for source in answer.sources]
        own = len(layouts) == 1 and partial_key(layouts[0].inputs.aggregate) == partial_key(self.aggregate)
        folded = of_partials(self.aggregate, None if own else answer.make, [layout.partial for layout in layouts])
        self.sources = answer.sources
        self.folded = pinned(replace(folded, finish=None, empty=None))
        self.exact = self.aggregate.invertible and all(exact(layout.partial.state) for layout in layouts)

    @cached_property
    def _unlowered(self) -> Aggregate:
        """The aggregate answered by its partials, made once, so that its kernels are looked up once."""
        return pinned(unlowered(self.folded))

    @cached_property
    def none(self) -> pa.Array:
        """The answers of no windows, which have their type."""
        return self.answer(self._first, Cells(self._layouts), NONE, NONE)

    @cached_property
    def by_numbers(self) -> bool:
        """Whether its answers are plain numbers, and no partials but those of slices themselves matter."""
        if self.beyond or any(self._layouts[source].partial.state.hasobject for source in self.sources):
            return False
        answer, lifted = self._lowering[1].answer, self._first.lifted
        assert lifted is not None
        return answer.names is None and not answer.hasobject and not isinstance(lifted.meaning, Ranking)

    def choice(self, using: str | None, frames: int, rows: int, widest: int, shape: str = MONOTONIC) -> Choice:
        """The algorithm that folds the partials of windows."""
        task = Task(FOLD, frames, rows, shape, False, widest, aggregate=self.aggregate, exact=self.exact)
        return choose([task], None if using in TECHNIQUES else using)[0]

    def answer(self, planned: PlannedQuery, cells: Cells, lo: np.ndarray, hi: np.ndarray) -> pa.Array:
        """The answers of windows, given the cells of each."""
        bounds = Bounds(lo, hi, len(cells), MONOTONIC)
        answered = self._fold(self._unlowered if self.beyond else self.folded, self.sources, planned, cells, bounds)
        last = np.maximum(hi - 1, 0) if len(cells) else hi[:0]
        beyond = [(cells.states[source][last], cells.filled[source][last]) for source in self.beyond]
        answered = self.ended(answered, beyond, hi > lo)
        return self.read(planned, answered, slice(0, len(lo)))

    def ended(self, answered: Answered, beyond: list[tuple[np.ndarray, np.ndarray]], some: np.ndarray) -> Answered:
        """The answers of windows, given what a kernel gave; of spans, the partials of those beyond the last slice."""
        if beyond:
            answered = self._joined(answered, beyond, some)
        return finished(self.aggregate, answered)

    def inputs(self, lowered: bool = True) -> Inputs:
        """The aggregate of partials, which is answered by its own partials unless lowered."""
        states = [np.zeros(0, self._layouts[source].partial.state) for source in self.sources]
        dtypes = tuple(column.dtype for array in states for column in columns_of(array))
        return Inputs(self.folded if lowered else self._unlowered, dtypes)

    def at_once(self, cells: Cells, lo: np.ndarray, hi: np.ndarray) -> Answered:
        """What kernels answer to windows that come in any order, those of several extents among them."""
        bounds = Bounds(lo, hi, len(cells), ARBITRARY)
        return finished(self.aggregate, self._fold(self.folded, self.sources, self._first, cells, bounds))

    @cached_property
    def _lowering(self) -> tuple[Inputs, Specialised]:
        inputs = self.inputs()
        return inputs, specialise(lowering, inputs.aggregate, inputs.dtypes)

    def lowered(self, states: list[np.ndarray], filled: np.ndarray) -> Answered:
        """The answers that partials of windows stand for, one from each source; a flag says whether there are any."""
        inputs, kernel = self._lowering
        columns = tuple(column for array in states for column in columns_of(array))
        out = Answered(np.empty(len(filled), kernel.answer), np.ones(len(filled), np.bool_))
        kernel.run(inputs.lifted(columns), filled, tuple(out))
        return finished(self.aggregate, out)

    def read(self, planned: PlannedQuery, answered: Answered, some: slice) -> pa.Array:
        """Some of the answers as a query shows them."""
        values, valid = answered
        if some != slice(0, len(valid)):
            values, valid = values[some], valid[some]
        assert planned.lifted is not None
        answer = read(planned.question, planned.lifted, planned.selection, Answered(values, valid))
        return placed(planned.question.rows, answer)

    def _fold(
        self, folded: Aggregate, sources: tuple[int, ...], planned: PlannedQuery, cells: Cells, bounds: Bounds
    ) -> Answered:
        states, rows = [cells.states[source] for source in sources], len(cells)
        filled = cells.filled[sources[0]]  # all sources count the same rows
        if not filled.all():
            mask = filled != 0
            bounds, states = remapped(bounds, selected_before(mask)), [array[mask] for array in states]
            rows = len(states[0])
        columns = tuple(column for array in states for column in columns_of(array))
        choice = self.choice(planned.query.using, len(bounds), rows, bounds.widest, bounds.shape)
        answered: Answered = choice.run(folded, columns, rows, bounds)
        return answered

    def _joined(self, inner: Answered, beyond: list[tuple[np.ndarray, np.ndarray]], some: np.ndarray) -> Answered:
        """Spans that end in windows, and those that go on beyond the last slice of each: no span is in both."""
        which = np.flatnonzero((beyond[0][1] != 0) & some) if len(beyond[0][1]) else NONE
        columns = tuple(column for states, _ in beyond for column in columns_of(states[which]))
        ones = np.arange(len(which) + 1)
        each = Bounds(ones[:-1], ones[1:], len(which), MONOTONIC)
        states = RECALC.run(unlowered(self.folded), columns, len(which), each)
        behind = np.full(len(some), -1)
        behind[which] = ones[:-1]
        inputs = Inputs(self.folded, tuple(column.dtype for column in columns))
        everywhere = np.ones(len(some), np.bool_)
        segments = np.arange(len(some) + 1)
        return merged(inputs, inner, everywhere, states.values, segments, np.full(len(some), -1), behind)


def evaluation_of_rows(
    rows: WindowRows, planned: PlannedQuery, lo: np.ndarray, hi: np.ndarray, since: int | None = None
) -> tuple[Evaluation, list[Choice]]:
    """A query of buffered rows, and the algorithms that answer it; ``since`` tells its windows from others'."""
    bounds = Bounds(lo.astype(rows.dtype), hi.astype(rows.dtype), rows.rows, MONOTONIC)
    window: Any = StreamWindow(WindowFrame(f"windows {planned.spec} {since}", bounds))
    evaluation = evaluation_of(Question(rows, Over(planned.query.call, window, planned.query.using)))
    return evaluation, choose(evaluation.tasks, planned.query.using)


def answer_of_rows(
    rows: WindowRows, planned: PlannedQuery, lo: np.ndarray, hi: np.ndarray, since: int | None = None
) -> pa.Array:
    """The answers of windows, given the buffered rows of each."""
    evaluation, choices = evaluation_of_rows(rows, planned, lo, hi, since)
    return placed(rows, evaluation.answer(choices))
