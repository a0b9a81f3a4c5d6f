"""Means and deviations of windows of one size, by sums of chunks, where partials need not be merged.

A window is the rest of one chunk and the beginning of the next. It holds the row at the boundary, so that sums of
distances from that row's value do not cancel more than the window's own spread allows; combining is adding, and only
answers divide, in a loop of their own. Nothing is ever subtracted that is not in the window: sums do not drift. A chunk
of which an answer lost more than a few digits, or overflowed, is left to the partials.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sash.kernels.compiling import prefetch

BLOCK = 128  # rows whose answers wait for a loop of their own
LEAST = 16  # rows of a window for which this pays
LOST = 1e-3  # of the squares of distances that must be spread, so that three digits are lost at most
HUGE = 1e300
NEAR, LINE = 1 << 14, 8  # rows of a chunk that is fetched ahead, since it is read from both ends, and of a cache line


def room(aggregate: Any, size: int, rows: int) -> int:
    """How many numbers a push of so many rows needs beside."""
    worth = aggregate.moment is not None and size >= LEAST and rows >= 3 * size
    return 4 * (size + 1) + 2 * BLOCK if worth else 0


def by_sums(agg: Any) -> Any:
    """``chunk(values, i, size, scratch, half, out)``: answer a chunk; whether all answers are sound.

    The scratch holds two halves, of sums from the right over the chunk before and over this one, relative to the value
    at the boundary behind each; ``half`` is where those of the chunk before begin.
    """
    _, lower = agg.moment
    at = np.uint64

    @agg.function
    def cumulate(values, i, rows, begun, last, block, scratch, running, left):  # type: ignore[no-untyped-def]
        for j in range(rows):
            running += values[0][at(i + j)]
            scratch[at(block + j)] = running
            left += values[0][at(last - j)]
            scratch[at(begun - j)] = left
        return running, left

    @agg.function
    def answers(out, i, rows, size, scratch, before, block):  # type: ignore[no-untyped-def]
        for j in range(rows):
            out[0][at(i + j)] = lower(size, scratch[at(before + j)] + scratch[at(block + j)])

    @agg.function
    def chunk(values, i, size, scratch, half, out):  # type: ignore[no-untyped-def]
        other, block = 2 * (size + 1) - half, 4 * (size + 1)
        running, left, begin = 0.0, 0.0, 0
        while begin < size:
            rows = min(BLOCK, size - begin)
            if size <= NEAR:
                for j in range(0, rows, LINE):
                    prefetch(values[0], i + size + begin + j)
            first, last = other + size - 1 - begin, i + size - 1 - begin
            running, left = cumulate(values, i + begin, rows, first, last, block, scratch, running, left)
            answers(out, i + begin, rows, float(size), scratch, half + begin + 1, block)
            begin += rows
        scratch[other + size] = 0.0
        return True

    return chunk


def by_squares(agg: Any) -> Any:
    """The same of sums of distances and of their squares."""
    _, lower = agg.moment
    at = np.uint64

    @agg.function
    def cumulate(values, i, rows, places, last, centres, scratch, sums):  # type: ignore[no-untyped-def]
        begun, squared, block = places
        centre, behind = centres
        running, squares, left, left_squares = sums
        for j in range(rows):
            apart = values[0][at(i + j)] - centre
            running += apart
            squares += apart * apart
            scratch[at(block + j)] = running
            scratch[at(block + BLOCK + j)] = squares
            other = values[0][at(last - j)] - behind
            left += other
            left_squares += other * other
            scratch[at(begun - j)] = left
            scratch[at(squared - j)] = left_squares
        return running, squares, left, left_squares

    @agg.function
    def answers(out, i, rows, size, scratch, before, before_squared, block):  # type: ignore[no-untyped-def]
        share, sound = 1.0 / size, 0
        for j in range(rows):
            total = scratch[at(before + j)] + scratch[at(block + j)]
            squares = scratch[at(before_squared + j)] + scratch[at(block + BLOCK + j)]
            spread = squares - total * total * share
            sound += int(spread >= squares * LOST) & int(squares < HUGE)
            out[0][at(i + j)] = lower(size, spread)
        return sound

    @agg.function
    def chunk(values, i, size, scratch, half, out):  # type: ignore[no-untyped-def]
        other, block = 2 * (size + 1) - half, 4 * (size + 1)
        centre = values[0][i]
        behind = values[0][i + size] if i + size < len(values[0]) else centre
        sums, begin, sound = (0.0, 0.0, 0.0, 0.0), 0, 0
        while begin < size:
            rows = min(BLOCK, size - begin)
            if size <= NEAR:
                for j in range(0, rows, LINE):
                    prefetch(values[0], i + size + begin + j)
            first = other + size - 1 - begin
            sums = cumulate(
                values, i + begin, rows, (first, first + size + 1, block), i + size - 1 - begin, (centre, behind),
                scratch, sums,
            )  # fmt: skip
            before = half + begin + 1
            sound += answers(out, i + begin, rows, float(size), scratch, before, before + size + 1, block)
            begin += rows
        scratch[other + size] = 0.0
        scratch[other + 2 * size + 1] = 0.0
        return sound == size

    return chunk


def by_moments(agg: Any) -> Any:
    """``begin(values, i, size, scratch)``, which sums the chunk before the row i, and ``chunk``, as above."""
    squared = agg.moment[0] == 2

    @agg.function
    def begin(values, i, size, scratch):  # type: ignore[no-untyped-def]
        centre = values[0][i] if squared else 0.0
        left, squares = 0.0, 0.0
        scratch[size], scratch[2 * size + 1] = 0.0, 0.0
        for j in range(size - 1, -1, -1):
            apart = values[0][i - size + j] - centre
            left += apart
            squares += apart * apart
            scratch[j] = left
            scratch[size + 1 + j] = squares

    return begin, by_squares(agg) if squared else by_sums(agg)
