"""Merge sort tree: every level of a merge sort kept, so that any range of rows is a few sorted runs.

A run of one level is merged from ``fanout`` runs of the level below. A search at the top is carried down by pointers
(fractional cascading): every ``sampling``-th row of a run knows how many rows of each child come before it.
To count, a tree over ranks sums the runs that make up a frame. To select, a tree over the positions in rank order
descends to the k-th rank whose position lies in the frame.

Of the shapes within 80 bytes a row, fanout 16 and sampling 8 took the least time for build and queries, in all a
quarter less than the paper's 32/32 (2 million rows, frames of 500 rows and of any length, one thread); 8/8 is 5%
behind, within the noise. 16/4 is the fastest, as in the paper, by another 6%, but takes 104 bytes.

order   any frames, with holes
needs   integers from -1 up
time    fanout * log n / log fanout steps a query; n log n to build
space   per row, h = log n / log fanout levels of one integer and h - 1 of fanout / sampling pointers:
        64 bytes for 5 million rows of 32 bits
paper   framed-holistic-windows-2022, 4.2 to 4.7, 5.1, 5.2
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from sash.kernels.algorithm import COUNT, DISTINCT, SELECT, Algorithm
from sash.kernels.compiling import routine
from sash.kernels.needs import no_exclude, own_order
from sash.kernels.structures.merge_sort_build import lower_bound, merge_level
from sash.kernels.structures.ranked import Ranked
from sash.kernels.threads import shares, together
from sash.windows.bounds import Bounds

USUAL_FANOUT, USUAL_SAMPLING = 16, 8
VALUES, LEVELS, POINTERS, RUNS, STARTS, FANOUT, SAMPLING = range(7)  # the parts of a tree in a routine


class MergeSortTree:
    """The tree over an array of integers: what lies below a threshold within a range, and where the k-th is."""

    def __init__(self, values: np.ndarray, fanout: int = USUAL_FANOUT, sampling: int = USUAL_SAMPLING) -> None:
        self.values, self.fanout, self.sampling = values, fanout, sampling
        rows, runs = len(values), [1, fanout]
        while runs[-1] < rows:
            runs.append(runs[-1] * fanout)
        self.runs = np.array(runs, np.int64)  # rows a run, by level; the lowest level is the values themselves
        samples = [0, 0, *(rows // run * (run // sampling + 1) + rows % run // sampling + 1 for run in runs[2:])]
        self.starts = np.cumsum([0, *samples]) * fanout  # where each level's pointers begin
        self.levels = np.empty((len(runs) - 1) * rows, values.dtype)
        self.pointers = np.empty(int(self.starts[-1]), values.dtype)
        self._build()

    @property
    def nbytes(self) -> int:
        """What the tree takes beside the values, in bytes."""
        return self.levels.nbytes + self.pointers.nbytes

    @property
    def parts(self) -> tuple[Any, ...]:
        """What routines take."""
        return self.values, self.levels, self.pointers, self.runs, self.starts, self.fanout, self.sampling

    def count(self, lo: np.ndarray, hi: np.ndarray, threshold: np.ndarray) -> np.ndarray:
        """How many entries from lo to hi are below the threshold, for each of them."""
        return self.count_below(Bounds(lo, hi, len(self.values)), threshold)

    def count_below(self, bounds: Bounds, threshold: np.ndarray) -> np.ndarray:
        """How many entries of each frame are below the frame's threshold."""
        counted = np.empty(len(bounds), self.values.dtype)
        self._ask(count_frames, bounds, threshold, counted)
        return counted

    def select(self, bounds: Bounds, k: np.ndarray, second: bool, place: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The place of the k-th entry whose value lies in the frame, or -1, and of the next if asked for.

        The values must be a permutation; ``place`` is its inverse.
        """
        first = np.empty(len(bounds), self.values.dtype)
        after = np.empty(len(bounds) if second else 0, self.values.dtype)
        self._ask(select_frames, bounds, k, place, first, after)
        return first, after

    def _ask(self, ask: Any, bounds: Bounds, *arrays: np.ndarray) -> None:
        parts = shares(len(bounds), least=4096)
        together([partial(ask, *self.parts, *bounds.arrays, int(bounds.holes), *part, *arrays) for part in parts])

    def _build(self) -> None:
        rows, matches = len(self.values), 2 << (self.fanout - 1).bit_length()
        below = (self.values, 0)
        pointers = (np.empty(0, self.values.dtype), 0)  # none into the values
        for level in range(1, len(self.runs)):
            merge = (*below, self.levels, (level - 1) * rows, rows, int(self.runs[level]), int(self.runs[level - 1]),
                     self.sampling, *pointers)  # fmt: skip
            together([
                partial(merge_level, *merge, *part, *np.empty((2, self.fanout), np.int64), np.empty(matches, np.uint64))
                for part in shares(rows)
            ])  # fmt: skip
            below, pointers = (self.levels, (level - 1) * rows), (self.pointers, int(self.starts[level + 1]))


def select(
    ranked: Ranked,
    bounds: Bounds,
    k: np.ndarray,
    second: bool,
    fanout: int = USUAL_FANOUT,
    sampling: int = USUAL_SAMPLING,
) -> tuple[np.ndarray, np.ndarray]:
    """The rank of the k-th row of each frame by rank, or -1, and of the row after it if asked for."""
    return MergeSortTree(ranked.order, fanout, sampling).select(bounds, k, second, ranked.rank)


def count_below(
    ranked: Ranked, bounds: Bounds, threshold: np.ndarray, fanout: int = USUAL_FANOUT, sampling: int = USUAL_SAMPLING
) -> np.ndarray:
    """How many rows of each frame have a rank below the frame's threshold."""
    return MergeSortTree(ranked.rank, fanout, sampling).count_below(bounds, threshold)


def count_previous(
    previous: np.ndarray, bounds: Bounds, fanout: int = USUAL_FANOUT, sampling: int = USUAL_SAMPLING
) -> np.ndarray:
    """How many values each frame holds, where ``previous`` is each row's previous position of its value, or -1.

    Every value is counted where it first occurs: there its previous occurrence lies before the frame (4.2).
    Only for frames without holes.
    """
    return MergeSortTree(previous, fanout, sampling).count(bounds.lo, bounds.hi, bounds.lo)


@routine
def count_frames(values, levels, pointers, runs, starts, fanout, sampling, lo,  # type: ignore[no-untyped-def]
                 a, b, hi, own, holes, start, stop, threshold, out):  # fmt: skip
    """Count what is below the threshold in some frames."""
    tree = (values, levels, pointers, runs, starts, fanout, sampling)
    for i in range(start, stop):
        limit = np.int64(threshold[i])
        counted = count_between(tree, np.int64(lo[i]), np.int64(a[i]), limit)
        if holes:
            counted += count_between(tree, np.int64(b[i]), np.int64(hi[i]), limit)
            counted += len(own) > 0 and own[i] >= 0 and values[own[i]] < limit
        out[i] = counted
    return 0


@routine
def select_frames(values, levels, pointers, runs, starts, fanout, sampling, lo,  # type: ignore[no-untyped-def]
                  a, b, hi, own, holes, start, stop, k, place, first, second):  # fmt: skip
    """Find the k-th entry of some frames, and the next where ``second`` has room."""
    tree = (values, levels, pointers, runs, starts, fanout, sampling)
    for i in range(start, stop):
        first[i] = -1
        if len(second) > 0:
            second[i] = -1
        frame = (np.int64(lo[i]), np.int64(a[i]), np.int64(b[i]), np.int64(hi[i]))
        leaf = np.int64(place[own[i]]) if len(own) > 0 and own[i] >= 0 else -1
        rows = frame[1] - frame[0] + frame[3] - frame[2] + (leaf >= 0)
        if k[i] < 0 or k[i] >= rows:
            continue
        nth = kth(tree, frame, leaf, holes, np.int64(k[i]))
        first[i] = nth
        if len(second) > 0 and k[i] + 1 < rows:
            nth += 1  # the next is often near: in the same run of leaves
            end = min((nth + fanout - 1) // fanout * fanout, len(values))
            while nth < end and not (inside(values[nth], frame) or nth == leaf):
                nth += 1
            second[i] = nth if nth < end else kth(tree, frame, leaf, holes, np.int64(k[i]) + 1)
    return 0


def inside(position: Any, frame: Any) -> Any:
    """Whether one of a frame's two ranges holds a position."""
    lo, a, b, hi = frame
    return lo <= position < a or b <= position < hi


def kth(tree: Any, frame: Any, leaf: Any, holes: Any, k: Any) -> Any:
    """The place of the k-th entry that a frame holds, which has more than k (4.5); ``leaf`` is its own row's place."""
    values, runs, fanout = tree[VALUES], tree[RUNS], tree[FANOUT]
    lo, a, b, hi = frame
    level, run = len(runs) - 1, 0
    left, right, left_2, right_2 = top(tree, lo), top(tree, a), 0, 0
    if holes:
        left_2, right_2 = top(tree, b), top(tree, hi)
    while level > 1:
        node, to = node_at(tree, level, run, left), node_at(tree, level, run, right)
        node_2, to_2 = node, to
        if holes:
            node_2, to_2 = node_at(tree, level, run, left_2), node_at(tree, level, run, right_2)
        for child in range(fanout):
            left, right = down(tree, node, child, lo), down(tree, to, child, a)
            covered = right - left
            if holes:
                left_2, right_2 = down(tree, node_2, child, b), down(tree, to_2, child, hi)
                covered += right_2 - left_2 + (leaf >= 0 and leaf // runs[level - 1] == run * fanout + child)
            if k < covered:
                break
            k -= covered
        run = run * fanout + child
        level -= 1
    at = run * fanout
    while True:
        if inside(values[at], frame) or at == leaf:
            if k == 0:
                return at
            k -= 1
        at += 1


def count_between(tree: Any, lo: Any, hi: Any, threshold: Any) -> Any:
    """How many entries from lo to hi are below a threshold: the runs between, and two paths down (4.2)."""
    values, runs, fanout = tree[VALUES], tree[RUNS], tree[FANOUT]
    if lo >= hi:
        return 0
    level, run = len(runs) - 1, 0
    at = top(tree, threshold)
    while level > 1:
        if lo == run * runs[level] and hi == min(lo + runs[level], len(values)):
            return at
        left, right = lo // runs[level - 1] - run * fanout, (hi - 1) // runs[level - 1] - run * fanout
        node = node_at(tree, level, run, at)
        below = down(tree, node, left, threshold)
        if left != right:
            total = children(tree, node, left + 1, right, at, threshold)
            total += below - prefix(tree, level - 1, run * fanout + left, below, lo, threshold)
            below = down(tree, node, right, threshold)
            return total + prefix(tree, level - 1, run * fanout + right, below, hi, threshold)
        at = below
        run = run * fanout + left
        level -= 1
    return leaves_below(values, lo, hi, threshold)


def prefix(tree: Any, level: Any, run: Any, at: Any, hi: Any, threshold: Any) -> Any:
    """How many entries of a run, from its start to hi, are below a threshold; ``at`` is how many of all of it."""
    values, runs, fanout = tree[VALUES], tree[RUNS], tree[FANOUT]
    if hi == run * runs[level]:
        return 0
    total = 0
    while hi < min((run + 1) * runs[level], len(values)):
        if level == 1:
            return total + leaves_below(values, run * fanout, hi, threshold)
        node = node_at(tree, level, run, at)
        child = (hi - 1) // runs[level - 1] - run * fanout
        total += children(tree, node, 0, child, at, threshold)
        at = down(tree, node, child, threshold)
        run = run * fanout + child
        level -= 1
    return total + at


def children(tree: Any, node: Any, first: Any, last: Any, at: Any, threshold: Any) -> Any:
    """How many entries of some children of a run are below a threshold; summed over the others if they are fewer."""
    fanout = tree[FANOUT]
    chosen = last - first
    others = 2 * chosen > fanout
    total = 0
    for i in range(fanout - chosen if others else chosen):
        child = i + first
        if others:
            child = i + chosen if i >= first else i
        total += down(tree, node, child, threshold)
    return at - total if others else total


def top(tree: Any, threshold: Any) -> Any:
    """How many entries of all are below a threshold: a binary search, but for a permutation it is the threshold."""
    values, levels, runs = tree[VALUES], tree[LEVELS], tree[RUNS]
    rows = len(values)
    at = (len(runs) - 2) * rows
    guess = min(max(threshold, 0), rows)
    if (guess == rows or levels[at + guess] >= threshold) and (guess == 0 or levels[at + guess - 1] < threshold):
        return guess
    return lower_bound(levels, at, 0, rows, threshold)


def node_at(tree: Any, level: Any, run: Any, at: Any) -> Any:
    """What all children of a run share once ``at`` of its entries are known to be below a threshold.

    The pointers of the sample before, how many entries came since, whether there is a sample after, and where
    the children lie in the level below, and how long they are.
    """
    values, runs, starts, fanout, sampling = tree[VALUES], tree[RUNS], tree[STARTS], tree[FANOUT], tree[SAMPLING]
    rows, length = len(values), runs[level]
    sample = at // sampling
    samples = length // sampling + 1
    more = (sample + 1) * sampling <= min(length, rows - run * length)
    child = runs[level - 1]
    return (
        starts[level] + (run * samples + sample) * fanout,
        at - sample * sampling,
        more,
        (level - 2) * rows + run * length,
        child,
        rows - run * length,
    )


def down(tree: Any, node: Any, child: Any, threshold: Any) -> Any:
    """How many entries of a child are below a threshold (fractional cascading)."""
    levels, pointers, fanout = tree[LEVELS], tree[POINTERS], tree[FANOUT]
    row, since, more, base, length, rows = node
    low = np.int64(pointers[np.uint64(row + child)])
    if since == 0:
        return low
    high = min(low + since, min(length, max(rows - child * length, 0)))
    if more:
        high = min(high, np.int64(pointers[np.uint64(row + fanout + child)]))
    return lower_bound(levels, base + child * length, low, high, threshold)


def leaves_below(values: Any, lo: Any, hi: Any, threshold: Any) -> Any:
    """How many of a few entries are below a threshold."""
    total = 0
    for i in range(lo, hi):
        total += values[i] < threshold
    return total


SELECTING = Algorithm(
    name="merge_sort_tree",
    operation=SELECT,
    words="a descent through a merge sort tree",
    cost=lambda task: 100.0 + 60.0 * task.levels,
    run=select,
    needs=(own_order,),
)
COUNTING = Algorithm(
    name="merge_sort_tree",
    operation=COUNT,
    words="a descent through a merge sort tree",
    cost=lambda task: 100.0 + 80.0 * task.levels,
    run=count_below,
    needs=(own_order,),
)
DISTINCT_COUNTING = Algorithm(
    name="merge_sort_tree",
    operation=DISTINCT,
    words="previous occurrences counted in a merge sort tree",
    cost=lambda task: 100.0 + 70.0 * task.levels,
    run=lambda values, bounds: count_previous(values.previous, bounds),
    needs=(no_exclude,),
)
