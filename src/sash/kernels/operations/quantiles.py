"""Which rows of a frame a quantile lies at, and what lies between them.

needs   rows selected by rank
time    constant for each frame
space   none
paper   framed-holistic-windows-2022, 4.5
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from sash.kernels.compiling import routine
from sash.kernels.recycling import empty, empty_like
from sash.kernels.threads import shares, together

NEAR = 1e-12  # a share of rows this close to a whole number is meant to be one: 0.07 * 100 is not 7 in floats


def places(sizes: np.ndarray, shares_of: np.ndarray, discrete: bool) -> np.ndarray:
    """The place of each frame's quantile, from 0; -1 for an empty frame, or a share that is not in [0, 1].

    ``shares_of`` holds one share for all frames, or one a frame. A discrete quantile is the first row with
    at least its share of the rows up to it; otherwise it is the row at or before it.
    """
    out = empty_like(sizes)
    find = _discrete if discrete else _before
    together(partial(find, sizes, shares_of, r0, r1, out) for r0, r1 in shares(len(sizes)))
    return out


def lie_between(sizes: np.ndarray, shares_of: np.ndarray) -> np.ndarray:
    """Which frames' quantiles lie between two rows."""
    out = empty(len(sizes), np.bool_)
    together(partial(_lie_between, sizes, shares_of, r0, r1, out) for r0, r1 in shares(len(sizes)))
    return out


def between(
    values: np.ndarray,
    order: np.ndarray,
    first: np.ndarray,
    second: np.ndarray,
    sizes: np.ndarray,
    shares_of: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Quantiles between two rows, given by their ranks, and whether each is not NULL.

    ``order`` says where the row of each rank is; it is empty where rows are given by their indices. Without second
    rows the quantile is the first one.
    """
    out, valid = empty(len(first), np.float64), empty(len(first), np.bool_)
    together(
        partial(_between, values, order, first, second, sizes, shares_of, r0, r1, out, valid)
        for r0, r1 in shares(len(first))
    )
    return out, valid


@routine
def _discrete(sizes: Any, share: Any, r0: int, r1: int, out: Any) -> int:
    step = 1 if len(share) > 1 else 0
    last_size, last_share, place = -1, -1.0, -1
    for i in range(r0, r1):
        p, size = share[i * step], sizes[i]
        if size != last_size or p != last_share:  # most frames are as large as the one before
            last_size, last_share, place = size, p, -1
            if size > 0 and p >= 0.0 and p <= 1.0:
                exact = p * size
                whole = int(exact)
                if exact - whole > NEAR * exact:
                    whole += 1
                place = max(whole, 1) - 1
                place = min(place, size - 1)
        out[i] = place
    return 0


@routine
def _before(sizes: Any, share: Any, r0: int, r1: int, out: Any) -> int:
    step = 1 if len(share) > 1 else 0
    last_size, last_share, place = -1, -1.0, -1
    for i in range(r0, r1):
        p, size = share[np.uint64(i * step)], sizes[np.uint64(i)]
        if size != last_size or p != last_share:
            last_size, last_share = size, p
            place = int(p * (size - 1)) if size > 0 and p >= 0.0 and p <= 1.0 else -1
        out[np.uint64(i)] = place
    return 0


@routine
def _lie_between(sizes: Any, share: Any, r0: int, r1: int, out: Any) -> int:
    step = 1 if len(share) > 1 else 0
    for i in range(r0, r1):
        at = share[np.uint64(i * step)] * (sizes[np.uint64(i)] - 1)
        out[np.uint64(i)] = at > float(int(at))
    return 0


@routine
def _between(
    values: Any, order: Any, first: Any, second: Any, sizes: Any, share: Any, r0: int, r1: int, out: Any, valid: Any
) -> int:
    step, pairs, ranked = 1 if len(share) > 1 else 0, len(second) > 0, len(order) > 0
    last_size, last_share, low, high = -1, -1.0, 1.0, 0.0
    for i in range(r0, r1):
        row = np.uint64(i)
        lower, answer = first[row], 0.0
        if lower >= 0:
            answer = values[np.uint64(order[np.uint64(lower)])] if ranked else values[np.uint64(lower)]
            if pairs and second[row] >= 0:
                p, size = share[np.uint64(i * step)], sizes[row]
                if size != last_size or p != last_share:  # most frames are as large as the one before
                    last_size, last_share = size, p
                    at = p * (size - 1)
                    below = float(int(at))
                    low, high = below + 1.0 - at, at - below
                after = second[row]
                upper = values[np.uint64(order[np.uint64(after)])] if ranked else values[np.uint64(after)]
                if high > 0.0 and upper != answer:
                    answer = low * answer + high * upper
        out[row], valid[row] = answer, lower >= 0
    return 0
