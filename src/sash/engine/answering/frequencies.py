"""How often values occur in a frame: count_distinct, mode, entropy."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sash.algebra.window_function import Mode
from sash.engine.answering.asking import Asked, Question, as_named
from sash.engine.placing import Answer, Numbers, Rows
from sash.expressions.orders import asc
from sash.kernels.index.window_order import looked_up
from sash.kernels.sorting import distinct_codes
from sash.planner.algorithms import DISTINCT, ENTROPY, MODE


def count_distinct(question: Question) -> Asked:
    """How many different values, or combinations of values without a NULL, a frame has."""
    rows, columns = question.rows, question.columns
    kept = question.kept(*columns)
    bounds = kept.bounds(question.over.window.frame)

    def answer(names: Sequence[str]) -> Answer:
        previous, following = rows.occurrences(columns, kept)
        if names[0] == "merge_sort_tree":
            from sash.kernels.index.merge_sort_tree import count_previous

            return Numbers(count_previous(previous, bounds).astype(np.int64))
        if names[0] == "incremental":
            from sash.kernels.index import incremental

            codes, distinct = distinct_codes(kept.only(rows.identity(columns)), kept.segments)
            return Numbers(incremental.count_distinct(codes, bounds, distinct).astype(np.int64))
        from sash.kernels.index.distinct_count import count_distinct

        return Numbers(count_distinct(previous, following, as_named(bounds, names[0])))

    return Asked((question.task(DISTINCT, bounds),), answer, bounds)


def frequency(question: Question) -> Asked:
    """Mode and entropy: from how often each value occurs."""
    rows, column = question.rows, question.columns[0]
    question.refuse_another_order()
    kept = question.kept(column)
    bounds = kept.bounds(question.over.window.frame)

    def mode(names: Sequence[str]) -> Answer:
        from sash.kernels.index import incremental
        from sash.kernels.index.mode import mode

        codes = rows.ranking(question.orders or (asc(column),), kept).codes
        if names[0] == "incremental":
            code = incremental.mode(codes.codes, bounds, codes.distinct)
        else:
            code, _ = mode(codes.codes, as_named(bounds, names[0]), codes.distinct)
        return Rows(kept.original(looked_up(codes.firsts, code)), rows.source(column))

    def entropy(names: Sequence[str]) -> Answer:
        from sash.kernels.index.entropy import entropy

        codes, distinct = distinct_codes(kept.only(rows.identity((column,))), kept.segments)
        found = entropy(codes, as_named(bounds, names[0]), distinct)
        return Numbers(found, bounds.sizes() > 0)

    by_mode = isinstance(question.function, Mode)
    return Asked((question.task(MODE if by_mode else ENTROPY, bounds),), mode if by_mode else entropy, bounds)
