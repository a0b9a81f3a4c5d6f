"""Spans folded into cells, each partial in the way that suits it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from sash.algebra.catalogue.spans import SHARE, SPENT
from sash.engine.streams.cells import Cells, Column
from sash.engine.streams.kinds import Kind, PlainKind
from sash.engine.streams.scheme import BEYOND, COVERS, ENDS, SPREAD, Holding, Scheme
from sash.engine.streams.spans import Layout, Numbers, moments_of
from sash.errors import Refused
from sash.kernels.algorithm import COVER, Algorithm
from sash.kernels.inputs import exact
from sash.kernels.slices.runs import most, too_many
from sash.kernels.spans.load import Load, load_of
from sash.planner import Choice, cheapest
from sash.planner.spans import technique
from sash.windows.slicing import edges_of

Lift = Callable[[pa.Table, Sequence[Holding]], list[Column]]


def fold_spans(cells: Cells, scheme: Scheme, table: pa.Table, layout: Layout, lift: Lift) -> None:
    """Fold spans into the cells in which they lie; ``lift`` gives what partials take of some rows."""
    count = len(layout)
    states = [np.zeros(count, each.kind.partial.state) for each in scheme.kinds]
    held = [np.zeros(count, np.uint8) for _ in scheme.kinds]
    numbers = range(len(scheme.kinds))
    whole = [k for k in numbers if scheme.kinds[k].part in (ENDS, COVERS)]
    columns = dict(zip(whole, lift(table, [scheme.kinds[k] for k in whole]), strict=True))
    columns |= {beyond: columns[k] for k, beyond in scheme.beyond.items()}
    if spread := [k for k in numbers if scheme.kinds[k].part == SPREAD]:
        PARTS.run(scheme, spread, table, layout, lift, states, held)
    for k, (values, rows) in columns.items():
        each = scheme.kinds[k]
        begin, end = (array if rows is None else array[rows] for array in (layout.begin, layout.end))
        if each.part == ENDS:
            each.kind.fold(values, end, states[k], held[k])
        else:
            cover(each, values, begin, end if each.part == BEYOND else end + 1, states[k], held[k])
    if layout.covered is not None and not layout.covered.all():
        some = layout.covered
        cells.append(
            layout.key[some], layout.at[some], [array[some] for array in states], [array[some] for array in held]
        )
    else:
        cells.append(layout.key, layout.at, states, held)


def _fold_parts(
    scheme: Scheme, spread: list[int], table: pa.Table, layout: Layout, lift: Lift, states: Any, held: Any
) -> None:
    for which, cell, spent in layout.parts():
        parts = table.take(pa.array(which)).append_column(SHARE, pa.array(spent / layout.length[which]))
        parts = parts.append_column(SPENT, pa.array(spent.astype(np.float64)))
        lifted = lift(parts, [scheme.kinds[k] for k in spread])
        for k, (values, rows) in zip(spread, lifted, strict=True):
            scheme.kinds[k].kind.fold(values, cell if rows is None else cell[rows], states[k], held[k])


PARTS = Algorithm(
    name="slicing",
    operation="parts of spans",
    words="the part that each slice has of a span",
    cost=lambda load: load.each,
    run=_fold_parts,
)


def cover(
    holding: Holding,
    values: tuple[np.ndarray, ...],
    begin: np.ndarray,
    end: np.ndarray,
    states: np.ndarray,
    held: np.ndarray,
) -> None:
    """Fold rows into all cells from one to another, by the technique that was named, or the fastest."""
    some = end > begin
    if not some.all():
        values, begin, end = tuple(column[some] for column in values), begin[some], end[some]
    if not len(begin):
        return
    kind: Kind = holding.kind
    if isinstance(kind, PlainKind):
        sizes = end - begin
        if sizes.sum() > most(len(sizes)):
            raise too_many(len(sizes), int(sizes.sum()))
        which = np.repeat(np.arange(len(sizes)), sizes)
        cells = np.arange(len(which)) + np.repeat(begin - (np.cumsum(sizes) - sizes), sizes)
        kind.fold(tuple(column[which] for column in values), cells, states, held)
        return
    choice = _chosen(holding, load_of(end - begin, len(states)))
    choice.run(kind.inputs, values, begin, end, states, held)


def _chosen(holding: Holding, load: Load) -> Choice:
    """The technique that was named, or the fastest."""
    query = holding.planned.query
    named = technique(query.using, query.height)
    if named is not None and named.operation == COVER:
        return Choice(named, asked=True)
    return cheapest(replace(load, aggregate=holding.kind.inputs.aggregate, exact=exact(holding.kind.partial.state)))


UNSEEN = Load(1000, 2.0, 1000)  # what is taken for true of spans that nobody has seen


def sampled(scheme: Scheme, slicer: str, table: pa.Table | None) -> Load:
    """What some rows say of a stream."""
    if table is not None and table.num_rows:
        moments = moments_of(scheme, table)
        good = np.ones(table.num_rows, np.bool_) if moments.wrong is None else moments.wrong == ""
        if good.any():
            first, last = moments.first[good], moments.last[good]
            numbers = Numbers(edges_of(scheme.cuts, slicer), first, last)
            begin, end = numbers.of(first), numbers.of(last)
            return load_of(end - begin + 1, int(end.max()) + 1)
    return UNSEEN


def technique_of(holding: Holding, load: Load) -> Choice:
    """How spans are put into slices, in words."""
    if holding.part == SPREAD:
        return Choice(PARTS)
    return _chosen(holding, replace(load, each=load.each - 1.0) if holding.part == ENDS else load)


def dry_run(named: Algorithm, kind: Kind) -> None:
    """Raise where a technique cannot fold an aggregate."""
    inputs, none = kind.inputs, np.zeros(0, np.int64)
    values = tuple(np.zeros(0, dtype) for dtype in inputs.dtypes)
    load = replace(UNSEEN, operation=named.operation, aggregate=inputs.aggregate, exact=exact(kind.partial.state))
    if reason := named.refusal(load):
        raise Refused(f"{named.name} {reason}")
    if named.operation == COVER:
        named.run(inputs, values, none, none, np.zeros(0, kind.partial.state), np.zeros(0, np.uint8))
    else:
        named.run(inputs, values, none, none, none, none)
