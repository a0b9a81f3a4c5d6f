"""Disjoint table: folds up to the middles of blocks, two of which meet in any frame.

Rows lie in blocks of sixteen. For each row there is the fold of the rows of its block from it on, and up to it. Above,
blocks lie in runs of 2, 4, 8, … of them, and for each block and size of run there is the fold from it up to the middle
of its run, or from the middle up to it. A frame is the end of its first block, two such folds that meet in the middle
of the smallest run that holds both of its ends, and the beginning of its last block; no row is in two of them.

order   any frames, with holes
needs   associative
time    2 combines a row and log2(n / 16) / 16 to build; 3 combines a frame, or 14 for a short one
space   2 n and n / 16 log2(n / 16) partials
paper   known as disjoint sparse table, after Yao 1982, Space-time tradeoff for answering range queries; blocks are ours
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from sash.kernels.algorithm import FOLD, Algorithm
from sash.kernels.compiling import Answers, Marks, States, Values, kernel, leading_zeros, prefetch, specialise
from sash.kernels.inputs import Inputs
from sash.kernels.structures.looking_up import fold_by_index
from sash.kernels.structures.segment_tree import over_pieces
from sash.kernels.threads import shares, together

BLOCK = 4  # a block is 2^BLOCK rows
MANY = 1 << 23  # rows of which two partials each would take too much memory


@kernel
def disjoint_table_build(agg: Any) -> Any:
    """Fold the rows of some blocks from either end, and then, where there are levels, the blocks of each run."""
    lift, combine, load, store = agg.lift, agg.combine, agg.load, agg.store

    def build(
        values: Values, first: int, last: int, blocks: int, levels: int, before: States, behind: States, table: States
    ) -> int:
        for block in range(first, last):
            start, stop = block << BLOCK, min((block + 1) << BLOCK, len(before))
            state = lift(values, start, start)
            store(before, start, state)
            for row in range(start + 1, stop):
                state = combine(state, lift(values, row, row))
                store(before, row, state)
            store(table, block, state)
            state = lift(values, stop - 1, stop - 1)
            store(behind, stop - 1, state)
            for row in range(stop - 2, start - 1, -1):
                state = combine(lift(values, row, row), state)
                store(behind, row, state)
        for level in range(1, levels):
            half, here = 1 << level, level * blocks
            for middle in range(half, blocks, 2 * half):
                state = load(table, middle - 1)
                store(table, here + middle - 1, state)
                for block in range(middle - 2, middle - half - 1, -1):
                    state = combine(load(table, block), state)
                    store(table, here + block, state)
                state = load(table, middle)
                store(table, here + middle, state)
                for block in range(middle + 1, min(middle + half, blocks)):
                    state = combine(state, load(table, block))
                    store(table, here + block, state)
        return 0

    return build


@kernel
def disjoint_table(agg: Any) -> Any:
    """Answer frames by the folds that meet in them."""
    lift, combine, load = agg.lift, agg.combine, agg.load

    @agg.function
    def fold(values, structure, lo, hi):  # type: ignore[no-untyped-def]
        blocks, before, behind, table = structure
        last = hi - 1
        first_block, last_block = lo >> BLOCK, last >> BLOCK
        if first_block == last_block:
            state = lift(values, lo, lo)
            for row in range(lo + 1, hi):
                state = combine(state, lift(values, row, row))
            return state
        state = load(behind, lo)
        first, stop = first_block + 1, last_block - 1
        if first < stop:
            level = 63 - leading_zeros(np.uint64(first ^ stop))
            state = combine(state, load(table, level * blocks + first))
            state = combine(state, load(table, level * blocks + stop))
        elif first == stop:
            state = combine(state, load(table, first))
        return combine(state, load(before, last))

    @agg.function
    def fetch(structure, lo, hi):  # type: ignore[no-untyped-def]
        _, before, behind, _ = structure
        prefetch(behind, lo)
        prefetch(before, hi - 1)

    pieces = over_pieces(agg, fold, fetch)

    def frames(
        values: Values,
        blocks: Marks,
        before: States,
        behind: States,
        table: States,
        lo: Marks,
        a: Marks,
        b: Marks,
        hi: Marks,
        own: Marks,
        out: Answers,
    ) -> int:
        return pieces(values, (blocks[0], before, behind, table), lo, a, b, hi, own, out)

    return frames


def build(inputs: Inputs, values: tuple[Any, ...], rows: int, widest: int) -> tuple[np.ndarray, ...]:
    """What the frames are answered from: how many blocks there are, the folds of rows, and those of blocks."""
    builder = specialise(disjoint_table_build, inputs.aggregate, inputs.dtypes)
    blocks = (rows + (1 << BLOCK) - 1) >> BLOCK
    levels = max(blocks - 1, 1).bit_length()
    before, behind = np.empty(rows, builder.state), np.empty(rows, builder.state)
    table = np.empty(blocks * levels, builder.state)
    cut = shares(blocks, least=1 << 12) if inputs.aggregate.compiled else [(0, blocks)]
    together([partial(builder.run, values, *share, blocks, 0, before, behind, table) for share in cut])
    builder.run(values, 0, 0, blocks, levels, before, behind, table)
    return np.array([blocks]), before, behind, table


ALGORITHM = Algorithm(
    name="disjoint_table",
    operation=FOLD,
    words="two folds that meet in the middle of a run of blocks",
    cost=lambda task: 40.0 + task.levels if task.rows <= MANY else 200.0,
    run=partial(fold_by_index, disjoint_table, build),
    combines=lambda rows: (2, 3),
)
