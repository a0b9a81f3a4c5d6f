"""Runs of cells: those that spans of many keys cover, in one flat numbering in which each span is a range.

Spans are taken by key and first slice. One that begins beyond all that came before it begins a run; within a run,
slices follow each other, so that a span is known by its first and its last cell. Where keys and slices are few, no
order is needed: every key has a run of all slices, and cells that no span covers are left out in the end.

order   any
time    a sort by key and slice, and one step a span
space   40 bytes a span; 16 a cell
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sash.errors import SashError
from sash.kernels.compiling import routine
from sash.kernels.sorting import argsort

MANY, EACH = 1 << 24, 64  # cells that the spans of a batch may cover: so many, or so many for each


@routine
def lay_out(order, codes, first, last, begin, end, run_key, run_slice, run_size):  # type: ignore[no-untyped-def]
    """Place spans in runs; returns how many runs there are."""
    runs, base, start, stop, key = 0, 0, 0, 0, -1
    for j in range(len(order)):
        i = order[j]
        if codes[i] != key or first[i] >= stop:
            if runs > 0:
                run_size[runs - 1] = stop - start
                base += stop - start
            key, start, stop = codes[i], first[i], first[i]
            run_key[runs], run_slice[runs] = key, start
            runs += 1
        stop = max(stop, last[i] + 1)
        begin[i], end[i] = base + first[i] - start, base + last[i] - start
    if runs > 0:
        run_size[runs - 1] = stop - start
    return runs


class Runs(NamedTuple):
    """Cells by key and number of slice, the first and the last cell of each span, and which cells a span covers."""

    key: np.ndarray
    slice: np.ndarray
    begin: np.ndarray
    end: np.ndarray
    covered: np.ndarray | None = None  # None for all


def most(spans: int) -> int:
    """How many cells so many spans may cover."""
    return max(MANY, EACH * spans)


def too_many(spans: int, count: int) -> SashError:
    """The sentence for spans that cover more."""
    return SashError(
        f"{spans:,} spans of a batch may be in {most(spans):,} slices, got {count:,}; a longer slide makes fewer, and "
        "longest= sets spans aside that are too long"
    )


def runs_of(codes: np.ndarray, keys: int, first: np.ndarray, last: np.ndarray) -> Runs:
    """The cells that spans of keys cover from their first to their last slice, which are numbered from 0.

    >>> runs = runs_of(np.array([1, 0, 1]), 2, np.array([10, 0, 12]), np.array([12, 900, 13]))
    >>> len(runs.key), runs.begin.tolist(), runs.end.tolist()
    (905, [901, 0, 903], [903, 900, 904])
    """
    width = int(last.max(initial=-1)) + 1
    if keys * width <= 4 * len(codes):
        begin, end = codes * width + first, codes * width + last
        changes = np.bincount(begin, minlength=keys * width + 1) - np.bincount(end + 1, minlength=keys * width + 1)
        return Runs(
            np.repeat(np.arange(keys), width), np.tile(np.arange(width), keys), begin, end, np.cumsum(changes[:-1]) > 0
        )
    order = argsort([codes.view(np.uint64), first.view(np.uint64)])
    begin, end, *runs = (np.empty(len(codes), np.int64) for _ in range(5))
    length = lay_out(order.astype(np.int64, copy=False), codes, first, last, begin, end, *runs)
    key, start, size = (array[:length] for array in runs)
    if (count := float(size.sum(dtype=np.float64))) > most(len(codes)):
        raise too_many(len(codes), int(count))
    base = np.cumsum(size) - size
    return Runs(np.repeat(key, size), np.arange(size.sum()) + np.repeat(start - base, size), begin, end)
