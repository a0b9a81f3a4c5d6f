"""Incremental: a frame's counters, or its partly sorted rows, carried over to the next frame, for comparison.

Distinct counts and modes keep a counter for each value. A mode that loses a row is looked for again among
the values of the frame. A percentile keeps an array of the frame's positions in which the wanted row is at
its place, smaller rows before it and greater ones after it: where the frame moves by one row, the new row
takes the place of the old one, and unless it falls on the other side of the wanted row there is nothing to
do. Otherwise the array is searched again, with the last answer as the first pivot.

order   bounds that only move right
needs   no holes
time    n for distinct counts; frame for a percentile, and frame or values for a mode, at each row: up to n^2
space   a counter for each value, or a position for each row of the longest frame, and thread
paper   Wesley and Xu, Incremental computation of common windowed holistic aggregates, 2016, as described in
        framed-holistic-windows-2022, 3.2 and 5.5
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from sash.kernels.algorithm import DISTINCT, MODE, SELECT, Algorithm, Occurrences
from sash.kernels.compiling import routine
from sash.kernels.needs import forward, no_exclude, own_order
from sash.kernels.structures.ranked import Ranked
from sash.kernels.threads import shares, together
from sash.windows.bounds import Bounds


def count_distinct(codes: np.ndarray, bounds: Bounds, values: int) -> np.ndarray:
    """How many different codes each frame holds, of codes from 0 to ``values`` - 1."""
    return _with_counters(slide_distinct, codes, bounds, values)


def _of_values(values: Occurrences, bounds: Bounds) -> np.ndarray:
    codes, distinct = values.numbered()
    return count_distinct(codes, bounds, distinct)


def mode(codes: np.ndarray, bounds: Bounds, values: int) -> np.ndarray:
    """The most frequent code of each frame, the smallest of those where there are several; -1 if it is empty."""
    return _with_counters(slide_mode, codes, bounds, values)


def select(ranked: Ranked, bounds: Bounds, k: np.ndarray, second: bool) -> tuple[np.ndarray, np.ndarray]:
    """The rank of each frame's k-th smallest row, from 0, and where asked of the one after; -1 where there is none."""
    first = np.empty(len(bounds), ranked.rank.dtype)
    after = np.empty(len(bounds) if second else 0, ranked.rank.dtype)
    longest = int((bounds.hi - bounds.lo).max(initial=0))

    def run(begin: int, end: int) -> int:
        positions = np.empty(longest, ranked.rank.dtype)
        return slide_select(begin, end, ranked.rank, bounds.lo, bounds.hi, k, positions, first, after)

    together([partial(run, begin, end) for begin, end in shares(len(bounds))])
    return first, after


def _with_counters(slide: Callable[..., int], codes: np.ndarray, bounds: Bounds, values: int) -> np.ndarray:
    answers = np.empty(len(bounds), bounds.lo.dtype)

    def run(begin: int, end: int) -> int:
        return slide(begin, end, codes, bounds.lo, bounds.hi, np.zeros(values, bounds.lo.dtype), answers)

    together([partial(run, begin, end) for begin, end in shares(len(bounds))])
    return answers


@routine
def slide_distinct(begin: int, end: int, codes: Any, lo: Any, hi: Any, counters: Any, answers: Any) -> int:
    """Count the counters that are not 0."""
    head = tail = distinct = np.int64(0)
    for row in range(begin, end):
        for position in range(head, min(lo[row], tail)):
            counters[codes[position]] -= 1
            distinct -= counters[codes[position]] == 0
        head = np.int64(lo[row])
        tail = max(tail, head)
        for position in range(tail, hi[row]):
            distinct += counters[codes[position]] == 0
            counters[codes[position]] += 1
        tail = max(tail, np.int64(hi[row]))
        answers[row] = distinct
    return 0


@routine
def slide_mode(begin: int, end: int, codes: Any, lo: Any, hi: Any, counters: Any, answers: Any) -> int:
    """Keep the most frequent code; look for it again when one of its rows has left."""
    head = tail = np.int64(0)
    best, most, lost = np.int64(-1), np.int64(0), False
    for row in range(begin, end):
        for position in range(head, min(lo[row], tail)):
            code = np.int64(codes[position])
            counters[code] -= 1
            lost |= code == best
        head = np.int64(lo[row])
        tail = max(tail, head)
        for position in range(tail, hi[row]):
            code = np.int64(codes[position])
            counters[code] += 1
            if counters[code] > most or (counters[code] == most and code < best):
                best, most = code, np.int64(counters[code])
        tail = max(tail, np.int64(hi[row]))
        if lost:
            best, most = most_frequent(head, tail, codes, counters)
            lost = False
        answers[row] = best
    return 0


def most_frequent(head: Any, tail: Any, codes: Any, counters: Any) -> Any:
    """The smallest code with the highest counter: among all codes or among the frame's, whichever are fewer."""
    best, most = np.int64(-1), np.int64(0)
    if tail - head < len(counters):
        for position in range(head, tail):
            code = np.int64(codes[position])
            if counters[code] > most or (counters[code] == most and code < best):
                best, most = code, np.int64(counters[code])
    else:
        for each in range(len(counters)):
            if counters[each] > most:
                best, most = np.int64(each), np.int64(counters[each])
    return best, most


@routine
def slide_select(
    begin: int, end: int, rank: Any, lo: Any, hi: Any, k: Any, positions: Any, first: Any, after: Any
) -> int:
    """Keep the frame's positions with the wanted row at its place among them."""
    head = tail = last = np.int64(0)
    placed = False  # whether held[last], and the one after it where asked, is where it would be if all were sorted
    for row in range(begin, end):
        left, right, target = np.int64(lo[row]), np.int64(hi[row]), np.int64(k[row])
        size = right - left
        if left == head + 1 and right == tail + 1 and size > 0:
            changed = replace(head, tail, size, positions)
            placed = placed and target == last and stays(changed, target, len(after) > 0, size, rank, positions)
        elif left != head or right != tail:
            reuse(head, tail, left, right, positions)
            placed = False
        head, tail = left, right
        placed = placed and target == last
        first[row] = -1
        if len(after) > 0:
            after[row] = -1
        if 0 <= target < size:
            if not placed:
                quickselect(target, 0, size, rank, positions)
                if len(after) > 0 and target + 1 < size:
                    quickselect(target + 1, target + 1, size, rank, positions)
                placed, last = True, target
            first[row] = rank[positions[target]]
            if len(after) > 0 and target + 1 < size:
                after[row] = rank[positions[target + 1]]
    return 0


def replace(head: Any, tail: Any, size: Any, positions: Any) -> Any:
    """Put the row that enters where the row that leaves was; returns where."""
    at = np.int64(0)
    while positions[at] != head:
        at += 1
    positions[at] = tail
    return at


def stays(at: Any, target: Any, second: bool, size: Any, rank: Any, positions: Any) -> bool:
    """Whether a new row is on the side of the wanted rows that it is held on."""
    upper = target + 1 if second and target + 1 < size else target
    if at < target:
        return rank[positions[at]] < rank[positions[target]]
    return at > upper and rank[positions[at]] > rank[positions[upper]]


def reuse(head: Any, tail: Any, left: Any, right: Any, positions: Any) -> None:
    """Bring the held positions from the frame [head, tail) to [left, right), those that stay in their order."""
    stay = np.int64(0)
    for at in range(tail - head):
        if left <= positions[at] < right:
            positions[stay] = positions[at]
            stay += 1
    for position in range(max(tail, left), right):
        positions[stay] = position
        stay += 1


def quickselect(target: Any, start: Any, end: Any, rank: Any, positions: Any) -> None:
    """Bring the row that belongs at ``target`` there, smaller ones before it and greater ones after it.

    The first pivot is what is there, which is right or nearly so where little has changed. The others are at random:
    passes over the rows before have left those next to the target in an order that would cost a pass for each.
    """
    low, high, at = np.int64(start), np.int64(end) - 1, np.int64(target)
    drawn = at
    while low < high:
        pivot, i, j = rank[positions[at]], low, high
        while i <= j:
            while rank[positions[i]] < pivot:
                i += 1
            while rank[positions[j]] > pivot:
                j -= 1
            if i <= j:
                positions[i], positions[j] = positions[j], positions[i]
                i += 1
                j -= 1
        if j < target:
            low = i
        if target < i:
            high = j
        if low < high:
            drawn = (drawn * 1_103_515_245 + 12_345) & 0x7FFFFFFF
            at = low + drawn % (high - low + 1)


SELECTING = Algorithm(
    name="incremental",
    operation=SELECT,
    words="the frame's rows kept partly sorted",
    cost=lambda task: 30.0 + 5.0 * task.widest,
    run=select,
    needs=(
        own_order,
        no_exclude,
        forward,
    ),
    offered=False,
)
DISTINCT_COUNTING = Algorithm(
    name="incremental",
    operation=DISTINCT,
    words="a counter for each value",
    cost=lambda task: 10.0,
    run=_of_values,
    needs=(
        no_exclude,
        forward,
    ),
    offered=False,
)
COMMONEST = Algorithm(
    name="incremental",
    operation=MODE,
    words="a counter for each value",
    cost=lambda task: 30.0,
    run=mode,
    needs=(
        no_exclude,
        forward,
    ),
    offered=False,
)
