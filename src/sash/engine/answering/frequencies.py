"""How often values occur in a frame: count_distinct, mode, entropy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sash.algebra.window_function import Mode
from sash.engine.answering.asking import Asked, Question, occurring
from sash.engine.placing import Answer, Numbers, Rows
from sash.expressions.orders import asc
from sash.kernels.algorithm import DISTINCT, ENTROPY, MODE
from sash.kernels.operations.window_order import looked_up
from sash.kernels.sorting import distinct_codes
from sash.planner import Choice


def count_distinct(question: Question) -> Asked:
    """How many different values, or combinations of values without a NULL, a frame has."""
    columns = question.columns
    kept = question.kept(*columns)
    bounds = kept.bounds(question.over.window.frame)

    def answer(choices: Sequence[Choice]) -> Answer:
        return Numbers(choices[0].run(occurring(question, columns, kept), bounds).astype(np.int64, copy=False))

    return Asked((question.task(DISTINCT, bounds),), answer, bounds)


def frequency(question: Question) -> Asked:
    """Mode and entropy: from how often each value occurs."""
    rows, column = question.rows, question.columns[0]
    question.refuse_another_order()
    kept = question.kept(column)
    bounds = kept.bounds(question.over.window.frame)

    def mode(choices: Sequence[Choice]) -> Answer:
        codes = rows.ranking(question.orders or (asc(column),), kept).codes
        code = choices[0].run(codes.codes, bounds, codes.distinct)
        return Rows(kept.original(looked_up(codes.firsts, code)), rows.source(column))

    def entropy(choices: Sequence[Choice]) -> Answer:
        codes, distinct = distinct_codes(kept.only(rows.identity((column,))), kept.segments)
        return Numbers(choices[0].run(codes, bounds, distinct), bounds.sizes() > 0)

    by_mode = isinstance(question.function, Mode)
    return Asked((question.task(MODE if by_mode else ENTROPY, bounds),), mode if by_mode else entropy, bounds)
