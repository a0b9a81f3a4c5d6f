"""Windows that end, of all grids of a board at once: of each key in one walk over its cells.

A row is a key and an end at which a window ends that holds a cell; windows of other grids that end there, too, are due
in the same row, with cells or without. The cells of a key lie one after the other, sorted by position.

order   cells of each key by position
time    a step for each row and grid, and for each cell and grid
space   24 bytes a window and 16 a row
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sash.kernels.compiling import routine

MOST = 2**63 - 1
NONE = np.zeros(0, np.int64)


class GridArrays(NamedTuple):
    """Windows of several grids: how long they are, how far apart, and where one begins."""

    ranges: np.ndarray
    slides: np.ndarray
    origins: np.ndarray


class KeySegments(NamedTuple):
    """Where the cells of some keys begin and end, from where those of each are counted, and all positions."""

    keys: np.ndarray
    first: np.ndarray
    stop: np.ndarray
    base: np.ndarray
    at: np.ndarray


class BoardWindows(NamedTuple):
    """Rows by key and end, and the windows due in them, those of each grid from one offset to the next.

    A window is of a row; its cells are those from ``lo`` to ``hi``, counted from the base of its key.
    """

    key: np.ndarray
    end: np.ndarray
    offsets: np.ndarray
    row: np.ndarray
    lo: np.ndarray
    hi: np.ndarray


def at_or_after(at: Any, low: int, high: int, position: int) -> int:
    """The first of some cells that is not before a position."""
    while low < high:
        middle = (low + high) >> 1
        if at[middle] < position:
            low = middle + 1
        else:
            high = middle
    return low


@routine
def walk_windows(first, stop, base, at, ranges, slides, origins, after, upto, work, places, keys, ends, row, lo, hi):  # type: ignore[no-untyped-def]
    """Count rows, and the windows of each grid in ``places``; where there is room, write them from there on.

    ``work`` has four numbers for each grid: where its next window ends that may hold a cell, whether those before
    it were skipped, the first cell of the last one, -1 for none yet, and a place for the grids that end together.
    """
    grids, rows = len(ranges), 0
    ending = 3 * grids  # where the grids are listed of which a window ends
    for k in range(len(first)):
        start, behind = first[k], stop[k]
        if start >= behind:
            continue
        begin, skipped = max(after, at[start]), 0
        for g in range(grids):
            moved = origins[g] + ranges[g]
            work[g] = moved + ((begin - moved) // slides[g] + 1) * slides[g]
            work[grids + g] = 0
            work[2 * grids + g] = -1
        high = -1
        while True:
            end, count = MOST, 0
            for g in range(grids):
                if work[g] < end:
                    end, count = work[g], 0
                if work[g] == end:
                    work[ending + count] = g
                    count += 1
            if end == MOST or end > upto:
                break
            if high < 0:
                high = at_or_after(at, start, behind, end)
            while high < behind and at[high] < end:
                high += 1
            some = False
            for i in range(count):
                g = work[ending + i]
                low, begin = work[2 * grids + g], end - ranges[g]
                if low < 0:
                    low = at_or_after(at, start, high, begin)
                while low < high and at[low] < begin:
                    low += 1
                work[2 * grids + g] = low
                some |= low < high
            if some and skipped > 0:  # of others, a window may end here that holds no cell
                for g in range(grids):
                    if work[grids + g] != 0 and work[g] != end and (end - origins[g] - ranges[g]) % slides[g] == 0:
                        place = places[g]
                        if place < len(row):
                            row[place], lo[place], hi[place] = rows, high - base[k], high - base[k]
                        places[g] = place + 1
            for i in range(count):
                g = work[ending + i]
                low = work[2 * grids + g]
                if some:
                    place = places[g]
                    if place < len(row):
                        row[place], lo[place], hi[place] = rows, low - base[k], high - base[k]
                    places[g] = place + 1
                skipped -= work[grids + g]
                work[grids + g] = low >= high
                skipped += work[grids + g]
                if low < high:
                    work[g] += slides[g]
                elif high < behind:  # the next that holds a cell
                    moved = origins[g] + ranges[g]
                    work[g] = moved + ((at[high] - moved) // slides[g] + 1) * slides[g]
                else:
                    work[g] = MOST
            if some:
                if rows < len(ends):
                    keys[rows], ends[rows] = k, end
                rows += 1
    return rows


def board_windows(segments: KeySegments, grids: GridArrays, after: int, upto: int) -> BoardWindows:
    """The windows that end after one position and up to another, and hold a cell, or end where such a one does."""
    work, counts = np.empty(4 * len(grids.ranges), np.int64), np.zeros(len(grids.ranges), np.int64)
    walked = (*segments[1:], *grids, after, upto, work)
    rows = walk_windows(*walked, counts, NONE, NONE, NONE, NONE, NONE)
    offsets = np.zeros(len(counts) + 1, np.int64)
    np.cumsum(counts, out=offsets[1:])
    out = BoardWindows(np.empty(rows, np.int64), np.empty(rows, np.int64), offsets,
                       *(np.empty(int(offsets[-1]), np.int64) for _ in range(3)))  # fmt: skip
    if rows:
        walk_windows(*walked, offsets[:-1].copy(), out.key, out.end, *out[3:])
    return out._replace(key=segments.keys[out.key])
