"""Comparators of the paper that Sash does not offer, each in place of the merge sort tree in an otherwise whole query.

Naive: each frame looked through anew. Incremental over any frames: as Sash's, which takes only frames that move
forward, but rows may enter and leave at both ends. Both on as many threads as Sash uses. And any kernel cut into tasks
of 20,000 rows, as Hyper does, where Sash gives each thread one share of the rows.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from functools import partial
from typing import Any
from unittest import mock

import numpy as np

from sash.kernels.algorithm import COUNT, DISTINCT, SELECT, declared
from sash.kernels.compiling import routine
from sash.kernels.operations import incremental
from sash.kernels.operations.incremental import quickselect, stays
from sash.kernels.threads import shares, together

exchange = incremental.replace  # one row of a frame by another
THREADS = 2
TASK = 20_000  # rows of a task in the paper (5.5)


@contextmanager
def threads(count: int = THREADS) -> Iterator[None]:
    """So many threads for Sash."""
    with mock.patch.dict(os.environ, SASH_THREADS=str(count)):
        yield


@contextmanager
def instead(kernels: Mapping[str, Callable[..., Any]]) -> Iterator[None]:
    """These kernels, by operation, wherever a query asks for the merge sort tree."""
    with threads(), ExitStack() as stack:
        for operation, run in kernels.items():
            tree = declared(operation)["merge_sort_tree"]
            stack.callback(replace, tree)  # what is made of it is declared in its place, and so is it again
            replace(tree, run=run)
        yield


@contextmanager
def in_tasks(module: Any, rows_of_task: int = TASK) -> Iterator[None]:
    """A kernel's rows cut into tasks that the threads take in turn, each starting with a frame of its own."""

    def cut(rows: int, least: int = 0) -> list[tuple[int, int]]:
        return shares(rows, least=1, parts=max(-(-rows // rows_of_task), 1))

    with (
        threads(),
        ThreadPoolExecutor(THREADS) as pool,
        mock.patch.object(module, "shares", cut),
        mock.patch.object(module, "together", lambda tasks: list(pool.map(lambda task: task(), tasks))),
    ):
        yield


def naive() -> Any:
    """Each frame anew, for the k-th row, ranks and distinct counts."""
    return instead({SELECT: partial(_select, select_anew), COUNT: _count_below, DISTINCT: _count_previous})


def incremental_anywhere() -> Any:
    """The frame's rows kept partly sorted, for frames that go back and forth."""
    return instead({SELECT: partial(_select, select_kept)})


def _select(kernel: Any, ranked: Any, bounds: Any, k: Any, second: bool) -> tuple[np.ndarray, np.ndarray]:
    if second or bounds.holes:
        raise NotImplementedError("a comparator takes frames without holes, and one row of each")
    first = np.empty(len(bounds), ranked.rank.dtype)

    def run(begin: int, end: int) -> int:
        return kernel(begin, end, ranked.rank, bounds.lo, bounds.hi, k, np.empty(bounds.widest, first.dtype), first)

    together([partial(run, *part) for part in shares(len(bounds), least=4096)])
    return first, first[:0]


def _count_below(ranked: Any, bounds: Any, threshold: Any) -> np.ndarray:
    return _counted(ranked.rank, bounds, threshold)


def _count_previous(values: Any, bounds: Any) -> np.ndarray:
    return _counted(values.previous, bounds, bounds.lo)


def _counted(values: Any, bounds: Any, threshold: Any) -> np.ndarray:
    counts = np.empty(len(bounds), values.dtype)
    parts = shares(len(bounds), least=4096)
    together([partial(count_anew, *part, values, bounds.lo, bounds.hi, threshold, counts) for part in parts])
    return counts


def sum_distinct(values: Any, previous: Any, bounds: Any) -> np.ndarray:
    """The sum of the distinct values of each frame, naively, on one thread."""
    sums = np.empty(len(bounds), np.int64)
    sum_anew(values, previous, bounds.lo, bounds.hi, sums)
    return sums


@routine
def select_anew(begin: int, end: int, rank: Any, lo: Any, hi: Any, k: Any, held: Any, first: Any) -> int:
    """Copy each frame and partition it until the k-th row is at its place."""
    for row in range(begin, end):
        size = hi[row] - lo[row]
        for at in range(size):
            held[at] = lo[row] + at
        first[row] = -1
        if 0 <= k[row] < size:
            quickselect(np.int64(k[row]), 0, size, rank, held)
            first[row] = rank[held[k[row]]]
    return 0


@routine
def select_kept(begin: int, end: int, rank: Any, lo: Any, hi: Any, k: Any, held: Any, first: Any) -> int:
    """As Sash's where a frame moves on by one row; otherwise keep what two frames share, add the rest, partition."""
    head = tail = last = np.int64(0)
    placed = False  # whether held[last] is where it would be if all were sorted
    for row in range(begin, end):
        left, right, target = np.int64(lo[row]), max(np.int64(lo[row]), np.int64(hi[row])), np.int64(k[row])
        if left == head + 1 and right == tail + 1 and right > left:
            changed = exchange(head, tail, right - left, held)
            placed = placed and target == last and stays(changed, target, False, right - left, rank, held)
        else:
            share(head, tail, left, right, held)
            placed = False
        head, tail = left, right
        first[row] = -1
        if 0 <= target < tail - head:
            if not placed:
                quickselect(target, 0, tail - head, rank, held)
            placed, last = True, target
            first[row] = rank[held[target]]
    return 0


def share(head: Any, tail: Any, left: Any, right: Any, held: Any) -> None:
    """Bring the held positions from the frame [head, tail) to [left, right), wherever that is."""
    kept = np.int64(0)
    for at in range(tail - head):
        if left <= held[at] < right:
            held[kept] = held[at]
            kept += 1
    for position in range(left, min(head, right)):
        held[kept] = position
        kept += 1
    for position in range(max(tail, left), right):
        held[kept] = position
        kept += 1


@routine
def count_anew(begin: int, end: int, values: Any, lo: Any, hi: Any, threshold: Any, counts: Any) -> int:
    """Count what is below each frame's threshold."""
    for row in range(begin, end):
        below = np.int64(0)
        for at in range(lo[row], hi[row]):
            below += values[at] < threshold[row]
        counts[row] = below
    return 0


@routine
def sum_anew(values: Any, previous: Any, lo: Any, hi: Any, sums: Any) -> int:
    """Add the rows of each frame whose value has not occurred in it before."""
    for row in range(len(lo)):
        total = np.int64(0)
        for at in range(lo[row], hi[row]):
            if previous[at] < lo[row]:
                total += values[at]
        sums[row] = total
    return 0
