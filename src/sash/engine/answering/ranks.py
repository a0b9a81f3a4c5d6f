"""Rank functions: the place of a row, or of values given, among the rows of its frame."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sash.algebra.window_function import EQUALS, ITSELF, VALUES, RankFunction
from sash.engine.answering.asking import Asked, Question
from sash.engine.answering.hypothetical import thresholds
from sash.engine.answering.searching import count_below
from sash.engine.placing import Answer, Numbers
from sash.engine.sorted_rows import Kept, Ranking
from sash.errors import SashError
from sash.kernels.algorithm import COUNT, DENSE
from sash.kernels.operations.window_order import holds
from sash.planner import Choice
from sash.windows.bounds import Bounds
from sash.windows.frame import CURRENT, WHOLE_PARTITION, Frame

PEERS = Frame("range", CURRENT, CURRENT)  # the rows equal to the current one in the window's order


def rank(question: Question) -> Asked:
    """Any rank function: with an order of its own within the frame, otherwise in the whole partition."""
    function, rows = question.function, question.rows
    name, counts, kept = function.name, function.counts, question.kept()
    values = question.columns
    if values and not question.orders:
        raise SashError(f"{name} of given values needs order_by to say what they are ranked among")
    if values and len(values) != len(question.orders):
        raise SashError(f"{name} takes a value for each order, got {len(values)} for {len(question.orders)}")
    bounds = kept.bounds(question.over.window.frame if question.orders else WHOLE_PARTITION)
    ranking = rows.ranking(question.orders, kept) if question.orders else None
    if counts == VALUES:
        return _dense(question, kept, ranking, bounds)

    def limit() -> np.ndarray:
        """For each row, how many rows kept come before its equals, before itself, or up to its last equal."""
        if values:
            return thresholds(question, kept)[counts == EQUALS]
        if counts == ITSELF:
            return kept.counts_before() if ranking is None else ranking.own
        if ranking is None:
            peers = kept.bounds(PEERS)
            return peers.hi if counts == EQUALS else peers.lo
        return ranking.stop if counts == EQUALS else ranking.start

    def answer(choices: Sequence[Choice]) -> Answer:
        below = count_below(choices[0], ranking, bounds, limit()).astype(np.int64)
        if function.lower is None:
            return lowered(function, below)
        inside = np.zeros(len(bounds), np.bool_) if values else holds(bounds, kept.places())
        return lowered(function, below, bounds.sizes().astype(np.int64), ~inside)

    return Asked((question.task(COUNT, bounds, ordered=ranking is not None),), answer, bounds)


def lowered(
    function: RankFunction, below: np.ndarray, sizes: np.ndarray | None = None, outside: np.ndarray | None = None
) -> Numbers:
    """The answers of a rank function, of how many rows it counts, of frames of some sizes.

    A row that is outside its frame is put into it for the question.
    """
    if function.lower is None:
        return Numbers((below + 1).astype(np.int32))
    return Numbers(*function.lower(below, sizes, outside, function.parameters))


def _dense(question: Question, kept: Kept, ranking: Ranking | None, bounds: Bounds) -> Asked:
    """dense_rank: one more than the number of different values before."""
    rows = question.rows
    if ranking is None:
        ranking = rows.ranking(rows.order, kept)

    def answer(choices: Sequence[Choice]) -> Answer:
        start = thresholds(question, kept)[0] if question.columns else ranking.start
        codes = ranking.codes
        found = choices[0].run(codes.codes, codes.values, bounds, codes.heads[start])
        return Numbers(found.astype(np.int32))

    return Asked((question.task(DENSE, bounds),), answer, bounds)
