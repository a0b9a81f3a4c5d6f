"""Distinct count: how many different values each frame has, from the previous and next occurrence of each.

A value counts where it first occurs in a frame, which is where its previous occurrence lies before the frame.
Frames that move forward are one pass, which looks at the rows that enter and leave. For other frames, `lo` is
swept upwards with those positions live in a bitset whose previous occurrence the sweep has passed: a frame has
as many values as positions are live in it. What holes take away is the matter of ``bitset_holes``.

needs   previous and next occurrences in the same partition
time    8 ns a row for frames that move forward; else a change a row and two counts a frame; holes as much again
space   nothing for frames that move forward; else n / 6 + 4 n bytes a thread and 4 to 8 bytes a frame
paper   framed-holistic-windows-2022, 4.2 and 4.7
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from sash.kernels.algorithm import DISTINCT, Algorithm
from sash.kernels.compiling import prefetch, routine
from sash.kernels.needs import forward
from sash.kernels.operations.bitset_holes import lost_with_row, plain_piece, subtract_groups
from sash.kernels.structures.bitset_counts import ADD, BITS, below, change, empty_bitset
from sash.kernels.structures.bitset_visits import sweeps
from sash.kernels.threads import shares, together
from sash.windows.bounds import Bounds

AHEAD = 16  # frames and rows that are on their way to the cache


def slide_occurrences(previous: np.ndarray, following: np.ndarray, bounds: Bounds) -> np.ndarray:
    """How many different values each frame has, of frames that move forward.

    ``previous`` and ``following`` say where the value of each position occurs next to it in its partition, -1
    and the number of positions where it does not.
    """
    counts, wide = np.empty(len(bounds), np.int64), _wide(bounds)
    together(
        partial(_slide, previous, following, *bounds.arrays, int(bounds.holes), int(wide), r0, r1, counts)
        for r0, r1 in shares(len(bounds))
    )
    if wide:
        subtract_groups(previous, following, bounds, sweeps(bounds, bounds.lo), counts)
    return counts


def sweep_occurrences(previous: np.ndarray, following: np.ndarray, bounds: Bounds) -> np.ndarray:
    """The same for any frames, in the order of where they begin."""
    counts, wide = np.empty(len(bounds), np.int64), _wide(bounds)
    keys = bounds.lo
    if wide:
        keys = np.empty_like(keys)
        _begin(*bounds.arrays, keys)
    parts = sweeps(bounds, keys)
    together(
        partial(
            _sweep, previous, following, *bounds.arrays, part.visit, part.start, part.stop, part.lowest,
            part.highest, empty_bitset(len(previous)), counts,
        )
        for part in parts
    )  # fmt: skip
    if wide:
        subtract_groups(previous, following, bounds, parts, counts)
    return counts


def _wide(bounds: Bounds) -> bool:
    """Whether some hole has more than one row."""
    return bounds.holes and bool(np.any(bounds.b - bounds.a > 1))


@routine
def _slide(previous, following, lo, a, b, hi, own, holes, wide, r0, r1, counts):  # type: ignore[no-untyped-def]
    """Count over frames r0 to r1, and where holes are wide over the pieces before and after them as well."""
    if r0 >= r1:
        return 0
    first, middle, rest, stop = np.int64(lo[r0]), np.int64(lo[r0]), np.int64(b[r0]), np.int64(lo[r0])
    whole, left, right, end = np.int64(0), np.int64(0), np.int64(0), np.int64(b[r0])
    for row in range(r0, r1):
        i = np.uint64(row)
        begin, close = np.int64(lo[i]), np.int64(hi[i])
        whole = slid(previous, following, whole, first, stop, begin, close)
        counts[i] = whole
        if holes:
            hole, after = np.int64(a[i]), np.int64(b[i])
            if wide:
                left = slid(previous, following, left, first, middle, begin, hole)
                right = slid(previous, following, right, rest, end, after, close)
            middle, rest, end = hole, after, close
            piece = plain_piece(begin, hole, after, close)
            if piece[0] != begin:
                counts[i] = right
            elif piece[1] != close:
                counts[i] = left
            else:
                alone = np.int64(own[i]) if len(own) else np.int64(-1)
                counts[i] -= lost_with_row(previous, following, begin, hole, after, close, alone)
        first, stop = begin, close
    return 0


def slid(previous: Any, following: Any, distinct: Any, first: Any, stop: Any, new_first: Any, new_stop: Any) -> Any:
    """The distinct values of a range moved forward, from those it had."""
    if new_first >= stop:
        first, stop, distinct = new_first, new_first, np.int64(0)
    for x in range(stop, new_stop):
        distinct += previous[np.uint64(x)] < first
    for x in range(first, new_first):
        distinct -= following[np.uint64(x)] >= new_stop
    return distinct


@routine
def _begin(lo, a, b, hi, own, keys):  # type: ignore[no-untyped-def]
    for i in range(len(lo)):
        keys[np.uint64(i)] = plain_piece(lo[i], a[i], b[i], hi[i])[0]
    return 0


@routine
def _sweep(  # type: ignore[no-untyped-def]
    previous, following, lo, a, b, hi, own, visit, start, stop, lowest, highest, live, counts
):
    for x in range(lowest, highest):
        if previous[np.uint64(x)] < lowest:
            change(live, x, ADD)
    swept = np.int64(lowest)
    for step in range(start, stop):
        i = np.uint64(visit[np.uint64(step - start)] if len(visit) else step)
        if len(visit) and step + AHEAD < stop:
            near = visit[np.uint64(step - start + AHEAD)]
            prefetch(lo, near)
            prefetch(a, near)
            prefetch(b, near)
            prefetch(hi, near)
            prefetch(counts, near)
        begin, end = plain_piece(lo[i], a[i], b[i], hi[i])
        for x in range(swept, begin):
            if x + AHEAD < len(following):
                prefetch(live, live[BITS] + (np.uint64(following[np.uint64(x + AHEAD)]) >> np.uint64(6)))
            comes_next = following[np.uint64(x)]
            if comes_next < highest:
                change(live, comes_next, ADD)
        swept = max(swept, np.int64(begin))
        alone = np.int64(own[i]) if len(own) else np.int64(-1)
        count = below(live, end) - below(live, begin)
        counts[i] = count - lost_with_row(previous, following, lo[i], a[i], b[i], hi[i], alone)
    return 0


OCCURRENCES = Algorithm(
    name="occurrences",
    operation=DISTINCT,
    words="previous and next occurrences, in one pass",
    cost=lambda task: 100.0 if task.holes else 9.0,
    run=lambda values, bounds: slide_occurrences(values.previous, values.following, bounds),
    needs=(forward,),
)
SWEPT_BITSET = Algorithm(
    name="swept_bitset",
    operation=DISTINCT,
    words="first occurrences, swept over sorted bounds",
    cost=lambda task: 400.0 if task.holes else 70.0,
    run=lambda values, bounds: sweep_occurrences(values.previous, values.following, bounds),
)
