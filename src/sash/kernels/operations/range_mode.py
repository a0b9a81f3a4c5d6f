"""Range mode: frames in blocks of their starts, whose rows right of the block are counted once for all of them.

A block's frames go by their ends, so that what lies right of the block only grows, and its mode with it. The rows
of a frame left of there are added for its answer and taken back, and the mode before them remembered: so
nothing ever has to find the next best code when a count falls.

needs   codes that are dense, frames without holes
time    n sqrt n; about sqrt w for each of local frames of w rows
space   one counter a code for each thread, 8 bytes a row
paper   none; Mo's order with rollback is folklore. Chan et al. 2014 answer online in the same time
"""

from __future__ import annotations

from functools import partial
from math import sqrt
from typing import Any

import numpy as np

from sash.kernels.algorithm import MODE, Algorithm
from sash.kernels.compiling import routine
from sash.kernels.needs import no_exclude
from sash.kernels.structures.counters import block_bits, sorted_by, walkers
from sash.kernels.threads import together
from sash.windows.bounds import Bounds


def range_mode(codes: np.ndarray, bounds: Bounds, distinct: int) -> tuple[np.ndarray, np.ndarray]:
    """The code with the most rows in each frame, the smallest of several, and how many; -1 and 0 where none is."""
    lo, hi = bounds.lo, bounds.hi
    bits = block_bits(lo, hi, bounds.length, _counted)
    order = sorted_by(lo >> bits, (bounds.length >> bits) + 1, sorted_by(hi, bounds.length + 1, None))
    best, most = np.empty(len(bounds), codes.dtype), np.empty(len(bounds), codes.dtype)

    def part(r0: int, r1: int) -> None:
        _answer(codes, lo, hi, order, bits, r0, r1, np.zeros(distinct, codes.dtype), best, most)

    together(partial(part, r0, r1) for r0, r1 in walkers(len(bounds)))
    return best, most


def _counted(block: np.ndarray, lowest: np.ndarray, highest: np.ndarray, bits: int) -> int:
    """How many rows right of their blocks are counted, and taken back."""
    return int(2 * np.maximum(highest - ((block + 1) << bits), 0).sum())


@routine
def _answer(
    codes: Any, lo: Any, hi: Any, order: Any, bits: int, r0: int, r1: int, counts: Any, out: Any, other: Any
) -> int:
    middle = reach = np.int64(0)  # the rows that stay counted are [middle, reach)
    mode = most = np.int64(0)  # of these rows
    for k in range(r0, r1):
        row = np.int64(order[k])
        start, stop = np.int64(lo[row]), np.int64(hi[row])
        edge = ((start >> bits) + 1) << bits
        if edge != middle:
            for j in range(middle, reach):
                counts[np.uint64(codes[np.uint64(j)])] -= 1
            middle = reach = edge
            mode = most = np.int64(0)
        while reach < stop:
            code = np.uint64(codes[np.uint64(reach)])
            count = np.int64(counts[code]) + 1
            counts[code] = count
            if count > most or (count == most and np.int64(code) < mode):
                mode, most = np.int64(code), count
            reach += 1
        best, highest = mode, most
        end = min(stop, middle)
        for j in range(start, end):
            code = np.uint64(codes[np.uint64(j)])
            count = np.int64(counts[code]) + 1
            counts[code] = count
            if count > highest or (count == highest and np.int64(code) < best):
                best, highest = np.int64(code), count
        for j in range(start, end):
            counts[np.uint64(codes[np.uint64(j)])] -= 1
        out[row] = best if highest > 0 else -1
        other[row] = highest
    return 0


ALGORITHM = Algorithm(
    name="range_mode",
    operation=MODE,
    words="modes of blocks",
    cost=lambda task: 80.0 + 4.0 * sqrt(task.rows),
    run=lambda codes, bounds, distinct: range_mode(codes, bounds, distinct)[0],
    needs=(no_exclude,),
)
