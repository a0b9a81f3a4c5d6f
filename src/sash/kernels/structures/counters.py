"""Counters: the rows of one frame after the other, as counts of each code, added and removed one by one.

Between two frames, the walker removes the rows that leave and adds those that come. Frames that only move
forward are walked as they are; others in the order of ``nearby``, so that the walk is short (Mo's order).

needs   codes that are dense
time    as many steps as the bounds move; n sqrt n in Mo's order, n^(5/3) where frames have long holes
space   one counter a code for each thread
paper   none; Mo's order is folklore
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sash.kernels.compiling import Routine, routine
from sash.kernels.threads import shares, threads
from sash.windows.bounds import Bounds

FINEST = 4  # log2 of the smallest block of frames in Mo's order
LONG = 64  # rows of a hole that are always few
AS_THEY_COME = np.zeros(0, np.int32)  # the order of frames that move forward
MOST_THREADS = 4  # each has counters of its own
LEAST = 1 << 16  # frames that are worth a thread


def walking(add: Callable[..., Any], remove: Callable[..., Any], answer: Callable[..., Any]) -> Routine:
    """A routine that walks over frames and answers each.

    ``add`` and ``remove`` take a code and the walk's memory: counts, index and extra, three arrays, and
    held, a whole number, which they return. ``answer`` takes the row, what it asks, and that memory.
    """

    def walk(  # type: ignore[no-untyped-def]
        codes, lo, a, b, hi, own, order, askers, r0, r1, in_place, counts, index, extra, out, other
    ):
        running = np.int64(0)
        left = left_end = right = right_end = np.int64(0)  # the rows that are counted: two ranges
        for k in range(r0, r1):
            row = np.int64(order[k]) if len(order) else np.int64(k)
            start, stop, again, end = np.int64(lo[row]), np.int64(a[row]), np.int64(b[row]), np.int64(hi[row])
            hole = hole_end = np.int64(0)
            if k < in_place:
                if start == stop:
                    start, stop, again = again, end, end
                elif again < end:  # the hole is made for this answer only
                    hole, hole_end = stop, again
                    stop = again = end
            # first all that go, so that nothing is left of another partition
            if start >= left_end or stop <= left:
                for j in range(left, left_end):
                    running = remove(codes[np.uint64(j)], counts, index, extra, running)
                left = left_end = start
            while left < start:
                running = remove(codes[np.uint64(left)], counts, index, extra, running)
                left += 1
            while left_end > stop:
                left_end -= 1
                running = remove(codes[np.uint64(left_end)], counts, index, extra, running)
            if again >= right_end or end <= right:
                for j in range(right, right_end):
                    running = remove(codes[np.uint64(j)], counts, index, extra, running)
                right = right_end = again
            while right < again:
                running = remove(codes[np.uint64(right)], counts, index, extra, running)
                right += 1
            while right_end > end:
                right_end -= 1
                running = remove(codes[np.uint64(right_end)], counts, index, extra, running)
            while left > start:
                left -= 1
                running = add(codes[np.uint64(left)], counts, index, extra, running)
            while left_end < stop:
                running = add(codes[np.uint64(left_end)], counts, index, extra, running)
                left_end += 1
            while right > again:
                right -= 1
                running = add(codes[np.uint64(right)], counts, index, extra, running)
            while right_end < end:
                running = add(codes[np.uint64(right_end)], counts, index, extra, running)
                right_end += 1
            for j in range(hole, hole_end):
                running = remove(codes[np.uint64(j)], counts, index, extra, running)
            alone = np.int64(own[row]) if len(own) else np.int64(-1)
            if alone >= 0:
                running = add(codes[np.uint64(alone)], counts, index, extra, running)
            answer(row, askers, counts, index, extra, running, out, other)
            if alone >= 0:
                running = remove(codes[np.uint64(alone)], counts, index, extra, running)
            for j in range(hole, hole_end):
                running = add(codes[np.uint64(j)], counts, index, extra, running)
        return 0

    return routine(walk)


def walkers(frames: int) -> list[tuple[int, int]]:
    """The frames cut into one part a thread, but few, since each has counters of its own."""
    return shares(frames, LEAST, min(threads(), MOST_THREADS))


def nearby(bounds: Bounds) -> tuple[np.ndarray, int]:
    """An order in which each frame is near the one before, and how many of them have their holes made in place.

    Frames go by blocks of their starts, within a block by their ends, and through every other block
    backwards. Frames with a hole that is long to make go last, in the same way for each hole.
    """
    lo, hi, length = bounds.lo, bounds.hi, bounds.length
    if not bounds.holes:
        block = lo >> block_bits(lo, hi, length, back_and_forth)
        return _by_block(block, hi, length, None), len(lo)
    a, b = bounds.a, bounds.b
    lo = np.where(a == lo, b, lo)  # a hole at an end of the frame only makes it shorter
    hi = np.where(b == hi, np.maximum(a, lo), hi)
    late = np.flatnonzero((lo < a) & (b < hi) & (b - a > LONG)).astype(lo.dtype)
    late, size = _worth_walking_around(lo, a, b, hi, late, length)
    early = np.ones(len(lo), np.bool_)
    early[late] = False
    early = np.flatnonzero(early).astype(lo.dtype)
    block = lo[early] >> block_bits(lo[early], hi[early], length, back_and_forth)
    order = early[_by_block(block, hi[early], length, None)]
    last = late[_by_block(lo[late] // size, hi[late], length, a[late])]
    return np.concatenate([order, last]), len(order)


def _worth_walking_around(
    lo: np.ndarray, a: np.ndarray, b: np.ndarray, hi: np.ndarray, rows: np.ndarray, length: int
) -> tuple[np.ndarray, np.ndarray]:
    """The rows whose holes take longer to make than to walk around, and the size of block for each."""
    rows = rows[sorted_by(a[rows], length + 1, None)]
    holes = a[rows]
    firsts = np.flatnonzero(np.diff(holes, prepend=-1))
    if not len(firsts):
        return rows, rows
    asking = np.diff(firsts, append=len(rows)).astype(np.float64)
    starts = 1.0 + np.maximum.reduceat(lo[rows], firsts) - np.minimum.reduceat(lo[rows], firsts)
    ends = 1.0 + np.maximum.reduceat(hi[rows], firsts) - np.minimum.reduceat(hi[rows], firsts)
    widest = np.maximum.reduceat((hi - lo)[rows], firsts)
    around = 2 * np.sqrt(starts * ends * asking) + widest
    worth = around < 2 * asking * (b - a)[rows[firsts]]
    size = np.ceil(np.sqrt(starts * ends / asking)).astype(rows.dtype)
    of_row = np.repeat(np.arange(len(firsts)), asking.astype(np.int64))
    return rows[worth[of_row]], size[of_row][worth[of_row]]


def _by_block(block: np.ndarray, hi: np.ndarray, length: int, hole: np.ndarray | None) -> np.ndarray:
    order = sorted_by(np.where(block & 1, length - hi, hi), length + 1, None)
    order = sorted_by(block, length + 1, order)
    return order if hole is None else sorted_by(hole, length + 1, order)


def block_bits(lo: np.ndarray, hi: np.ndarray, length: int, travelled: Callable[..., int]) -> int:
    """The log2 of the size of block that makes for the shortest walk: about n sqrt n steps at most.

    ``travelled`` says how far the ends move, given the blocks that have frames, their lowest and highest ends, and
    the log2 of their size.
    """
    lowest = np.full((length >> FINEST) + 1, length, np.int64)
    highest = np.full(len(lowest), -1, np.int64)
    _extremes(lo, hi, FINEST, lowest, highest)
    best, shortest = FINEST, None
    for bits in range(FINEST, max(length.bit_length(), FINEST + 1)):
        used = np.flatnonzero(highest >= 0)
        steps = travelled(used, lowest[used], highest[used], bits) + (len(lo) << bits >> 1)
        if shortest is None or steps < shortest:
            best, shortest = bits, steps
        if len(lowest) % 2:
            lowest, highest = np.append(lowest, length), np.append(highest, -1)
        lowest, highest = lowest.reshape(-1, 2).min(1), highest.reshape(-1, 2).max(1)
    return best


def back_and_forth(block: np.ndarray, lowest: np.ndarray, highest: np.ndarray, bits: int) -> int:
    """How far ends move that rise in even blocks and fall in odd ones, from block to block included."""
    falls = block & 1 == 1
    first, last = np.where(falls, highest, lowest), np.where(falls, lowest, highest)
    return int((highest - lowest).sum() + np.abs(first[1:] - last[:-1]).sum())


def sorted_by(keys: np.ndarray, codes: int, order: np.ndarray | None) -> np.ndarray:
    """Rows sorted by keys in [0, kinds), those of one key as they stand in an order."""
    out = np.empty(len(keys), keys.dtype)
    rows = np.arange(len(keys), dtype=keys.dtype) if order is None else order
    _counting_sort(keys, rows, np.zeros(codes + 1, keys.dtype), out)
    return out


@routine
def _extremes(lo: Any, hi: Any, bits: int, lowest: Any, highest: Any) -> int:
    for i in range(len(lo)):
        block = np.uint64(lo[i] >> bits)
        lowest[block] = min(lowest[block], hi[i])
        highest[block] = max(highest[block], hi[i])
    return 0


@routine
def _counting_sort(keys: Any, order: Any, starts: Any, out: Any) -> int:
    for i in range(len(keys)):
        starts[np.uint64(keys[i]) + np.uint64(1)] += 1
    for code in range(1, len(starts)):
        starts[code] += starts[code - 1]
    for k in range(len(order)):
        key = np.uint64(keys[order[k]])
        out[starts[key]] = order[k]
        starts[key] += 1
    return 0
