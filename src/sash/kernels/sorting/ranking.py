"""Ranks: where each row stands in its partition by keys of its own.

Partitions are buckets already, so that small ones are sorted where they are, all in one pass; each large one
goes through the radix sort by itself.

needs   uint64 keys in the order of positions
time    as the radix sort; one pass where all partitions are sorted already
space   24 bytes a row beside the answer
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from sash.kernels.compiling import prefetch, routine
from sash.kernels.recycling import empty, empty_like
from sash.kernels.sorting.buckets import make
from sash.kernels.sorting.radix import argsort, by_digits, in_order, put_in_order, sort_all
from sash.kernels.sorting.words import packed
from sash.kernels.structures.ranked import Ranked
from sash.kernels.threads import shares, together
from sash.windows.bounds import positions

LARGE = 1 << 16  # rows of a partition that is sorted by itself
AHEAD = 16  # rows whose keys are on their way to the cache


def rank_within(keys: Sequence[np.ndarray], segments: np.ndarray) -> Ranked:
    """Rank the rows of each partition by the keys, equal ones by position.

    >>> ranked = rank_within([np.array([5, 3, 9, 1], np.uint64)], np.array([0, 2, 4]))
    >>> ranked.order.tolist(), ranked.rank.tolist()
    ([1, 0, 3, 2], [1, 0, 3, 2])
    """
    rows = len(keys[0])
    if in_order(keys, segments):
        order = np.arange(rows, dtype=positions(rows))
        return Ranked(order, order, segments)
    large = np.flatnonzero(np.diff(segments) > LARGE).tolist()
    order = empty(rows, positions(rows))
    if len(segments) - 1 > len(large):
        _sort_small(keys, segments, order)
    for start, stop in ((int(segments[p]), int(segments[p + 1])) for p in large):
        order[start:stop] = argsort([key[start:stop] for key in keys])
        order[start:stop] += start
    rank = empty_like(order)
    together([partial(_invert, order, a, b, rank) for a, b in shares(rows)])
    return Ranked(order, rank, segments)


def _sort_small(keys: Sequence[np.ndarray], segments: np.ndarray, order: np.ndarray) -> None:
    """Sort every partition of at most ``LARGE`` rows."""
    words, rows = packed(keys), len(order)
    first, low = words[0], (rows - 1).bit_length()
    drop = max(0, first.bits - (64 - low))
    entries, spare = empty(rows, np.uint64), empty(rows, np.uint64)
    together([partial(make, first.values, first.place, drop, low, a, b, entries) for a, b in shares(rows)])
    sort_all(segments, LARGE, low, entries, spare, order)
    if drop or len(words) > 1:
        slots = put_in_order(words, segments, LARGE, low, entries, order)
        if len(slots):
            partition = np.repeat(np.arange(len(segments) - 1, dtype=np.uint64), np.diff(segments))
            order[slots] = by_digits([*packed([partition]), *words], order[slots])


def groups(keys: Sequence[np.ndarray], ranked: Ranked, stops: bool = True) -> tuple[np.ndarray, np.ndarray]:
    """For each position the first rank of the rows of its partition with the same keys, and one past the last.

    The second array is empty unless asked for.

    >>> key = np.array([7, 5, 7], np.uint64)
    >>> [found.tolist() for found in groups([key], rank_within([key], np.array([0, 3])))]
    [[1, 0, 1], [3, 1, 3]]
    """
    rows, order = len(ranked), ranked.order
    new = np.zeros(rows, np.uint8)
    new[ranked.segments[:-1][ranked.segments[:-1] < rows]] = 1
    for key in keys:
        together([partial(_differ, key, order, a, b, new) for a, b in shares(rows)])
    start, stop = empty_like(order), empty_like(order if stops else order[:0])
    together([partial(_spread, order, new, a, b, start, stop) for a, b in shares(rows)])
    return start, stop


@routine
def _invert(order: Any, first: int, last: int, rank: Any) -> int:
    """Note the rank of each position."""
    for i in range(first, last):
        prefetch(rank, order[np.uint64(min(i + AHEAD, last - 1))])
        rank[np.uint64(order[np.uint64(i)])] = i
    return 0


@routine
def _differ(key: Any, order: Any, first: int, last: int, new: Any) -> int:
    """Mark the ranks whose key differs from the one before."""
    if first == last:
        return 0
    before = key[order[max(first - 1, 0)]]
    for i in range(first, last):
        prefetch(key, order[min(i + AHEAD, last - 1)])
        here = key[np.uint64(order[np.uint64(i)])]
        if here != before:
            new[np.uint64(i)] = 1
        before = here
    return 0


@routine
def _spread(order: Any, new: Any, first: int, last: int, start: Any, stop: Any) -> int:
    """Give every row of ranks ``first`` to ``last`` the edges of its group, which may reach beyond them."""
    begin = first
    while 0 < begin < len(order) and not new[begin]:
        begin -= 1
    while begin < last:
        end = begin + 1
        while end < len(order) and not new[np.uint64(end)]:
            end += 1
        for i in range(max(begin, first), min(end, last)):
            soon, row = order[np.uint64(min(i + AHEAD, last - 1))], np.uint64(order[np.uint64(i)])
            prefetch(start, soon)
            start[row] = begin
            if len(stop):
                prefetch(stop, soon)
                stop[row] = end
        begin = end
    return 0
