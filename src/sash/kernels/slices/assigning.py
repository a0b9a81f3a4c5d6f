"""Assigning: the cell of each row of a batch, a cell being what a key has of one slice.

A slice is known by where it begins: the last edge at or before a row. Rows mostly fall into the slice of the row
before; otherwise the next edge is tried, and then the edges of the batch are searched, or, where these outnumber
the rows, computed. Each key remembers its last cell, so that in an ordered batch every cell is made once; rows out
of order may make a cell again, which is merged later.

order   any
time    one comparison a row, and log2 of the edges where the slice changes
space   8 bytes a key; 16 a cell
paper   flatfit-2017, 2.1
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from sash.kernels.compiling import routine
from sash.windows.slicers import Edges

LEAST, MOST = np.iinfo(np.int64).min, np.iinfo(np.int64).max
CELLS, HINT, FROM, UPTO = range(4)


@routine
def assign_by_table(at, codes, keyed, edges, slot, cells, cell_key, cell_at, marks):  # type: ignore[no-untyped-def]
    """Assign rows given all edges of the batch, the last of which is beyond all rows."""
    count, hint = marks[CELLS], marks[HINT]
    start, stop = edges[hint], edges[hint + 1]
    for i in range(len(at)):
        position = at[i]
        if position < start or position >= stop:
            if position >= stop and position < edges[hint + 2]:
                hint += 1
            else:
                low, high = 0, len(edges) - 2  # the last edge but one that is at or before the position
                while high - low > 1:
                    middle = (low + high) >> 1
                    if edges[middle] <= position:
                        low = middle
                    else:
                        high = middle
                hint = low
            start, stop = edges[hint], edges[hint + 1]
        key = codes[i] if keyed != 0 else 0
        cell = slot[key]
        if cell < 0 or cell_at[cell] != start:
            cell = count
            cell_key[cell], cell_at[cell], slot[key] = key, start, cell
            count += 1
        cells[i] = cell
    marks[CELLS], marks[HINT] = count, hint
    return count


@routine
def assign_by_steps(at, codes, keyed, steps, phases, table, slot, cells, cell_key, cell_at, marks):  # type: ignore[no-untyped-def]
    """Assign rows by computing the edges around each, and looking up those of calendars in a table."""
    count, start, stop = marks[CELLS], marks[FROM], marks[UPTO]
    for i in range(len(at)):
        position = at[i]
        if position < start or position >= stop:
            start, stop = LEAST, MOST
            for k in range(len(steps)):
                edge = position - (position - phases[k]) % steps[k]
                start, stop = max(start, edge), min(stop, edge + steps[k])
            low, high = -1, len(table)  # the last edge of the table at or before the position
            while high - low > 1:
                middle = (low + high) >> 1
                if table[middle] <= position:
                    low = middle
                else:
                    high = middle
            if low >= 0:
                start = max(start, table[low])
            if high < len(table):
                stop = min(stop, table[high])
        key = codes[i] if keyed != 0 else 0
        cell = slot[key]
        if cell < 0 or cell_at[cell] != start:
            cell = count
            cell_key[cell], cell_at[cell], slot[key] = key, start, cell
            count += 1
        cells[i] = cell
    marks[CELLS], marks[FROM], marks[UPTO] = count, start, stop
    return count


@routine
def find_span(at, out):  # type: ignore[no-untyped-def]
    """Find the least and the greatest position of some rows, and how many are behind the row before."""
    least, most, falls = at[0], at[0], 0
    for i in range(1, len(at)):
        row = np.uint64(i)  # never below zero, so that several rows are taken at once
        position = at[row]
        least, most = min(least, position), max(most, position)
        falls += position < at[row - np.uint64(1)]
    out[0], out[1], out[2] = least, most, falls
    return 0


class Span(NamedTuple):
    """The least and the greatest of some positions, and whether none is behind the one before."""

    least: int
    most: int
    ordered: bool


def span(at: np.ndarray) -> Span:
    """The span of some positions."""
    if not len(at):
        return Span(0, 0, True)
    out = np.empty(3, np.int64)
    find_span(at, out)
    least, most, falls = out.tolist()
    return Span(least, most, falls == 0)


class Assigning:
    """Rows given chunk by chunk, and the cells they have made so far."""

    def __init__(self, edges: Edges, lo: int, hi: int, rows: int, keys: int) -> None:
        """Be ready for so many rows between two positions, of keys numbered from 0."""
        self.slot = np.full(max(keys, 1), -1, np.int64)
        self.marks = np.array([0, 0, MOST, -MOST])
        self.key, self.at = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self.steps: tuple[np.ndarray, ...] | None = None
        if edges.how_many(lo, hi) <= max(4 * rows, 1024):
            table = edges.between(lo, hi)
            if not len(table) or table[0] > lo:
                table = np.append(lo, table)
            self.table = np.append(table, [MOST, MOST, MOST])
        else:
            steps, phases = ([getattr(each, part) for each in edges.progressions] for part in ("step", "phase"))
            table = Edges((), edges.calendars, edges.starts_only).between(lo, hi)
            self.steps = (np.array(steps, np.int64), np.array(phases, np.int64), table)

    def cells(self, at: np.ndarray, codes: np.ndarray | None) -> np.ndarray:
        """The cell of each row of a chunk."""
        room = int(self.marks[CELLS]) + len(at)
        if room > len(self.key):
            self.key, self.at = (grown(array, room) for array in (self.key, self.at))
        cells = np.empty(len(at), np.int64)
        rows: tuple[Any, ...] = (at, cells if codes is None else codes, int(codes is not None))
        cells_known = (self.slot, cells, self.key, self.at, self.marks)
        if self.steps is None:
            assign_by_table(*rows, self.table, *cells_known)
        else:
            assign_by_steps(*rows, *self.steps, *cells_known)
        return cells

    @property
    def count(self) -> int:
        """How many cells there are by now."""
        return int(self.marks[CELLS])


def grown(array: np.ndarray, room: int) -> np.ndarray:
    """The array with room for more entries."""
    out = np.zeros(max(room, 2 * len(array)), array.dtype)
    out[: len(array)] = array
    return out


def powers_of_two(counts: np.ndarray) -> np.ndarray:
    """The least power of two that is not below each number."""
    return np.int64(1) << np.ceil(np.log2(np.maximum(counts, 1))).astype(np.int64)
