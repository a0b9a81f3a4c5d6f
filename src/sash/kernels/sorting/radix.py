"""Radix sort: the order of rows by several 64-bit keys, stable.

Keys are packed into one word where their ranges let them. As many of its high bits as fit beside the number
of a row are sorted: one throw into buckets by the highest digit, then each bucket in cache. Rows that tie
there are put in order by the rest of their keys, in runs that are long by a second sort of these rows only.

needs   uint64 keys of equal length
time    one pass where the rows are sorted already; a throw and a pass in cache for each further 8 or 11 bits
space   16 bytes a row; 8 more for each word where there are several keys
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np

from sash.kernels.compiling import routine
from sash.kernels.recycling import empty
from sash.kernels.sorting.buckets import (
    SCRATCH,
    count,
    laid_out,
    make_some,
    sort_buckets,
    sort_short_runs,
    spread,
    throw,
    throw_rows,
)
from sash.kernels.sorting.words import Word, packed
from sash.kernels.threads import shares, together
from sash.windows.bounds import positions

SPLIT = 11  # bits of the first digit at most: more buckets than that outnumber what the cache can write to
FILL = 8  # bits of the number of rows that a bucket should hold at least
NO_KEY, NOWHERE = np.zeros(0, np.uint64), np.zeros(0, np.int64)


def argsort(keys: Sequence[np.ndarray]) -> np.ndarray:
    """The rows in the order of the first key, then the second, and so on; equal rows stay in order.

    >>> argsort([np.array([7, 3, 7, 3], np.uint64), np.array([1, 2, 0, 2], np.uint64)]).tolist()
    [1, 3, 2, 0]
    """
    rows = len(keys[0])
    if in_order(keys, np.array([0, rows])):
        return np.arange(rows, dtype=positions(rows))
    return order_of(packed(keys))


def order_of(words: list[Word]) -> np.ndarray:
    """The rows in the order of packed keys, of which there is at least one, for two rows or more."""
    first = words[0]
    rows = len(first.values)
    order = empty(rows, positions(rows))
    low = (rows - 1).bit_length()
    keep = min(first.bits, 64 - low)
    exact = keep == first.bits and len(words) == 1
    split = keep if exact and keep <= SPLIT else max(1, min(SPLIT, keep, low - FILL))
    down, parts = first.bits - split, shares(rows)
    counts = np.zeros((len(parts), 1 << split), np.int64)
    together([partial(count, first.values, first.place, down, a, b, counts[p]) for p, (a, b) in enumerate(parts)])
    edges, ends = laid_out(counts)
    if exact and keep == split:
        together(
            [
                partial(throw_rows, first.values, first.place, down, a, b, ends[p], order)
                for p, (a, b) in enumerate(parts)
            ]
        )
        return order
    entries, spare = empty(rows, np.uint64), empty(rows, np.uint64)
    drop = first.bits - keep
    together(
        [
            partial(throw, first.values, first.place, drop, down, low, a, b, ends[p], entries)
            for p, (a, b) in enumerate(parts)
        ]
    )
    sort_all(edges, rows, low, entries, spare, order)
    if not exact:
        slots = put_in_order(words, edges, rows, low, entries, order)
        order[slots] = by_digits(words, order[slots])
    return order


def sort_all(
    edges: np.ndarray, largest: int, low: int, entries: np.ndarray, spare: np.ndarray, order: np.ndarray
) -> None:
    """Sort the entries of all buckets of at most ``largest`` rows, on all threads."""
    tasks = spread(edges)
    counters = np.empty((len(tasks), SCRATCH), np.int64)
    together(
        [
            partial(sort_buckets, edges, a, b, largest, low, entries, spare, counters[t], order)
            for t, (a, b) in enumerate(tasks)
        ]
    )


def put_in_order(
    words: list[Word], edges: np.ndarray, largest: int, low: int, entries: np.ndarray, order: np.ndarray
) -> np.ndarray:
    """Order the rows that tie in their entries by the whole of their keys; returns where long runs are left."""
    key, second, keys = words[0].values, words[1].values if len(words) > 1 else NO_KEY, len(words)
    marks = np.zeros(len(order), np.uint8)
    left = together(
        [
            partial(sort_short_runs, edges, a, b, largest, low, entries, order, key, second, keys, marks)
            for a, b in spread(edges)
        ]
    )
    return np.flatnonzero(marks) if sum(left) else NOWHERE


def by_digits(words: list[Word], rows: np.ndarray) -> np.ndarray:
    """Some rows in the order of packed keys, the lowest digits first: as costly as the keys are wide."""
    if not len(rows):
        return rows
    low = max(1, (len(rows) - 1).bit_length())
    entries, spare, order = np.empty(len(rows), np.uint64), np.empty(len(rows), np.uint64), np.empty_like(rows)
    edges = np.array([0, len(rows)], np.int64)
    for word in reversed(words):
        for drop in range(0, word.bits, 64 - low):
            bits = min(64 - low, word.bits - drop)
            make_some(word.values, word.place, drop, np.array([(1 << bits) - 1], np.uint64), low, rows, entries)
            sort_all(edges, len(rows), low, entries, spare, order)
            rows = rows[order]
    return rows


def in_order(keys: Sequence[np.ndarray], segments: np.ndarray) -> bool:
    """Whether rows are sorted by the keys in each segment."""
    tied = np.empty(len(keys[0]) if len(keys) > 1 else 0, np.uint8)
    return not any(_falls(key, segments, i == 0, i == len(keys) - 1, tied) for i, key in enumerate(keys))


@routine
def _falls(key: Any, segments: Any, first: int, last: int, tied: Any) -> int:
    """Look for a row with a lesser key than the row before, among those that tie in all keys before."""
    for segment in range(len(segments) - 1):
        for i in range(segments[segment] + 1, segments[segment + 1]):
            row = np.uint64(i)
            before, here = key[row - np.uint64(1)], key[row]
            if here < before and (first or tied[row]):
                return 1
            if not last:
                tied[row] = (first or tied[row]) and here == before
    return 0
