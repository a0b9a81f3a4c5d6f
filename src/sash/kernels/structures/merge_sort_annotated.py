"""Annotated merge sort tree: DISTINCT of any commutative aggregate, from prefix aggregates of sorted runs.

A row counts where its value first occurs in a frame: there its previous occurrence lies before the frame. Every run
of the tree is sorted by previous occurrence, and every row of it knows the aggregate of the run up to itself. A
frame is covered with runs, and the one partial before its start is taken of each. Rows are numbered by (previous
occurrence, position) first, so that a run says which rows it holds.

order   any frames, without holes
needs   associative, commutative
time    fanout * log n / log fanout combines a frame; n log n / log fanout to annotate
space   log n / log fanout partials a row, beside the tree
paper   framed-holistic-windows-2022, 4.3
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from sash.algebra import Aggregate, Call
from sash.errors import Refused
from sash.kernels.algorithm import DISTINCT_FOLD, Algorithm
from sash.kernels.answers import Answered, finished, unanswered
from sash.kernels.compiling import Answers, Marks, States, Values, kernel, routine, specialise
from sash.kernels.inputs import Inputs
from sash.kernels.needs import no_exclude
from sash.kernels.structures.merge_sort_tree import (
    FANOUT,
    RUNS,
    USUAL_FANOUT,
    USUAL_SAMPLING,
    VALUES,
    MergeSortTree,
    down,
    node_at,
    top,
)
from sash.kernels.threads import shares, together
from sash.windows.bounds import Bounds

SLICE = 1 << 12  # frames covered at once
STRETCH = 1 << 16  # rows annotated at once


@kernel
def annotate_runs(agg: Any) -> Any:
    """Aggregate the rows of each run up to each of them, going on after those before ``start``."""
    lift, combine, load, store = agg.lift, agg.combine, agg.load, agg.store

    def annotate(values: Values, rows: Marks, level: int, start: int, length: int, partials: States) -> int:
        for i in range(len(rows)):
            state = lift(values, rows[i], rows[i])
            if (start + i) % length > 0:
                state = combine(load(partials, level + start + i - 1), state)
            store(partials, level + start + i, state)
        return 0

    return annotate


@kernel
def fold_covers(agg: Any) -> Any:
    """Combine the partials, or, below zero, the rows that cover each frame."""
    lift, combine, load, answer, absent = agg.lift, agg.combine, agg.load, agg.answer, agg.absent

    def fold(values: Values, partials: States, places: Marks, ends: Marks, out: Answers) -> int:
        at = 0
        for i in range(len(ends)):
            if at == ends[i]:
                absent(out, i)
                continue
            place = places[at]
            state = load(partials, place) if place >= 0 else lift(values, ~place, ~place)
            at += 1
            while at < ends[i]:
                place = places[at]
                state = combine(state, load(partials, place) if place >= 0 else lift(values, ~place, ~place))
                at += 1
            answer(out, i, state)
        return 0

    return fold


def fold_annotated(
    aggregate: Aggregate | Call,
    columns: tuple[np.ndarray, ...],
    previous: np.ndarray,
    bounds: Bounds,
    fanout: int = USUAL_FANOUT,
    sampling: int = USUAL_SAMPLING,
) -> Answered:
    """The aggregate of the distinct values of every frame; ``previous`` is where each row's value was last, or -1.

    >>> from sash import functions as sf
    >>> bounds = Bounds(np.array([0, 0, 1]), np.array([3, 1, 3]), 3)
    >>> fold_annotated(sf.sum("x"), (np.array([5, 5, 2]),), np.array([-1, 0, -1]), bounds).values
    array([7, 5, 7])
    """
    inputs = Inputs(aggregate, tuple(column.dtype for column in columns))
    columns, rows = inputs.columns("fold_annotated", columns, len(previous))
    definition = inputs.aggregate
    if not definition.commutative or definition.rows:
        raise Refused(
            f"DISTINCT needs a commutative aggregate of values alone; {definition.name} depends on their rows"
        )
    if bounds.holes:
        raise Refused("an annotated merge sort tree needs frames without holes; these have some")
    values = inputs.lifted(columns)
    reach, number, row_of = np.zeros(rows + 1, previous.dtype), np.empty_like(previous), np.empty_like(previous)
    number_rows(previous, reach, number, row_of)
    tree = MergeSortTree(number, fanout, sampling)
    annotate, fold = (specialise(one, definition, inputs.dtypes) for one in (annotate_runs, fold_covers))
    partials = np.empty(len(tree.levels), annotate.state)
    out = unanswered(len(bounds), fold.answer)

    def annotated(level: int) -> None:
        for start in range(0, rows, STRETCH):
            stretch = row_of[tree.levels[level * rows + start : level * rows + min(start + STRETCH, rows)]]
            annotate.run(values, stretch.astype(np.int64), level * rows, start, int(tree.runs[level + 1]), partials)

    def answered(first: int, last: int) -> None:
        places = np.empty(SLICE * 2 * fanout * len(tree.runs), np.int64)
        for start in range(first, last, SLICE):
            stop = min(start + SLICE, last)
            ends = np.empty(stop - start, np.int64)
            cover_frames(*tree.parts, row_of, bounds.lo, bounds.hi, reach, start, stop, places, ends)
            fold.run(values, partials, places, ends, (out.values[start:stop], out.valid[start:stop]))

    together([partial(annotated, level) for level in range(len(tree.runs) - 1)])
    cut = shares(len(bounds), least=SLICE) if definition.compiled else [(0, len(bounds))]
    together([partial(answered, *share) for share in cut])
    return finished(definition, out)


@routine
def number_rows(previous, reach, number, row_of):  # type: ignore[no-untyped-def]
    """Number rows by (previous, position); ``reach[p]``, zeros at first, is how many have a previous below p."""
    for row in range(len(previous)):
        reach[max(previous[row] + 1, 0)] += 1
    before = 0
    for p in range(len(reach)):
        reach[p], before = before, before + reach[p]
    for row in range(len(previous)):
        p = max(previous[row] + 1, 0)
        number[row] = reach[p]
        row_of[reach[p]] = row
        reach[p] += 1
    return 0


@routine
def cover_frames(values, levels, pointers, runs, starts, fanout, sampling,  # type: ignore[no-untyped-def]
                 row_of, lo, hi, reach, start, stop, places, ends):  # fmt: skip
    """List the last partial below each frame's start in the runs that cover it, and single rows below zero."""
    tree = (values, levels, pointers, runs, starts, fanout, sampling)
    used = 0
    for i in range(start, stop):
        used = cover(tree, row_of, np.int64(lo[i]), np.int64(hi[i]), np.int64(reach[lo[i]]), places, used)
        ends[i - start] = used
    return 0


def cover(tree: Any, row_of: Any, lo: Any, hi: Any, threshold: Any, places: Any, used: Any) -> Any:
    """Cover a range from the top: the runs between its ends, then a path down to each end."""
    runs, fanout = tree[RUNS], tree[FANOUT]
    if lo >= hi:
        return used
    level, run, at = len(runs) - 1, 0, top(tree, threshold)
    other_level, other_run, other_at = 0, 0, 0  # the path to hi, once there are two
    while True:
        first, last = run * runs[level], min((run + 1) * runs[level], len(tree[VALUES]))
        if lo <= first and last <= hi:
            used = put(places, used, (level - 1) * len(tree[VALUES]) + first, at)
        elif level == 1:
            for leaf in range(max(lo, first), min(hi, last)):
                if tree[VALUES][leaf] < threshold:
                    places[used] = ~np.int64(row_of[tree[VALUES][leaf]])
                    used += 1
        else:
            child = runs[level - 1]
            left, right = (max(lo, first) - first) // child, (min(hi, last) - 1 - first) // child
            node = node_at(tree, level, run, at)
            base = (level - 2) * len(tree[VALUES]) + first
            for i in range(left + 1, right):
                used = put(places, used, base + i * child, down(tree, node, i, threshold))
            if left != right:
                below = down(tree, node, right, threshold)
                if hi >= min(first + (right + 1) * child, last):
                    used = put(places, used, base + right * child, below)
                else:
                    other_level, other_run, other_at = level - 1, run * fanout + right, below
            level, run, at = level - 1, run * fanout + left, down(tree, node, left, threshold)
            continue
        if other_level == 0:
            return used
        level, run, at = other_level, other_run, other_at
        other_level = 0


def put(places: Any, used: Any, first: Any, below: Any) -> Any:
    """Add the last partial of a run's first so many rows, if there are any."""
    if below > 0:
        places[used] = first + below - 1
        return used + 1
    return used


ALGORITHM = Algorithm(
    name="merge_sort_tree",
    operation=DISTINCT_FOLD,
    words="a merge sort tree with partials",
    cost=lambda task: 200.0 + 100.0 * task.levels,
    run=lambda aggregate, columns, values, bounds, groups: fold_annotated(aggregate, columns, values.previous, bounds),
    needs=(no_exclude,),
)
