"""Rank bitset: the ranks of a frame's rows, live in a bitset while the frame slides over them.

A row that enters or leaves a frame flips the bit of its rank. A cursor stays at the word of the last answer
and knows how many live ranks lie before it, so that a quantile that moves little finds the next answer
there; else the counts of the bitset lead to it.

needs   bounds that move forward; EXCLUDE makes two sliding pieces of a frame, and own comes and goes
time    constant a row for any k, amortised: up to 2 changes (4 with EXCLUDE, 6 with own) and one search
space   n / 6 bytes a thread
paper   none; it does what incremental and order statistic trees do (framed-holistic-windows-2022, 3.2)
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from sash.kernels.algorithm import COUNT, SELECT, Algorithm
from sash.kernels.compiling import popcount, routine, trailing_zeros
from sash.kernels.needs import forward, own_order
from sash.kernels.recycling import empty
from sash.kernels.structures.bitset_counts import ADD, BITS, ONE, REMOVE, below, change, empty_bitset, nth_bit, nth_live
from sash.kernels.structures.ranked import Ranked
from sash.kernels.threads import shares, together
from sash.windows.bounds import Bounds

FEW = 4  # rows of a hole, on average, that are cheaper looked at than slid over


def select(ranked: Ranked, bounds: Bounds, k: np.ndarray, second: bool) -> tuple[np.ndarray, np.ndarray]:
    """The rank of each frame's k-th row by rank, from 0, or -1 where it has none; and that of the one after it.

    The second array is empty unless asked for.
    """
    first = empty(len(bounds), ranked.rank.dtype)
    after = empty(len(bounds) if second else 0, ranked.rank.dtype)
    together(
        partial(_select, ranked.rank, *bounds.arrays, k, r0, r1, int(second), empty_bitset(len(ranked)), first, after)
        for r0, r1 in shares(len(bounds))
    )
    return first, after


def count_below(ranked: Ranked, bounds: Bounds, threshold: np.ndarray) -> np.ndarray:
    """How many rows of each frame have a rank below its threshold."""
    counts = np.zeros(len(bounds), ranked.rank.dtype)
    lo, a, b, hi, own = bounds.arrays
    parts = shares(len(bounds))

    def slide(first: np.ndarray, stop: np.ndarray, sign: int) -> None:
        together(
            partial(_count_below, ranked.rank, first, stop, threshold, r0, r1, sign, empty_bitset(len(ranked)), counts)
            for r0, r1 in parts
        )

    slide(lo, hi, 1)
    if bounds.holes:
        many = np.sum(b - a, dtype=np.int64) > FEW * len(bounds)
        if many:
            slide(a, b, -1)
        together(
            partial(_look_into_holes, ranked.rank, a, b, own, threshold, r0, r1, int(many), counts) for r0, r1 in parts
        )
    return counts


@routine
def _select(rank, lo, a, b, hi, own, k, r0, r1, second, live, selected, after):  # type: ignore[no-untyped-def]
    """Slide over frames r0 to r1, whose pieces are [first, middle) and [rest, stop)."""
    if r0 >= r1:
        return 0
    first, middle, rest, stop = lo[r0], lo[r0], b[r0], b[r0]
    word, before = np.uint64(0), np.int64(0)  # the cursor: a word of the bitset, and the live ranks before it
    for i in range(r0, r1):
        for x in range(first, min(middle, lo[i])):
            before -= turn(live, rank[np.uint64(x)], REMOVE, word)
        for x in range(rest, min(stop, b[i])):
            before -= turn(live, rank[np.uint64(x)], REMOVE, word)
        for x in range(max(middle, lo[i]), a[i]):
            before += turn(live, rank[np.uint64(x)], ADD, word)
        for x in range(max(stop, b[i]), hi[i]):
            before += turn(live, rank[np.uint64(x)], ADD, word)
        first, middle, rest, stop = lo[i], a[i], b[i], hi[i]
        size = np.int64(middle - first) + np.int64(stop - rest)
        alone = np.int64(own[i]) if len(own) else np.int64(-1)
        if alone >= 0:
            before += turn(live, rank[np.uint64(alone)], ADD, word)
            size += 1

        answer, following, sought = np.int64(-1), np.int64(-1), np.int64(k[i])
        if 0 <= sought < size:
            bits, inside = live[live[BITS] + word], sought - before
            if 0 <= inside < popcount(bits):
                answer = np.int64(word << np.uint64(6)) + nth_bit(bits, inside)
            else:
                answer = nth_live(live, sought)
                word = np.uint64(answer) >> np.uint64(6)
                bits = live[live[BITS] + word]
                before = sought - popcount(bits & ((ONE << (np.uint64(answer) & np.uint64(63))) - ONE))
        if second:
            if 0 <= sought < size - 1:
                later = bits >> (np.uint64(answer) & np.uint64(63)) >> ONE
                following = answer + 1 + trailing_zeros(later) if later else nth_live(live, sought + 1)
            after[np.uint64(i)] = following
        selected[np.uint64(i)] = answer
        if alone >= 0:
            before -= turn(live, rank[np.uint64(alone)], REMOVE, word)
    return 0


def turn(live: Any, number: Any, by: Any, word: Any) -> Any:
    """Add or remove a rank; 1 where it lies before a word of the bitset, else 0."""
    change(live, number, by)
    return np.int64(np.uint64(number) >> np.uint64(6) < word)


@routine
def _count_below(rank, first, stop, threshold, r0, r1, sign, live, counts):  # type: ignore[no-untyped-def]
    if r0 >= r1:
        return 0
    begin, end = first[r0], first[r0]
    for i in range(r0, r1):
        for x in range(begin, min(end, first[i])):
            change(live, rank[np.uint64(x)], REMOVE)
        for x in range(max(end, first[i]), stop[i]):
            change(live, rank[np.uint64(x)], ADD)
        begin, end = first[i], stop[i]
        counts[np.uint64(i)] += sign * below(live, threshold[np.uint64(i)])
    return 0


@routine
def _look_into_holes(rank, a, b, own, threshold, r0, r1, counted, counts):  # type: ignore[no-untyped-def]
    """Take off the rows of each hole, unless they are taken off already, and put own back."""
    for i in range(r0, r1):
        if not counted:
            for x in range(a[i], b[i]):
                counts[np.uint64(i)] -= rank[np.uint64(x)] < threshold[np.uint64(i)]
        if len(own) and own[i] >= 0:
            counts[np.uint64(i)] += rank[np.uint64(own[i])] < threshold[np.uint64(i)]
    return 0


SELECTING = Algorithm(
    name="rank_bitset",
    operation=SELECT,
    words="a bitset of live ranks with a cursor",
    cost=lambda task: 80.0,
    run=select,
    needs=(
        own_order,
        forward,
    ),
)
COUNTING = Algorithm(
    name="rank_bitset",
    operation=COUNT,
    words="a bitset of live ranks",
    cost=lambda task: 45.0,
    run=count_below,
    needs=(
        own_order,
        forward,
    ),
)
