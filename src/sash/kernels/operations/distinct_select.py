"""The k-th different value of a frame: a bitset of the ranks of first occurrences, while the frame slides.

A row is live from when it enters, or from when the row of the same value before it leaves.

needs   bounds that move forward, without EXCLUDE; for each row the rows of the same value before and after it
time    at most 3 changes and one search a row, amortised
space   n / 6 bytes a thread
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from sash.kernels.algorithm import DISTINCT_SELECT, Algorithm, Occurrences
from sash.kernels.compiling import routine
from sash.kernels.needs import forward, no_exclude
from sash.kernels.structures.bitset_counts import ADD, REMOVE, change, empty_bitset, nth_live
from sash.kernels.structures.ranked import Ranked
from sash.kernels.threads import shares, together
from sash.windows.bounds import Bounds


def select_distinct(
    ranked: Ranked, values: Occurrences, bounds: Bounds, k: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """The rank of the first row of each frame's k-th different value, from 0; and of the one after; -1 for none."""
    first, after = np.empty(len(bounds), ranked.rank.dtype), np.empty(len(bounds), ranked.rank.dtype)
    arrays = ranked.rank, values.previous, values.following, bounds.lo, bounds.hi, k
    together(
        partial(_select, *arrays, r0, r1, empty_bitset(len(ranked)), first, after) for r0, r1 in shares(len(bounds))
    )
    return first, after


@routine
def _select(
    rank: Any, previous: Any, following: Any, lo: Any, hi: Any, k: Any, r0: int, r1: int, live: Any, first: Any,
    after: Any,
) -> int:  # fmt: skip
    if r0 >= r1:
        return 0
    begin, end, values = lo[r0], lo[r0], 0
    for i in range(r0, r1):
        for x in range(begin, min(end, lo[i])):
            again = following[x]
            change(live, rank[x], REMOVE)
            if again < end:
                change(live, rank[again], ADD)
            else:
                values -= 1
        for x in range(max(end, lo[i]), hi[i]):
            if previous[x] < lo[i]:
                change(live, rank[x], ADD)
                values += 1
        begin, end = lo[i], max(hi[i], lo[i])
        first[i] = nth_live(live, np.int64(k[i])) if 0 <= k[i] < values else -1
        after[i] = nth_live(live, np.int64(k[i]) + 1) if 0 <= k[i] < values - 1 else -1
    return 0


ALGORITHM = Algorithm(
    name="rank_bitset",
    operation=DISTINCT_SELECT,
    words="a bitset of the ranks of first occurrences",
    cost=lambda task: 120.0,
    run=select_distinct,
    needs=(
        no_exclude,
        forward,
    ),
)
