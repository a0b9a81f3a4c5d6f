"""Buffered rows as sorted runs that are kept between pushes, for holistic queries over windows that overlap much.

Rows of a key lie by position, and what a query asks of them (the order of their values, or where each value occurred
before) lies in runs that are sorted once and merged geometrically: a push sorts what it brings, and a window is
answered from a few runs. All keys are in the same arrays, and go through one call of a kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import partial
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.encoding import biased
from sash.engine.streams.run_columns import RunColumn
from sash.kernels.slices import row_rings, sorted_levels
from sash.kernels.slices.assigning import grown
from sash.kernels.sorting import argsort
from sash.kernels.sorting.radix import in_order
from sash.kernels.threads import shares, together

LEAST = 8  # slots of the smallest ring
LOW, STEP = 5, 3  # of the shortest runs, and of how many are merged, the logarithms
MANY = 1 << 12  # rows that may move, in any case
WINDOWS = 64  # that a thread answers at least


class Rings:
    """Where the rows of each key lie, and where the runs of each begin: the same for all columns."""

    def __init__(self) -> None:
        none = np.zeros(0, np.int64)
        self.base, self.room, self.above = none, none.copy(), none.copy()
        self.head, self.tail = none.copy(), none.copy()
        self.at = none.copy()
        self.slots = self.run_slots = 0  # that keys have been given
        self.longest = 0  # the largest ring

    def reserve(self, keys: int) -> None:
        """Have a ring for each key that is known, if only one without a slot."""
        if keys > len(self.base):
            self.base, self.room, self.above, self.head, self.tail = (
                grown(array, keys) for array in (self.base, self.room, self.above, self.head, self.tail)
            )

    def lay_out(self, keys: np.ndarray, counts: np.ndarray) -> None:
        """Give keys rings with room for a quarter more rows; what these were in is not used again."""
        rooms = powers_of_two(np.maximum(counts + counts // 4, LEAST))
        levels = level_counts(rooms)
        ends, run_ends = self.slots + np.cumsum(rooms), self.run_slots + np.cumsum(rooms * levels)
        self.base[keys], self.room[keys], self.above[keys] = ends - rooms, rooms, run_ends - rooms * levels
        self.slots, self.run_slots = int(ends[-1]), int(run_ends[-1])
        self.longest = max(self.longest, int(rooms.max()))


class SortedRuns:
    """Rows by key and position, and columns of what is asked of them."""

    def __init__(self, columns: Mapping[Any, RunColumn]) -> None:
        self.columns = columns
        self.rings = Rings()
        self.count = 0  # rows
        self.spoilt = False  # whether rows came so far behind others that sorting all anew costs less
        self.moved = 0  # how many words were sorted or merged since the beginning
        self._spare = np.empty(0, np.int64)
        self._new: list[tuple[pa.Table, np.ndarray, np.ndarray]] = []
        self.waiting = 0  # rows that came, and are not among the others yet

    def __len__(self) -> int:
        return self.count + self.waiting

    def wait(self, table: pa.Table, key: np.ndarray, at: np.ndarray) -> None:
        """Take rows, which join the others when these are asked for."""
        self._new.append((table, key, at))
        self.waiting += len(key)

    @property
    def keys(self) -> np.ndarray:
        """The keys that have a row, in order."""
        return np.flatnonzero(self.rings.tail > self.rings.head)

    def know(self, keys: int) -> None:
        """Have so many keys, so that windows may be asked of those that have no row."""
        self.rings.reserve(keys)

    def settled(self) -> SortedRuns:
        """All rows in their runs; returns itself."""
        if self._new:
            tables, keys, ats = zip(*self._new, strict=True)
            self._new, self.waiting = [], 0
            self._insert(pa.concat_tables(tables), np.concatenate(keys), np.concatenate(ats))
        return self

    def _insert(self, table: pa.Table, key: np.ndarray, at: np.ndarray) -> None:
        words = [key.view(np.uint64), biased(at)]
        if not in_order(words, np.array([0, len(key)])):
            order = argsort(words)
            table, key, at = table.take(pa.array(order)), key[order], at[order]
        rings = self.rings
        rings.reserve(int(key[-1]) + 1)
        place, runs, marks = np.empty(len(key), np.int64), np.empty(len(key) + 1, np.int64), np.empty(3, np.int64)
        row_rings.look_up_rows(key, at, rings.base, rings.room, rings.head, rings.tail, rings.at, place, runs, marks)
        count, full, behind = marks.tolist()
        if behind > max(self.count // 4, MANY):
            self.spoilt = True
            return
        keys, counts = key[runs[:count]], np.diff(runs[: count + 1])
        since = place[runs[:count]]
        if full:
            since = self._make_room(keys, counts, since)
        for column in self.columns.values():
            column.leave(rings, keys, since)
        put = (key, place, runs, count, rings.base, rings.room, rings.tail)
        row_rings.put_in(*put, at, rings.at)
        for column in self.columns.values():
            column.put(table, put, key)
        rings.tail[keys] += counts
        self.count += len(key)
        longest = rings.longest // 2
        if len(self._spare) < longest:
            self._spare = np.empty(longest, np.int64)
        for column in self.columns.values():
            column.come(rings, keys, since)
            self.moved += sorted_levels.build_levels(
                keys, since, rings.base, rings.room, rings.above, rings.head, rings.tail, column.words, column.levels,
                self._spare, LOW, STEP,
            )  # fmt: skip

    def _make_room(self, keys: np.ndarray, fresh: np.ndarray, since: np.ndarray) -> np.ndarray:
        """Have larger rings for keys without room; their runs are made anew, from where is returned."""
        rings = self.rings
        counts = rings.tail[keys] - rings.head[keys] + fresh
        full = counts > rings.room[keys]
        some = keys[full]
        old, old_room = rings.base[some], rings.room[some]
        rings.lay_out(some, counts[full])
        moves = (some, old, old_room, rings.base[some], rings.room[some], rings.head, rings.tail)
        if rings.slots > len(rings.at):
            rings.at = grown(rings.at, rings.slots)
        row_rings.move_rings(*moves, rings.at, rings.at)
        for column in self.columns.values():
            column.move(rings, moves)
        since = since.copy()
        since[full] = rings.head[some]
        return since

    # What is asked

    def ranges(self, keys: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> tuple[np.ndarray, np.ndarray, int]:
        """The places where the rows of windows begin and end, and how many windows have one."""
        lo, hi, rings = np.empty(len(keys), np.int64), np.empty(len(keys), np.int64), self.rings
        asked = (keys, starts, ends, rings.base, rings.room, rings.head, rings.tail, rings.at, lo, hi)
        return lo, hi, row_rings.find_places(*asked)

    def select(
        self, column: RunColumn, keys: np.ndarray, lo: np.ndarray, hi: np.ndarray, k: np.ndarray, pairs: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """The k-th smallest word of each window, and where ``pairs`` says so the next one; nothing where k is -1."""
        first, second = np.zeros(len(keys), np.int64), np.zeros(len(keys), np.int64)
        self._ask(sorted_levels.select_words, column, (keys, lo, hi, k, pairs), (first, second))
        return first, second

    def count_smaller(
        self, column: RunColumn, keys: np.ndarray, lo: np.ndarray, hi: np.ndarray, threshold: np.ndarray
    ) -> np.ndarray:
        """How many words of each window are below a threshold."""
        out = np.zeros(len(keys), np.int64)
        self._ask(sorted_levels.count_smaller, column, (keys, lo, hi, threshold), (out,))
        return out

    def _ask(self, ask: Any, column: RunColumn, about: tuple[np.ndarray, ...], out: tuple[np.ndarray, ...]) -> None:
        rings, loose = self.rings, max(2 << LOW, LEAST)
        of = (rings.base, rings.room, rings.above, column.words, column.levels, LOW, STEP)
        together(
            partial(ask, *about, *of, *part, np.empty(loose, np.int64), np.empty(sorted_levels.WORK, np.int64), *out)
            for part in shares(len(about[0]), least=WINDOWS)
        )

    # What leaves

    def let_go(self, cuts: np.ndarray) -> None:
        """Let go of the rows before a position."""
        rings = self.settled().rings
        self.count -= row_rings.drop_rows(cuts, rings.base, rings.room, rings.head, rings.tail, rings.at)

    @property
    def size(self) -> int:
        """About how many bytes it has."""
        rings = self.rings
        return 48 * len(rings.base) + rings.at.nbytes + sum(column.size for column in self.columns.values())

    @property
    def wasteful(self) -> bool:
        """Whether most of it is of no use, so that it had better be made anew."""
        slots = 8 * (self.count + LEAST * len(self.rings.base))
        return self.rings.slots > slots or any(column.wasteful(self.count) for column in self.columns.values())


def powers_of_two(counts: np.ndarray) -> np.ndarray:
    """The least power of two that is not below each number."""
    return np.int64(1) << np.ceil(np.log2(np.maximum(counts, 1))).astype(np.int64)


def level_counts(rooms: np.ndarray) -> np.ndarray:
    """How many levels the runs of rings have: the longest is at most half a ring."""
    return np.maximum((np.log2(rooms).astype(np.int64) - 1 - LOW) // STEP + 1, 0)
