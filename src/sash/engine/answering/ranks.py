"""Rank functions: the place of a row, or of values given, among the rows of its frame."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from sash.algebra.window_function import AROUND, BEFORE, EQUALS, ITSELF, VALUES
from sash.engine.answering.asking import Evaluation, Question
from sash.engine.answering.hypothetical import thresholds
from sash.engine.answering.searching import count_below
from sash.engine.placing import Answer, Numbers
from sash.engine.sorted_rows import Ranking, Selection
from sash.errors import SashError
from sash.kernels.algorithm import COUNT, DENSE
from sash.kernels.operations.window_order import holds
from sash.planner import Choice
from sash.windows.bounds import Bounds
from sash.windows.frame import CURRENT, WHOLE_PARTITION, Frame

ROWS, GROUPS = 0, 1  # of a pair of counts
NOTHING = np.zeros(2, np.int64)
PEERS = Frame("range", CURRENT, CURRENT)  # the rows equal to the current one in the window's order


def rank(question: Question) -> Evaluation:
    """Any rank function: with an order of its own within the frame, otherwise in the whole partition."""
    function, rows = question.function, question.rows
    name, counts, selection = function.name, function.counts, question.selection()
    values = question.columns if function.ranks_values else ()
    if values and not question.orders:
        raise SashError(f"{name} of given values needs order_by to say what they are ranked among")
    if values and len(values) != len(question.orders):
        raise SashError(f"{name} takes a value for each order, got {len(values)} for {len(question.orders)}")
    bounds = selection.bounds(question.over.window.frame if question.orders else WHOLE_PARTITION)
    ranking = rows.ranking(question.orders, selection) if question.orders else None
    if counts == VALUES:
        return _dense(question, selection, ranking, bounds)

    def limit(counts: str) -> np.ndarray:
        """For each row, how many of the selection come before its equals, before itself, or up to its last equal."""
        if values:
            return thresholds(question, selection)[counts == EQUALS]
        if counts == ITSELF:
            return selection.counts_before() if ranking is None else ranking.own
        if ranking is None:
            peers = selection.bounds(PEERS)
            return peers.hi if counts == EQUALS else peers.lo
        return ranking.stop if counts == EQUALS else ranking.start

    def answer(choices: Sequence[Choice]) -> Answer:
        ahead, behind = _elsewhere(question)
        sides = (BEFORE, EQUALS) if counts == AROUND else (counts,)
        below = np.zeros(len(bounds), np.int64)
        for side in sides:
            below += count_below(choices[0], ranking, bounds, limit(side))
            below += ahead[..., ROWS]
        if function.lower is None:
            return Numbers((below + 1).astype(np.int32))
        inside = np.zeros(len(bounds), np.bool_) if values else holds(bounds, selection.indices())
        sizes = bounds.sizes().astype(np.int64)
        sizes += (ahead + behind)[..., ROWS]
        if not question.columns or values:
            return Numbers(*function.lower(below, sizes, ~inside, function.parameters))
        number, known = question.whole_numbers(question.columns[0], f"the number of {name}", 1)
        answers, valid = function.lower(below, sizes, ~inside, (number,))
        return Numbers(answers, valid & known)

    return Evaluation((question.task(COUNT, bounds, ordered=ranking is not None),), answer, bounds)


def _elsewhere(question: Question) -> tuple[np.ndarray, np.ndarray]:
    """How many rows of its partition, and groups of peers, a piece does not hold before each row's, and after it."""
    if question.elsewhere is None:
        return NOTHING, NOTHING
    lengths = np.diff(question.rows.segments)
    before, after = question.elsewhere.counts()
    return np.repeat(before, lengths, axis=0), np.repeat(after, lengths, axis=0)


def rank_counts(question: Question, starts: np.ndarray, stops: np.ndarray) -> np.ndarray:
    """How many rows, and groups of peers, are between positions: what ranks of rows elsewhere must know of these."""
    selection, rows = question.selection(), question.rows
    before = np.arange(rows.rows + 1) if selection.before is None else selection.before.astype(np.int64)
    counts = np.zeros((len(starts), 2), np.int64)
    counts[:, ROWS] = before[stops] - before[starts]
    if question.function.counts == VALUES:
        heads = np.unique(rows.peers())
        some = before[np.append(heads[1:], rows.rows)[: len(heads)]] > before[heads]  # those with a row that counts
        groups = np.append(heads[some], rows.rows)
        counts[:, GROUPS] = np.searchsorted(groups, stops) - np.searchsorted(groups, starts)
    return counts


def _dense(question: Question, selection: Selection, ranking: Ranking | None, bounds: Bounds) -> Evaluation:
    """dense_rank: one more than the number of different values before."""
    ordered = ranking is not None
    ranking = ranking or question.rows.ranking(question.rows.order, selection)

    def answer(choices: Sequence[Choice]) -> Answer:
        start = thresholds(question, selection)[0] if question.columns else ranking.start
        codes = ranking.codes
        ranks = choices[0].run(codes.codes, codes.values, bounds, codes.heads[start]).astype(np.int32)
        ranks += _elsewhere(question)[0][..., GROUPS]
        return Numbers(ranks)

    return Evaluation((question.task(DENSE, bounds, ordered=ordered),), answer, bounds)
