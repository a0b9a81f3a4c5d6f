"""Sparse table: folds of overlapping runs, two or four of which cover any frame.

For every row there is the fold of the sixteen rows from it on, and for every block of sixteen rows the folds of
1, 2, 4, … blocks from it on. A frame is the sixteen rows at either end and two runs of blocks; shorter frames
are folded row by row. That the runs overlap does no harm: x x = x where combine chooses one of two, and so
(u x)(x v) = u x v, in order.

order   any frames, with holes
needs   associative, selective
time    3 combines a row and log2(n / 16) / 16 to build; 3 combines a frame, or 14 for a short one
space   n and n / 16 log2(w / 16) partials, where w is the widest frame
paper   Bender and Farach-Colton 2000, The LCA Problem Revisited; the run of each row is ours
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from sash.kernels.algorithm import FOLD, Algorithm
from sash.kernels.compiling import Answers, Marks, States, Values, kernel, leading_zeros, prefetch, specialise
from sash.kernels.inputs import Inputs
from sash.kernels.needs import selective
from sash.kernels.structures.looking_up import fold_by_index
from sash.kernels.structures.segment_tree import over_pieces
from sash.kernels.threads import shares, together

BLOCK = 4  # a block is 2^BLOCK rows
SIZE = 1 << BLOCK


@kernel
def sparse_table_build(agg: Any) -> Any:
    """Fold the runs that begin in some blocks, and then, where ``levels`` are given, the runs of blocks."""
    lift, combine, load, store = agg.lift, agg.combine, agg.load, agg.store

    def build(values: Values, first: int, last: int, blocks: int, levels: int, runs: States, table: States) -> int:
        for block in range(first, last):
            start = block << BLOCK
            after = start + SIZE
            state = lift(values, after - 1, after - 1)
            store(runs, after - 1, state)
            for row in range(after - 2, start - 1, -1):
                state = combine(lift(values, row, row), state)
                store(runs, row, state)
            store(table, block, state)
            rest = min(len(runs) - after, SIZE - 1)  # the rest of a run is in the next block, as far as there is one
            if rest > 0:
                state = lift(values, after, after)
                store(runs, start + 1, combine(load(runs, start + 1), state))
                for k in range(1, rest):
                    state = combine(state, lift(values, after + k, after + k))
                    store(runs, start + k + 1, combine(load(runs, start + k + 1), state))
        for level in range(1, levels):
            half = 1 << (level - 1)
            below, here = (level - 1) * blocks, level * blocks
            for block in range(blocks - 2 * half + 1):
                store(table, here + block, combine(load(table, below + block), load(table, below + block + half)))
        return 0

    return build


@kernel
def sparse_table(agg: Any) -> Any:
    """Answer frames by the runs that cover them."""
    lift, combine, load = agg.lift, agg.combine, agg.load

    @agg.function
    def fold(values, structure, lo, hi):  # type: ignore[no-untyped-def]
        blocks, runs, table = structure
        if hi - lo < SIZE:
            state = lift(values, lo, lo)
            for row in range(lo + 1, hi):
                state = combine(state, lift(values, row, row))
            return state
        state = load(runs, lo)
        first, last = (lo + SIZE - 1) >> BLOCK, hi >> BLOCK
        if first < last:
            level = 63 - leading_zeros(np.uint64(last - first))
            here = level * blocks
            state = combine(state, load(table, here + first))
            state = combine(state, load(table, here + last - (1 << level)))
        return combine(state, load(runs, hi - SIZE))

    @agg.function
    def fetch(structure, lo, hi):  # type: ignore[no-untyped-def]
        blocks, runs, table = structure
        first, last = (lo + SIZE - 1) >> BLOCK, hi >> BLOCK
        prefetch(runs, lo)
        prefetch(runs, hi - SIZE)
        if first < last:
            level = 63 - leading_zeros(np.uint64(last - first))
            prefetch(table, level * blocks + first)
            prefetch(table, level * blocks + last - (1 << level))

    pieces = over_pieces(agg, fold, fetch)

    def frames(
        values: Values,
        blocks: Marks,
        runs: States,
        table: States,
        lo: Marks,
        a: Marks,
        b: Marks,
        hi: Marks,
        own: Marks,
        out: Answers,
    ) -> int:
        return pieces(values, (blocks[0], runs, table), lo, a, b, hi, own, out)

    return frames


def build(inputs: Inputs, values: tuple[Any, ...], rows: int, widest: int) -> tuple[np.ndarray, ...]:
    """What the frames are answered from: how many blocks there are, the run of each row, and the runs of blocks.

    No run is larger than the ``widest`` piece of a frame.
    """
    builder = specialise(sparse_table_build, inputs.aggregate, inputs.dtypes)
    blocks = rows >> BLOCK
    levels = max(widest >> BLOCK, 1).bit_length()
    runs, table = np.empty(rows, builder.state), np.empty(blocks * levels, builder.state)
    cut = shares(blocks, least=1 << 12) if inputs.aggregate.compiled else [(0, blocks)]
    together([partial(builder.run, values, *share, blocks, 0, runs, table) for share in cut])
    builder.run(values, 0, 0, blocks, levels, runs, table)
    return np.array([blocks]), runs, table


ALGORITHM = Algorithm(
    name="sparse_table",
    operation=FOLD,
    words="two overlapping ranges of a table of powers of two",
    cost=lambda task: 15.0 + 2.0 * task.levels,
    run=partial(fold_by_index, sparse_table, build),
    needs=(selective,),
)
