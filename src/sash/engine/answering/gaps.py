"""Values between known ones: on the straight line over time from the last known row to the next."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sash.engine.answering.asking import Evaluation, Question
from sash.engine.answering.lifted import numbers, time_numbers
from sash.engine.answering.searching import count_below
from sash.engine.placing import Numbers
from sash.kernels.algorithm import COUNT
from sash.planner import Choice
from sash.windows.frame import WHOLE_PARTITION


def interpolated(question: Question) -> Evaluation:
    """The row's own value where it is known, otherwise that of the line; NULL where one end of it is not."""
    (column, time), rows, name = question.columns, question.rows, question.function.name
    selection = question.selection(column, time)
    bounds = selection.bounds(WHOLE_PARTITION)

    def answer(choices: Sequence[Choice]) -> Numbers:
        values = selection.only(numbers(rows.column(column), name).astype(np.float64, copy=False))
        times, known = time_numbers(rows.column(time), name), rows.column(time).is_valid()
        if not len(values):
            return Numbers(np.zeros(rows.rows), np.zeros(rows.rows, np.bool_))
        following = bounds.lo + count_below(choices[0], None, bounds, selection.counts_before())
        before, after = np.maximum(following - 1, 0), np.minimum(following, len(values) - 1)
        of_known = selection.only(times)
        with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
            share = _distance(of_known[before], times) / _distance(of_known[before], of_known[after])
            rise = values[after] - values[before]
            line = values[before] + share * rise
        if not np.isfinite(rise).all():  # further apart than a double goes
            halves = values / 2
            line = np.where(np.isfinite(rise), line, 2 * (halves[before] + share * (halves[after] - halves[before])))
        is_after = (following < bounds.hi) & (of_known[after] == times)
        is_before = (following > bounds.lo) & (of_known[before] == times)
        between = (following > bounds.lo) & (following < bounds.hi) & (share >= 0) & (share <= 1)
        out = np.where(is_after, values[after], np.where(is_before, values[before], line))
        return Numbers(out, (is_after | is_before | between) & known.to_numpy(zero_copy_only=False))

    return Evaluation((question.task(COUNT, bounds, ordered=False),), answer, bounds)


def _distance(start: np.ndarray, stop: np.ndarray) -> np.ndarray:
    """How far it is from one time to another, which may be more than an int64 holds."""
    if start.dtype.kind == "f":
        return stop - start
    low, high = (of(start, stop).astype(np.int64).view(np.uint64) for of in (np.minimum, np.maximum))
    return np.where(stop >= start, 1.0, -1.0) * (high - low)
