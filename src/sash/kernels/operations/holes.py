"""Holes in arbitrary frames: which codes a frame loses because they occur in its hole only.

A hole is a group of peers, so that holes are the same or disjoint, but for the parts that a frame cuts off; what it
cuts off, it does not ask about. So each code of a group has one last occurrence before the group and one next after
it, and a frame loses the code if the one is before the frame and the other past its end.

needs   the neighbours of each row with its code
time    constant for each row and frame, the length of its hole where that is short, else log n
space   24 bytes a row
paper   none
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from sash.kernels.compiling import routine
from sash.kernels.threads import shares, together
from sash.windows.bounds import Bounds


def correct(
    codes: np.ndarray,
    previous: np.ndarray,
    following: np.ndarray,
    bounds: Bounds,
    limit: np.ndarray,
    short: int,
    count: np.ndarray,
) -> None:
    """Take from counts of codes below a limit those that are in a short hole only, and add the frames' own rows."""
    _, before, after = _around_groups(previous, following, bounds)
    together(
        partial(_correct, codes, previous, before, after, *bounds.arrays, limit, short, r0, r1, count)
        for r0, r1 in shares(len(bounds))
    )


def ranges_of_holes(
    codes: np.ndarray, previous: np.ndarray, following: np.ndarray, bounds: Bounds, short: int
) -> tuple[np.ndarray, ...]:
    """The codes of each group by their next occurrence after it, and for each long hole those past the frame's end.

    Returns the codes, their last occurrence before the group, the entry of each such occurrence, and where the
    entries of each frame start and stop. A group's entries start where it does.
    """
    rows = len(codes)
    groups, before, after = _around_groups(previous, following, bounds)
    entry_codes, entry_before = np.zeros(rows, codes.dtype), np.full(rows, rows, codes.dtype)
    entry_after, wakes = np.empty(rows, codes.dtype), np.full(rows, rows, codes.dtype)
    filled = np.zeros(rows, codes.dtype)
    _enter(codes, previous, following, groups, before, filled, entry_codes, entry_before, entry_after, wakes)
    del groups, before, after
    first, last = np.zeros(len(bounds), codes.dtype), np.zeros(len(bounds), codes.dtype)
    together(
        partial(_ranges, *bounds.arrays[:4], short, filled, entry_after, r0, r1, first, last)
        for r0, r1 in shares(len(bounds))
    )
    return entry_codes, entry_before, wakes, first, last


def _around_groups(
    previous: np.ndarray, following: np.ndarray, bounds: Bounds
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Where each row's group starts, and the nearest rows with its code before and after the group.

    Groups are told by holes that a frame does not cut off; groups that no frame asks about may be taken together.
    """
    groups, before, after = np.zeros_like(previous), np.empty_like(previous), np.empty_like(previous)
    lo, a, b, hi, _ = bounds.arrays
    _around(lo, a, b, hi, previous, following, groups, before, after)
    return groups, before, after


@routine
def _around(
    lo: Any, a: Any, b: Any, hi: Any, previous: Any, following: Any, groups: Any, before: Any, after: Any
) -> int:
    rows = len(previous)
    for i in range(len(lo)):
        if a[i] < b[i]:
            if lo[i] < a[i]:
                groups[a[i]] = 1
            if b[i] < hi[i]:
                groups[b[i]] = 1
    start = 0
    for j in range(rows):
        if groups[j]:
            start = j
        groups[j] = start
        last = previous[j]
        before[j] = before[last] if last >= start else last
    for back in range(rows):
        j = rows - 1 - back
        later = following[j]
        after[j] = after[later] if later < rows and groups[later] == groups[j] else later
    return 0


@routine
def _correct(
    codes: Any,
    previous: Any,
    before: Any,
    after: Any,
    lo: Any,
    a: Any,
    b: Any,
    hi: Any,
    own: Any,
    limit: Any,
    short: int,
    r0: int,
    r1: int,
    count: Any,
) -> int:
    for i in range(r0, r1):
        start, end, ceiling = lo[i], hi[i], limit[i]
        if start < a[i] and b[i] < end and b[i] - a[i] <= short:
            lost = 0
            for j in range(np.uint64(a[i]), np.uint64(b[i])):  # each code once: where its previous row is before lo
                lost += (previous[j] < start) & (after[j] >= end) & (codes[j] < ceiling)
            count[i] -= lost
        alone = np.int64(own[i]) if len(own) else np.int64(-1)
        if alone >= 0 and codes[alone] < ceiling:
            unseen = start == a[i] or before[alone] < start
            if unseen and (b[i] == end or after[alone] >= end):
                count[i] += 1
    return 0


@routine
def _enter(
    codes: Any,
    previous: Any,
    following: Any,
    groups: Any,
    before: Any,
    filled: Any,
    entry_codes: Any,
    entry_before: Any,
    entry_after: Any,
    wakes: Any,
) -> int:
    rows = len(codes)
    for step in range(2):  # codes that occur after their group, by where; then those that do not
        for j in range(rows):
            row = previous[j] if step == 0 else j
            if row < 0 or (groups[row] == groups[j] if step == 0 else following[j] < rows):
                continue
            group = groups[row]
            entry = group + filled[group]
            filled[group] += 1
            entry_codes[entry], entry_before[entry] = codes[row], before[row]
            entry_after[entry] = j if step == 0 else rows
            if before[row] >= 0:
                wakes[before[row]] = entry
    return 0


@routine
def _ranges(
    lo: Any,
    a: Any,
    b: Any,
    hi: Any,
    short: int,
    filled: Any,
    entry_after: Any,
    r0: int,
    r1: int,
    first: Any,
    last: Any,
) -> int:
    for i in range(r0, r1):
        if lo[i] < a[i] and b[i] < hi[i] and b[i] - a[i] > short:
            start, stop = np.int64(a[i]), np.int64(a[i]) + np.int64(filled[a[i]])
            last[i] = stop
            while start < stop:
                middle = (start + stop) >> 1
                if entry_after[middle] < hi[i]:
                    start = middle + 1
                else:
                    stop = middle
            first[i] = start
    return 0
