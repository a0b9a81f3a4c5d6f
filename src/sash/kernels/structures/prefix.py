"""Prefix differences: the fold of everything up to a row, less what came before the frame.

Prefixes begin anew every few thousand rows, so that threads share the work; the fold of all that is before
goes in front where a frame crosses such an edge.

order   any frames, with holes
needs   associative, invertible, exact: floating-point prefixes swallow small numbers, and keep a NaN for ever
time    n combines to build; at most 2 combines and a difference a frame
space   n partials
paper   Blelloch 1990, as in framed-holistic-windows-2022, 3
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from sash.algebra.agreement import leaves
from sash.errors import Refused
from sash.kernels.algorithm import FOLD, Algorithm
from sash.kernels.compiling import Answers, Marks, States, Values, kernel, prefetch, specialise
from sash.kernels.inputs import Inputs, exact
from sash.kernels.needs import exact as exact_aggregate
from sash.kernels.needs import invertible
from sash.kernels.structures.looking_up import fold_by_index
from sash.kernels.structures.segment_tree import over_pieces
from sash.kernels.threads import shares, together

RUN = 12  # prefixes begin anew every 2^RUN rows


@kernel
def prefix_build(agg: Any) -> Any:
    """Fold the prefixes of some runs, and then, where ``all_runs`` says how many there are, what is before each."""
    lift, combine, load, store = agg.lift, agg.combine, agg.load, agg.store

    def build(values: Values, rows: int, first: int, last: int, all_runs: int, prefixes: States, before: States) -> int:
        for run in range(first, last):
            start = run << RUN
            state = lift(values, start, start)
            store(prefixes, start, state)
            for row in range(start + 1, min(start + (1 << RUN), rows)):
                state = combine(state, lift(values, row, row))
                store(prefixes, row, state)
        for run in range(1, all_runs):
            whole = load(prefixes, (run << RUN) - 1)
            store(before, run, combine(load(before, run - 1), whole) if run > 1 else whole)
        return 0

    return build


@kernel
def prefix(agg: Any) -> Any:
    """Answer frames by differences of prefixes."""
    combine, inverse, load = agg.combine, agg.inverse, agg.load

    @agg.function
    def upto(structure, run, row):  # type: ignore[no-untyped-def]
        """The fold of everything up to and with a row of a run."""
        prefixes, before = structure
        return combine(load(before, run), load(prefixes, row)) if run > 0 else load(prefixes, row)

    @agg.function
    def fold(values, structure, lo, hi):  # type: ignore[no-untyped-def]
        run, outside = (hi - 1) >> RUN, (lo - 1) >> RUN
        if lo == run << RUN:
            return load(structure[0], hi - 1)
        if outside == run:
            return inverse(load(structure[0], hi - 1), load(structure[0], lo - 1))
        whole = upto(structure, run, hi - 1)
        return inverse(whole, upto(structure, outside, lo - 1)) if lo > 0 else whole

    @agg.function
    def fetch(structure, lo, hi):  # type: ignore[no-untyped-def]
        prefetch(structure[0], lo - 1)
        prefetch(structure[0], hi - 1)

    pieces = over_pieces(agg, fold, fetch)

    def frames(
        values: Values,
        prefixes: States,
        before: States,
        lo: Marks,
        a: Marks,
        b: Marks,
        hi: Marks,
        own: Marks,
        out: Answers,
    ) -> int:
        return pieces(values, (prefixes, before), lo, a, b, hi, own, out)

    return frames


def build(inputs: Inputs, values: tuple[Any, ...], rows: int, widest: int) -> tuple[np.ndarray, ...]:
    """What the frames are answered from: the prefix of each row in its run, and what is before each run."""
    specialised, aggregate = specialise(prefix_build, inputs.aggregate, inputs.dtypes), inputs.aggregate
    if aggregate.compiled and not exact(specialised.state):
        raise Refused(f"prefix needs exact partials; those of {aggregate.name} are floats, whose differences drift")
    runs = (rows + (1 << RUN) - 1) >> RUN
    prefixes, before = np.empty(rows, specialised.state), np.empty(max(runs, 1), specialised.state)
    cut = shares(runs, least=16) if aggregate.compiled else [(0, runs)]
    together([partial(specialised.run, values, rows, *share, 0, prefixes, before) for share in cut])
    specialised.run(values, rows, 0, 0, runs, prefixes, before)
    if not aggregate.compiled and any(isinstance(leaf, float) for leaf in leaves(list(prefixes))):
        raise Refused(f"prefix needs exact partials; some of {aggregate.name} are floats, whose differences drift")
    return prefixes, before


ALGORITHM = Algorithm(
    name="prefix",
    operation=FOLD,
    words="differences of running totals",
    cost=lambda task: 12.0 if task.forward else 20.0 + 1.5 * task.levels,
    run=partial(fold_by_index, prefix, build),
    needs=(invertible, exact_aggregate),
    combines=lambda rows: (1, 1),
)
