"""Mode: the most frequent code, in a tournament of codes by their counts.

Codes stand in blocks of 16, over which lies a binary tree; a block and a node know their best code. A change
of a count climbs until it changes nothing. Only the part of the tree over the codes seen since nothing was
counted takes part, so that a small partition has a small tree.

needs   codes that are dense, those of a partition in one range
time    log d at most for each row that comes or goes, where d are the distinct codes of a partition
space   4.5 to 5 bytes a code for each thread
paper   none
"""

from __future__ import annotations

from functools import partial
from math import sqrt
from typing import Any

import numpy as np

from sash.kernels.algorithm import MODE, Algorithm
from sash.kernels.needs import forward
from sash.kernels.structures.counters import AS_THEY_COME, nearby, walkers, walking
from sash.kernels.threads import together
from sash.windows.bounds import Bounds

BLOCK_BITS = 4  # 16 counters of 32 bits are a line of the cache
LIVE, TOP, HEIGHT = 0, 1, 2  # of ``extra``: the rows counted, the node over all their codes, its height over the blocks


def mode(codes: np.ndarray, bounds: Bounds, distinct: int) -> tuple[np.ndarray, np.ndarray]:
    """The code with the most rows in each frame, the smallest of several, and how many; -1 and 0 where none is.

    Frames are answered as they come, and should move forward.

    >>> bounds = Bounds(np.array([0, 1], np.int32), np.array([4, 4], np.int32), 4, "monotonic")
    >>> mode(np.array([1, 0, 1, 2], np.int32), bounds, 3)
    (array([1, 0], dtype=int32), array([2, 1], dtype=int32))
    """
    return _walked(codes, bounds, distinct, AS_THEY_COME, 0)


def mode_by_blocks(codes: np.ndarray, bounds: Bounds, distinct: int) -> tuple[np.ndarray, np.ndarray]:
    """The same for any frames, each near the one that is answered before it.

    >>> bounds = Bounds(np.array([0, 1], np.int32), np.array([4, 1], np.int32), 4)
    >>> mode_by_blocks(np.array([1, 0, 1, 2], np.int32), bounds, 3)
    (array([ 1, -1], dtype=int32), array([2, 0], dtype=int32))
    """
    return _walked(codes, bounds, distinct, *nearby(bounds))


def _walked(
    codes: np.ndarray, bounds: Bounds, distinct: int, order: np.ndarray, in_place: int
) -> tuple[np.ndarray, np.ndarray]:
    best, most = np.empty(len(bounds), codes.dtype), np.empty(len(bounds), codes.dtype)
    none = np.zeros(0, np.int32)

    def part(r0: int, r1: int) -> None:
        tree, counts, extra = _tournament(distinct, codes.dtype)
        _walk(codes, *bounds.arrays, order, none, r0, r1, in_place, counts, tree, extra, best, most)

    together(partial(part, r0, r1) for r0, r1 in walkers(len(bounds)))
    return best, most


def _tournament(distinct: int, dtype: Any) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A tree in which every node holds some code below it, as it must even where all counts are 0."""
    leaves = 1 << max((distinct - 1) >> BLOCK_BITS, 0).bit_length()
    counts = np.zeros((max(distinct - 1, 0) >> BLOCK_BITS) + 1 << BLOCK_BITS, dtype)
    tree = np.zeros(2 * leaves, dtype)
    level = np.minimum(np.arange(leaves, dtype=np.int64) << BLOCK_BITS, len(counts) - 1)
    while len(level):
        tree[len(level) : 2 * len(level)] = level
        level = level[::2] if len(level) > 1 else level[:0]
    return tree, counts, np.array([0, leaves, 0], np.int64)


def _better(one: Any, two: Any, counts: Any) -> Any:
    first, second = counts[np.uint64(one)], counts[np.uint64(two)]
    return one if first > second or (first == second and one < two) else two


def _add(code: Any, counts: Any, tree: Any, extra: Any, running: Any) -> Any:
    count = counts[np.uint64(code)] + 1
    counts[np.uint64(code)] = count
    leaf = (len(tree) >> 1) + (np.int64(code) >> BLOCK_BITS)
    extra[LIVE] += 1
    if extra[LIVE] == 1:
        extra[TOP], extra[HEIGHT] = leaf, 0
        tree[leaf] = code
        return running
    top, height = extra[TOP], extra[HEIGHT]
    if leaf >> height != top:
        while leaf >> height != top:
            top >>= 1
            height += 1
            tree[top] = _better(tree[2 * top], tree[2 * top + 1], counts)
        extra[TOP], extra[HEIGHT] = top, height
    elif tree[top] == code:
        return running
    node = leaf
    while node >= top:
        winner = tree[np.uint64(node)]
        if winner != code:
            most = counts[np.uint64(winner)]
            if most > count or (most == count and winner < code):
                break
            tree[np.uint64(node)] = code
        node >>= 1
    return running


def _remove(code: Any, counts: Any, tree: Any, extra: Any, running: Any) -> Any:
    counts[np.uint64(code)] -= 1
    extra[LIVE] -= 1
    node = (len(tree) >> 1) + (np.int64(code) >> BLOCK_BITS)
    if extra[LIVE] == 0 or tree[np.uint64(node)] != code:
        return running
    first = np.int64(code) >> BLOCK_BITS << BLOCK_BITS
    winner, most = first, counts[np.uint64(first)]
    for other in range(first + 1, first + (1 << BLOCK_BITS)):
        if counts[np.uint64(other)] > most:
            winner, most = np.int64(other), counts[np.uint64(other)]
    tree[np.uint64(node)] = winner
    node >>= 1
    while node >= extra[TOP] and tree[np.uint64(node)] == code:
        tree[np.uint64(node)] = _better(tree[np.uint64(2 * node)], tree[np.uint64(2 * node + 1)], counts)
        node >>= 1
    return running


def _answer(row: Any, asked: Any, counts: Any, tree: Any, extra: Any, running: Any, out: Any, other: Any) -> None:
    out[row], other[row] = -1, 0
    if extra[LIVE] > 0:
        out[row] = tree[extra[TOP]]
        other[row] = counts[out[row]]


_walk = walking(_add, _remove, _answer)


COUNTERS = Algorithm(
    name="counters",
    operation=MODE,
    words="a tournament of counters",
    cost=lambda task: 80.0,
    run=lambda codes, bounds, distinct: mode(codes, bounds, distinct)[0],
    needs=(forward,),
)
BLOCKS = Algorithm(
    name="blocks",
    operation=MODE,
    words="a tournament of counters moved from block to block",
    cost=lambda task: 100.0 + 5.0 * sqrt(task.rows),
    run=lambda codes, bounds, distinct: mode_by_blocks(codes, bounds, distinct)[0],
)
