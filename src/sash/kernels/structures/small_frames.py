"""Small frames: each frame read for itself, many of them side by side.

Selecting sorts the frames by one network of exchanges, which is the same for all of them, so that a machine
word of rows goes through each exchange at once, without a branch. Counting compares all rows of a frame
with its threshold. Where every row has the frame around it, frames are read as stretches, beyond the edges
of partitions too: ranks there are all smaller or all greater, so that k only shifts.

order   any bounds, holes included
needs   short frames: selecting beats block sort up to 16 rows where sizes are constant, 12 where bounds move right
time    f (log f)^2 / 4 exchanges a row to select, f comparisons to count, for frames of f rows; vectorised
space   f words for each of 128 rows
paper   Batcher, Sorting networks and their applications, 1968; Knuth, The Art of Computer Programming 3, 5.2.2 M
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np

from sash.kernels.algorithm import COUNT, SELECT, Algorithm, Task
from sash.kernels.compiling import routine
from sash.kernels.needs import at_most, own_order
from sash.kernels.structures.ranked import Ranked
from sash.kernels.threads import shares, together
from sash.windows.bounds import CONSTANT, Bounds

SMALL, SHORT = 64, 1024  # rows of a frame that a network sorts, and that are looked through one by one
LARGEST = 64  # rows of a frame to be read as a stretch
LANES = 128  # frames sorted side by side; a whole number of vectors


def select(ranked: Ranked, bounds: Bounds, k: np.ndarray, second: bool) -> tuple[np.ndarray, np.ndarray]:
    """The rank of each frame's k-th smallest row, from 0, and where asked of the one after; -1 where there is none."""
    first = np.empty(len(bounds), ranked.rank.dtype)
    after = np.empty(len(bounds) if second else 0, ranked.rank.dtype)
    even, width = _width(bounds)

    def run(begin: int, end: int) -> int:
        frames = np.empty(width * LANES, ranked.rank.dtype)
        return select_sorted(
            begin,
            end,
            ranked.rank,
            *bounds.arrays,
            k,
            even,
            bounds.before,
            width,
            _network(width),
            frames,
            first,
            after,
        )

    together([partial(run, begin, end) for begin, end in shares(len(bounds))])
    return first, after


def count_below(ranked: Ranked, bounds: Bounds, threshold: np.ndarray) -> np.ndarray:
    """How many rows of each frame have a rank below the frame's threshold."""
    counts = np.empty(len(bounds), ranked.rank.dtype)

    def run(begin: int, end: int) -> int:
        return count_pieces(begin, end, ranked.rank, *bounds.arrays, threshold, counts)

    together([partial(run, begin, end) for begin, end in shares(len(bounds))])
    return counts


def _width(bounds: Bounds) -> tuple[int, int]:
    """Whether frames may be read as stretches beside their rows, and the length of the longest."""
    longest = int(bounds.sizes().max(initial=0))
    stretch = bounds.before + bounds.after + 1
    even = bounds.shape == CONSTANT and 0 < stretch <= LARGEST
    return int(even), stretch if even else longest


@cache
def _network(width: int) -> np.ndarray:
    """Which places to exchange, pair after pair, to sort so many: Batcher's merge exchange."""
    pairs, top = [], 1 << max((width - 1).bit_length() - 1, 0)
    for p in (top >> level for level in range(top.bit_length())):
        q, r, distance = top, 0, p
        while True:
            pairs += [(i, i + distance) for i in range(width - distance) if i & p == r]
            if q == p:
                break
            distance, q, r = q - p, q // 2, p
    return np.array(pairs, np.int64).ravel()


@routine
def select_sorted(
    begin: int, end: int, rank: Any, lo: Any, a: Any, b: Any, hi: Any, own: Any, k: Any,
    even: int, before: int, width: int, exchanges: Any, frames: Any, first: Any, after: Any,
) -> int:  # fmt: skip
    """Sort the frames of LANES rows at a time, a lane each, and pick from them."""
    for base in range(begin, end, LANES):
        lanes = min(LANES, end - base)
        if even:
            fill_stretches(base, before, width, rank, frames)
        else:
            fill_pieces(base, lanes, width, rank, lo, a, b, hi, own, frames)
        sort_lanes(exchanges, frames)
        for lane in range(lanes):
            row = base + lane
            target, size, left_out = np.int64(k[row]), np.int64(hi[row]) - np.int64(lo[row]), np.int64(0)
            if even:
                left_out = lo[row] - (row - before)  # rows of earlier partitions, all smaller
            else:
                size -= np.int64(b[row]) - np.int64(a[row])
                if len(own) > 0 and own[row] >= 0:
                    size += 1
            known = 0 <= target < size
            first[row] = frames[(left_out + target) * LANES + lane] if known else -1
            if len(after) > 0:
                known = known and target + 1 < size
                after[row] = frames[(left_out + target + 1) * LANES + lane] if known else -1
    return 0


def fill_stretches(base: Any, before: Any, width: Any, rank: Any, frames: Any) -> None:
    """Write each lane's frame as if there were no partitions; before the table is smallest, after it greatest."""
    rows = np.int64(len(rank))
    for place in range(width):
        start, at = base - before + place, place * LANES
        if start >= 0 and start + LANES <= rows:
            for lane in range(LANES):
                frames[np.uint64(at + lane)] = rank[np.uint64(start + lane)]
        else:
            for lane in range(LANES):
                position = start + lane
                frames[at + lane] = -1 if position < 0 else rank[position] if position < rows else rows


def fill_pieces(
    base: Any, lanes: Any, width: Any, rank: Any, lo: Any, a: Any, b: Any, hi: Any, own: Any, frames: Any
) -> None:
    """Write each lane's frame, with the greatest number after it."""
    rows = len(rank)
    for lane in range(lanes):
        row, at = base + lane, lane
        for position in range(lo[row], a[row]):
            frames[np.uint64(at)] = rank[np.uint64(position)]
            at += LANES
        for position in range(b[row], hi[row]):
            frames[np.uint64(at)] = rank[np.uint64(position)]
            at += LANES
        if len(own) > 0 and own[row] >= 0:
            frames[at] = rank[own[row]]
            at += LANES
        while at < width * LANES:
            frames[np.uint64(at)] = rows
            at += LANES


def sort_lanes(exchanges: Any, frames: Any) -> None:
    """Sort every lane. The pairs come from memory lest LLVM tests the whole array, not a pair, for overlaps."""
    for pair in range(0, len(exchanges), 2):
        low, high = exchanges[pair] * LANES, exchanges[pair + 1] * LANES
        for lane in range(LANES):
            x, y = frames[np.uint64(low + lane)], frames[np.uint64(high + lane)]
            frames[np.uint64(low + lane)] = min(x, y)
            frames[np.uint64(high + lane)] = max(x, y)


@routine
def count_pieces(
    begin: int, end: int, rank: Any, lo: Any, a: Any, b: Any, hi: Any, own: Any, threshold: Any, counts: Any
) -> int:
    """Count each frame's rows piece by piece."""
    for row in range(begin, end):
        limit, count = threshold[row], 0
        for position in range(lo[row], a[row]):
            count += rank[np.uint64(position)] < limit
        for position in range(b[row], hi[row]):
            count += rank[np.uint64(position)] < limit
        if len(own) > 0 and own[row] >= 0:
            count += rank[own[row]] < limit
        counts[row] = count
    return 0


def _short(task: Task) -> str | None:
    return at_most(SHORT)(task)


def _sorting(task: Task) -> float:
    """A network over so many rows; frames that do not move forward are read anew."""
    return (5.0 + task.widest) * (1.0 if task.shape == CONSTANT else 1.4 if task.forward else 2.5)


SELECTING = Algorithm(
    name="small_frames",
    operation=SELECT,
    words="each small frame sorted by a network",
    cost=_sorting,
    run=select,
    needs=(
        own_order,
        at_most(SMALL),
    ),
)
COUNTING = Algorithm(
    name="small_frames",
    operation=COUNT,
    words="each frame looked through",
    cost=lambda task: 6.0 + 0.07 * task.widest,
    run=count_below,
    needs=(
        own_order,
        _short,
    ),
)
