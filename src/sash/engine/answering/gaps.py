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
        gone, whole = times - of_known[before], of_known[after] - of_known[before]
        with np.errstate(divide="ignore", invalid="ignore"):
            share = gone / whole
            line = values[before] + share * (values[after] - values[before])
        is_after = (following < bounds.hi) & (of_known[after] == times)
        is_before = (following > bounds.lo) & (of_known[before] == times)
        between = (following > bounds.lo) & (following < bounds.hi) & (share >= 0) & (share <= 1)
        out = np.where(is_after, values[after], np.where(is_before, values[before], line))
        return Numbers(out, (is_after | is_before | between) & known.to_numpy(zero_copy_only=False))

    return Evaluation((question.task(COUNT, bounds, ordered=False),), answer, bounds)
