"""Occurrences: where the same key stood before in its partition, and where it stands next.

Partitions need no tables of their own: the last occurrence of a key anywhere counts if it is not before the
start of the partition. Keys of a small range index a table. Others are mixed by a bijection, so that equal
mixes are equal keys, and thrown by their highest bits into buckets, each of which has a hash table in cache.
Keys chosen to collide are noticed, and sorted instead.

needs   uint64 keys in the order of positions; only equality counts
time    a throw and one look into a table a row
space   12 bytes a row and the tables; for a small range just two tables, of no more entries than rows
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from sash.kernels.compiling import prefetch, routine
from sash.kernels.recycling import empty
from sash.kernels.sorting.buckets import laid_out, spread
from sash.kernels.sorting.radix import argsort
from sash.kernels.sorting.words import measured
from sash.kernels.threads import shares, together
from sash.windows.bounds import positions

BUCKET = 1 << 13  # rows that a bucket should hold: their table fits the cache
SPLIT = 8  # bits of the digit by which rows are thrown, at most
AHEAD = 16  # rows whose answers are on their way to the cache
PATIENCE = 32  # looks a row that a table may need before its keys are taken for malicious


def occurrences(key: np.ndarray, segments: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The position of the same key before, else -1, and after, else the number of rows, in the same partition.

    >>> before, after = occurrences(np.array([4, 9, 4, 4], np.uint64), np.array([0, 3, 4]))
    >>> before.tolist(), after.tolist()
    ([-1, -1, 0, -1], [2, 4, 4, 4])
    """
    rows = len(key)
    previous, following = empty(rows, positions(rows)), empty(rows, positions(rows))
    measure = measured(key)
    span = (measure.greatest - measure.least) >> measure.shared
    if span <= max(rows, 1 << 10):
        _by_table(key, np.array([measure.least, measure.shared], np.uint64), span + 1, previous, following)
    elif not _by_hash(key, segments, previous, following):
        by_sort(key, previous, following)
    together([partial(_cut, segments, a, b, previous, following) for a, b in spread(segments)])
    return previous, following


def distinct_codes(key: np.ndarray, segments: np.ndarray) -> tuple[np.ndarray, int]:
    """A number for each key of each partition, in the order they first occur, and how many there are.

    >>> codes, count = distinct_codes(np.array([4, 9, 4, 4], np.uint64), np.array([0, 3, 4]))
    >>> codes.tolist(), count
    ([0, 1, 0, 2], 3)
    """
    previous, codes = occurrences(key, segments)
    return codes, _number(previous, codes)


def by_sort(key: np.ndarray, previous: np.ndarray, following: np.ndarray) -> None:
    """Find the same key anywhere before and after by sorting, which no choice of keys makes slow."""
    _link(key, argsort([key]), previous, following)


def _by_table(key: np.ndarray, place: np.ndarray, values: int, previous: np.ndarray, following: np.ndarray) -> None:
    ahead, back = (np.full(values, nowhere, previous.dtype) for nowhere in (len(key), -1))
    together([lambda: _look_back(key, place, back, previous), lambda: _look_ahead(key, place, ahead, following)])


def _by_hash(key: np.ndarray, segments: np.ndarray, previous: np.ndarray, following: np.ndarray) -> bool:
    """Whether hashing found the occurrences; the table of a bucket is at most half full."""
    rows = len(key)
    mixes, places = empty(rows, np.uint64), empty(rows, previous.dtype)
    edges, split = segments, 0
    if int(np.diff(segments).max()) <= BUCKET:  # partitions are buckets
        together([partial(_mix_all, key, a, b, mixes, places) for a, b in shares(rows)])
    else:
        split = min(SPLIT, (rows // BUCKET).bit_length())
        parts = shares(rows)
        counts = np.zeros((len(parts), 1 << split), np.int64)
        together([partial(_count, key, a, b, split, counts[p]) for p, (a, b) in enumerate(parts)])
        edges, ends = laid_out(counts)
        together([partial(_throw, key, a, b, split, ends[p], mixes, places) for p, (a, b) in enumerate(parts)])
    previous.fill(-1)
    following.fill(rows)
    gave_up = together(
        [
            partial(_match, edges, a, b, split, mixes, places, _table(edges[a : b + 1]), previous, following)
            for a, b in spread(edges)
        ]
    )
    return not any(gave_up)


def _table(edges: np.ndarray) -> np.ndarray:
    largest = int(np.diff(edges).max(initial=1))
    return np.full(2 << (largest - 1).bit_length(), -1, positions(int(edges[-1])))


def splitmix(key: Any) -> Any:
    """A bijection of 64-bit words whose high bits depend on all bits (splitmix64)."""
    key = (key ^ (key >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    key = (key ^ (key >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return key ^ (key >> np.uint64(31))


@routine
def _mix_all(key: Any, start: int, stop: int, mixes: Any, places: Any) -> int:
    for i in range(start, stop):
        mixes[np.uint64(i)] = splitmix(key[np.uint64(i)])
        places[np.uint64(i)] = i
    return 0


@routine
def _count(key: Any, start: int, stop: int, split: int, counts: Any) -> int:
    """Count how many rows each bucket gets."""
    down = np.uint64(64 - split)
    for i in range(start, stop):
        counts[splitmix(key[np.uint64(i)]) >> down] += 1
    return 0


@routine
def _throw(key: Any, start: int, stop: int, split: int, ends: Any, mixes: Any, places: Any) -> int:
    """Write each row's mix and position into its bucket."""
    down = np.uint64(64 - split)
    for i in range(start, stop):
        mix = splitmix(key[np.uint64(i)])
        at = ends[mix >> down]
        ends[mix >> down] = at + 1
        mixes[np.uint64(at)] = mix
        places[np.uint64(at)] = i
    return 0


@routine
def _match(
    edges: Any, first: int, last: int, split: int, mixes: Any, places: Any, table: Any, previous: Any, following: Any
) -> int:
    """Link equal mixes in each bucket, each to the last before it; returns 1 where that takes too long.

    The table holds the last row of each mix. Rows of earlier buckets in it count as nothing, so that it is
    never cleared.
    """
    up = np.uint64(split)
    for bucket in range(first, last):
        start, stop = edges[bucket], edges[bucket + 1]
        bits = 1
        while (1 << bits) < 2 * (stop - start):
            bits += 1
        mask, down = np.uint64((1 << bits) - 1), np.uint64(64 - bits)
        looks = PATIENCE * (stop - start) + 1024
        for i in range(start, stop):
            soon = places[np.uint64(min(i + AHEAD, stop - 1))]
            prefetch(previous, soon)
            prefetch(following, soon)
            mix = mixes[np.uint64(i)]
            at = (mix << up) >> down
            before = table[at]
            while before >= start and mixes[np.uint64(before)] != mix:
                at = (at + np.uint64(1)) & mask
                before = table[at]
                looks -= 1
            if looks < 0:
                return 1
            table[at] = i
            if before >= start:
                place, earlier = places[np.uint64(i)], places[np.uint64(before)]
                previous[np.uint64(place)] = earlier
                following[np.uint64(earlier)] = place
    return 0


@routine
def _look_back(key: Any, place: Any, table: Any, previous: Any) -> int:
    """Keep the last position of each key in a table, from the first row on."""
    least, low = place[0], place[1]
    for i in range(len(key)):
        at = (key[np.uint64(i)] - least) >> low
        previous[np.uint64(i)] = table[at]
        table[at] = i
    return 0


@routine
def _look_ahead(key: Any, place: Any, table: Any, following: Any) -> int:
    """Keep the next position of each key in a table, from the last row back."""
    least, low = place[0], place[1]
    for i in range(len(key) - 1, -1, -1):
        at = (key[np.uint64(i)] - least) >> low
        following[np.uint64(i)] = table[at]
        table[at] = i
    return 0


@routine
def _link(key: Any, order: Any, previous: Any, following: Any) -> int:
    """Link rows of equal keys that follow each other in sorted order."""
    rows = len(key)
    for i in range(rows):
        row, before = order[i], order[max(i - 1, 0)]
        following[row] = rows
        previous[row] = -1
        if i and key[row] == key[before]:
            previous[row] = before
            following[before] = row
    return 0


@routine
def _cut(segments: Any, first: int, last: int, previous: Any, following: Any) -> int:
    """Forget occurrences in other partitions."""
    rows = len(previous)
    for segment in range(first, last):
        start, stop = segments[segment], segments[segment + 1]
        for i in range(start, stop):
            if previous[np.uint64(i)] < start:
                previous[np.uint64(i)] = -1
            if following[np.uint64(i)] >= stop:
                following[np.uint64(i)] = rows
    return 0


@routine
def _number(previous: Any, codes: Any) -> int:
    """Number the rows without a previous occurrence, and give the others the number of theirs."""
    count = 0
    for i in range(len(previous)):
        before = previous[np.uint64(i)]
        if before < 0:
            codes[np.uint64(i)] = count
            count += 1
        else:
            codes[np.uint64(i)] = codes[np.uint64(before)]
    return count
