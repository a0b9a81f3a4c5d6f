"""Folding rows into cells: the partial of each cell, of the rows of a batch as they stand.

order   rows of a cell in their order, whatever cells lie between them
needs   associative
time    one combine a row
space   a partial a cell
paper   flatfit-2017, 2.1
"""

from __future__ import annotations

from typing import Any

from sash.kernels.compiling import Flags, Marks, States, Values, kernel, routine


@kernel
def cell_folding(agg: Any) -> Any:
    lift, combine, load, store = agg.lift, agg.combine, agg.load, agg.store

    def fold(values: Values, cells: Marks, states: States, filled: Flags) -> int:
        rows = len(cells)
        if rows == 0:
            return 0
        cell = cells[0]
        running = load(states, cell)
        some = filled[cell] != 0
        for i in range(rows):
            if cells[i] != cell:
                store(states, cell, running)
                filled[cell] = 1
                cell = cells[i]
                some = filled[cell] != 0
                if some:
                    running = load(states, cell)
            partial = lift(values, i, i)
            running = combine(running, partial) if some else partial
            some = True
        store(states, cell, running)
        filled[cell] = 1
        return 0

    return fold


@kernel
def run_folding(agg: Any) -> Any:
    """Fold runs of rows that follow each other: the k-th from ``edges[k]`` to ``edges[k + 1]``."""
    lift, store, has_nan, has_cheaper = agg.lift, agg.store, agg.has_nan, agg.combine_without_nan is not None

    def run_by(combine: Any) -> Any:
        @agg.function
        def run(values, start, stop):  # type: ignore[no-untyped-def]
            running = lift(values, start, start)
            for i in range(start + 1, stop):
                running = combine(running, lift(values, i, i))
            return running

        return run

    usual, cheaper = run_by(agg.combine), run_by(agg.combine_without_nan or agg.combine)

    def fold(values: Values, edges: Marks, states: States, filled: Flags) -> int:
        for k in range(len(edges) - 1):
            start, stop = edges[k], edges[k + 1]
            if start < stop:
                odd = not has_cheaper
                if has_cheaper:
                    for i in range(start, stop):
                        odd |= has_nan(values, i)
                store(states, k, usual(values, start, stop) if odd else cheaper(values, start, stop))
                filled[k] = 1
        return 0

    return fold


@routine
def find_heads(keys: Any, at: Any, heads: Any) -> int:
    """Mark the first of the cells that are the same, and count these; -1 where cells are not sorted."""
    count = 0
    for i in range(len(keys)):
        new = i == 0 or keys[i] != keys[i - 1] or at[i] != at[i - 1]
        if new and i > 0 and (keys[i] < keys[i - 1] or (keys[i] == keys[i - 1] and at[i] < at[i - 1])):
            return -1
        heads[i] = new
        count += new
    return count
