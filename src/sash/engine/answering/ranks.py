"""Rank functions: the place of a row, or of values given, among the rows of its frame."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa

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
    name, rows = question.function.name, question.rows
    kept = question.kept()
    values = question.columns
    if values and not question.orders:
        raise SashError(f"{name} of given values needs order_by to say what they are ranked among")
    if values and len(values) != len(question.orders):
        raise SashError(f"{name} takes a value for each order, got {len(values)} for {len(question.orders)}")
    bounds = kept.bounds(question.over.window.frame if question.orders else WHOLE_PARTITION)
    ranking = rows.ranking(question.orders, kept) if question.orders else None
    if name == "dense_rank":
        return _dense(question, kept, ranking, bounds)

    def limit() -> np.ndarray:
        """For each row, how many rows kept come before its equals, before itself, or up to its last equal."""
        if values:
            return thresholds(question, kept)[name == "cume_dist"]
        if name in ("row_number", "ntile"):
            return kept.counts_before() if ranking is None else ranking.own
        if ranking is None:
            peers = kept.bounds(PEERS)
            return peers.hi if name == "cume_dist" else peers.lo
        return ranking.stop if name == "cume_dist" else ranking.start

    def answer(choices: Sequence[Choice]) -> Answer:
        below = count_below(choices[0], ranking, bounds, limit()).astype(np.int64)
        if name in ("rank", "row_number"):
            return Numbers((below + 1).astype(np.int32))
        inside = np.zeros(len(bounds), np.bool_) if values else holds(bounds, kept.places())
        return _share(question, below, inside, bounds.sizes().astype(np.int64))

    return Asked((question.task(COUNT, bounds, ordered=ranking is not None),), answer, bounds)


def _share(question: Question, below: np.ndarray, inside: np.ndarray, sizes: np.ndarray) -> Answer:
    """A rank as a share of the frame, into which a row outside is put for the question."""
    name, some = question.function.name, sizes > 0
    total = sizes + ~inside
    if name == "percent_rank":
        return Numbers(np.where(total > 1, below / np.maximum(total - 1, 1), 0.0), some)
    if name == "cume_dist":
        return Numbers((below + ~inside) / np.maximum(total, 1), some)
    tiles = min(question.function.parameters[0], question.rows.rows + 1)  # more are empty
    least, larger = total // tiles, total % tiles  # so many tiles have one row more than the least
    edge = larger * (least + 1)
    tile = np.where(below < edge, below // (least + 1), larger + (below - edge) // np.maximum(least, 1))
    return Numbers((tile + 1).astype(np.int32), some, pa.int32())


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
