"""Bounds as kernels of aggregates take them: of 64 bits, which they are made a slice of frames at a time."""

from __future__ import annotations

import numpy as np

from sash.windows.bounds import CONSTANT, Bounds

SLICE = 1 << 15  # frames whose bounds are widened at once
NONE = np.zeros(0, np.int64)


def widened(bounds: Bounds, first: int, last: int) -> tuple[np.ndarray, ...]:
    """The arrays lo, a, b, hi and own of some frames as kernels take them; without holes, the last three are one."""
    lo, hi = (array[first:last].astype(np.int64, copy=False) for array in (bounds.lo, bounds.hi))
    if not bounds.holes:
        return lo, hi, hi, hi, NONE
    a, b, own = (array[first:last].astype(np.int64, copy=False) for array in (bounds.a, bounds.b, bounds.own))
    return lo, a, b, hi, own


def widest(bounds: Bounds) -> int:
    """How many rows the largest piece of a frame holds, at most."""
    if bounds.shape == CONSTANT:
        return max(min(bounds.before + bounds.after + 1, bounds.length), 0)
    return int(np.max(bounds.hi - bounds.lo, initial=0))
