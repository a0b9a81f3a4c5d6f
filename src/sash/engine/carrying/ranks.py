"""Ranks in the window's order: how many rows, and groups of peers, come before; of a piece, and of all of them."""

from __future__ import annotations

import numpy as np

from sash.engine.answering.asking import Question
from sash.engine.answering.ranks import PEERS
from sash.engine.placing import Numbers

LARGEST = (1 << 62) - 1


class Counted:
    """The rows of a filter: for each edge between positions, how many of them are before it; and of their groups."""

    def __init__(self, question: Question) -> None:
        self.question, self.rows = question, question.rows
        self.kept = question.kept()
        before = self.kept.before
        self.before = np.arange(self.rows.rows + 1) if before is None else before.astype(np.int64)

    def groups(self) -> np.ndarray:
        """How many groups of peers that have a row start before each edge."""
        peers = self.rows.peers()
        heads = np.flatnonzero(peers == np.arange(len(peers)))
        stops = np.append(heads[1:], len(peers)) if len(heads) else heads
        count = np.zeros(len(peers) + 1, np.int64)
        count[heads + 1] = self.before[stops] > self.before[heads]
        return np.cumsum(count)

    def within(self, starts: np.ndarray, stops: np.ndarray) -> np.ndarray:
        """How many rows, and groups of peers, are between edges: a record for each pair."""
        counts = np.zeros((len(starts), 2), np.int64)
        counts[:, 0] = self.before[stops] - self.before[starts]
        if self.question.function.name == "dense_rank":
            groups = self.groups()
            counts[:, 1] = groups[stops] - groups[starts]
        return counts

    def answers(self, ahead: np.ndarray, behind: np.ndarray) -> Numbers:
        """The rank of each row, given how many rows and groups are before and after each segment."""
        name, rows = self.question.function.name, self.rows
        starts, lengths = rows.segments[:-1], np.diff(rows.segments)
        if name == "dense_rank":
            groups = self.groups()
            found = groups[rows.peers()] + np.repeat(ahead[:, 1] - groups[starts], lengths)
            return Numbers((found + 1).astype(np.int32))
        below = self._below(name) + np.repeat(ahead[:, 0] - self.before[starts], lengths)
        if name in ("rank", "row_number"):
            return Numbers((below + 1).astype(np.int32))
        sizes = np.repeat(ahead[:, 0] + behind[:, 0] + self.before[rows.segments[1:]] - self.before[starts], lengths)
        inside = np.ones(rows.rows, np.bool_) if self.kept.mask is None else self.kept.mask
        return self._share(name, below, inside, sizes)

    def _below(self, name: str) -> np.ndarray:
        if name in ("row_number", "ntile"):
            return self.before[:-1]
        peers = self.kept.bounds(PEERS)
        return (peers.hi if name == "cume_dist" else peers.lo).astype(np.int64)

    def _share(self, name: str, below: np.ndarray, inside: np.ndarray, sizes: np.ndarray) -> Numbers:
        """A rank as a share of the partition, into which a row that the filter left out is put for the question."""
        some, total = sizes > 0, sizes + ~inside
        if name == "percent_rank":
            return Numbers(np.where(total > 1, below / np.maximum(total - 1, 1), 0.0), some)
        if name == "cume_dist":
            return Numbers((below + ~inside) / np.maximum(total, 1), some)
        tiles = min(self.question.function.parameters[0], LARGEST)
        least, larger = total // tiles, total % tiles  # so many tiles have one row more than the least
        edge = larger * (least + 1)
        tile = np.where(below < edge, below // (least + 1), larger + (below - edge) // np.maximum(least, 1))
        return Numbers((tile + 1).astype(np.int32), some)
