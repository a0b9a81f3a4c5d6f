"""The window's own order: ranks are positions, so that answers are arithmetic on bounds.

needs   no order of the function's own
time    constant for each frame
space   none
paper   framed-holistic-windows-2022, 2.3
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from sash.kernels.algorithm import COUNT, DENSE, SELECT, Algorithm
from sash.kernels.compiling import routine
from sash.kernels.needs import windows_order
from sash.kernels.threads import shares, together
from sash.windows.bounds import Bounds


def select(bounds: Bounds, k: np.ndarray) -> np.ndarray:
    """The position of the k-th row of each frame, from 0; -1 where there is none."""
    out = np.empty(len(bounds), bounds.lo.dtype)
    together(partial(_select, *bounds.arrays, k, r0, r1, out) for r0, r1 in shares(len(bounds)))
    return out


def count_below(bounds: Bounds, threshold: np.ndarray) -> np.ndarray:
    """How many rows of each frame have a position below a threshold."""
    out = np.empty(len(bounds), bounds.lo.dtype)
    together(partial(_count, *bounds.arrays, threshold, r0, r1, out) for r0, r1 in shares(len(bounds)))
    return out


def count_codes_below(codes: np.ndarray, bounds: Bounds, own_code: np.ndarray) -> np.ndarray:
    """One more than the number of distinct codes below ``own_code`` in each frame, where codes never fall.

    Frames are whole partitions; ``own_code`` is one of their codes, or the next.
    """
    out = np.empty(len(bounds), codes.dtype)
    together(
        partial(_count_codes, codes, bounds.lo, bounds.hi, own_code, r0, r1, out) for r0, r1 in shares(len(bounds))
    )
    return out


def holds(bounds: Bounds, at: np.ndarray) -> np.ndarray:
    """Whether each frame holds a position, which is -1 for none."""
    out = np.empty(len(bounds), np.bool_)
    together(partial(_holds, *bounds.arrays, at, r0, r1, out) for r0, r1 in shares(len(bounds)))
    return out


def looked_up(table: np.ndarray, numbers: np.ndarray) -> np.ndarray:
    """What a table has at each number; -1 where there is none."""
    out = np.empty(len(numbers), table.dtype)
    together(partial(_look_up, table, numbers, r0, r1, out) for r0, r1 in shares(len(numbers)))
    return out


@routine
def _look_up(table: Any, numbers: Any, r0: int, r1: int, out: Any) -> int:
    for i in range(r0, r1):
        out[i] = table[numbers[i]] if numbers[i] >= 0 else -1
    return 0


@routine
def _select(lo: Any, a: Any, b: Any, hi: Any, own: Any, k: Any, r0: int, r1: int, out: Any) -> int:
    for i in range(r0, r1):
        wanted, place = k[i], -1
        if wanted >= 0:
            left = a[i] - lo[i]
            if wanted < left:
                place = lo[i] + wanted
            else:
                wanted -= left
                some = 1 if len(own) > 0 and own[i] >= 0 else 0
                if some == 1 and wanted == 0:
                    place = own[i]
                elif b[i] + wanted - some < hi[i]:
                    place = b[i] + wanted - some
        out[i] = place
    return 0


@routine
def _count(lo: Any, a: Any, b: Any, hi: Any, own: Any, threshold: Any, r0: int, r1: int, out: Any) -> int:
    for i in range(r0, r1):
        top = threshold[i]
        count = max(min(top, a[i]) - lo[i], 0) + max(min(top, hi[i]) - b[i], 0)
        if len(own) > 0 and own[i] >= 0 and own[i] < top:
            count += 1
        out[i] = count
    return 0


@routine
def _count_codes(codes: Any, lo: Any, hi: Any, own_code: Any, r0: int, r1: int, out: Any) -> int:
    for i in range(r0, r1):
        out[i] = own_code[i] - codes[lo[i]] + 1 if lo[i] < hi[i] else 1
    return 0


@routine
def _holds(lo: Any, a: Any, b: Any, hi: Any, own: Any, at: Any, r0: int, r1: int, out: Any) -> int:
    for i in range(r0, r1):
        place = at[i]
        out[i] = (lo[i] <= place < a[i]) or (b[i] <= place < hi[i]) or (len(own) > 0 and place >= 0 and own[i] == place)
    return 0


SELECTING = Algorithm(
    name="window_order",
    operation=SELECT,
    words="a place counted in the window's own order",
    cost=lambda task: 2.0,
    run=lambda ranked, bounds, k, second: (select(bounds, k), k[:0]),
    needs=(windows_order,),
)
COUNTING = Algorithm(
    name="window_order",
    operation=COUNT,
    words="places counted in the window's own order",
    cost=lambda task: 2.0,
    run=lambda ranked, bounds, threshold: count_below(bounds, threshold),
    needs=(windows_order,),
)
COUNTING_CODES = Algorithm(
    name="window_order",
    operation=DENSE,
    words="values counted in the window's own order",
    cost=lambda task: 2.0,
    run=lambda codes, values, bounds, own_code: count_codes_below(codes, bounds, own_code),
    needs=(windows_order,),
)
