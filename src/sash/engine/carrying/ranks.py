"""Ranks in the window's order: how many rows, and groups of peers, come before; of a piece, and of all of them."""

from __future__ import annotations

import numpy as np

from sash.algebra.window_function import EQUALS, ITSELF, VALUES
from sash.engine.answering.asking import Question
from sash.engine.answering.ranks import PEERS, lowered
from sash.engine.placing import Numbers


class Counted:
    """The rows of a filter: for each edge between positions, how many of them are before it; and of their groups."""

    def __init__(self, question: Question) -> None:
        self.question, self.rows = question, question.rows
        self.selection = question.selection()
        before = self.selection.before
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
        if self.question.function.counts == VALUES:
            groups = self.groups()
            counts[:, 1] = groups[stops] - groups[starts]
        return counts

    def answers(self, ahead: np.ndarray, behind: np.ndarray) -> Numbers:
        """The rank of each row, given how many rows and groups are before and after each segment."""
        function, rows = self.question.function, self.rows
        starts, lengths = rows.segments[:-1], np.diff(rows.segments)
        if function.counts == VALUES:
            groups = self.groups()
            return lowered(function, groups[rows.peers()] + np.repeat(ahead[:, 1] - groups[starts], lengths))
        below = self._below(function.counts) + np.repeat(ahead[:, 0] - self.before[starts], lengths)
        if function.lower is None:
            return lowered(function, below)
        sizes = np.repeat(ahead[:, 0] + behind[:, 0] + self.before[rows.segments[1:]] - self.before[starts], lengths)
        outside = np.zeros(rows.rows, np.bool_) if self.selection.mask is None else ~self.selection.mask
        return lowered(function, below, sizes, outside)

    def _below(self, counts: str) -> np.ndarray:
        if counts == ITSELF:
            return self.before[:-1]
        peers = self.selection.bounds(PEERS)
        return (peers.hi if counts == EQUALS else peers.lo).astype(np.int64)
