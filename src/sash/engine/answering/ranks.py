"""Rank functions: the place of a row, or of values given, among the rows of its frame."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sash.engine.answering.asking import Asked, Question, as_named
from sash.engine.answering.hypothetical import thresholds
from sash.engine.answering.searching import count_below
from sash.engine.placing import Answer, Numbers
from sash.engine.sorted_rows import Kept, Ranking
from sash.errors import SashError
from sash.kernels.index.window_order import holds
from sash.planner.algorithms import COUNT, DENSE
from sash.windows.bounds import Bounds
from sash.windows.frame import WHOLE_PARTITION


@dataclass(frozen=True)
class Ends:
    """For each row, how many rows kept come before its equals, before itself, and up to its last equal."""

    start: np.ndarray
    own: np.ndarray
    stop: np.ndarray


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

    def ends() -> Ends:
        if ranking is None:
            return _in_window_order(kept)
        if values:
            start, stop = thresholds(question, ranking, kept)
            return Ends(start, start, stop)
        return Ends(ranking.start, ranking.own, ranking.stop)

    def answer(names: Sequence[str]) -> Answer:
        found = ends()
        limit = {"rank": found.start, "percent_rank": found.start, "cume_dist": found.stop}.get(name, found.own)
        below = count_below(ranking, bounds, limit, names[0]).astype(np.int64)
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


def _in_window_order(kept: Kept) -> Ends:
    """In the window's own order ranks are positions."""
    peers = kept.of.peers()
    stops = kept.of.once("peer stops", lambda: _stops(peers))
    everywhere = np.arange(kept.of.rows, dtype=kept.of.dtype)
    if kept.before is None:
        return Ends(peers, everywhere, stops)
    return Ends(kept.before[peers], kept.before[:-1], kept.before[stops])


def _stops(peers: np.ndarray) -> np.ndarray:
    """One past the last peer of each position."""
    starts = np.flatnonzero(np.append(True, peers[1:] != peers[:-1])) if len(peers) else peers
    lengths = np.diff(np.append(starts, len(peers)))
    return np.repeat(starts + lengths, lengths).astype(peers.dtype)


def _dense(question: Question, kept: Kept, ranking: Ranking | None, bounds: Bounds) -> Asked:
    """dense_rank: one more than the number of different values before."""
    rows = question.rows
    if ranking is None:
        ranking = rows.ranking(rows.order, kept)

    def answer(names: Sequence[str]) -> Answer:
        from sash.kernels.index.dense_rank import dense_rank

        start = thresholds(question, ranking, kept)[0] if question.columns else ranking.start
        codes = ranking.codes
        asked = as_named(bounds, names[0])
        found = dense_rank(codes.codes, codes.previous, codes.following, asked, codes.heads[start])
        return Numbers(found.astype(np.int32))

    return Asked((question.task(DENSE, bounds),), answer, bounds)
