"""How often values occur in a frame: count_distinct, mode, entropy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sash.algebra.window_function import Mode
from sash.engine.answering.asking import Evaluation, Question, occurring
from sash.engine.placing import Answer, Numbers, Taken
from sash.expressions.orders import asc
from sash.kernels.algorithm import DISTINCT, ENTROPY, MODE
from sash.kernels.coordinates import Indices
from sash.kernels.operations.window_order import looked_up
from sash.kernels.sorting import distinct_codes
from sash.planner import Choice


def count_distinct(question: Question) -> Evaluation:
    """How many different values, or combinations of values without a NULL, a frame has."""
    columns = question.columns
    selection = question.selection(*columns)
    bounds = selection.bounds(question.over.window.frame)

    def answer(choices: Sequence[Choice]) -> Answer:
        return Numbers(choices[0].run(occurring(question, columns, selection), bounds).astype(np.int64, copy=False))

    return Evaluation((question.task(DISTINCT, bounds),), answer, bounds)


def frequency(question: Question) -> Evaluation:
    """Mode and entropy: from how often each value occurs."""
    rows, column = question.rows, question.columns[0]
    question.refuse_another_order()
    selection = question.selection(column)
    bounds = selection.bounds(question.over.window.frame)

    def mode(choices: Sequence[Choice]) -> Answer:
        codes = rows.ranking(question.orders or (asc(column),), selection).codes
        code = choices[0].run(codes.codes, bounds, codes.distinct)
        return Taken(selection.positions_of(Indices(looked_up(codes.firsts, code))), rows.source(column))

    def entropy(choices: Sequence[Choice]) -> Answer:
        codes, distinct = distinct_codes(selection.only(rows.identity((column,))), selection.segments)
        return Numbers(choices[0].run(codes, bounds, distinct), bounds.sizes() > 0)

    by_mode = isinstance(question.function, Mode)
    return Evaluation((question.task(MODE if by_mode else ENTROPY, bounds),), mode if by_mode else entropy, bounds)
