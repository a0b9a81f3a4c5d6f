"""Range tree, swept: distinct codes below a limit in any frames, three comparisons for each row.

A row counts where it is the first of its code in the frame [lo, hi), its previous one before lo, and its code
below the limit. The tree halves the codes like a wavelet matrix: in each level, rows stand by the high bits of
their codes and then by position, and the rows of a frame that may count are a range. Frames go by lo, and
a row's bit is set once lo has passed its previous one, so that a level adds a count of bits in a range.
One level at a time is in memory.

needs   codes that are dense, the neighbours of each row with its code
time    n log^2 n; ranges shorter than 1,024 are counted without a tree, frames shorter than 128 looked through
space   28 bytes a row, and a few bits; 24 bytes more where frames have holes
paper   framed-holistic-windows-2022, 4.4, which names range trees for it, in n log^2 n space
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from sash.kernels.algorithm import DENSE, Algorithm, Occurrences
from sash.kernels.compiling import popcount, prefetch, routine
from sash.kernels.operations.holes import correct, ranges_of_holes
from sash.kernels.structures.counters import sorted_by, walkers
from sash.kernels.threads import shares, together
from sash.windows.bounds import Bounds

SHORT = 128  # rows that are looked at one by one
NEAR = 1 << 10  # bits that are counted without the Fenwick tree
WORD, LINE = 6, 9  # log2 of the bits in a word, and in a line of the cache
AHEAD = 16  # rows between asking for a line of the cache and using it


def distinct_below(
    codes: np.ndarray, previous: np.ndarray, following: np.ndarray, bounds: Bounds, limit: np.ndarray
) -> np.ndarray:
    """How many distinct codes below a limit each frame holds.

    Holes must be groups of peers: the same or disjoint, but for being cut at the ends of a frame.
    """
    lo, a, b, hi, _ = bounds.arrays
    if not bounds.holes:
        return _dominated(codes, previous, following, lo, hi, lo, limit)
    start = np.where(lo == a, b, lo)  # a hole at an end of the frame only makes it shorter
    stop = np.where(b == hi, np.maximum(a, start), hi)
    count = _dominated(codes, previous, following, start, stop, start, limit)
    correct(codes, previous, following, bounds, limit, SHORT, count)
    if ((b - a > SHORT) & (lo < a) & (b < hi)).any():
        lost, before, wakes, first, last = ranges_of_holes(codes, previous, following, bounds, SHORT)
        count -= _dominated(lost, before, wakes, first, last, lo, limit)
    return count


def _dominated(
    codes: np.ndarray,
    keys: np.ndarray,
    wakes: np.ndarray,
    start: np.ndarray,
    stop: np.ndarray,
    lo: np.ndarray,
    limit: np.ndarray,
) -> np.ndarray:
    """How many items in [start, stop) have a key below lo and a code below a limit.

    Keys from 0 on are distinct: ``wakes[key]`` is the item of that key, or any number past the last item.
    """
    out = np.empty(len(lo), codes.dtype)
    together(partial(_look, codes, keys, start, stop, lo, limit, SHORT, r0, r1, out) for r0, r1 in shares(len(lo)))
    wide = np.flatnonzero(stop - start > SHORT).astype(codes.dtype)
    if len(wide):
        wide = wide[sorted_by(lo[wide], len(wakes) + 1, None)]
        out[wide] = _swept(codes, keys, wakes, start[wide], stop[wide], lo[wide], limit[wide])
    return out


def _swept(
    codes: np.ndarray,
    keys: np.ndarray,
    wakes: np.ndarray,
    start: np.ndarray,
    stop: np.ndarray,
    lo: np.ndarray,
    limit: np.ndarray,
) -> np.ndarray:
    """The same for queries sorted by lo; start and stop are used up."""
    places = np.arange(len(codes), dtype=codes.dtype)
    words = (len(codes) >> WORD) + 1
    ones, zeros_before = np.empty(words, np.uint64), np.empty(words, codes.dtype)
    parts = walkers(len(lo))
    lines = (len(codes) >> LINE) + 1
    scratch = [(np.empty(lines << LINE - WORD, np.uint64), np.empty(lines + 1, codes.dtype)) for _ in parts]
    out = np.zeros(len(lo), codes.dtype)
    widest = int((stop - start).max())
    for level in reversed(range(int(max(codes.max(), limit.max())).bit_length())):
        ones[:] = 0
        zeros = _divide(codes, level, places, ones, zeros_before)
        together(partial(_move, ones, zeros_before, zeros, r0, r1, places) for r0, r1 in shares(len(codes)))
        now = (keys, wakes, places, ones, zeros_before, zeros, level, int(widest > NEAR), NEAR, lo, limit)
        widths = together(
            partial(_level, *now, r0, r1, *own, start, stop, out) for (r0, r1), own in zip(parts, scratch, strict=True)
        )
        widest = max(widths)
        if not widest:
            break
    return out


@routine
def _look(
    codes: Any, keys: Any, start: Any, stop: Any, lo: Any, limit: Any, short: int, r0: int, r1: int, out: Any
) -> int:
    for i in range(r0, r1):
        first, last = np.int64(start[i]), np.int64(stop[i])
        count = 0
        if last - first <= short:
            bound, ceiling = lo[i], limit[i]
            for j in range(np.uint64(first), np.uint64(last)):
                count += (keys[j] < bound) & (codes[j] < ceiling)
        out[i] = count
    return 0


@routine
def _divide(codes: Any, level: int, places: Any, ones: Any, zeros_before: Any) -> int:
    """Mark the places of this level whose codes have its bit; returns how many have not."""
    for j in range(np.uint64(len(codes))):
        bit = np.uint64(codes[j] >> level) & np.uint64(1)
        place = np.uint64(places[j])
        ones[place >> np.uint64(WORD)] |= bit << (place & np.uint64(63))
    before = 0
    for word in range(len(ones)):
        zeros_before[word] = (word << WORD) - before
        before += popcount(ones[word])
    return len(codes) - before


def _zeros(ones: Any, zeros_before: Any, place: Any) -> Any:
    """How many places before this one have no bit."""
    place = np.uint64(place)
    word, bit = place >> np.uint64(WORD), place & np.uint64(63)
    below = (np.uint64(1) << bit) - np.uint64(1)
    return np.int64(zeros_before[word]) + popcount(~ones[word] & below)


@routine
def _move(ones: Any, zeros_before: Any, zeros: int, r0: int, r1: int, places: Any) -> int:
    """Move items to their places in the next level: those without the bit first."""
    for j in range(np.uint64(r0), np.uint64(r1)):
        place = np.uint64(places[j])
        before = _zeros(ones, zeros_before, place)
        if ones[place >> np.uint64(WORD)] >> (place & np.uint64(63)) & np.uint64(1):
            places[j] = zeros + np.int64(place) - before
        else:
            places[j] = before
    return 0


def _below(awake: Any, tree: Any, place: Any) -> Any:
    """How many bits are set before a place."""
    node = place >> LINE
    count = np.int64(0)
    word = node << LINE - WORD
    while node > 0:
        count += tree[np.uint64(node)]
        node &= node - 1
    for full in range(np.uint64(word), np.uint64(place >> WORD)):
        count += popcount(awake[full])
    rest = (np.uint64(1) << np.uint64(place & 63)) - np.uint64(1)
    return count + popcount(awake[np.uint64(place >> WORD)] & rest)


def _between(awake: Any, first: Any, last: Any) -> Any:
    """How many bits are set from a place to another, few words on."""
    word, end = np.uint64(first >> WORD), np.uint64(last >> WORD)
    count = popcount(awake[end] & ((np.uint64(1) << np.uint64(last & 63)) - np.uint64(1)))
    count -= popcount(awake[word] & ((np.uint64(1) << np.uint64(first & 63)) - np.uint64(1)))
    for full in range(word, end):
        count += popcount(awake[full])
    return count


@routine
def _level(
    keys: Any,
    wakes: Any,
    places: Any,
    ones: Any,
    zeros_before: Any,
    zeros: int,
    level: int,
    wide: int,
    near: int,
    lo: Any,
    limit: Any,
    r0: int,
    r1: int,
    awake: Any,
    tree: Any,
    start: Any,
    stop: Any,
    out: Any,
) -> int:
    """Count what a level adds to each query, and narrow its range; returns the widest range left."""
    for word in range(len(awake)):
        awake[word] = np.uint64(0)
    passed = np.int64(lo[r0])
    for j in range(np.uint64(len(keys))):
        place = np.uint64(places[j])
        bit = np.uint64((keys[j] < passed) & (place < np.uint64(zeros)))
        awake[place >> np.uint64(WORD)] |= bit << (place & np.uint64(63))
    if wide:
        tree[0] = 0
        for node in range(1, len(tree)):
            total = 0
            for word in range((node - 1) << LINE - WORD, node << LINE - WORD):
                total += popcount(awake[np.uint64(word)])
            tree[node] = total
        for node in range(1, len(tree)):
            above = node + (node & -node)
            if above < len(tree):
                tree[above] += tree[node]
    widest = 0
    for q in range(np.uint64(r0), np.uint64(r1)):
        while passed < lo[q]:
            prefetch(places, wakes[np.uint64(min(int(passed) + AHEAD, len(wakes) - 1))])
            item = np.uint64(wakes[np.uint64(passed)])
            passed += 1
            if item < np.uint64(len(places)) and places[item] < zeros:
                place = np.uint64(places[item])
                awake[place >> np.uint64(WORD)] |= np.uint64(1) << (place & np.uint64(63))
                if wide:
                    above = int(place >> np.uint64(LINE)) + 1
                    while above < len(tree):
                        tree[np.uint64(above)] += 1
                        above += above & -above
        first, last = np.int64(start[q]), np.int64(stop[q])
        if first == last:
            continue
        early, late = _zeros(ones, zeros_before, first), _zeros(ones, zeros_before, last)
        if limit[q] >> level & 1:
            if late - early <= near:
                out[q] += _between(awake, early, late)
            else:
                out[q] += _below(awake, tree, late) - _below(awake, tree, early)
            early, late = zeros + first - early, zeros + last - late
        start[q], stop[q] = early, late
        widest = max(widest, int(late - early))
    return widest


def dense_rank(codes: np.ndarray, values: Occurrences, bounds: Bounds, own_code: np.ndarray) -> np.ndarray:
    """One more than the number of distinct codes below ``own_code`` in each frame, whatever frames these are.

    >>> codes, previous, following = (np.array(c, np.int32) for c in ([1, 0, 1], [-1, -1, 0], [2, 3, 3]))
    >>> bounds = Bounds(np.array([0, 1, 0], np.int32), np.array([1, 3, 2], np.int32), 3)
    >>> dense_rank(codes, Occurrences(previous, following, lambda: (codes, 2)), bounds, codes)
    array([1, 1, 2], dtype=int32)
    """
    out = distinct_below(codes, values.previous, values.following, bounds, own_code)
    out += 1
    return out


ALGORITHM = Algorithm(
    name="range_tree",
    operation=DENSE,
    words="dominance counted by divide and conquer",
    cost=lambda task: 50.0 + 2.0 * task.levels * task.height,
    run=dense_rank,
)
