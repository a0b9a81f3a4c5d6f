"""Rows by their weight: the first up to which a share of the weight of a frame lies, by a tree of weights over ranks.

A node is the sum of those below it, made anew as rows come and go: nothing is taken away from it, so that the weights
of floats do not drift, and a frame has the same answer whatever was answered before.

needs   ranked rows
time    log2 n steps for each row that comes or goes, and for each answer; see counters.py
space   2 n weights a thread, n being a power of two
paper   none; framed-holistic-windows-2022, 4.5, counts rows
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from sash.kernels.algorithm import WEIGHTED, Algorithm
from sash.kernels.needs import forward
from sash.kernels.operations.quantiles import NEAR
from sash.kernels.structures.counters import AS_THEY_COME, nearby, walkers, walking
from sash.kernels.structures.ranked import Ranked
from sash.kernels.threads import together
from sash.windows.bounds import Bounds


def totals(weights: np.ndarray, bounds: Bounds) -> np.ndarray:
    """The weight of each frame, of whole numbers.

    >>> totals(np.array([1, 2, 4]), Bounds(np.array([0, 1]), np.array([2, 3]), 3)).tolist()
    [3, 6]
    """
    before = np.concatenate([[0], np.cumsum(weights)])
    lo, a, b, hi, own = bounds.arrays
    sums = before[a] - before[lo] + before[hi] - before[b]
    return sums + np.where(own >= 0, weights[own], 0) if len(own) else sums


def select_by_weight(
    ranked: Ranked, bounds: Bounds, weights: np.ndarray, asked: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The rank of each frame's row at a place, and at the next, -1 for none, as if rows came as often as they weigh.

    Where weights are whole numbers, ``asked`` are places from 0, one a frame; otherwise shares of the weight, one for
    all frames or one a frame, of which there is no next one.

    >>> ranked = Ranked(np.array([1, 0, 2]), np.array([1, 0, 2]), np.array([0, 3]))  # of the values 5, 3 and 8
    >>> whole = Bounds(np.array([0]), np.array([3]), 3, "monotonic")
    >>> [ranks.tolist() for ranks in select_by_weight(ranked, whole, np.array([2, 1, 1]), np.array([2]))]
    [[1], [2]]
    """
    return _walked(ranked, bounds, weights, asked, AS_THEY_COME, 0)


def select_by_blocks(
    ranked: Ranked, bounds: Bounds, weights: np.ndarray, asked: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The same for any frames, each near the one that is answered before it."""
    return _walked(ranked, bounds, weights, asked, *nearby(bounds))


def _walked(
    ranked: Ranked, bounds: Bounds, weights: np.ndarray, asked: np.ndarray, order: np.ndarray, in_place: int
) -> tuple[np.ndarray, np.ndarray]:
    first, second = np.empty(len(bounds), ranked.rank.dtype), np.empty(len(bounds), ranked.rank.dtype)
    by_rank = np.ascontiguousarray(weights[ranked.order])
    leaves = np.array([1 << max(len(ranked) - 1, 0).bit_length()], np.int64)
    walk = _walk_places if weights.dtype.kind == "i" else _walk_shares

    def part(r0: int, r1: int) -> None:
        tree = np.zeros(2 * int(leaves[0]), weights.dtype)
        walk(ranked.rank, *bounds.arrays, order, asked, r0, r1, in_place, tree, by_rank, leaves, first, second)

    together(partial(part, r0, r1) for r0, r1 in walkers(len(bounds)))
    return first, second


def _add(code: Any, tree: Any, weights: Any, leaves: Any, running: Any) -> Any:
    _put(tree, np.int64(code) + leaves[0], weights[np.uint64(code)])
    return running


def _remove(code: Any, tree: Any, weights: Any, leaves: Any, running: Any) -> Any:
    _put(tree, np.int64(code) + leaves[0], 0)
    return running


def _put(tree: Any, node: Any, weight: Any) -> None:
    tree[np.uint64(node)] = weight
    while node > 1:
        node >>= 1
        tree[np.uint64(node)] = tree[np.uint64(2 * node)] + tree[np.uint64(2 * node + 1)]


def _answer_place(
    row: Any, asked: Any, tree: Any, weights: Any, leaves: Any, running: Any, out: Any, other: Any
) -> None:
    out[np.uint64(row)] = _at(tree, leaves[0], asked[np.uint64(row)])
    other[np.uint64(row)] = _at(tree, leaves[0], asked[np.uint64(row)] + 1)


def _at(tree: Any, leaves: Any, place: Any) -> Any:
    """The rank at a place from 0."""
    if place < 0 or place >= tree[1]:
        return -1
    node = 1
    while node < leaves:
        node *= 2
        left = tree[np.uint64(node)]
        if place >= left:
            place -= left
            node += 1
    return node - leaves


def _answer_share(
    row: Any, asked: Any, tree: Any, weights: Any, leaves: Any, running: Any, out: Any, other: Any
) -> None:
    share = asked[np.uint64(row if len(asked) > 1 else 0)]
    out[np.uint64(row)], other[np.uint64(row)] = -1, -1
    if share >= 0.0 and share <= 1.0 and tree[1] > 0.0:
        wanted, node = share * tree[1], 1
        while node < leaves[0]:
            node *= 2
            left, right = tree[np.uint64(node)], tree[np.uint64(node + 1)]
            if left == 0.0 or (right > 0.0 and wanted > left * (1.0 + NEAR)):
                wanted -= left
                node += 1
        out[np.uint64(row)] = node - leaves[0]


_walk_places = walking(_add, _remove, _answer_place)
_walk_shares = walking(_add, _remove, _answer_share)


TREE = Algorithm(
    name="weight_tree",
    operation=WEIGHTED,
    words="a tree of weights over ranks",
    cost=lambda task: 20.0 * task.height,
    run=select_by_weight,
    needs=(forward,),
)
BLOCKS = Algorithm(
    name="blocks",
    operation=WEIGHTED,
    words="a tree of weights over ranks, moved from block to block",
    cost=lambda task: 20.0 * task.height + 5.0 * math.sqrt(task.rows),
    run=select_by_blocks,
)
