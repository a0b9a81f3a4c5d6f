"""Sorted rows, some of them left out: by a filter, or since their value is NULL."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

from sash.engine.frame_bounds import FrameBounds, edges_among, remapped, selected_before
from sash.engine.memo import Memo
from sash.kernels.algorithm import Occurrences
from sash.kernels.coordinates import Indices, Positions, Ranks
from sash.kernels.operations.window_order import looked_up
from sash.kernels.structures.ranked import Ranked
from sash.windows.bounds import Bounds


class Framing(Protocol):
    """Sorted rows, as far as a selection of them needs to know."""

    rows: int
    dtype: np.dtype[Any]
    segments: np.ndarray

    def framed(self, frame: Any) -> FrameBounds:
        """The frames of all rows."""


class Remaining(NamedTuple):
    """Which rows are left: the key of a condition, and those of the columns that must not be NULL."""

    condition: Any
    known: tuple[Any, ...]


class Selection:
    """The positions that are left, numbered anew by an index; all of them where there is no mask."""

    def __init__(self, rows: Framing, mask: np.ndarray | None, key: Remaining) -> None:
        self.of, self.mask, self.key = rows, mask, key
        self._bounds: Memo[Any, Bounds] = Memo()
        if mask is None:
            self.before: np.ndarray | None = None
            self.positions: Positions | None = None  # of each index
            self.length, self.segments = rows.rows, rows.segments
        else:
            self.before = selected_before(mask)
            self.positions = Positions(np.flatnonzero(mask).astype(rows.dtype))
            self.length = len(self.positions)
            self.segments = np.append(np.unique(self.before[rows.segments[:-1]]), self.length).astype(np.int64)
            if len(self.segments) > 1 and self.segments[-2] == self.length:
                self.segments = self.segments[:-1]

    def only(self, values: np.ndarray) -> np.ndarray:
        """Those of values by position that are left, by index."""
        return values if self.positions is None else values[self.positions]

    def positions_of(self, indices: Indices) -> Positions:
        """The positions of indices; -1 stays."""
        return Positions(indices if self.positions is None else looked_up(self.positions, indices))

    def indices(self) -> Indices:
        """The index of each position; -1 for one left out."""
        before = self.counts_before()
        return Indices(before if self.mask is None else np.where(self.mask, before, self.of.dtype.type(-1)))

    def counts_before(self) -> np.ndarray:
        """How many of the positions left come before each position."""
        return np.arange(self.of.rows, dtype=self.of.dtype) if self.before is None else self.before[:-1]

    def bounds(self, frame: Any) -> Bounds:
        """The frames of all rows, over the indices of those left."""
        framed = self.of.framed(frame)
        if self.before is None:
            return framed.bounds
        before = self.before
        return self._bounds.once(frame.key, lambda: remapped(framed.bounds, before))

    def groups(self, frame: Any) -> tuple[np.ndarray, np.ndarray] | None:
        """What EXCLUDE takes out around each row, over the indices of those left, whether in the frame or not."""
        framed = self.of.framed(frame)
        if framed.groups is None or self.before is None:
            return framed.groups
        start, stop = framed.groups
        return edges_among(start, self.before), edges_among(stop, self.before)


class Ranking:
    """The rows of a selection, ranked by an order of their own; and for every row, in it or not, where it would be.

    ``own`` is for each row how many rows of the selection have a smaller rank than itself.
    """

    def __init__(self, ranked: Ranked, equals: Callable[[bool], np.ndarray], selection: Selection) -> None:
        self.equals, self.own, self.ranked = equals, ranked.rank, ranked
        self.selection, self.below = selection, None
        if selection.mask is not None and selection.before is not None:
            by_rank = selection.mask[ranked.order]
            self.below = np.zeros(len(ranked) + 1, ranked.rank.dtype)
            np.cumsum(by_rank, out=self.below[1:])
            self.own = self.below[ranked.rank]
            order = selection.before[ranked.order[by_rank]]
            rank = np.empty_like(order)
            rank[order] = np.arange(len(order), dtype=order.dtype)
            self.ranked = Ranked(order, rank, selection.segments)

    def indices_of(self, ranks: Ranks) -> Indices:
        """The indices of ranks; -1 stays."""
        return Indices(looked_up(self.ranked.order, ranks))

    @cached_property
    def start(self) -> np.ndarray:
        """How many rows of the selection come before the first equal of each row."""
        start = self.equals(False)
        return start if self.below is None else self.below[start]

    @cached_property
    def stop(self) -> np.ndarray:
        """How many rows of the selection come before the row after the last equal of each row."""
        stop = self.equals(True)
        return stop if self.below is None else self.below[stop]

    @cached_property
    def codes(self) -> Codes:
        """The rows of the selection, numbered by value: equal ones alike."""
        order = self.ranked.order
        group = self.selection.only(self.equals(False))[order]  # the same for rows that are equal
        head = np.ones(len(order), np.bool_)
        head[1:] = group[1:] != group[:-1]
        heads = np.zeros(len(order) + 1, order.dtype)
        np.cumsum(head, out=heads[1:])
        codes = np.empty_like(order)
        codes[order] = heads[1:] - 1
        previous, following = np.full_like(order, -1), np.full_like(order, len(order))
        again = np.flatnonzero(~head)  # equal rows are ranked by position
        previous[order[again]] = order[again - 1]
        following[order[again - 1]] = order[again]
        return Codes(codes, previous, following, heads, Indices(order[head]), int(heads[-1]))


class Codes(NamedTuple):
    """Occurrences as numbers in their order, and where each occurs before and after, by index.

    ``heads`` is for each rank how many different values have a smaller one, ``firsts`` the first index of each code.
    """

    codes: np.ndarray
    previous: np.ndarray
    following: np.ndarray
    heads: np.ndarray
    firsts: Indices
    distinct: int

    @property
    def values(self) -> Occurrences:
        """Where each occurs."""
        return Occurrences(self.previous, self.following, lambda: (self.codes, self.distinct))
