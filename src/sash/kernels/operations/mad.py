"""MAD: the median of the distances from the median, found by search in the sorted frame itself.

The rows of a frame before its median, backwards, and those after it are two sequences by distance from it. How
many of the nearest rows are in the first is found by binary search, in all frames at once: each step selects
two rows of each frame by their place.

needs   rows selected by rank
time    log w steps for frames of w rows, each twice what selecting costs
space   40 bytes a frame
paper   none
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from sash.kernels.compiling import routine
from sash.kernels.threads import shares, together


def mad(values: np.ndarray, sizes: np.ndarray, select: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """The median absolute deviation from the median of each frame; NaN where the median is not finite.

    ``values`` are doubles by rank, NaN last. ``select`` takes a place in each frame, from 0, and gives
    the rank of the row there; -1 for a place of -1. An empty frame has 0.

    >>> values, frame = np.array([1.0, 2.0, 2.0, 6.0]), np.arange(4)
    >>> mad(values, np.array([4]), lambda k: np.where(k < 0, -1, frame[k]))
    array([0.5])
    """
    parts = shares(len(sizes))
    centre = np.empty(len(sizes), np.float64)
    near, far = np.empty_like(sizes), np.empty_like(sizes)  # the places asked about
    least, most = np.empty_like(sizes), np.empty_like(sizes)  # how many of the nearest rows are before the median
    together(partial(_middles, sizes, r0, r1, near, far) for r0, r1 in parts)
    first, second = select(near), select(far)
    together(partial(_start, values, sizes, first, second, r0, r1, centre, least, most) for r0, r1 in parts)
    while sum(together(partial(_ask, sizes, least, most, r0, r1, near, far) for r0, r1 in parts)):
        first, second = select(near), select(far)
        together(partial(_narrow, values, centre, first, second, r0, r1, least, most) for r0, r1 in parts)
    neighbours = [select(_place(sizes, least, side, step)) for side in (-1, 1) for step in (0, 1)]
    together(partial(_finish, values, sizes, *neighbours, r0, r1, centre) for r0, r1 in parts)
    return centre


def _place(sizes: np.ndarray, least: np.ndarray, side: int, step: int) -> np.ndarray:
    """Where the next row by distance stands on one side of the median, or the one after it; -1 if there is none."""
    split = (sizes + 1) >> 1
    place = split - 1 - least - step if side < 0 else split + ((sizes - 1) >> 1) - least + step
    place[(place < 0) | (place >= sizes)] = -1
    return place


@routine
def _middles(sizes: Any, r0: int, r1: int, near: Any, far: Any) -> int:
    for i in range(r0, r1):
        near[i] = (sizes[i] - 1) >> 1  # -1 for an empty frame
        far[i] = sizes[i] >> 1 if sizes[i] > 0 else -1
    return 0


def _middle(lower: Any, upper: Any) -> Any:
    return lower if lower == upper else 0.5 * lower + 0.5 * upper


@routine
def _start(
    values: Any, sizes: Any, first: Any, second: Any, r0: int, r1: int, centre: Any, least: Any, most: Any
) -> int:
    """Set each frame's median; of the nearest rows, as many as lie before a median may be before it."""
    for i in range(r0, r1):
        centre[i] = least[i] = most[i] = 0
        if sizes[i] > 0:
            centre[i] = _middle(values[first[i]], values[second[i]])
            wanted, after = (sizes[i] - 1) >> 1, sizes[i] >> 1
            if np.isfinite(centre[i]):
                least[i], most[i] = max(0, wanted - after), wanted
    return 0


@routine
def _ask(sizes: Any, least: Any, most: Any, r0: int, r1: int, near: Any, far: Any) -> int:
    """Place the two rows that tell whether more rows are before the median; returns in how many frames."""
    open_frames = 0
    for i in range(r0, r1):
        near[i] = far[i] = -1
        if least[i] < most[i]:
            taken, split = (least[i] + most[i]) >> 1, (sizes[i] + 1) >> 1
            near[i] = split - 1 - taken
            far[i] = split + ((sizes[i] - 1) >> 1) - taken - 1
            open_frames += 1
    return open_frames


@routine
def _narrow(values: Any, centre: Any, first: Any, second: Any, r0: int, r1: int, least: Any, most: Any) -> int:
    for i in range(r0, r1):
        if least[i] < most[i]:
            taken = (least[i] + most[i]) >> 1
            if centre[i] - values[first[i]] >= values[second[i]] - centre[i]:  # not so if the latter is NaN
                most[i] = taken
            else:
                least[i] = taken + 1
    return 0


@routine
def _finish(
    values: Any, sizes: Any, before: Any, before_next: Any, after: Any, after_next: Any, r0: int, r1: int, out: Any
) -> int:
    """Take the middle of the next two rows by distance, or the next alone of an odd number; NaN is the farthest."""
    for i in range(r0, r1):
        if sizes[i] > 0:
            centre = out[i]
            if not np.isfinite(centre):
                out[i] = np.nan
                continue
            left = centre - values[before[i]] if before[i] >= 0 else np.nan
            right = values[after[i]] - centre if after[i] >= 0 else np.nan
            left_first = before[i] >= 0 and not left > right
            lower = left if left_first else right
            if left_first:
                left = centre - values[before_next[i]] if before_next[i] >= 0 else np.nan
            else:
                right = values[after_next[i]] - centre if after_next[i] >= 0 else np.nan
            upper = lower
            if sizes[i] & 1 == 0:
                upper = right if np.isnan(left) or left > right else left
            out[i] = _middle(lower, upper)
    return 0
