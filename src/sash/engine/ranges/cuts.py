"""Cuts: where pieces begin among all rows, and from where to where each needs rows of its neighbours.

An edge is a key of which only so many leading columns count. It compares with a row by these, one after the other
and each in its own direction; an edge of no columns equals every row. Rows equal in all keys are in one piece.

    own    the number of low edges, but the first, that are not above the row
    last   the number of begin edges, but the first, that are not above the row
    first  the number of stop edges, but the last, that are below the row; or equal it, unless inclusive

The row is its own piece's, and the pieces from first to last need it.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from sash.engine.encoding import combined
from sash.engine.ranges.reach import Reach, Side
from sash.engine.ranges.sampling import Sample
from sash.engine.ranges.shifting import shifted
from sash.engine.ranges.sort_keys import KeyOrder, edge_words, words
from sash.errors import SashError

NEAR = 8  # sampled keys looked at to each side of where an equal share of the rows ends
UNEVEN = 0.1  # of a share by which a piece may be larger, to need fewer rows of others


@dataclass(frozen=True)
class PieceEdges:
    """One edge for each piece; ``counts`` says how many leading columns of ``keys`` count."""

    keys: pa.Table
    counts: np.ndarray


@dataclass(frozen=True)
class Cuts:
    """The edges of all pieces; each list never falls. Small, and can be sent to workers."""

    order: KeyOrder
    low: PieceEdges
    begin: PieceEdges
    stop: PieceEdges
    inclusive: bool  # whether a row that equals a stop is needed
    before: np.ndarray  # promised to each piece
    after: np.ndarray

    @property
    def pieces(self) -> int:
        """How many pieces there are."""
        return len(self.low.counts)

    def promised(self, piece: int) -> tuple[int, int]:
        """How many rows before and after its own a piece surely gets, unless the data change; 0 says nothing."""
        return int(self.before[piece]), int(self.after[piece])


def cut(sample: Sample, pieces: int, reach: Reach) -> Cuts:
    """Cut rows into at most so many about equal pieces.

    Where frames reach everything to a side, only the rows that are not in the frames of all rows of a piece are
    among those that it needs: the caller carries the others over.
    """
    if pieces < 1:
        raise SashError(f"pieces must be at least 1, got {pieces}")
    if reach.before.unknown or reach.after.unknown:
        raise SashError("rows cannot be cut into pieces where a bound of a frame is a column, as its reach is unknown")
    at = _places(sample, pieces, reach)
    low = _Halo(sample, at, Side(), before=True)
    begin = _Halo(sample, at, reach.before, before=True)
    stop = _Halo(sample, at, reach.after, before=False)
    return Cuts(
        sample.order,
        low.edges,
        begin.edges,
        stop.edges,
        reach.after.has_halo,
        np.append(0, begin.promised),
        np.append(stop.promised, 0),
    )


def _places(sample: Sample, pieces: int, reach: Reach) -> np.ndarray:
    """The numbers of the keys at which pieces but the first begin, those nearest to equal shares of the rows.

    Of keys about as near, the one whose neighbours need the fewest rows of each other.
    """
    if len(sample) < 2:
        return np.zeros(0, np.int64)
    wanted = sample.total * np.arange(1, pieces) / pieces
    places = np.clip(np.searchsorted(sample.before, wanted), 1, len(sample) - 1)
    around = np.arange(-NEAR, NEAR) if reach.before.rows or reach.after.rows else np.arange(-1, 1)
    keys = np.clip(places[:, None] + around, 1, len(sample) - 1)
    away = np.abs(sample.before[keys] - wanted[:, None])
    if len(around) == 2:
        return np.unique(keys[np.arange(pieces - 1), away.argmin(axis=1)])
    cost = np.array([[_shared(sample, int(key), reach) for key in row] for row in keys]).reshape(keys.shape)
    near = away <= np.maximum(away.min(axis=1, keepdims=True), UNEVEN * sample.total / pieces)
    chosen = np.where(near, cost + away / sample.total, np.inf).argmin(axis=1)
    return np.unique(keys[np.arange(pieces - 1), chosen])


def _shared(sample: Sample, key: int, reach: Reach) -> int:
    """About how many rows around the key at which a piece begins it and the one before both need."""
    cost = 0
    if reach.before.rows:
        start = sample.enough_before(key, reach.before.rows)
        cost += sample.estimate(int(sample.partition_start[key]) if start < 0 else start, key)
    if reach.after.rows:
        stop = sample.enough_after(key, reach.after.rows)
        cost += sample.estimate(key, int(sample.partition_stop[key]) if stop < 0 else stop + 1)
    return cost


class _Halo:
    """The edges that pieces reach to one side of the keys at which they begin: the farthest of all that ask."""

    def __init__(self, sample: Sample, at: np.ndarray, side: Side, before: bool) -> None:
        self.sample, self.at, self.before = sample, at, before
        self.order = sample.order
        self.promised = np.zeros(len(at), np.int64)
        self.tables: list[pa.Table] = []
        self.counts: list[np.ndarray] = []
        self._ask(at, np.full(len(at), len(self.order)))
        if side.rows:
            enough = sample.enough_before if before else sample.enough_after
            self._count(np.array([enough(int(key), side.rows) for key in at], np.int64), side.rows)
        if side.groups:
            self._count(self._groups(side.groups), side.groups)
        for offset in side.ranges:
            self._shift(offset)
        self.edges = self._farthest()

    def _ask(self, keys: np.ndarray, counts: np.ndarray) -> None:
        self.tables.append(self.sample.keys.take(pa.array(keys)))
        self.counts.append(counts)

    def _count(self, reached: np.ndarray, rows: int) -> None:
        """Reach to keys found, or where there are none to the edge of the partition."""
        self._ask(np.where(reached < 0, self.at, reached), np.where(reached < 0, self.order.partition, len(self.order)))
        self.promised = np.maximum(self.promised, np.where(reached < 0, 0, rows))

    def _groups(self, groups: int) -> np.ndarray:
        if self.before:
            reached = self.at - groups
            return np.where(reached < self.sample.partition_start[self.at], -1, reached)
        reached = self.at + groups - 1
        return np.where(reached >= self.sample.partition_stop[self.at], -1, reached)

    def _shift(self, offset: object) -> None:
        place = self.order.partition
        keys = self.sample.keys.take(pa.array(self.at)).combine_chunks()
        column = keys.column(place).combine_chunks()
        moved, beyond = shifted(column, offset, self.order.descending[place], self.before)
        self.tables.append(keys.set_column(place, keys.column_names[place], moved))
        self.counts.append(np.where(beyond, place, len(self.order)))

    def _farthest(self) -> PieceEdges:
        """The farthest for each piece; never less far than for a piece beyond, so that edges never fall."""
        pool, counts = pa.concat_tables(self.tables), np.concatenate(self.counts)
        ranks = self._ranks(counts).reshape(len(self.tables), len(self.at))
        if self.before:
            best = np.minimum.accumulate(ranks.min(axis=0)[::-1])[::-1]
        else:
            best = np.maximum.accumulate(ranks.max(axis=0))
        values, places = np.unique(ranks, return_index=True)
        chosen = places[np.searchsorted(values, best)].tolist()
        none = [None]  # the outermost edge is not compared
        taken = none + chosen if self.before else chosen + none
        count = [0 if place is None else int(counts[place]) for place in taken]
        return PieceEdges(pool.take(pa.array(taken, pa.int64())).combine_chunks(), np.array(count, np.int32))

    def _ranks(self, counts: np.ndarray) -> np.ndarray:
        """The edges in order; one of fewer columns is farther than all keys, those that nobody sampled too."""
        edges = []
        for word in words(self.tables, self.order):
            edges.append(((word.column < counts) == self.before).astype(np.uint64))
            edges.append(edge_words(word, counts, above=not self.before))
        return combined(edges)
