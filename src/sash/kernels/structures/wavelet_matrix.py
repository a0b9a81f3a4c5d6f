"""Wavelet matrix: the ranks of all rows, two bits a level, so that any frame is asked in log4 n steps.

Every level holds one base-4 digit of each rank, the rows stably sorted by the digits before. Digits and counts of 64
rows lie side by side in one cell of 32 bytes, so a step costs one cache line a bound. Queries descend in lock
step, so that their cache misses overlap. Ranks count from their partition's start: the longest partition
alone decides the number of levels, and a frame is mapped the same whatever other partitions hold.

order   any frames, with holes
needs   ranks that are a permutation within each partition
time    log4 n steps a query and a row of the build; the row after the k-th costs the levels they do not share
space   half a byte a row and level, 6 bytes for 5 million rows; 8 more while it is built
paper   none: Claude, Navarro and Ordonez, The wavelet matrix, 2015; cells are of our own making
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from sash.kernels.algorithm import COUNT, SELECT, Algorithm
from sash.kernels.compiling import popcount, prefetch, routine
from sash.kernels.needs import own_order
from sash.kernels.structures.ranked import Ranked
from sash.kernels.threads import shares, together
from sash.windows.bounds import Bounds

CELL = 64  # rows a cell
BLOCK = 16  # queries in lock step
LANES = 2 * BLOCK  # a query may split in two
# The fields of a lane, each an array of LANES entries: two mapped ranges, and what the query is about.
LEFT, RIGHT, LEFT_2, RIGHT_2, WANTED, SYMBOL, OWN, START, OWNER = (np.uint64(LANES * field) for field in range(9))
COUNTED = START  # what a counting lane has found so far
STATE = 9 * LANES
ONE, TWO = np.uint64(1), np.uint64(2)


class WaveletMatrix:
    """The matrix of ranked rows, to be asked about any frames over them."""

    def __init__(self, ranked: Ranked) -> None:
        self.rank, self.segments = ranked.rank, ranked.segments
        rows, rank_type = len(ranked), ranked.rank.dtype
        longest = int(np.diff(ranked.segments).max(initial=0))
        self.levels = (max(longest - 1, 0).bit_length() + 1) // 2
        self.cells = rows // CELL + 1
        wide = rank_type.itemsize > 4
        # A cell is four counts, of 32 or 64 bits each, and two words: the high and the low bits of the digits.
        self.size = 6 if wide else 4
        self.words = _aligned(self.levels * self.cells * self.size)
        self.counts = self.words if wide else self.words.view(np.uint32)
        self.layout = (self.size, 6 if wide else 8, self.cells, self.levels)
        self._build()

    @property
    def nbytes(self) -> int:
        """What the matrix takes, in bytes."""
        return self.words.nbytes

    def select(self, bounds: Bounds, k: np.ndarray, second: bool) -> tuple[np.ndarray, np.ndarray]:
        """The rank of the k-th row of each frame by rank, or -1, and of the row after it if asked for."""
        rank_type = self.rank.dtype
        first = np.empty(len(bounds), rank_type)
        after = np.empty(len(bounds) if second else 0, rank_type)
        self._ask(select_range, bounds, k, first, after)
        return first, after

    def count_below(self, bounds: Bounds, threshold: np.ndarray) -> np.ndarray:
        """How many rows of each frame have a rank below the frame's threshold."""
        counted = np.empty(len(bounds), self.rank.dtype)
        self._ask(count_range, bounds, threshold, counted)
        return counted

    def _ask(self, ask: Any, bounds: Bounds, *arrays: np.ndarray) -> None:
        asked = (self.words, self.counts, *self.layout, self.rank, self.segments, *bounds.arrays, int(bounds.holes))
        parts = shares(len(bounds), least=4096)
        together([partial(ask, *asked, *part, np.empty(STATE, np.int64), *arrays) for part in parts])

    def _build(self) -> None:
        rows, rank, segments = len(self.rank), self.rank, self.segments
        parts = [(CELL * start, min(CELL * stop, rows)) for start, stop in shares(self.cells, least=1024)]
        symbols, spare = rank, np.empty(0, rank.dtype)
        if len(segments) > 2:
            symbols = np.empty_like(rank)
            together([partial(local_ranks, rank, segments, *part, symbols) for part in parts])
        for level in range(self.levels):
            shift = 2 * (self.levels - 1 - level)
            counted = np.zeros((len(parts), 4), np.int64)
            together([partial(count_digits, symbols, shift, *parts[i], counted[i]) for i in range(len(parts))])
            # Digits in order, and within a digit the parts in order: where each part writes its rows of each digit.
            places = np.concatenate(([0], np.cumsum(counted.T.ravel())[:-1])).reshape(4, -1).T.copy()
            if level == self.levels - 1:
                spare = np.empty(0, symbols.dtype)  # nothing follows
            elif len(spare) == 0:
                spare = np.empty_like(rank)
            cells = (self.words, self.counts, *self.layout, level)
            together([partial(sort_level, symbols, shift, *part, where, *cells, spare)
                      for part, where in zip(parts, places, strict=True)])  # fmt: skip
            symbols, spare = spare, symbols if symbols is not rank else np.empty(0, symbols.dtype)


def select(ranked: Ranked, bounds: Bounds, k: np.ndarray, second: bool) -> tuple[np.ndarray, np.ndarray]:
    """The rank of the k-th row of each frame by rank, or -1, and of the row after it if asked for."""
    return WaveletMatrix(ranked).select(bounds, k, second)


def count_below(ranked: Ranked, bounds: Bounds, threshold: np.ndarray) -> np.ndarray:
    """How many rows of each frame have a rank below the frame's threshold."""
    return WaveletMatrix(ranked).count_below(bounds, threshold)


def _aligned(words: int) -> np.ndarray:
    """Memory for 64-bit words that starts with a cache line, so that no small cell lies on two."""
    memory = np.empty(words + 8, np.uint64)
    skip = -memory.ctypes.data % 64 // 8
    return memory[skip : skip + words]


@routine
def local_ranks(rank, segments, start, stop, out):  # type: ignore[no-untyped-def]
    """Ranks counted from their partition's start."""
    segment = segment_of(segments, start, 0)
    for i in range(start, stop):
        while segments[segment + 1] <= i:
            segment += 1
        out[i] = rank[i] - segments[segment]
    return 0


@routine
def count_digits(symbols, shift, start, stop, out):  # type: ignore[no-untyped-def]
    """How often each digit occurs among some rows."""
    ones, twos, threes = 0, 0, 0
    for i in range(start, stop):
        digit = (symbols[i] >> shift) & 3
        ones += digit == 1
        twos += digit == 2
        threes += digit == 3
    out[0], out[1], out[2], out[3] = stop - start - ones - twos - threes, ones, twos, threes
    return 0


@routine
def sort_level(symbols, shift, start, stop, places, words, counts, size, width, cells, levels, level, out):  # type: ignore[no-untyped-def]
    """Write the cells of some rows, and the rows sorted by their digits if there is room for them."""
    last = cells if stop == len(symbols) else stop >> 6
    moving = len(out) > 0
    for cell in range(start >> 6, last):
        at = level * cells + cell
        for digit in range(4):
            counts[at * width + digit] = places[digit]
        high, low = np.uint64(0), np.uint64(0)
        begin = cell << 6
        for i in range(begin, min(begin + CELL, stop)):
            symbol = symbols[np.uint64(i)]
            digit = (symbol >> shift) & 3
            bit = np.uint64(i - begin)
            high |= np.uint64(digit >> 1) << bit
            low |= np.uint64(digit & 1) << bit
            if moving:
                place = places[np.uint64(digit)]
                out[np.uint64(place)] = symbol
                places[np.uint64(digit)] = place + 1
        if not moving:
            ones, twos, threes = popcount(low & ~high), popcount(high & ~low), popcount(high & low)
            places[0] += max(min(begin + CELL, stop) - begin, 0) - ones - twos - threes
            places[1] += ones
            places[2] += twos
            places[3] += threes
        words[at * size + size - 2] = high
        words[at * size + size - 1] = low
    return 0


@routine
def select_range(words, counts, size, width, cells, levels, rank, segments, lo,  # type: ignore[no-untyped-def]
                 a, b, hi, own, holes, start, stop, state, k, first, second):  # fmt: skip
    """Find the k-th row of some frames, and the row after it where ``second`` has room."""
    segment = 0
    for begin in range(start, stop, BLOCK):
        lanes = 0
        for i in range(begin, min(begin + BLOCK, stop)):
            first[i] = -1
            if len(second) > 0:
                second[i] = -1
            mine = own[i] if len(own) > 0 else -1
            if k[i] < 0 or k[i] >= (a[i] - lo[i]) + (hi[i] - b[i]) + (mine >= 0):
                continue
            segment = segment_of(segments, lo[i], segment)
            enter(words, size, state, lanes, lo[i], a[i], b[i], hi[i])
            state[WANTED + np.uint64(lanes)] = k[i]
            state[SYMBOL + np.uint64(lanes)] = 0
            state[START + np.uint64(lanes)] = segments[segment]
            state[OWN + np.uint64(lanes)] = rank[mine] - segments[segment] if mine >= 0 else -1
            state[OWNER + np.uint64(lanes)] = i
            lanes += 1
        primary = lanes
        asked = primary if len(second) > 0 else 0
        for level in range(levels):
            base = level * cells
            shift = 2 * (levels - 1 - level)
            for lane in range(lanes):
                at = np.uint64(lane)
                prefix, wanted = state[SYMBOL + at], state[WANTED + at]
                left = look(words, size, base, state[LEFT + at])
                right = look(words, size, base, state[RIGHT + at])
                zeros, ones, twos = tally(counts, width, left, right)
                if holes:
                    left_2 = look(words, size, base, state[LEFT_2 + at])
                    right_2 = look(words, size, base, state[RIGHT_2 + at])
                    more = tally(counts, width, left_2, right_2)
                    here = state[OWN + at] >> shift
                    inside = (here >> 2) == prefix
                    zeros += more[0] + (inside and here & 3 == 0)
                    ones += more[1] + (inside and here & 3 == 1)
                    twos += more[2] + (inside and here & 3 == 2)
                below_2 = zeros + ones
                below_3 = below_2 + twos
                digit = (wanted >= zeros) + (wanted >= below_2) + (wanted >= below_3)
                if lane < asked:
                    following = (wanted >= zeros - 1) + (wanted >= below_2 - 1) + (wanted >= below_3 - 1)
                    total = state[RIGHT + at] - state[LEFT + at]
                    if holes:
                        total += state[RIGHT_2 + at] - state[LEFT_2 + at] + inside
                    if following != digit and wanted + 1 < total:  # the next row is the first of another node
                        new = np.uint64(lanes)
                        state[LEFT + new] = move(words, counts, size, width, base, cells, left, following)
                        state[RIGHT + new] = move(words, counts, size, width, base, cells, right, following)
                        if holes:
                            state[LEFT_2 + new] = move(words, counts, size, width, base, cells, left_2, following)
                            state[RIGHT_2 + new] = move(words, counts, size, width, base, cells, right_2, following)
                        state[WANTED + new] = 0
                        state[SYMBOL + new] = 4 * prefix + following
                        state[START + new] = state[START + at]
                        state[OWN + new] = state[OWN + at]
                        state[OWNER + new] = state[OWNER + at]
                        lanes += 1
                wanted -= (wanted >= zeros) * zeros + (wanted >= below_2) * ones + (wanted >= below_3) * twos
                state[WANTED + at] = wanted
                state[SYMBOL + at] = 4 * prefix + digit
                state[LEFT + at] = move(words, counts, size, width, base, cells, left, digit)
                state[RIGHT + at] = move(words, counts, size, width, base, cells, right, digit)
                if holes:
                    state[LEFT_2 + at] = move(words, counts, size, width, base, cells, left_2, digit)
                    state[RIGHT_2 + at] = move(words, counts, size, width, base, cells, right_2, digit)
        for lane in range(lanes):
            answer = state[START + np.uint64(lane)] + state[SYMBOL + np.uint64(lane)]
            if lane < primary:
                first[state[OWNER + np.uint64(lane)]] = answer
            else:
                second[state[OWNER + np.uint64(lane)]] = answer
    return 0


@routine
def count_range(words, counts, size, width, cells, levels, rank, segments, lo,  # type: ignore[no-untyped-def]
                a, b, hi, own, holes, start, stop, state, threshold, out):  # fmt: skip
    """Count the rows below the threshold of some frames."""
    segment = 0
    for begin in range(start, stop, BLOCK):
        lanes = 0
        for i in range(begin, min(begin + BLOCK, stop)):
            rows = (a[i] - lo[i]) + (hi[i] - b[i])
            mine = own[i] if len(own) > 0 else -1
            out[i] = mine >= 0 and rank[mine] < threshold[i]
            if rows == 0:
                continue
            segment = segment_of(segments, lo[i], segment)
            if threshold[i] >= segments[segment + 1]:
                out[i] += rows
            elif threshold[i] > segments[segment]:
                enter(words, size, state, lanes, lo[i], a[i], b[i], hi[i])
                state[WANTED + np.uint64(lanes)] = threshold[i] - segments[segment]
                state[COUNTED + np.uint64(lanes)] = 0
                state[OWNER + np.uint64(lanes)] = i
                lanes += 1
        for level in range(levels):
            base = level * cells
            shift = 2 * (levels - 1 - level)
            for lane in range(lanes):
                at = np.uint64(lane)
                digit = (state[WANTED + at] >> shift) & 3
                left = look(words, size, base, state[LEFT + at])
                right = look(words, size, base, state[RIGHT + at])
                zeros, ones, twos = tally(counts, width, left, right)
                state[LEFT + at] = move(words, counts, size, width, base, cells, left, digit)
                state[RIGHT + at] = move(words, counts, size, width, base, cells, right, digit)
                if holes:
                    left = look(words, size, base, state[LEFT_2 + at])
                    right = look(words, size, base, state[RIGHT_2 + at])
                    more = tally(counts, width, left, right)
                    zeros, ones, twos = zeros + more[0], ones + more[1], twos + more[2]
                    state[LEFT_2 + at] = move(words, counts, size, width, base, cells, left, digit)
                    state[RIGHT_2 + at] = move(words, counts, size, width, base, cells, right, digit)
                state[COUNTED + at] += (digit > 0) * zeros + (digit > 1) * ones + (digit > 2) * twos
        for lane in range(lanes):
            out[state[OWNER + np.uint64(lane)]] += state[COUNTED + np.uint64(lane)]
    return 0


def segment_of(segments: Any, position: Any, near: Any) -> Any:
    """The partition of a position; queries mostly stay near the last one's."""
    if segments[near] <= position:
        if position < segments[near + 1]:
            return near
        if near + 2 < len(segments) and position < segments[near + 2]:
            return near + 1
    low, high = 0, len(segments) - 1
    while high - low > 1:
        middle = (low + high) >> 1
        if segments[middle] <= position:
            low = middle
        else:
            high = middle
    return low


def enter(words: Any, size: Any, state: Any, lane: Any, lo: Any, a: Any, b: Any, hi: Any) -> None:
    """Start a lane with the two ranges of a frame."""
    at = np.uint64(lane)
    state[LEFT + at] = lo
    state[RIGHT + at] = a
    state[LEFT_2 + at] = b
    state[RIGHT_2 + at] = hi
    prefetch(words, (lo >> 6) * size)
    prefetch(words, (a >> 6) * size)
    if b < hi:
        prefetch(words, (b >> 6) * size)
        prefetch(words, (hi >> 6) * size)


def look(words: Any, size: Any, base: Any, at: Any) -> Any:
    """The cell of a bound, the rows of it before the bound, and which of them have digits with the high and low bit."""
    cell = np.uint64(base + (at >> 6))
    before = (ONE << np.uint64(at & 63)) - ONE
    place = cell * np.uint64(size) + np.uint64(size - 2)
    return cell, before, words[place] & before, words[place + ONE] & before


def tally(counts: Any, width: Any, left: Any, right: Any) -> Any:
    """How many zeros, ones and twos there are between two bounds."""
    cell, before, high, low = left
    cell_2, before_2, high_2, low_2 = right
    at, to = cell * np.uint64(width), cell_2 * np.uint64(width)
    zeros = popcount(before_2 & ~(high_2 | low_2)) - popcount(before & ~(high | low))
    ones = popcount(low_2 & ~high_2) - popcount(low & ~high)
    twos = popcount(high_2 & ~low_2) - popcount(high & ~low)
    return (
        zeros + np.int64(counts[to]) - np.int64(counts[at]),
        ones + np.int64(counts[to + ONE]) - np.int64(counts[at + ONE]),
        twos + np.int64(counts[to + TWO]) - np.int64(counts[at + TWO]),
    )


def move(words: Any, counts: Any, size: Any, width: Any, base: Any, cells: Any, bound: Any, digit: Any) -> Any:
    """Where a bound lies a level down, among the rows of a digit."""
    cell, before, high, low = bound
    equal = (high ^ (np.uint64(digit >> 1) - ONE)) & (low ^ (np.uint64(digit & 1) - ONE)) & before
    at = np.int64(counts[cell * np.uint64(width) + np.uint64(digit)]) + popcount(equal)
    prefetch(words, (base + cells + (at >> 6)) * size)
    return at


SELECTING = Algorithm(
    name="wavelet_matrix",
    operation=SELECT,
    words="a descent through a wavelet matrix",
    cost=lambda task: 60.0 + 7.5 * task.height,
    run=lambda ranked, *asked: ranked.structure(WaveletMatrix).select(*asked),
    needs=(own_order,),
)
COUNTING = Algorithm(
    name="wavelet_matrix",
    operation=COUNT,
    words="a descent through a wavelet matrix",
    cost=lambda task: 60.0 + 7.5 * task.height,
    run=lambda ranked, *asked: ranked.structure(WaveletMatrix).count_below(*asked),
    needs=(own_order,),
)
