"""Block sort: the k-th smallest row of every sliding frame, from positions sorted block by block.

Positions are cut into blocks some frames long, each with as much of the next block as its frames reach
into; one pass in the order of ranks deals all rows out to their blocks, which sorts every block at once.
Within its block a row is a place among a few thousand, so the live rows are a short, dense bitset that stays
in the first cache, and the word with the k-th live row moves by a step now and then. The published algorithm
has linked lists where the bitset is; counts of live rows per stretch of words bound every search, so that k
may jump from row to row. Ranks keep partitions apart, so blocks need not.

order   bounds that only move right
needs   no holes; fastest where frames are about equally long
time    n + frames; at most 3 (block / 64)^(1/3) steps more at a row, or 192 in small blocks, where k jumps
space   1.25 local positions of 2 or 4 bytes a row; 1 bit and one more for each row of a thread's block
paper   Suomela, Median filtering is equivalent to sorting, 2014 (arXiv 1406.1717)
"""

from __future__ import annotations

from functools import cache, partial
from typing import Any

import numpy as np

from sash.kernels.algorithm import SELECT, Algorithm
from sash.kernels.compiling import popcount, routine, trailing_zeros
from sash.kernels.needs import forward, no_exclude, own_order
from sash.kernels.recycling import empty
from sash.kernels.structures.ranked import Ranked
from sash.kernels.threads import shares, together
from sash.windows.bounds import Bounds

NEAR = 8  # words to look through before searching from the top
STEP = 4  # a block answers for at least so many frames' lengths of positions
SHORTEST = 8  # and for at least 2^so many positions
WHOLE = 32  # rows that are at most so many frames' lengths are one block, and ranks serve as places in it


def select(
    ranked: Ranked, bounds: Bounds, k: np.ndarray, second: bool, by_index: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """The rank of each frame's k-th smallest row, from 0, and where asked of the one after; -1 where there is none.

    By index it gives the same rows by their indices, which blocks know first.
    """
    rows, rank_type = len(bounds), ranked.rank.dtype
    first = empty(rows, rank_type)
    after = empty(rows if second else 0, rank_type)
    longest = int((bounds.hi - bounds.lo).max(initial=0))
    if longest == 0:
        first.fill(-1)
        after.fill(-1)
        return first, after
    if len(ranked) <= max(WHOLE * longest, 1 << SHORTEST):
        _whole(ranked, bounds, k, first, after)
        return (_indices(ranked, first), _indices(ranked, after)) if by_index else (first, after)
    _blocks(ranked, bounds, k, longest, first, after, by_index)
    return first, after


def _indices(ranked: Ranked, ranks: np.ndarray) -> np.ndarray:
    return np.where(ranks < 0, ranks, ranked.order[ranks])


def _whole(ranked: Ranked, bounds: Bounds, k: np.ndarray, first: np.ndarray, after: np.ndarray) -> None:
    def run(begin: int, end: int) -> int:
        words, groups, regions, shifts = _live(len(ranked))
        return slide_ranks(
            begin, end, bounds.lo, bounds.hi, k, ranked.rank,
            words, groups, regions, shifts, _bits_of_bytes(), first, after,
        )  # fmt: skip

    together([partial(run, begin, end) for begin, end in shares(len(bounds))])


def _blocks(
    ranked: Ranked, bounds: Bounds, k: np.ndarray, longest: int, first: np.ndarray, after: np.ndarray, by_index: bool
) -> None:
    rows, reach = len(ranked), longest - 1  # how far frames that start in a block reach into the next
    shift = max((STEP * longest - 1).bit_length(), SHORTEST)
    step = 1 << shift
    blocks, room = (rows + step - 1) >> shift, step + reach
    small = room <= 1 << 16
    dealt = empty(blocks * room, np.uint16 if small else np.int32 if room < 2**31 else np.int64)
    _deal(ranked.order, shift, reach, blocks, dealt)

    def run(begin: int, end: int) -> int:
        words, groups, regions, shifts = _live(room)
        places = np.empty(room, dealt.dtype)
        edges = np.array([begin << shift, min(end << shift, rows)], bounds.lo.dtype)
        row, last = np.searchsorted(bounds.lo, edges)
        if end == blocks:
            last = len(bounds)  # empty frames may lie behind the last row
        return slide_blocks(
            begin, end, int(row), int(last), shift, reach, bounds.lo, bounds.hi, k, ranked.rank, dealt, places,
            words, groups, regions, shifts, _bits_of_bytes(), first, after, int(by_index),
        )  # fmt: skip

    least = max(1, (1 << 16) >> shift)
    together([partial(run, begin, end) for begin, end in shares(blocks, least)])


def _deal(order: np.ndarray, shift: int, reach: int, blocks: int, dealt: np.ndarray) -> None:
    """Fill each block of ``dealt`` with its rows' positions in it, in the order of ranks."""
    ranges = shares(len(order), least=max(1 << 16, 8 * blocks))
    heads = np.zeros((len(ranges), blocks), np.int64)
    parts = list(zip(ranges, heads, strict=True))
    if len(ranges) > 1:
        together([partial(count_dealt, order, *part, shift, reach, head) for part, head in parts])
    heads[1:] = np.cumsum(heads, 0)[:-1]
    heads[0] = 0
    heads += np.arange(blocks) * (len(dealt) // blocks)
    together([partial(deal, order, *part, shift, reach, head, dealt) for part, head in parts])


def _live(room: int) -> tuple[np.ndarray, ...]:
    """An empty bitset with room for so many rows, and how many rows live in each group and region of it."""
    group = 12 if room <= 1 << 19 else 6 + ((room >> 6).bit_length() + 2) // 3
    region = 31 if room <= 1 << 19 else 2 * group - 6
    shifts = np.array([group, region], np.int64)
    counts = [np.zeros(((room - 1) >> int(shift)) + 1, np.int64) for shift in shifts]
    return np.zeros(((room - 1) >> 6) + 1, np.uint64), *counts, shifts


@cache
def _bits_of_bytes() -> np.ndarray:
    """Where the k-th set bit of each byte is, at 8 * byte + k."""
    return np.array([([b for b in range(8) if byte >> b & 1] + [0] * 8)[:8] for byte in range(256)], np.uint8).ravel()


@routine
def count_dealt(order: Any, begin: int, end: int, shift: int, reach: int, counts: Any) -> int:
    """Count how many rows with these ranks go into each block."""
    step = 1 << shift
    for rank in range(begin, end):
        position = np.int64(order[rank])
        block = position >> shift
        counts[block] += 1
        if position & (step - 1) < reach and block > 0:
            counts[block - 1] += 1
    return 0


@routine
def deal(order: Any, begin: int, end: int, shift: int, reach: int, heads: Any, dealt: Any) -> int:
    """Append the rows with these ranks to their blocks; a block goes on where ``heads`` says."""
    step = 1 << shift
    for rank in range(begin, end):
        position = np.int64(order[rank])
        block, offset = np.uint64(position >> shift), position & (step - 1)
        head = heads[block]
        dealt[np.uint64(head)] = offset
        heads[block] = head + 1
        if offset < reach and block > 0:
            head = heads[block - np.uint64(1)]
            dealt[np.uint64(head)] = offset + step
            heads[block - np.uint64(1)] = head + 1
    return 0


@routine
def slide_blocks(
    begin: int, end: int, row: int, rows: int, shift: int, reach: int, lo: Any, hi: Any, k: Any, rank: Any,
    dealt: Any, places: Any, words: Any, groups: Any, regions: Any, shifts: Any, bits: Any, first: Any, after: Any,
    by_index: int,
) -> int:  # fmt: skip
    """Answer the frames from ``row`` that start in the blocks from ``begin`` to ``end``, by rank or by index."""
    step = 1 << shift
    room = step + reach
    for block in range(begin, end):
        start, stop = block << shift, (block + 1) << shift
        until = row
        while until < rows and (lo[until] < stop or block == end - 1):
            until += 1
        if until == row:
            continue
        base = block * room
        for place in range(min(room, len(rank) - start)):
            places[np.uint64(dealt[base + place])] = place
        clear(words, groups, regions)
        slide(row, until, start, lo, hi, k, places, words, groups, regions, shifts, bits, first, after)
        for answer in (first, after):
            if len(answer):
                for i in range(row, until):
                    if answer[i] >= 0:
                        index = np.uint64(start) + np.uint64(dealt[np.uint64(base) + np.uint64(answer[i])])
                        answer[i] = index if by_index else rank[index]
        row = until
    return 0


@routine
def slide_ranks(
    row: int, until: int, lo: Any, hi: Any, k: Any, rank: Any,
    words: Any, groups: Any, regions: Any, shifts: Any, bits: Any, first: Any, after: Any,
) -> int:  # fmt: skip
    """Answer the frames from ``row`` to ``until``, with all rows in one block."""
    slide(row, until, 0, lo, hi, k, rank, words, groups, regions, shifts, bits, first, after)
    return 0


def slide(
    row: Any, until: Any, start: Any, lo: Any, hi: Any, k: Any, places: Any,
    words: Any, groups: Any, regions: Any, shifts: Any, bits: Any, first: Any, after: Any,
) -> None:  # fmt: skip
    """Answer frames with places in the block, which starts at ``start``; the bitset is empty at first."""
    group, region = np.uint64(shifts[0]), np.uint64(shifts[1])
    six, one = np.uint64(6), np.uint64(1)
    seconds, grouped, vast = len(after) > 0, len(groups) > 1, len(regions) > 1  # one group needs no count
    head = tail = np.int64(lo[row])
    at, before = np.int64(0), np.int64(0)  # the word looked at, and how many live rows are in those before it
    for i in range(row, until):
        left, right, target = np.int64(lo[i]), np.int64(hi[i]), np.int64(k[i])
        while head < min(left, tail):
            place = np.uint64(places[np.uint64(head - start)])
            words[place >> six] ^= one << (place & np.uint64(63))
            if grouped:
                groups[place >> group] -= 1
            if vast:
                regions[place >> region] -= 1
            before -= np.int64(place >> six) < at
            head += 1
        if left >= tail:
            head = tail = left
        while tail < right:
            place = np.uint64(places[np.uint64(tail - start)])
            words[place >> six] ^= one << (place & np.uint64(63))
            if grouped:
                groups[place >> group] += 1
            if vast:
                regions[place >> region] += 1
            before += np.int64(place >> six) < at
            tail += 1
        live = right - left
        if target < 0 or target >= live:
            first[i] = -1
            if seconds:
                after[i] = -1
            continue
        word = words[np.uint64(at)]
        if np.uint64(target - before) >= np.uint64(popcount(word)):  # before it, which wraps around, or after it
            at, before = seek(at, before, target, words, groups, regions, shifts)
            word = words[np.uint64(at)]
        bit = nth_bit(word, target - before, bits)
        first[i] = (at << 6) + bit
        if seconds:
            rest = (word >> np.uint64(bit)) >> one
            if target + 1 >= live:
                after[i] = -1
            elif rest:
                after[i] = (at << 6) + bit + 1 + trailing_zeros(rest)
            else:
                there, _ = seek(at, before, target + 1, words, groups, regions, shifts)
                after[i] = (there << 6) + trailing_zeros(words[np.uint64(there)])


def seek(at: Any, before: Any, target: Any, words: Any, groups: Any, regions: Any, shifts: Any) -> Any:
    """The word with the live row number ``target``, and how many are in the words before it, from a word near it."""
    here = popcount(words[np.uint64(at)])
    for _ in range(NEAR):
        if before > target:
            at -= 1
            here = popcount(words[np.uint64(at)])
            before -= here
        elif before + here <= target:
            before += here
            at += 1
            here = popcount(words[np.uint64(at)])
        else:
            return at, before
    before, at = np.int64(0), np.int64(0)
    if len(regions) > 1:
        while before + regions[at] <= target:
            before += regions[at]
            at += 1
        at <<= shifts[1] - shifts[0]
    if len(groups) > 1:
        while before + groups[at] <= target:
            before += groups[at]
            at += 1
    at <<= shifts[0] - 6
    while before + popcount(words[at]) <= target:
        before += popcount(words[at])
        at += 1
    return at, before


def nth_bit(word: Any, n: Any, bits: Any) -> Any:
    """The place of the n-th set bit of a word, from 0: first its byte, by the sums of the bytes' counts."""
    ones = np.uint64(0x0101010101010101)
    sums = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    sums = (sums & np.uint64(0x3333333333333333)) + ((sums >> np.uint64(2)) & np.uint64(0x3333333333333333))
    sums = ((sums + (sums >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)) * ones
    highest = np.uint64(0x8080808080808080)
    byte = np.uint64(8 * popcount(((np.uint64(n) * ones | highest) - sums) & highest))  # bytes whose sum is at most n
    passed = (sums << np.uint64(8)) >> byte & np.uint64(255)
    return np.int64(byte) + bits[(word >> byte & np.uint64(255)) * np.uint64(8) + np.uint64(n) - passed]


def clear(words: Any, groups: Any, regions: Any) -> None:
    """Forget all live rows."""
    for i in range(len(words)):
        words[i] = 0
    for i in range(len(groups)):
        groups[i] = 0
    for i in range(len(regions)):
        regions[i] = 0


ALGORITHM = Algorithm(
    name="block_sort",
    operation=SELECT,
    words="sorted blocks with bitsets of live rows",
    cost=lambda task: 25.0,
    run=select,
    gives_indices=True,
    needs=(
        own_order,
        no_exclude,
        forward,
    ),
)
