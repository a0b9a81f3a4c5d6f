"""Levels of a merge sort tree: runs of the level below merged many at a time, and where each merge stood.

A level's output is cut into equal parts, one a thread, wherever the cuts fall: a thread that starts in the middle of
a run first searches where its merge stands there (2022, 5.2). Equal values keep the order of their runs, so
that every cut and every number of threads gives the same tree.

order   any integers from -1 up to 2**46
needs   a fanout below 2**16
time    log2 n comparisons a row over all levels, without branches
space   a loser tree a thread
paper   framed-holistic-windows-2022, 4.2, 5.1, 5.2
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sash.kernels.compiling import routine

SOURCE = np.uint64(16)  # low bits of a key: the run it comes from; above them the value plus one
SOURCES = np.uint64(0xFFFF)
USED_UP = np.uint64(2**64 - 1)
ONE = np.uint64(1)


@routine
def merge_level(below, below_at, level, level_at, rows, length, child, sampling,  # type: ignore[no-untyped-def]
                pointers, pointers_at, start, stop, heads, ends, matches):  # fmt: skip
    """Merge runs of ``child`` rows into runs of ``length``, for the output from ``start`` to ``stop``.

    Before every ``sampling``-th row of a run, where the merge stands in each child is a row of ``pointers``.
    """
    fanout, samples = len(heads), length // sampling + 1
    position = start
    while position < stop:
        run = position // length
        first = run * length
        last = min(first + length, rows)
        until = min(stop, last)
        for way in range(fanout):
            heads[way] = 0
            ends[way] = max(min(child, last - first - way * child), 0)
        if position > first:
            stand_at(below, below_at + first, child, heads, ends, position - first)
        key = tournament(below, below_at + first, child, heads, ends, matches)
        countdown = (first - position) % sampling
        for i in range(position, until):
            if countdown == 0:
                keep(pointers, pointers_at + (run * samples + (i - first) // sampling) * fanout, heads)
                countdown = sampling
            countdown -= 1
            way = key & SOURCES
            level[np.uint64(level_at + i)] = np.int64(key >> SOURCE) - 1
            head = heads[way] + 1
            heads[way] = head
            key = USED_UP
            if head < ends[way]:
                key = packed(below[np.uint64(below_at + first + np.int64(way) * child + head)], way)
            node = (way + np.uint64(len(matches) >> 1)) >> ONE
            while node > 0:
                other = matches[node]
                matches[node] = max(other, key)
                key = min(other, key)
                node >>= ONE
        if until == last and (last - first) % sampling == 0:
            keep(pointers, pointers_at + (run * samples + (last - first) // sampling) * fanout, heads)
        position = until
    return 0


def packed(value: Any, way: Any) -> Any:
    """A key that sorts by value, then by run."""
    return (np.uint64(value + 1) << SOURCE) | np.uint64(way)


def keep(pointers: Any, at: Any, heads: Any) -> None:
    """Write down where the merge stands; the lowest level keeps no pointers."""
    if len(pointers) > 0:
        for way in range(len(heads)):
            pointers[at + way] = heads[way]


def tournament(below: Any, at: Any, child: Any, heads: Any, ends: Any, matches: Any) -> Any:
    """Play all runs' first rows; returns the smallest and leaves the loser of each match in the tree."""
    leaves = len(matches) >> 1
    for way in range(leaves):
        key = USED_UP
        if way < len(heads) and heads[way] < ends[way]:
            key = packed(below[at + way * child + heads[way]], way)
        matches[leaves + way] = key
    for node in range(leaves - 1, 0, -1):
        matches[node] = min(matches[2 * node], matches[2 * node + 1])
    winner = matches[1]
    for node in range(1, leaves):  # from the top, where those below still hold their winners
        matches[node] = max(matches[2 * node], matches[2 * node + 1])
    return winner


def stand_at(below: Any, at: Any, child: Any, heads: Any, ends: Any, done: Any) -> None:
    """Where the merge stands in each run once so many rows have been put out."""
    low, high = np.int64(below[at]), np.int64(below[at])
    for way in range(len(heads)):
        if ends[way] > 0:
            low = min(low, np.int64(below[at + way * child]))
            high = max(high, np.int64(below[at + way * child + ends[way] - 1]))
    while low < high:  # to the smallest value that more rows than were put out do not exceed
        middle = (low + high) >> 1
        reached = 0
        for way in range(len(heads)):
            reached += lower_bound(below, at + way * child, 0, ends[way], middle + 1)
        if reached > done:
            high = middle
        else:
            low = middle + 1
    left = done
    for way in range(len(heads)):
        heads[way] = lower_bound(below, at + way * child, 0, ends[way], low)
        left -= heads[way]
    for way in range(len(heads)):  # rows of that value, run by run
        equal = min(lower_bound(below, at + way * child, 0, ends[way], low + 1) - heads[way], left)
        heads[way] += equal
        left -= equal


def lower_bound(array: Any, at: Any, low: Any, high: Any, value: Any) -> Any:
    """How many entries of a sorted list are below a value, known to be from ``low`` to ``high``."""
    while low < high:
        middle = (low + high) >> 1
        if array[np.uint64(at + middle)] < value:
            low = middle + 1
        else:
            high = middle
    return low
