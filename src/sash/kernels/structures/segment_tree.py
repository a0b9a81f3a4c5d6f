"""Segment tree: folds of aligned runs of rows, from which any frame is put together.

A leaf is the fold of sixteen rows; a node above is the fold of two. Only runs that are there as a whole have
a node. A frame is the rows up to the next leaf, then the largest aligned runs that fit, from left to right, and
the rows after the last leaf: one running partial, with the older always on the left.

order   any frames, with holes
needs   associative
time    n combines to build; at most 30 and 2 log2(n / 16) combines a frame
space   n / 8 partials
paper   Leis et al. 2015, as in framed-holistic-windows-2022, 3; the walk from left to right is ours
"""

from __future__ import annotations

from functools import partial
from math import ceil, log2
from typing import Any

import numpy as np

from sash.kernels.algorithm import FOLD, Algorithm
from sash.kernels.answers import NONE
from sash.kernels.compiling import (
    Answers,
    Marks,
    States,
    Values,
    kernel,
    leading_zeros,
    prefetch,
    specialise,
    trailing_zeros,
)
from sash.kernels.inputs import Inputs
from sash.kernels.structures.looking_up import fold_by_index
from sash.kernels.threads import shares, together

LEAF = 4  # a leaf is the fold of 2^LEAF rows
AHEAD = 8  # frames between asking for memory and reading it


def over_pieces(agg: Any, fold: Any, fetch: Any) -> Any:
    """``pieces(values, held, lo, a, b, hi, own, out)``: answer frames, their pieces in the order of positions.

    ``fold(values, held, lo, hi)`` is the partial of rows of which there is at least one; ``fetch(held, lo, hi)``
    brings what it will read into the cache.
    """
    lift, combine, answer, absent = agg.lift, agg.combine, agg.answer, agg.absent

    @agg.function
    def pieces(values, structure, lo, a, b, hi, own, out):  # type: ignore[no-untyped-def]
        last = len(lo) - 1
        for i in range(len(lo)):
            ahead = min(i + AHEAD, last)
            fetch(structure, lo[ahead], hi[ahead])
            row = own[i] if i < len(own) else -1
            if row >= 0:
                state = lift(values, row, row)
                if lo[i] < a[i]:
                    state = combine(fold(values, structure, lo[i], a[i]), state)
                if b[i] < hi[i]:
                    state = combine(state, fold(values, structure, b[i], hi[i]))
                answer(out, i, state)
            elif lo[i] < a[i]:
                state = fold(values, structure, lo[i], a[i])
                if b[i] < hi[i]:
                    state = combine(state, fold(values, structure, b[i], hi[i]))
                answer(out, i, state)
            elif b[i] < hi[i]:
                answer(out, i, fold(values, structure, b[i], hi[i]))
            else:
                absent(out, i)
        return 0

    return pieces


@kernel
def segment_tree_build(agg: Any) -> Any:
    """Fold the rows of some leaves, and then, where levels are given, the nodes above them all."""
    lift, combine, load, store = agg.lift, agg.combine, agg.load, agg.store

    def build(values: Values, first: int, last: int, levels: Marks, nodes: States) -> int:
        for leaf in range(first, last):
            row = leaf << LEAF
            state = lift(values, row, row)
            for other in range(row + 1, row + (1 << LEAF)):
                state = combine(state, lift(values, other, other))
            store(nodes, leaf, state)
        for level in range(1, len(levels) - 1):
            below, here = levels[level - 1], levels[level]
            for k in range(levels[level + 1] - here):
                store(nodes, here + k, combine(load(nodes, below + 2 * k), load(nodes, below + 2 * k + 1)))
        return 0

    return build


@kernel
def segment_tree(agg: Any) -> Any:
    """Answer frames out of a tree."""
    lift, combine, load = agg.lift, agg.combine, agg.load

    @agg.function
    def fold(values, structure, lo, hi):  # type: ignore[no-untyped-def]
        levels, nodes = structure
        leaf, end = (lo + (1 << LEAF) - 1) >> LEAF, hi >> LEAF
        if leaf >= end:
            state = lift(values, lo, lo)
            for row in range(lo + 1, hi):
                state = combine(state, lift(values, row, row))
            return state
        if lo & ((1 << LEAF) - 1):
            state = lift(values, lo, lo)
            for row in range(lo + 1, leaf << LEAF):
                state = combine(state, lift(values, row, row))
        else:
            state = load(nodes, leaf)
            leaf += 1
        while leaf < end:
            level = min(trailing_zeros(np.uint64(leaf)), 63 - leading_zeros(np.uint64(end - leaf)))
            state = combine(state, load(nodes, levels[level] + (leaf >> level)))
            leaf += 1 << level
        for row in range(end << LEAF, hi):
            state = combine(state, lift(values, row, row))
        return state

    @agg.function
    def fetch(structure, lo, hi):  # type: ignore[no-untyped-def]
        levels, nodes = structure
        for level in range(min(3, len(levels) - 1)):
            prefetch(nodes, levels[level] + (lo >> (LEAF + level)))
            prefetch(nodes, levels[level] + (hi >> (LEAF + level)))

    pieces = over_pieces(agg, fold, fetch)

    def frames(
        values: Values, levels: Marks, nodes: States, lo: Marks, a: Marks, b: Marks, hi: Marks, own: Marks, out: Answers
    ) -> int:
        return pieces(values, (levels, nodes), lo, a, b, hi, own, out)

    return frames


def build(inputs: Inputs, values: tuple[Any, ...], rows: int, widest: int) -> tuple[np.ndarray, ...]:
    """What the frames are answered from: where each level begins, and the nodes of all.

    No run is larger than the ``widest`` piece of a frame.
    """
    builder = specialise(segment_tree_build, inputs.aggregate, inputs.dtypes)
    leaves = rows >> LEAF
    counts = [leaves >> level for level in range(max(widest >> LEAF, 1).bit_length())]
    levels = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
    nodes = np.empty(levels[-1], builder.state)
    cut = shares(leaves, least=1 << 12) if inputs.aggregate.compiled else [(0, leaves)]
    together([partial(builder.run, values, *share, NONE, nodes) for share in cut])
    builder.run(values, 0, 0, levels, nodes)
    return levels, nodes


ALGORITHM = Algorithm(
    name="segment_tree",
    operation=FOLD,
    words="a tree of partials",
    cost=lambda task: 25.0 + 9.0 * task.levels,
    run=partial(fold_by_index, segment_tree, build),
    combines=lambda rows: (ceil(log2(max(rows, 2))),) * 2,
)


def live_tree(agg: Any) -> Any:
    """The functions of a tree of live rows: ``fill(tree)``, ``wake(tree, row)``, ``gather(tree, lo, hi, some, state)``.

    A tree is the values, where its levels begin, its nodes, and a byte for each node: at the lowest level which of
    its eight rows live, above whether any does.
    """
    lift, combine, load, store = agg.lift, agg.combine, agg.load, agg.store

    @agg.function
    def add_rows(values, leaf, mask, some, state):  # type: ignore[no-untyped-def]
        """Add the rows of a leaf that a mask has."""
        while mask > 0:
            row = (leaf << 3) + trailing_zeros(np.uint64(mask))
            state = combine(state, lift(values, row, row)) if some else lift(values, row, row)
            some = True
            mask &= mask - 1
        return some, state

    @agg.function
    def fill(tree):  # type: ignore[no-untyped-def]
        """Make all nodes, of rows whose bits are set."""
        values, levels, nodes, live = tree
        blank = load(nodes, 0)
        for leaf in range(levels[1]):
            some, state = add_rows(values, leaf, np.int64(live[leaf]), False, blank)
            if some:
                store(nodes, leaf, state)
        for level in range(1, len(levels) - 1):
            below, here = levels[level - 1], levels[level]
            for k in range(levels[level + 1] - here):
                left = below + 2 * k
                if live[left] != 0 and live[left + 1] != 0:
                    store(nodes, here + k, combine(load(nodes, left), load(nodes, left + 1)))
                elif live[left] != 0 or live[left + 1] != 0:
                    store(nodes, here + k, load(nodes, left if live[left] != 0 else left + 1))
                live[here + k] = live[left] != 0 or live[left + 1] != 0

    @agg.function
    def wake(tree, row):  # type: ignore[no-untyped-def]
        """Bring a row to life, and so the nodes above it, each made of its two anew."""
        values, levels, nodes, live = tree
        k = row >> 3
        live[k] |= 1 << (row & 7)
        _, state = add_rows(values, k, np.int64(live[k]), False, load(nodes, 0))
        store(nodes, k, state)
        for level in range(1, len(levels) - 1):
            sibling = levels[level - 1] + (k ^ 1)
            place = levels[level] + (k >> 1)
            if place >= levels[level + 1]:
                break
            if live[sibling] != 0:
                other = load(nodes, sibling)
                state = combine(other, state) if k & 1 else combine(state, other)
            k >>= 1
            store(nodes, place, state)
            live[place] = 1

    @agg.function
    def gather(tree, lo, hi, some, state):  # type: ignore[no-untyped-def]
        """Add the live rows of [lo, hi)."""
        values, levels, nodes, live = tree
        leaf, end = lo >> 3, hi >> 3
        if leaf >= end:
            if lo < hi:
                mask = np.int64(live[leaf]) & ((1 << (hi & 7)) - (1 << (lo & 7)))
                some, state = add_rows(values, leaf, mask, some, state)
            return some, state
        if lo & 7:
            some, state = add_rows(values, leaf, np.int64(live[leaf]) & (256 - (1 << (lo & 7))), some, state)
            leaf += 1
        while leaf < end:
            level = min(trailing_zeros(np.uint64(leaf)), 63 - leading_zeros(np.uint64(end - leaf)))
            place = levels[level] + (leaf >> level)
            if live[place] != 0:
                state = combine(state, load(nodes, place)) if some else load(nodes, place)
                some = True
            leaf += 1 << level
        if hi & 7:
            some, state = add_rows(values, end, np.int64(live[end]) & ((1 << (hi & 7)) - 1), some, state)
        return some, state

    return fill, wake, gather
