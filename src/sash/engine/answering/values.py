"""Value functions: first_value, last_value, nth_value, and lead and lag, each with its own order or the window's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sash.engine.answering.asking import Evaluation, Question
from sash.engine.answering.searching import count_below, positions_of, select
from sash.engine.placing import Taken
from sash.kernels.algorithm import COUNT, SELECT
from sash.kernels.operations.window_order import holds
from sash.planner import Choice
from sash.windows.bounds import Bounds
from sash.windows.frame import WHOLE_PARTITION


def value(question: Question) -> Evaluation:
    """The value of one row of the frame, counted from its first or its last."""
    column = question.columns[0]
    selection = question.selection(column) if question.call.nulls == "ignore" else question.selection()
    ranking = question.rows.ranking(question.orders, selection) if question.orders else None
    bounds = selection.bounds(question.over.window.frame)

    def answer(choices: Sequence[Choice]) -> Taken:
        first, _ = select(choices[0], ranking, bounds, _nth(question, bounds))
        return Taken(positions_of(first, ranking, selection), question.rows.source(column))

    return Evaluation((question.task(SELECT, bounds, ordered=ranking is not None),), answer, bounds)


def _nth(question: Question, bounds: Bounds) -> np.ndarray:
    """Which row of its frame is asked for, counted from 0."""
    n, from_last = question.function.nth
    n = min(n, np.iinfo(bounds.lo.dtype).max)  # more than there are rows
    return bounds.sizes() - n if from_last else np.full(len(bounds), n - 1, bounds.lo.dtype)


def shift(question: Question) -> Evaluation:
    """Lead and lag: the value so many rows after or before the row, in the function's order within the frame.

    Without an order of its own it is the window's, and the frame is the whole partition. A row that is not in
    its frame is put there for the question.
    """
    columns, rows = question.columns, question.rows
    selection = question.selection(columns[0]) if question.call.nulls == "ignore" else question.selection()
    ranking = rows.ranking(question.orders, selection) if question.orders else None
    bounds = selection.bounds(question.over.window.frame if question.orders else WHOLE_PARTITION)
    offset = question.function.offset
    ahead = max(min(offset, rows.rows + 1), -rows.rows - 1)  # beyond the last row is beyond it, however far

    def answer(choices: Sequence[Choice]) -> Taken:
        inside = holds(bounds, selection.indices())
        before = selection.counts_before() if ranking is None else ranking.own
        k = count_below(choices[0], ranking, bounds, before).astype(np.int64) + ahead
        k -= ~inside if ahead > 0 else 0  # the row itself is not among those counted
        size = bounds.sizes()
        outside = (k < 0) | (k >= size)
        if ahead == 0:
            outside |= ~inside
        k = np.where(outside, -1, k).astype(bounds.lo.dtype)
        first, _ = select(choices[1], ranking, bounds, k)
        default = rows.source(columns[1]) if len(columns) > 1 else None
        return Taken(positions_of(first, ranking, selection), rows.source(columns[0]), default)

    ordered = ranking is not None
    tasks = (question.task(COUNT, bounds, ordered=ordered), question.task(SELECT, bounds, ordered=ordered))
    return Evaluation(tasks, answer, bounds)
