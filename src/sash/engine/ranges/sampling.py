"""Samples of the sort keys: every so manieth row of each task, and what all of them together say for sure.

Of a task's sorted rows those at positions 0, m, 2m, ... are taken. Between two of them lie m - 1 rows, wherever
exactly: so of all rows from the key of one to the key of the other, both included, at least m + 1 are the task's.
To be sure of n rows before some key takes about m rows of each task, then. Where n is smaller, the rows just
before and n before those at 0, m, 2m, ... are taken, too: then n rows of each task do.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sash.engine.ranges.sort_keys import KeyOrder, plain_keys, starts_of, words
from sash.errors import SashError
from sash.kernels.sorting import argsort

FACTS = ("task", "at", "rows")  # of which task, at which position of its rows, of so many
FIRST_LOOK = 256


def sample(keys: pa.Table, order: KeyOrder, size: int, task: int = 0, near: tuple[int, int] = (0, 0)) -> pa.Table:
    """About ``size`` of one task's key rows, sorted and evenly spaced, and where they lie among its rows.

    ``near`` is how many rows before and after a piece will be asked for; fewer are needed where it is known.

    >>> sample(pa.table({"t": [5, 1, 4, 2, 3]}), KeyOrder(0, (False,), (True,)), 3).to_pydict()
    {'t': [1, 3, 5], 'task': [0, 0, 0], 'at': [0, 2, 4], 'rows': [5, 5, 5]}
    """
    if size < 1:
        raise SashError(f"size must be at least 1, got {size}")
    keys, rows = plain_keys(keys, order), keys.num_rows
    at = _spaced(rows, size, *near)
    if rows:
        keys = keys.take(pa.array(argsort([word.numbers for word in words([keys], order)])[at]))
    for name, facts in zip(FACTS, (np.full_like(at, task), at, np.full_like(at, rows)), strict=True):
        keys = keys.append_column(name, pa.array(facts))
    return keys


def _spaced(rows: int, size: int, before: int, after: int) -> np.ndarray:
    """Positions at equal distances, and those near them that make sure of so many rows before and after."""
    around = ([-before, -1] if before else []) + ([after - 1] if after else [])
    step = max(1, -(-rows * (1 + len(around)) // size))
    if not around or step <= 2 * (before + after):  # they would not be nearer than the next ones
        return np.arange(0, rows, max(1, -(-rows // size)), dtype=np.int64)
    at = np.unique(np.arange(0, rows, step, dtype=np.int64)[:, None] + np.array([0, *around]))
    return at[(at >= 0) & (at < rows)]


class Sample:
    """The samples of all tasks, by key; ``keys`` are the different ones, which the methods count from 0."""

    def __init__(self, table: pa.Table, order: KeyOrder) -> None:
        self.order = order
        keys = plain_keys(table.select(range(len(order))), order)
        task, at, rows = (column.to_numpy() for column in table.columns[len(order) :])
        placed = words([keys], order)
        numbers = [word.numbers for word in placed]
        by_key = argsort([*numbers, task.astype(np.uint64), at.astype(np.uint64)])
        placed = [word._replace(numbers=word.numbers[by_key]) for word in placed]
        self.starts = starts_of(placed, len(order), len(at))
        partitions = np.searchsorted(self.starts, starts_of(placed, order.partition, len(at)))
        each = np.repeat(np.arange(len(partitions) - 1), np.diff(partitions))
        self.partition_start, self.partition_stop = partitions[each], partitions[each + 1]
        self.keys = keys.take(pa.array(by_key[self.starts[:-1]])).combine_chunks()
        self._link(task[by_key], at[by_key], rows[by_key])

    def _link(self, task: np.ndarray, at: np.ndarray, rows: np.ndarray) -> None:
        """Find for each sampled row the one before and the one after it of its task, and the rows between."""
        count = len(at)
        by_task = np.lexsort((at, task))
        same = task[by_task[1:]] == task[by_task[:-1]]
        self.previous, self.following = np.full(count, -1), np.full(count, count)
        self.previous[by_task[1:][same]] = by_task[:-1][same]
        self.following[by_task[:-1][same]] = by_task[1:][same]
        ahead = np.append(at, 0)[self.following]
        self.gap = np.where(self.following < count, ahead, rows) - at
        self.back = at - np.append(at, 0)[self.previous]  # read only where there is one before
        self.before = np.append(0, np.cumsum(self.gap))[self.starts]

    def __len__(self) -> int:
        return self.keys.num_rows

    @property
    def total(self) -> int:
        """How many rows all tasks have."""
        return int(self.before[-1])

    def estimate(self, i: int, j: int) -> int:
        """About how many rows have a key from that numbered i up to, but without, that numbered j."""
        return int(self.before[j] - self.before[i])

    def enough_before(self, j: int, rows: int) -> int:
        """The last key of the same partition from which on there surely are so many rows before key j, or -1."""
        first, stop = int(self.starts[self.partition_start[j]]), int(self.starts[j])
        if self.estimate(int(self.partition_start[j]), j) < rows:
            return -1
        got, end, look = 0, stop, FIRST_LOOK
        while end > first:
            start = max(first, end - look)
            sure = np.where(self.following[start:end] < stop, self.gap[start:end], 1)
            counted = got + np.cumsum(sure[::-1])
            if counted[-1] >= rows:
                place = end - 1 - int(np.searchsorted(counted, rows))
                return int(np.searchsorted(self.starts, place, "right")) - 1
            got, end, look = int(counted[-1]), start, 2 * look
        return -1

    def enough_after(self, i: int, rows: int) -> int:
        """The first key of the same partition up to which there surely are so many rows from key i on, or -1."""
        first, last = int(self.starts[i]), int(self.starts[self.partition_stop[i]])
        if self.estimate(i, int(self.partition_stop[i])) < rows:
            return -1
        got, start, look = 0, first, FIRST_LOOK
        while start < last:
            end = min(last, start + look)
            sure = np.where(self.previous[start:end] >= first, self.back[start:end], 1)
            counted = got + np.cumsum(sure)
            if counted[-1] >= rows:
                place = start + int(np.searchsorted(counted, rows))
                return int(np.searchsorted(self.starts, place, "right")) - 1
            got, start, look = int(counted[-1]), end, 2 * look
        return -1
