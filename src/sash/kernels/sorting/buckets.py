"""Buckets: rows thrown by their highest digit into buckets that fit the cache, where the rest is sorted.

What is sorted is one 64-bit entry a row: the high bits of its key above the number of the row. Entries are
all different, so that any sort of them is stable. Buckets are sorted by insertion when they are small, else
digit by digit from the lowest (LSD radix sort) with all digits counted in one pass and constant ones
skipped. Rows whose key has more bits than there is room for may tie: ``sort_short_runs`` puts short runs of ties in
order by the whole key and leaves a mark on long ones.

needs   entries all different in the bits that are sorted, or equal ones in order
time    a pass to count, a pass to throw, then at most a pass in cache for each 8 or 11 bits
space   two entries a row
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from sash.kernels.compiling import leading_zeros, prefetch, routine
from sash.kernels.threads import shares

SMALL = 48  # rows up to which insertion beats counting
WIDE = 1 << 15  # rows above which digits of 11 bits beat digits of 8
LARGE = 1 << 16  # rows above which a bucket is thrown into smaller ones first
FINE = 8  # bits of the digit that does so
COUNTERS = 6 << 11  # as many as the digits of a word need, whichever their width
SCRATCH = COUNTERS + (1 << FINE) + 1
SHORT = 24  # runs of ties up to here are put in order by insertion
AHEAD = 16  # rows whose keys are on their way to the cache


def laid_out(counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where buckets start and end, and where each thread writes into each, given how many rows it has for it."""
    edges = np.zeros(counts.shape[1] + 1, np.int64)
    np.cumsum(counts.sum(0), out=edges[1:])
    return edges, np.cumsum(counts, 0) - counts + edges[:-1]


def spread(edges: np.ndarray) -> list[tuple[int, int]]:
    """Buckets shared out to the threads, by about equally many rows."""
    cuts = np.searchsorted(edges, [start for start, _ in shares(int(edges[-1]))[1:]]).tolist()
    return list(pairwise([0, *cuts, len(edges) - 1]))


@routine
def count(key: Any, place: Any, down: int, start: int, stop: int, counts: Any) -> int:
    """Count how many rows each bucket gets."""
    least, low = place[0], place[1] + np.uint64(down)
    for i in range(start, stop):
        counts[(key[np.uint64(i)] - least) >> low] += 1
    return 0


@routine
def throw_rows(key: Any, place: Any, down: int, start: int, stop: int, ends: Any, order: Any) -> int:
    """Write the number of each row into its bucket; a bucket's rows keep their order."""
    least, low = place[0], place[1] + np.uint64(down)
    for i in range(start, stop):
        bucket = (key[np.uint64(i)] - least) >> low
        at = ends[bucket]
        order[np.uint64(at)] = i
        ends[bucket] = at + 1
    return 0


@routine
def throw(key: Any, place: Any, drop: int, down: int, up: int, start: int, stop: int, ends: Any, entries: Any) -> int:
    """Write the entry of each row into its bucket; a bucket's rows keep their order."""
    least, low, bits, high = place[0], place[1] + np.uint64(drop), np.uint64(down - drop), np.uint64(up)
    for i in range(start, stop):
        row = np.uint64(i)
        value = (key[row] - least) >> low
        at = ends[value >> bits]
        entries[np.uint64(at)] = (value << high) | row
        ends[value >> bits] = at + 1
    return 0


@routine
def make(key: Any, place: Any, drop: int, up: int, start: int, stop: int, entries: Any) -> int:
    """Write the entry of each row where the row is."""
    least, low, high = place[0], place[1] + np.uint64(drop), np.uint64(up)
    for i in range(start, stop):
        row = np.uint64(i)
        entries[row] = (((key[row] - least) >> low) << high) | row
    return 0


@routine
def make_some(key: Any, place: Any, drop: int, mask: Any, up: int, rows: Any, entries: Any) -> int:
    """Write an entry for each of some rows, with some bits of its key; the entry counts these rows only."""
    least, low, few, high = place[0], place[1] + np.uint64(drop), mask[0], np.uint64(up)
    for i in range(len(rows)):
        entries[i] = ((((key[rows[i]] - least) >> low) & few) << high) | np.uint64(i)
    return 0


@routine
def sort_buckets(
    edges: Any, first: int, last: int, largest: int, low: int, entries: Any, spare: Any, counts: Any, order: Any
) -> int:
    """Sort the entries of some buckets by the bits from ``low``, and write their rows in order.

    Buckets of more than ``largest`` rows are left alone.
    """
    rows = (np.uint64(1) << np.uint64(low)) - np.uint64(1)
    for bucket in range(first, last):
        start, stop = edges[bucket], edges[bucket + 1]
        if stop - start > largest:
            continue
        _sort(start, stop, low, entries, spare, counts)
        for i in range(start, stop):
            order[np.uint64(i)] = np.int64(entries[np.uint64(i)] & rows)
    return 0


@routine
def sort_short_runs(
    edges: Any,
    first: int,
    last: int,
    largest: int,
    low: int,
    entries: Any,
    order: Any,
    key: Any,
    other: Any,
    keys: int,
    marks: Any,
) -> int:
    """Put ties of sorted entries in order by the whole key; returns how many rows of long runs are left and marked.

    ``keys`` counts the words of the whole key, of which this knows the first two.
    """
    left = 0
    bits = np.uint64(low)
    for bucket in range(first, last):
        start, stop = edges[bucket], edges[bucket + 1]
        if stop - start > largest:
            continue
        i = start
        while i < stop:
            value = entries[np.uint64(i)] >> bits
            end = i + 1
            while end < stop and entries[np.uint64(end)] >> bits == value:
                end += 1
            if end - i > 1 and (keys > 2 or not _in_order(order, i, end, stop, key, other, keys)):
                if keys > 2 or end - i > SHORT:
                    left += end - i
                    for j in range(i, end):
                        marks[np.uint64(j)] = 1
                else:
                    _insert_rows(order, i, end, key, other, keys)
            i = end
    return left


def _sort(start: int, stop: int, low: int, entries: Any, spare: Any, counts: Any) -> None:
    if stop - start <= SMALL:
        _insert(start, stop, entries)
        return
    high = _high(start, stop, entries)
    if stop - start <= LARGE or high - low <= FINE:
        _by_digits(start, stop, low, high, entries, spare, counts, False)
        return
    # too many for the cache: throw them into smaller buckets first
    shift, base = np.uint64(high - FINE), COUNTERS
    for i in range(base, base + (1 << FINE) + 1):
        counts[i] = 0
    mask = np.uint64((1 << FINE) - 1)
    for i in range(start, stop):
        counts[np.uint64(base) + ((entries[np.uint64(i)] >> shift) & mask)] += 1
    _to_starts(start, base, base + (1 << FINE), counts)
    _move(start, stop, shift, mask, np.uint64(base), counts, entries, spare)
    begin = start
    for i in range(base, base + (1 << FINE)):
        end = counts[i]
        if end - begin <= SMALL:
            _insert(begin, end, spare)
            for j in range(begin, end):
                entries[np.uint64(j)] = spare[np.uint64(j)]
        else:
            _by_digits(begin, end, low, high - FINE, spare, entries, counts, True)
        begin = end


def _high(start: int, stop: int, entries: Any) -> int:
    """One past the highest bit in which any entries differ."""
    varying, first = np.uint64(0), entries[start]
    for i in range(start, stop):
        varying |= entries[np.uint64(i)] ^ first
    return 64 - leading_zeros(varying)


def _by_digits(
    start: int, stop: int, low: int, high: int, entries: Any, spare: Any, counts: Any, elsewhere: bool
) -> None:
    """Sort entries by the bits from low to high; the result is in ``entries``, or elsewhere: in ``spare``."""
    size = stop - start
    width = 11 if size > WIDE else 8
    digits = max(0, high - low + width - 1) // width
    mask = (np.uint64(1) << np.uint64(width)) - np.uint64(1)
    for i in range(digits << width):
        counts[np.uint64(i)] = 0
    for i in range(start, stop):
        value = entries[np.uint64(i)] >> np.uint64(low)
        for digit in range(digits):
            counts[(np.uint64(digit) << np.uint64(width)) | (value & mask)] += 1
            value >>= np.uint64(width)
    there = False
    for digit in range(digits):
        base, shift = digit << width, np.uint64(low + digit * width)
        if counts[np.uint64(base) | ((entries[start] >> shift) & mask)] == size:  # both arrays hold the same digits
            continue
        _to_starts(start, base, base + (1 << width), counts)
        if there:
            _move(start, stop, shift, mask, np.uint64(base), counts, spare, entries)
        else:
            _move(start, stop, shift, mask, np.uint64(base), counts, entries, spare)
        there = not there
    if there and not elsewhere:
        for i in range(start, stop):
            entries[np.uint64(i)] = spare[np.uint64(i)]
    if elsewhere and not there:
        for i in range(start, stop):
            spare[np.uint64(i)] = entries[np.uint64(i)]


def _to_starts(start: int, first: int, last: int, counts: Any) -> None:
    total = start
    for i in range(first, last):
        here = counts[np.uint64(i)]
        counts[np.uint64(i)] = total
        total += here


def _move(start: int, stop: int, shift: Any, mask: Any, base: Any, counts: Any, source: Any, target: Any) -> None:
    for i in range(start, stop):
        entry = source[np.uint64(i)]
        bucket = base + ((entry >> shift) & mask)
        at = counts[bucket]
        target[np.uint64(at)] = entry
        counts[bucket] = at + 1


def _insert(start: int, stop: int, entries: Any) -> None:
    for i in range(start + 1, stop):
        entry = entries[np.uint64(i)]
        at = i
        while at > start and entries[np.uint64(at - 1)] > entry:
            entries[np.uint64(at)] = entries[np.uint64(at - 1)]
            at -= 1
        entries[np.uint64(at)] = entry


def _after(one: Any, two: Any, key: Any, other: Any, keys: int) -> bool:
    if key[one] != key[two]:
        return bool(key[one] > key[two])
    return keys > 1 and other[one] > other[two]


def _in_order(order: Any, start: int, stop: int, end: int, key: Any, other: Any, keys: int) -> bool:
    for i in range(start + 1, stop):
        prefetch(key, order[min(i + AHEAD, end - 1)])
        if _after(order[i - 1], order[i], key, other, keys):
            return False
    return True


def _insert_rows(order: Any, start: int, stop: int, key: Any, other: Any, keys: int) -> None:
    for i in range(start + 1, stop):
        row = order[i]
        at = i
        while at > start and _after(order[at - 1], row, key, other, keys):
            order[at] = order[at - 1]
            at -= 1
        order[at] = row
