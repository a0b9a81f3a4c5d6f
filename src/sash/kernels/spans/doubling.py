"""Doubling: an event is two runs of 2^k cells that may overlap, and runs are halved until they are cells.

The longest runs come first: when those of 2^k cells are all in, they are split in place into runs of half the
length, to which the next events are added. So it is a sparse table read backwards, one level at a time.

order   any
needs   associative, commutative, selective
time    2 combines an event; log2(n) for each cell that the events span, where n is the longest event
space   a partial for each cell that the events span; 8 bytes an event
paper   Bender and Farach-Colton 2000, The LCA Problem Revisited, whose table this turns around
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sash.kernels.compiling import Flags, Marks, Specialised, States, Values, kernel, leading_zeros, routine
from sash.kernels.needs import selective
from sash.kernels.spans.driving import covers
from sash.kernels.spans.rings import adding, touched

LEVELS = 64


@routine
def sort_by_level(begin, end, edges, order):  # type: ignore[no-untyped-def]
    """Order events by the length of their runs; those of 2^k cells end before ``edges[k]``."""
    for i in range(len(begin)):
        if begin[i] < end[i]:
            edges[64 - leading_zeros(np.uint64(end[i] - begin[i]))] += 1
    for k in range(1, len(edges)):
        edges[k] += edges[k - 1]
    for i in range(len(begin)):
        if begin[i] < end[i]:
            k = 63 - leading_zeros(np.uint64(end[i] - begin[i]))
            order[edges[k]] = i
            edges[k] += 1
    return 0


@kernel
def doubling_cover(agg: Any) -> Any:
    """Fold events, ordered by level, into runs, the first of which begins at the cell ``base``; these into cells."""
    lift, load, add = agg.lift, agg.load, adding(agg)

    def cover(
        values: Values,
        begin: Marks,
        end: Marks,
        order: Marks,
        edges: Marks,
        base: int,
        runs: States,
        runs_filled: Flags,
        states: States,
        filled: Flags,
    ) -> int:
        cells = len(runs_filled)
        for level in range(len(edges) - 1, -1, -1):
            size = 1 << level
            if size > cells:
                continue
            for k in range(edges[level - 1] if level > 0 else 0, edges[level]):
                i = order[k]
                partial = lift(values, i, i)
                add(runs, runs_filled, begin[i] - base, partial)
                if end[i] - begin[i] > size:
                    add(runs, runs_filled, end[i] - base - size, partial)
            half = size >> 1
            if half > 0:
                for cell in range(cells - 1, half - 1, -1):
                    if runs_filled[cell - half] != 0:
                        add(runs, runs_filled, cell, load(runs, cell - half))
        for cell in range(cells):
            if runs_filled[cell] != 0:
                add(states, filled, base + cell, load(runs, cell))
        return 0

    return cover


def _work(specialised: Specialised, begin: np.ndarray, end: np.ndarray) -> tuple[Any, ...]:
    base, cells = touched(begin, end)
    edges, order = np.zeros(LEVELS, np.int64), np.empty(len(begin), np.int64)
    sort_by_level(begin, end, edges, order)
    runs, filled = np.empty(cells, specialised.state), np.zeros(cells, np.uint8)
    return order, edges, base, runs, filled


COVERING = covers(
    doubling_cover,
    _work,
    name="doubling",
    words="each span into two slices of a power of two, which cover it",
    cost=lambda load: 7.5 + 12.0 * load.cells_a_span,
    needs=(selective,),
)
cover = COVERING.run
