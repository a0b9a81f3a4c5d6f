"""Answers of windows: from the partials of cells, or from the rows that are held."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from sash.algebra import Over
from sash.algebra.sharing import kind as kind_of
from sash.engine.answering.asking import Asked, Question
from sash.engine.answering.folds import read
from sash.engine.evaluating import asked_of
from sash.engine.framing import kept_before, remapped
from sash.engine.placing import placed
from sash.engine.streams.cells import Cells
from sash.engine.streams.held import StreamWindow, WindowFrame, WindowRows
from sash.engine.streams.scheme import Planned, Scheme
from sash.kernels.index.folding import exact, fold
from sash.kernels.slices.partials import columns_of, of_partials
from sash.planner import Choice, Task, choose
from sash.planner.algorithms import FOLD
from sash.windows.bounds import MONOTONIC, Bounds


class Folding:
    """How one query is answered from the partials that cells hold."""

    def __init__(self, scheme: Scheme, place: int, planned: Planned) -> None:
        answer = scheme.shared.answers[place]
        kinds = [scheme.kinds[source][0] for source in answer.sources]
        self.sources, self.planned = answer.sources, planned
        aggregate = scheme.wanted[place][0]
        own = len(kinds) == 1 and kind_of(kinds[0].inputs.aggregate) == kind_of(aggregate)
        self.aggregate = of_partials(aggregate, None if own else answer.make, [kind.partial for kind in kinds])
        whole = all(exact(kind.partial.state) for kind in kinds)
        self.exact = self.aggregate.invertible and whole

    def choice(self, frames: int, rows: int, widest: int) -> Choice:
        """The algorithm that folds the partials of windows."""
        task = Task(FOLD, frames, rows, MONOTONIC, False, widest, aggregate=self.aggregate, exact=self.exact)
        return choose([task], self.planned.query.using)[0]

    def answer(self, cells: Cells, lo: np.ndarray, hi: np.ndarray) -> pa.Array:
        """The answers of windows, given the cells of each."""
        bounds, rows = Bounds(lo, hi, len(cells), MONOTONIC), len(cells)
        states = [cells.states[source] for source in self.sources]
        held = cells.held[self.sources[0]]  # all sources count the same rows
        if not held.all():
            mask = held != 0
            bounds, states = remapped(bounds, kept_before(mask)), [array[mask] for array in states]
            rows = len(states[0])
        columns = tuple(column for array in states for column in columns_of(array))
        name = self.choice(len(lo), rows, bounds.widest).name
        answered = fold(self.aggregate, columns, rows, bounds, name)
        planned = self.planned
        assert planned.given is not None
        return placed(planned.question.rows, read(planned.question, planned.given, planned.kept, answered))


def asked_of_rows(rows: WindowRows, planned: Planned, lo: np.ndarray, hi: np.ndarray) -> tuple[Asked, list[Choice]]:
    """A query of rows that are held, and the algorithms that answer it."""
    bounds = Bounds(lo.astype(rows.dtype), hi.astype(rows.dtype), rows.rows, MONOTONIC)
    window: Any = StreamWindow(WindowFrame(f"windows {planned.spec}", bounds))
    asked = asked_of(Question(rows, Over(planned.query.call, window, planned.query.using)))
    return asked, choose(asked.tasks, planned.query.using)


def answer_of_rows(rows: WindowRows, planned: Planned, lo: np.ndarray, hi: np.ndarray) -> pa.Array:
    """The answers of windows, given the held rows of each."""
    asked, choices = asked_of_rows(rows, planned, lo, hi)
    return placed(rows, asked.answer([choice.name for choice in choices]))
