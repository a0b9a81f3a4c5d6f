"""Sweeps: which frames each thread answers, and the order in which it visits them, by a key of each frame.

needs   keys that are positions or ranks
time    a counting sort: two passes over the frames, one over the keys; one look where they rise already
space   4 bytes a frame, and while sorting 4 bytes a key and thread
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial

import numpy as np

from sash.kernels.compiling import routine
from sash.kernels.threads import shares, together
from sash.windows.bounds import Bounds, positions

FEWEST = 1 << 17  # frames for a thread of their own, since each thread sweeps over all rows from lowest to highest


@dataclass(frozen=True)
class FrameSweep:
    """The frames from start to stop: all of them lie in the positions from lowest to highest."""

    visit: np.ndarray  # their numbers by rising key; nothing where these rise already
    start: int
    stop: int
    lowest: int
    highest: int


def sweeps(bounds: Bounds, keys: np.ndarray) -> list[FrameSweep]:
    """One sweep for each thread, none where there are no frames."""

    def sweep(start: int, stop: int) -> FrameSweep:
        return FrameSweep(
            visits(keys, start, stop), start, stop, int(bounds.lo[start:stop].min()), int(bounds.hi[start:stop].max())
        )

    return together(partial(sweep, *part) for part in shares(len(bounds), FEWEST)) if len(bounds) else []


def visits(keys: np.ndarray, start: int, stop: int) -> np.ndarray:
    """The numbers of the frames from start to stop by rising key; nothing where these rise already."""
    rising = not _falls(keys, start, stop)
    visit = np.empty(0 if rising else stop - start, positions(len(keys)))
    if not rising:
        least, most = int(keys[start:stop].min()), int(keys[start:stop].max())
        _sort(keys, least, start, stop, np.zeros(most - least + 2, visit.dtype), visit)
    return visit


@routine
def _falls(keys, start, stop):  # type: ignore[no-untyped-def]
    for i in range(start + 1, stop):
        if keys[np.uint64(i)] < keys[np.uint64(i - 1)]:
            return 1
    return 0


@routine
def _sort(keys, least, start, stop, ends, visit):  # type: ignore[no-untyped-def]
    for i in range(start, stop):
        ends[np.uint64(keys[np.uint64(i)] - least + 1)] += 1
    for key in range(1, len(ends)):
        ends[np.uint64(key)] += ends[np.uint64(key - 1)]
    for i in range(start, stop):
        place = np.uint64(keys[np.uint64(i)] - least)
        visit[np.uint64(ends[place])] = i
        ends[place] += 1
    return 0
