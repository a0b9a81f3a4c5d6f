"""Value functions: first_value, last_value, nth_value, and lead and lag, each with its own order or the window's."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

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
    most = np.iinfo(bounds.lo.dtype).max  # more than there are rows
    if n is not None:
        return bounds.sizes() - min(n, most) if from_last else np.full(len(bounds), min(n, most) - 1, bounds.lo.dtype)
    places, known = question.whole_numbers(question.columns[1], "the place of nth_value", 1)
    places = np.minimum(places, most).astype(bounds.lo.dtype)
    return np.where(known, bounds.sizes() - places if from_last else places - 1, bounds.lo.dtype.type(-1))


def shift(question: Question) -> Evaluation:
    """Lead and lag: the value so many rows after or before the row, in the function's order within the frame.

    Without an order of its own it is the window's, and the frame is the whole partition. A row that is not in
    its frame is put there for the question.
    """
    columns, rows = question.columns, question.rows
    selection = question.selection(columns[0]) if question.call.nulls == "ignore" else question.selection()
    ranking = rows.ranking(question.orders, selection) if question.orders else None
    bounds = selection.bounds(question.over.window.frame if question.orders else WHOLE_PARTITION)
    ahead, known = _ahead(question)

    def answer(choices: Sequence[Choice]) -> Taken:
        inside = holds(bounds, selection.indices())
        before = selection.counts_before() if ranking is None else ranking.own
        k = count_below(choices[0], ranking, bounds, before).astype(np.int64) + ahead
        k -= ~inside & (ahead > 0)  # the row itself is not among those counted
        size = bounds.sizes()
        outside = (k < 0) | (k >= size) | (~inside & (ahead == 0)) | ~known
        k = np.where(outside, -1, k).astype(bounds.lo.dtype)
        first, _ = select(choices[1], ranking, bounds, k)
        return Taken(positions_of(first, ranking, selection), rows.source(columns[0]), _default(question))

    ordered = ranking is not None
    tasks = (question.task(COUNT, bounds, ordered=ordered), question.task(SELECT, bounds, ordered=ordered))
    return Evaluation(tasks, answer, bounds)


def _ahead(question: Question) -> tuple[np.ndarray, np.ndarray]:
    """How many rows after the row, negative before it, is asked for, of each row or of all, and whether it is known."""
    rows, function = question.rows, question.function
    beyond = rows.rows + 1  # beyond the last row is beyond it, however far
    if function.offset is not None:
        return np.array(max(min(function.offset, beyond), -beyond)), np.array(True)
    offsets, known = question.whole_numbers(question.columns[1], f"the offset of {function.name}")
    return np.clip(offsets, -beyond, beyond) * function.ahead, known


def _default(question: Question) -> pa.Array | None:
    """What rows have where there is no row so far away; NULL where the offset is.

    At an offset of 0, NULL is what the row itself has, also where others look past it.
    """
    columns, rows, offset = question.columns, question.rows, question.function.offset
    own = offset is None
    if len(columns) < 2 + own:
        return None
    default = rows.of_asker(columns[1 + own])
    zero = pc.equal(rows.of_asker(columns[1]), 0) if own else pa.scalar(offset == 0)
    itself = pc.and_(zero, pc.is_null(rows.source(columns[0]))) if question.call.nulls == "ignore" else pa.scalar(False)
    known = pc.is_valid(rows.of_asker(columns[1])) if own else pa.scalar(True)
    outside = pc.and_(known, pc.invert(pc.fill_null(itself, False)))
    return pc.if_else(outside, default, pa.scalar(None, default.type))
