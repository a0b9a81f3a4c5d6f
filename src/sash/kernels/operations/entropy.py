"""Entropy: log2 n minus the mean of log2 of each row's count, its sum kept exactly as rows come and go.

The sum of c log2 c over the counts is a whole number in fixed point, so that nothing drifts, and a frame
has the same entropy whatever was counted before.

needs   codes that are dense
time    a few steps for each row that comes or goes; see counters.py
space   one counter a code for each thread, 8 bytes for each row of the widest frame
paper   none
"""

from __future__ import annotations

import math
from functools import partial
from typing import Any

import numpy as np

from sash.kernels.algorithm import ENTROPY, Algorithm
from sash.kernels.needs import forward
from sash.kernels.structures.counters import AS_THEY_COME, nearby, walkers, walking
from sash.kernels.threads import together
from sash.windows.bounds import Bounds


def entropy(codes: np.ndarray, bounds: Bounds, distinct: int) -> np.ndarray:
    """The entropy in bits of the codes in each frame; 0 for an empty frame. Frames should move forward.

    >>> bounds = Bounds(np.array([0, 0], np.int32), np.array([3, 4], np.int32), 4, "monotonic")
    >>> entropy(np.array([0, 1, 0, 1], np.int32), bounds, 2).round(3)
    array([0.918, 1.   ])
    """
    return _walked(codes, bounds, distinct, AS_THEY_COME, 0)


def entropy_by_blocks(codes: np.ndarray, bounds: Bounds, distinct: int) -> np.ndarray:
    """The same for any frames, each near the one that is answered before it.

    >>> bounds = Bounds(np.array([0, 0], np.int32), np.array([4, 3], np.int32), 4)
    >>> entropy_by_blocks(np.array([0, 1, 0, 1], np.int32), bounds, 2).round(3)
    array([1.   , 0.918])
    """
    return _walked(codes, bounds, distinct, *nearby(bounds))


def _walked(codes: np.ndarray, bounds: Bounds, distinct: int, order: np.ndarray, in_place: int) -> np.ndarray:
    widest = int((bounds.hi - bounds.lo).max()) if len(bounds) else 0
    terms, scale = _terms(widest)
    sums = np.empty(len(bounds), np.int64)
    none = np.zeros(0, np.int32)

    def part(r0: int, r1: int) -> None:
        counts = np.zeros(distinct, codes.dtype)
        _walk(codes, *bounds.arrays, order, none, r0, r1, in_place, counts, terms, none, sums, none)

    together(partial(part, r0, r1) for r0, r1 in walkers(len(bounds)))
    sizes = bounds.sizes()
    np.subtract(terms[sizes], sums, out=sums)  # exactly 0 where all rows are equal
    return sums / scale / np.maximum(sizes, 1)


def _terms(widest: int) -> tuple[np.ndarray, float]:
    """The terms c log2 c for every count c, in fixed point as fine as 63 bits allow for the widest frame."""
    counts = np.arange(widest + 1, dtype=np.float64)
    counts *= np.log2(np.maximum(counts, 1))
    scale = 2.0 ** (61 - math.ceil(counts[-1]).bit_length())
    counts *= scale
    return np.rint(counts, out=counts).astype(np.int64), scale


def _add(code: Any, counts: Any, terms: Any, extra: Any, running: Any) -> Any:
    code = np.uint64(code)
    count = np.uint64(counts[code])
    counts[code] += 1
    return running + terms[count + np.uint64(1)] - terms[count]


def _remove(code: Any, counts: Any, terms: Any, extra: Any, running: Any) -> Any:
    code = np.uint64(code)
    counts[code] -= 1
    count = np.uint64(counts[code])
    return running + terms[count] - terms[count + np.uint64(1)]


def _answer(row: Any, asked: Any, counts: Any, terms: Any, extra: Any, running: Any, out: Any, other: Any) -> None:
    out[np.uint64(row)] = running


_walk = walking(_add, _remove, _answer)


COUNTERS = Algorithm(
    name="counters",
    operation=ENTROPY,
    words="a counter for each value",
    cost=lambda task: 25.0,
    run=entropy,
    needs=(forward,),
)
BLOCKS = Algorithm(
    name="blocks",
    operation=ENTROPY,
    words="counters moved from block to block",
    cost=lambda task: 80.0 + 3.0 * math.sqrt(task.rows),
    run=entropy_by_blocks,
)
