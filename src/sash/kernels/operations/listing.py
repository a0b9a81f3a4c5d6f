"""Frames listed: ranges of rows as an aggregate lowers them, and the first occurrences in each.

A tree of minima over previous occurrences leads from one first occurrence to the next without a look at the
repetitions between them (Muthukrishnan, Efficient Algorithms for Document Retrieval Problems, 2002).

needs   for each row the previous one with the same value
time    log n for each row listed
space   1/15 of the previous occurrences, and what is listed
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sash.algebra import Aggregate
from sash.kernels.answers import Answered
from sash.kernels.compiling import Answers, Marks, interpreted, kernel, routine, specialise

FAN = 16


@kernel
def lower_ranges(agg: Any) -> Any:
    """Lower each range of rows."""
    answer, absent = agg.answer, agg.absent

    def lower(lo: Marks, hi: Marks, out: Answers) -> int:
        for i in range(len(lo)):
            if lo[i] < hi[i]:
                answer(out, i, (lo[i], hi[i]))
            else:
                absent(out, i)
        return 0

    return lower


def lowered(aggregate: Aggregate, sizes: np.ndarray) -> Answered:
    """What an aggregate of row ranges makes of frames of so many rows, the first of which is 0."""
    specialised = specialise(lower_ranges, aggregate, ())
    out = Answered(np.empty(len(sizes), specialised.answer), np.ones(len(sizes), np.bool_))
    specialised.run(np.zeros(len(sizes), np.int64), sizes.astype(np.int64), tuple(out))
    if aggregate.compiled:
        return out
    return Answered(interpreted.records(*out, like=(0, 0) if aggregate.returns == "rows" else 0), out.valid)


def first_occurrences(
    previous: np.ndarray, start: np.ndarray, stop: np.ndarray, offsets: np.ndarray, counting: bool = False
) -> np.ndarray:
    """For each range [start, stop), the positions in it whose value does not occur before in it.

    ``offsets`` says where each list begins among all, and then where the last ends. With ``counting`` it is
    written instead: how many there are in each range.
    """
    levels, edges = _tree(previous)
    rows = np.empty(0 if counting else int(offsets[-1]), previous.dtype)
    _list(previous, levels, edges, start, stop, int(counting), offsets, rows)
    return rows


def _tree(previous: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Minima of groups of 16, of 256 and so on, one level after the other; and where each level starts."""
    levels, edges, below = [], [0], previous
    while len(below) > 1:
        padded = np.full(-(-len(below) // FAN) * FAN, np.iinfo(previous.dtype).max, previous.dtype)
        padded[: len(below)] = below
        below = padded.reshape(-1, FAN).min(axis=1)
        levels.append(below)
        edges.append(edges[-1] + len(below))
    return np.concatenate(levels) if levels else np.zeros(0, previous.dtype), np.array(edges, np.int64)


@routine
def _list(previous: Any, levels: Any, edges: Any, start: Any, stop: Any, counting: int, offsets: Any, rows: Any) -> int:
    for i in range(len(start)):
        count, at = 0, _next(previous, levels, edges, start[i], stop[i], start[i])
        while at < stop[i]:
            if not counting:
                rows[offsets[i] + count] = at
            count += 1
            at = _next(previous, levels, edges, at + 1, stop[i], start[i])
        if counting:
            offsets[i] = count
    return 0


def _next(previous: Any, levels: Any, edges: Any, at: Any, stop: Any, limit: Any) -> Any:
    """The first position from ``at`` on whose previous occurrence is below a limit, or something past ``stop``."""
    height = len(edges) - 1
    while at < stop:
        if at % FAN != 0 or height == 0:
            if previous[at] < limit:
                return at
            at += 1
            continue
        level, node = 0, at // FAN  # climb while whole groups hold nothing below the limit
        while levels[edges[level] + node] >= limit:
            node += 1
            while node % FAN == 0 and level + 1 < height:
                level += 1
                node //= FAN
            if (node << (4 * (level + 1))) >= stop:
                return stop
        while level > 0:
            level -= 1
            node *= FAN
            while levels[edges[level] + node] >= limit:
                node += 1
        at = node * FAN
        while previous[at] >= limit:
            at += 1
        return at
    return stop
