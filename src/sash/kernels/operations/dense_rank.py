"""Dense rank: one more than the distinct codes below a row's in its frame, in a bitset of codes with counts.

A code's bit is set while its counter is not 0. A Fenwick tree holds how many bits are set in each 512, so that
bits below a code are counted in a short sum and at most eight words.

needs   codes that are dense
time    log(d / 512) for each row that comes or goes and for each answer, where d are the distinct codes
space   4.2 bytes a code for each thread
paper   none; framed-holistic-windows-2022, 4.4, leaves it to range trees
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from sash.kernels.algorithm import DENSE, Algorithm, Occurrences
from sash.kernels.compiling import popcount
from sash.kernels.needs import forward
from sash.kernels.structures.counters import AS_THEY_COME, walkers, walking
from sash.kernels.threads import together
from sash.windows.bounds import Bounds

WORD, LINE = 6, 9  # log2 of the bits in a word, and in a line of the cache


def dense_rank(codes: np.ndarray, values: Occurrences | None, bounds: Bounds, own_code: np.ndarray) -> np.ndarray:
    """One more than the number of distinct codes below ``own_code`` in each frame, of frames that move forward.

    ``own_code`` may be any code, up to the number of codes. Where codes occur again does not matter here.

    >>> codes = np.array([1, 0, 1], np.int32)
    >>> bounds = Bounds(np.array([0, 0, 0], np.int32), np.array([1, 2, 3], np.int32), 3, "monotonic")
    >>> dense_rank(codes, None, bounds, codes)
    array([1, 1, 2], dtype=int32)
    """
    out = np.empty(len(bounds), codes.dtype)
    distinct = int(codes.max()) + 1 if len(codes) else 0

    def part(r0: int, r1: int) -> None:
        lines = (distinct >> LINE) + 1
        counts, tree = np.zeros(distinct, codes.dtype), np.zeros(lines + 1, codes.dtype)
        bits = np.zeros(lines << LINE - WORD, np.uint64)
        _walk(codes, *bounds.arrays, AS_THEY_COME, own_code, r0, r1, 0, counts, bits, tree, out, AS_THEY_COME)

    together(partial(part, r0, r1) for r0, r1 in walkers(len(bounds)))
    return out


def _flip(code: Any, by: Any, bits: Any, tree: Any) -> None:
    bits[code >> np.uint64(WORD)] ^= np.uint64(1) << (code & np.uint64(63))
    node = np.int64(code >> np.uint64(LINE)) + 1
    while node < len(tree):
        tree[np.uint64(node)] += by
        node += node & -node


def _add(code: Any, counts: Any, bits: Any, tree: Any, running: Any) -> Any:
    code = np.uint64(code)
    counts[code] += 1
    if counts[code] == 1:
        _flip(code, 1, bits, tree)
    return running


def _remove(code: Any, counts: Any, bits: Any, tree: Any, running: Any) -> Any:
    code = np.uint64(code)
    counts[code] -= 1
    if counts[code] == 0:
        _flip(code, -1, bits, tree)
    return running


def _answer(row: Any, asked: Any, counts: Any, bits: Any, tree: Any, running: Any, out: Any, other: Any) -> None:
    code = np.int64(asked[np.uint64(row)])
    node = code >> LINE
    below = 1
    word = node << LINE - WORD
    while node > 0:
        below += tree[np.uint64(node)]
        node &= node - 1
    for full in range(word, code >> WORD):
        below += popcount(bits[np.uint64(full)])
    rest = (np.uint64(1) << np.uint64(code & 63)) - np.uint64(1)
    below += popcount(bits[np.uint64(code >> WORD)] & rest)
    out[np.uint64(row)] = below


_walk = walking(_add, _remove, _answer)


ALGORITHM = Algorithm(
    name="code_bitset",
    operation=DENSE,
    words="a bitset of live values",
    cost=lambda task: 50.0,
    run=dense_rank,
    needs=(forward,),
)
