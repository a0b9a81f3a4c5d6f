"""Swept bitset: counts rows below a rank in frames of any shape, without a tree.

Ranks are swept upwards, and the positions of the ranks passed are live in a bitset. A frame is answered when
the sweep is at its threshold: it holds as many rows below it as positions are live in its pieces. Frames are
visited by threshold, each thread visiting a part of them and sweeping over the partitions these lie in.

needs   nothing; all bounds
time    one change a row, two or four counts a frame; frames far from each other cost cache misses
space   n / 6 + 4 n bytes a thread, and 4 bytes a frame
paper   none; a merge sort tree answers the same (framed-holistic-windows-2022, 4.4)
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from sash.kernels.algorithm import COUNT, Algorithm
from sash.kernels.compiling import prefetch, routine
from sash.kernels.needs import own_order
from sash.kernels.structures.bitset_counts import ADD, BITS, below, change, empty_bitset
from sash.kernels.structures.bitset_visits import FrameSweep, sweeps
from sash.kernels.structures.ranked import Ranked
from sash.kernels.threads import together
from sash.windows.bounds import Bounds

AHEAD = 16  # frames and ranks that are on their way to the cache


def count_below(ranked: Ranked, bounds: Bounds, threshold: np.ndarray) -> np.ndarray:
    """How many rows of each frame have a rank below its threshold."""
    counts = np.empty(len(bounds), ranked.rank.dtype)

    def run(part: FrameSweep) -> None:
        partition = np.searchsorted(ranked.segments, part.lowest, "right") - 1
        first = int(ranked.segments[partition])  # no rank of an earlier partition counts
        _sweep(
            ranked.order, ranked.rank, *bounds.arrays, threshold, part.visit, part.start, part.stop,
            first, part.lowest, part.highest, empty_bitset(len(ranked)), counts,
        )  # fmt: skip

    together(partial(run, part) for part in sweeps(bounds, threshold))
    return counts


@routine
def _sweep(  # type: ignore[no-untyped-def]
    order, rank, lo, a, b, hi, own, threshold, visit, start, stop, first, lowest, highest, live, counts
):
    swept = first
    for step in range(start, stop):
        i = np.uint64(visit[np.uint64(step - start)] if len(visit) else step)
        if len(visit) and step + AHEAD < stop:
            near = visit[np.uint64(step - start + AHEAD)]
            prefetch(threshold, near)
            prefetch(lo, near)
            prefetch(a, near)
            prefetch(b, near)
            prefetch(hi, near)
            prefetch(counts, near)
        while swept < threshold[i]:
            if swept + AHEAD < len(order):
                prefetch(live, live[BITS] + (np.uint64(order[np.uint64(swept + AHEAD)]) >> np.uint64(6)))
            x = order[np.uint64(swept)]
            if lowest <= x < highest:
                change(live, x, ADD)
            swept += 1
        count = between(live, lo[i], a[i]) + between(live, b[i], hi[i])
        if len(own) and own[i] >= 0:
            count += rank[np.uint64(own[i])] < threshold[i]
        counts[i] = count
    return 0


def between(live: Any, start: Any, stop: Any) -> Any:
    """How many numbers from start to stop are live."""
    return below(live, stop) - below(live, start) if start < stop else np.int64(0)


ALGORITHM = Algorithm(
    name="swept_bitset",
    operation=COUNT,
    words="a bitset of positions swept over sorted ranks",
    cost=lambda task: 90.0,
    run=count_below,
    needs=(own_order,),
)
