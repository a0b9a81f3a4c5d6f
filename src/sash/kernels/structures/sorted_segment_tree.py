"""Sorted segment tree: a binary tree whose nodes hold their rows as sorted lists; a comparator.

A frame is made up of at most two nodes a level, and each is asked by a binary search of its own: nothing found in one
list helps in the next. To select, the tree is built over the positions in rank order, and a descent searches the
frame's bounds in every left child it passes.

order   any frames, with holes
needs   integers
time    log^2 n a query; n log n to build
space   log2 n + 1 integers a row: 96 bytes for 5 million rows
paper   framed-holistic-windows-2022, 3.2 and Table 1 (its references 1 and 27)
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from sash.kernels.algorithm import COUNT, SELECT, Algorithm
from sash.kernels.compiling import routine
from sash.kernels.needs import own_order
from sash.kernels.structures.merge_sort_build import lower_bound
from sash.kernels.structures.ranked import Ranked
from sash.kernels.threads import shares, together
from sash.windows.bounds import Bounds


class SortedSegmentTree:
    """The tree over an array of integers: what lies below a threshold within a range, and where the k-th is."""

    def __init__(self, values: np.ndarray) -> None:
        rows = len(values)
        self.levels = np.empty((max(rows - 1, 0).bit_length() + 1) * rows, values.dtype)  # the values, pairs, fours, …
        self.levels[:rows] = values
        self.rows = rows
        for level in range(1, len(self.levels) // max(rows, 1)):
            nodes = shares((rows >> level) + 1, least=max((1 << 16) >> level, 1))
            together([partial(merge_pairs, self.levels, rows, level, *part) for part in nodes])

    @property
    def nbytes(self) -> int:
        """What the tree takes, in bytes."""
        return self.levels.nbytes

    def count_below(self, bounds: Bounds, threshold: np.ndarray) -> np.ndarray:
        """How many entries of each frame are below the frame's threshold."""
        counted = np.empty(len(bounds), self.levels.dtype)
        self._ask(count_frames, bounds, threshold, counted)
        return counted

    def select(self, bounds: Bounds, k: np.ndarray, second: bool) -> tuple[np.ndarray, np.ndarray]:
        """The place of the k-th entry whose value lies in the frame, or -1, and of the next if asked for."""
        first = np.empty(len(bounds), self.levels.dtype)
        self._ask(select_frames, bounds, k, 0, first)
        if not second:
            return first, np.empty(0, self.levels.dtype)
        after = np.empty_like(first)
        self._ask(select_frames, bounds, k, 1, after)
        return first, after

    def _ask(self, ask: Any, bounds: Bounds, *arguments: Any) -> None:
        parts = shares(len(bounds), least=4096)
        together([partial(ask, self.levels, self.rows, *bounds.arrays, *part, *arguments) for part in parts])


def select(ranked: Ranked, bounds: Bounds, k: np.ndarray, second: bool) -> tuple[np.ndarray, np.ndarray]:
    """The rank of the k-th row of each frame by rank, or -1, and of the row after it if asked for."""
    return SortedSegmentTree(ranked.order).select(bounds, k, second)


def count_below(ranked: Ranked, bounds: Bounds, threshold: np.ndarray) -> np.ndarray:
    """How many rows of each frame have a rank below the frame's threshold."""
    return SortedSegmentTree(ranked.rank).count_below(bounds, threshold)


@routine
def merge_pairs(levels, rows, level, start, stop):  # type: ignore[no-untyped-def]
    """Merge pairs of nodes of the level below into some nodes of a level."""
    below, at = (level - 1) * rows, level * rows
    for node in range(start, stop):
        left, end = node << level, min((node + 1) << level, rows)
        middle = min(left + (1 << (level - 1)), rows)
        right = middle
        for i in range(left, end):
            if right >= end or (left < middle and levels[below + left] <= levels[below + right]):
                levels[at + i] = levels[below + left]
                left += 1
            else:
                levels[at + i] = levels[below + right]
                right += 1
    return 0


@routine
def count_frames(levels, rows, lo, a, b, hi, own, start, stop, threshold, out):  # type: ignore[no-untyped-def]
    """Count what is below the threshold in some frames."""
    for i in range(start, stop):
        counted = count_between(levels, rows, np.int64(lo[i]), np.int64(a[i]), threshold[i])
        counted += count_between(levels, rows, np.int64(b[i]), np.int64(hi[i]), threshold[i])
        if len(own) > 0 and own[i] >= 0:
            counted += levels[own[i]] < threshold[i]
        out[i] = counted
    return 0


@routine
def select_frames(levels, rows, lo, a, b, hi, own, start, stop, k, further, out):  # type: ignore[no-untyped-def]
    """Find the k-th entry of some frames, or the one so much further; -1 where there is no k-th."""
    for i in range(start, stop):
        mine = np.int64(own[i]) if len(own) > 0 else -1
        wanted = np.int64(k[i]) + further
        out[i] = -1
        if k[i] < 0 or wanted >= (a[i] - lo[i]) + (hi[i] - b[i]) + (mine >= 0):
            continue
        place = 0
        for level in range(len(levels) // rows - 2, -1, -1):  # the top node holds it; which half does?
            at = level * rows + place
            length = max(min(1 << level, rows - place), 0)
            inside = within(levels, at, length, lo[i], a[i]) + within(levels, at, length, b[i], hi[i])
            if mine >= 0:
                inside += within(levels, at, length, mine, mine + 1)
            if wanted >= inside:
                wanted -= inside
                place += 1 << level
        out[i] = place
    return 0


def count_between(levels: Any, rows: Any, lo: Any, hi: Any, threshold: Any) -> Any:
    """How many entries from lo to hi are below a threshold, by the nodes that make up the range, from the bottom."""
    total, level = np.int64(0), 0
    while lo < hi:
        size = 1 << level
        if lo & size:
            total += lower_bound(levels, level * rows + lo, np.int64(0), np.int64(size), threshold)
            lo += size
        if hi & size:
            hi -= size
            total += lower_bound(levels, level * rows + hi, np.int64(0), np.int64(size), threshold)
        level += 1
    return total


def within(levels: Any, at: Any, length: Any, low: Any, high: Any) -> Any:
    """How many entries of a node lie in a range of values."""
    if low >= high:
        return np.int64(0)
    first = lower_bound(levels, at, np.int64(0), np.int64(length), low)
    return lower_bound(levels, at, first, np.int64(length), high) - first


SELECTING = Algorithm(
    name="sorted_segment_tree",
    operation=SELECT,
    words="a tree of sorted lists",
    cost=lambda task: 200.0 + 20.0 * task.levels**2,
    run=select,
    needs=(own_order,),
    offered=False,
)
COUNTING = Algorithm(
    name="sorted_segment_tree",
    operation=COUNT,
    words="a tree of sorted lists",
    cost=lambda task: 200.0 + 20.0 * task.levels**2,
    run=count_below,
    needs=(own_order,),
    offered=False,
)
