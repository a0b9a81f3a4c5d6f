"""Answers of windows: from the partials of cells, or from the rows that are held."""

from __future__ import annotations

from dataclasses import replace
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
from sash.kernels.answers import finished
from sash.kernels.compiling import settled
from sash.kernels.index.folding import exact, fold
from sash.kernels.slices.partials import columns_of, of_partials
from sash.planner import Choice, Task, choose
from sash.planner.algorithms import FOLD
from sash.windows.bounds import MONOTONIC, Bounds

PARTS = ("lift", "combine", "lower", "inverse", "finish", "empty")  # what makes the answers of two aggregates the same


class Folding:
    """How queries of one aggregate are answered from the partials that cells hold."""

    def __init__(self, scheme: Scheme, place: int) -> None:
        answer, self.aggregate = scheme.shared.answers[place], scheme.wanted[place][0]
        kinds = [scheme.kinds[source][0] for source in answer.sources]
        own = len(kinds) == 1 and kind_of(kinds[0].inputs.aggregate) == kind_of(self.aggregate)
        made = of_partials(self.aggregate, None if own else answer.make, [kind.partial for kind in kinds])
        self.sources = answer.sources
        self.folded = settled(replace(made, finish=None, empty=None))
        self.exact = self.aggregate.invertible and all(exact(kind.partial.state) for kind in kinds)

    def choice(self, using: str | None, frames: int, rows: int, widest: int) -> Choice:
        """The algorithm that folds the partials of windows."""
        task = Task(FOLD, frames, rows, MONOTONIC, False, widest, aggregate=self.aggregate, exact=self.exact)
        return choose([task], using)[0]

    def answer(self, planned: Planned, cells: Cells, lo: np.ndarray, hi: np.ndarray) -> pa.Array:
        """The answers of windows, given the cells of each."""
        bounds, rows = Bounds(lo, hi, len(cells), MONOTONIC), len(cells)
        states = [cells.states[source] for source in self.sources]
        held = cells.held[self.sources[0]]  # all sources count the same rows
        if not held.all():
            mask = held != 0
            bounds, states = remapped(bounds, kept_before(mask)), [array[mask] for array in states]
            rows = len(states[0])
        columns = tuple(column for array in states for column in columns_of(array))
        name = self.choice(planned.query.using, len(lo), rows, bounds.widest).name
        answered = finished(self.aggregate, fold(self.folded, columns, rows, bounds, name))
        assert planned.given is not None
        return placed(planned.question.rows, read(planned.question, planned.given, planned.kept, answered))


def foldings(scheme: Scheme) -> dict[int, Folding]:
    """How each query that partials answer is answered, by its number; those that are alike have the same."""
    found: dict[int, Folding] = {}
    alike: dict[Any, Folding] = {}
    for place, k in enumerate(scheme.folded):
        aggregate = scheme.wanted[place][0]
        key = (scheme.shared.answers[place].sources, *(getattr(aggregate, part) for part in PARTS))
        found[k] = alike[key] = alike.get(key) or Folding(scheme, place)
    return found


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
