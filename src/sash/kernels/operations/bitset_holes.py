"""What EXCLUDE takes from a distinct count: the values of a frame that occur in its hole only.

A hole is a peer group, cut at the edges of its frame. Where a hole leaves one piece of its frame, that piece
is counted instead; where it is one row, its neighbours tell. There remain whole groups of several rows within
their frames. For each value of a group there is its previous occurrence P before and its next one N after the
group, and a frame loses those with P < lo and N >= hi. The values of a group are given slots, by rising N:
`lo` is swept upwards with the slots of smaller P live in a bitset, and the frame loses as many values as slots
are live from the first with N >= hi on. Ties puts the current row back, whose value is lost if P and N say so.

needs   holes that are equal or disjoint where they leave two pieces
time    a change a row, a binary search and two counts a frame
space   20 n bytes, and n / 6 a thread
paper   framed-holistic-windows-2022, 4.7, as corrected in papers/README.md
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from sash.kernels.compiling import prefetch, routine
from sash.kernels.structures.bitset_counts import ADD, ONE, below, change, empty_bitset
from sash.kernels.structures.bitset_visits import FrameSweep
from sash.kernels.threads import together
from sash.windows.bounds import Bounds

AHEAD = 16  # frames that are on their way to the cache


def plain_piece(lo: Any, a: Any, b: Any, hi: Any) -> tuple[Any, Any]:
    """The range of positions whose distinct count is a frame's, but for values that are in its hole only."""
    if b - a > 1 and a == lo:
        return b, hi
    if b - a > 1 and b == hi:
        return lo, a
    return lo, hi


def lost_with_row(previous: Any, following: Any, lo: Any, a: Any, b: Any, hi: Any, own: Any) -> Any:
    """Whether a hole of one row, which is not put back, takes the only occurrence of its value."""
    return b - a == 1 and own < 0 and previous[np.uint64(a)] < lo and following[np.uint64(a)] >= hi


def subtract_groups(
    previous: np.ndarray, following: np.ndarray, bounds: Bounds, parts: list[FrameSweep], counts: np.ndarray
) -> None:
    """Take off the values that occur only in holes of several rows, and put those of own back."""
    rows, dtype = len(previous), previous.dtype
    edges = np.zeros(rows // 64 + 1, np.uint64)
    if not _mark_edges(*bounds.arrays, edges):
        return
    first, slot, after = (np.empty(rows, dtype) for _ in range(3))
    begin, filled = np.empty(rows, dtype), np.zeros(rows, dtype)
    _give_slots(previous, following, edges, begin, first, filled, slot, after)
    del begin
    together(
        partial(
            _subtract, previous, following, *bounds.arrays, first, filled, slot, after, part.visit, part.start,
            part.stop, part.lowest, part.highest, empty_bitset(rows), counts,
        )
        for part in parts
    )  # fmt: skip


@routine
def _mark_edges(lo, a, b, hi, own, edges):  # type: ignore[no-untyped-def]
    """Mark where groups begin and end, as far as frames tell; how many frames have something to take or put."""
    asking = 0
    for i in range(len(lo)):
        if b[i] - a[i] > 1:
            if lo[i] < a[i]:
                edges[np.uint64(a[i]) >> np.uint64(6)] |= ONE << (np.uint64(a[i]) & np.uint64(63))
            if b[i] < hi[i]:
                edges[np.uint64(b[i]) >> np.uint64(6)] |= ONE << (np.uint64(b[i]) & np.uint64(63))
            asking += (lo[i] < a[i] and b[i] < hi[i]) or (len(own) > 0 and own[i] >= 0)
    return asking


@routine
def _give_slots(previous, following, edges, begin, first, filled, slot, after):  # type: ignore[no-untyped-def]
    """Give each value of each group, at its first position there, a slot in it by rising next occurrence.

    What lies between two edges is treated as a group; the holes of two-sided frames are among these.
    """
    start = 0
    for x in range(len(previous)):
        if edges[np.uint64(x) >> np.uint64(6)] >> (np.uint64(x) & np.uint64(63)) & ONE:
            start = x
        begin[np.uint64(x)] = start
        before = previous[np.uint64(x)]
        first[np.uint64(x)] = x if before < start else first[np.uint64(before)]
        if 0 <= before < start:  # x is where a value of an earlier group comes next
            give_slot(np.uint64(before), x, begin, first, filled, slot, after)
    for x in range(len(previous)):
        if following[np.uint64(x)] >= len(previous):
            give_slot(np.uint64(x), len(previous), begin, first, filled, slot, after)
    return 0


def give_slot(last: Any, comes_next: Any, begin: Any, first: Any, filled: Any, slot: Any, after: Any) -> None:
    """The next slot of its group for the value whose last position there this is."""
    group = np.uint64(begin[last])
    free = group + np.uint64(filled[group])
    filled[group] += 1
    slot[np.uint64(first[last])] = free
    after[free] = comes_next


@routine
def _subtract(  # type: ignore[no-untyped-def]
    previous,
    following,
    lo,
    a,
    b,
    hi,
    own,
    first,
    filled,
    slot,
    after,
    visit,
    start,
    stop,
    lowest,
    highest,
    live,
    counts,
):
    for x in range(lowest, highest):
        if previous[np.uint64(x)] < lowest and first[np.uint64(x)] == x:
            change(live, slot[np.uint64(x)], ADD)
    swept, seen, lost = np.int64(lowest), np.int64(-1), np.int64(0)
    for step in range(start, stop):
        i = np.uint64(visit[np.uint64(step - start)] if len(visit) else step)
        if len(visit) and step + AHEAD < stop:
            near = visit[np.uint64(step - start + AHEAD)]
            prefetch(lo, near)
            prefetch(a, near)
            prefetch(b, near)
            prefetch(hi, near)
            prefetch(counts, near)
        if b[i] - a[i] < 2:
            continue
        if lo[i] < a[i] and b[i] < hi[i]:
            for x in range(swept, lo[i]):
                comes_next = following[np.uint64(x)]
                if comes_next < highest and first[np.uint64(comes_next)] == comes_next:
                    change(live, slot[np.uint64(comes_next)], ADD)
            same = seen >= 0 and lo[i] == lo[seen] and a[i] == a[seen] and hi[i] == hi[seen]
            if not same:
                end = np.int64(a[i]) + np.int64(filled[np.uint64(a[i])])
                lost = below(live, end) - below(live, first_from(after, np.int64(a[i]), end, hi[i]))
            swept, seen = np.int64(lo[i]), np.int64(i)
            counts[i] -= lost
        if len(own) and own[i] >= 0:
            value = np.uint64(first[np.uint64(own[i])])
            # No edge is marked inside a group, so that this holds for groups cut by their frame as well.
            counts[i] += previous[value] < lo[i] and after[np.uint64(slot[value])] >= hi[i]
    return 0


def first_from(rising: Any, start: Any, stop: Any, limit: Any) -> Any:
    """The first place from start to stop whose number is at least the limit."""
    while start < stop:
        middle = (start + stop) >> 1
        if rising[np.uint64(middle)] < limit:
            start = middle + 1
        else:
            stop = middle
    return start
