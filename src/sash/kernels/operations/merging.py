"""Merging: partials of rows elsewhere, joined before and after the fold of the rows that are here.

A segment of the rows may have a partial in front of it and one behind it: every frame of the segment that reaches
its edge goes on into them. They are combined from left to right, and then lowered.

order   any frames
needs   associative
time    at most 2 combines a frame; one for each partial that is joined
space   a partial a frame, the folds that are given
paper   Blelloch 1990, as in framed-holistic-windows-2022, 3
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from sash.algebra import Aggregate
from sash.algebra.aggregate import itself
from sash.kernels.answers import Answered, finished
from sash.kernels.compiling import Answers, Flags, Marks, States, kernel, specialise
from sash.kernels.inputs import Inputs
from sash.kernels.threads import shares, together


@kernel
def joining(agg: Any) -> Any:
    """Fold runs of partials: the k-th run is those at ``which[edges[k]:edges[k + 1]]``; an empty one has none."""
    combine, load, store = agg.combine, agg.load, agg.store

    def join(states: States, which: Marks, edges: Marks, out: States) -> int:
        for k in range(len(edges) - 1):
            if edges[k] < edges[k + 1]:
                state = load(states, which[edges[k]])
                for place in range(edges[k] + 1, edges[k + 1]):
                    state = combine(state, load(states, which[place]))
                store(out, k, state)
        return 0

    return join


@kernel
def merging(agg: Any) -> Any:
    """Answer the frames of rows r0 to r1, of which the first is in a given segment."""
    combine, load, answer, absent = agg.combine, agg.load, agg.answer, agg.absent

    def merge(
        states: States,
        filled: Flags,
        wanted: Flags,
        partials: States,
        segments: Marks,
        ahead: Marks,
        behind: Marks,
        segment: int,
        r0: int,
        r1: int,
        out: Answers,
    ) -> int:
        row = r0
        while row < r1:
            stop, before, after = min(segments[segment + 1], r1), ahead[segment], behind[segment]
            for i in range(row, stop):
                some, state = filled[i] != 0, load(states, i)
                if before >= 0:
                    state = combine(load(partials, before), state) if some else load(partials, before)
                    some = True
                if after >= 0:
                    state = combine(state, load(partials, after)) if some else load(partials, after)
                    some = True
                if some and wanted[i] != 0:
                    answer(out, i, state)
                else:
                    absent(out, i)
            row = stop
            segment += 1
        return 0

    return merge


def unlowered(aggregate: Aggregate) -> Aggregate:
    """The same aggregate, answered by its partials."""
    return aggregate.but(lower=itself, finish=None, empty=None)


def state_of(inputs: Inputs) -> np.dtype:
    """The type of a partial."""
    return specialise(joining, inputs.aggregate, inputs.dtypes).state


def joined(inputs: Inputs, states: np.ndarray, runs: list[np.ndarray]) -> np.ndarray:
    """The fold of each run of partials, given by their places; no run is empty."""
    edges = np.cumsum([0, *map(len, runs)], dtype=np.int64)
    which = np.concatenate([np.zeros(0, np.int64), *runs]).astype(np.int64, copy=False)
    return join_runs(inputs, states, which, edges)


def join_runs(inputs: Inputs, states: np.ndarray, which: np.ndarray, edges: np.ndarray) -> np.ndarray:
    """The same of runs one behind the other in ``which``, the k-th from ``edges[k]`` on."""
    specialised = specialise(joining, inputs.aggregate, inputs.dtypes)
    out = np.empty(len(edges) - 1, specialised.state)
    specialised.run(states, which, edges, out)
    return out


def merged(
    inputs: Inputs,
    local: Answered,
    wanted: np.ndarray,
    partials: np.ndarray,
    segments: np.ndarray,
    ahead: np.ndarray,
    behind: np.ndarray,
) -> Answered:
    """Answers of frames whose local partials are given, where wanted.

    ``ahead`` and ``behind`` say for each segment which of the partials goes in front and which behind; -1 for none.
    """
    specialised, rows = specialise(merging, inputs.aggregate, inputs.dtypes), len(wanted)
    out = Answered(np.empty(rows, specialised.answer), np.ones(rows, np.bool_))
    filled, chosen = local.valid.view(np.uint8), wanted.view(np.uint8)
    edges = [np.ascontiguousarray(each, np.int64) for each in (segments, ahead, behind)]

    def answer(r0: int, r1: int) -> None:
        segment = int(np.searchsorted(edges[0], r0, "right")) - 1
        specialised.run(local.values, filled, chosen, partials, *edges, segment, r0, r1, out)

    together([partial(answer, *share) for share in shares(rows)])
    return finished(inputs.aggregate, out)
