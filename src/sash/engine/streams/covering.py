"""Spans folded into cells, each partial in the way that suits it."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa

from sash.algebra.catalogue.spans import SHARE, SPENT
from sash.engine.streams.cell_partials import BEYOND, COVERS, ENDS, SPREAD, CellPartial
from sash.engine.streams.cells import Cells, LiftedColumns
from sash.engine.streams.partial_layouts import ObjectLayout, PartialLayout
from sash.engine.streams.scheme import Scheme
from sash.engine.streams.span_cells import SliceNumbers, SpanCells, moments_of
from sash.errors import Refused
from sash.kernels.algorithm import COVER, Algorithm
from sash.kernels.inputs import exact
from sash.kernels.slices.runs import most, too_many
from sash.kernels.spans.load import Load, load_of
from sash.planner import Choice, cheapest
from sash.planner.techniques import technique
from sash.windows.slicers import edges_of

Lift = Callable[[Sequence[CellPartial], pa.Table], list[LiftedColumns]]


def fold_spans(cells: Cells, scheme: Scheme, table: pa.Table, span_cells: SpanCells, lift: Lift) -> None:
    """Fold spans into the cells in which they lie; ``lift`` gives what partials take of some rows."""
    count = len(span_cells)
    states = [np.zeros(count, each.layout.partial.state) for each in scheme.partials]
    filled = [np.zeros(count, np.uint8) for _ in scheme.partials]
    numbers = range(len(scheme.partials))
    whole = [k for k in numbers if scheme.partials[k].part in (ENDS, COVERS)]
    columns = dict(zip(whole, lift([scheme.partials[k] for k in whole], table), strict=True))
    columns |= {beyond: columns[k] for k, beyond in scheme.beyond.items()}
    if spread := [k for k in numbers if scheme.partials[k].part == SPREAD]:
        PARTS.run(scheme, spread, table, span_cells, lift, states, filled)
    for k, (values, rows) in columns.items():
        each = scheme.partials[k]
        begin, end = (array if rows is None else array[rows] for array in (span_cells.begin, span_cells.end))
        if each.part == ENDS:
            each.layout.fold(values, end, states[k], filled[k])
        else:
            cover(each, values, begin, end if each.part == BEYOND else end + 1, states[k], filled[k])
    if span_cells.covered is not None and not span_cells.covered.all():
        some = span_cells.covered
        cells.append(
            span_cells.key[some],
            span_cells.at[some],
            [array[some] for array in states],
            [array[some] for array in filled],
        )
    else:
        cells.append(span_cells.key, span_cells.at, states, filled)


def _fold_parts(
    scheme: Scheme, spread: list[int], table: pa.Table, span_cells: SpanCells, lift: Lift, states: Any, filled: Any
) -> None:
    for which, cell, spent in span_cells.parts():
        parts = table.take(pa.array(which)).append_column(SHARE, pa.array(spent / span_cells.length[which]))
        parts = parts.append_column(SPENT, pa.array(spent.astype(np.float64)))
        lifted = lift([scheme.partials[k] for k in spread], parts)
        for k, (values, rows) in zip(spread, lifted, strict=True):
            scheme.partials[k].layout.fold(values, cell if rows is None else cell[rows], states[k], filled[k])


PARTS = Algorithm(
    name="slicing",
    operation="parts of spans",
    words="the part that each slice has of a span",
    cost=lambda load: load.each,
    run=_fold_parts,
)


def cover(
    partial: CellPartial,
    values: tuple[np.ndarray, ...],
    begin: np.ndarray,
    end: np.ndarray,
    states: np.ndarray,
    filled: np.ndarray,
) -> None:
    """Fold rows into all cells from one to another, by the technique that was named, or the fastest."""
    some = end > begin
    if not some.all():
        values, begin, end = tuple(column[some] for column in values), begin[some], end[some]
    if not len(begin):
        return
    layout: PartialLayout = partial.layout
    if isinstance(layout, ObjectLayout):
        sizes = end - begin
        if sizes.sum() > most(len(sizes)):
            raise too_many(len(sizes), int(sizes.sum()))
        which = np.repeat(np.arange(len(sizes)), sizes)
        cells = np.arange(len(which)) + np.repeat(begin - (np.cumsum(sizes) - sizes), sizes)
        layout.fold(tuple(column[which] for column in values), cells, states, filled)
        return
    choice = _chosen(partial, load_of(end - begin, len(states)))
    choice.run(layout.inputs, values, begin, end, states, filled)


def _chosen(partial: CellPartial, load: Load) -> Choice:
    """The technique that was named, or the fastest."""
    query = partial.planned.query
    named = technique(query.using, query.height)
    if named is not None and named.operation == COVER:
        return Choice(named, by_using=True)
    return cheapest(replace(load, aggregate=partial.layout.inputs.aggregate, exact=exact(partial.layout.partial.state)))


UNSEEN = Load(1000, 2.0, 1000)  # what is taken for true of spans that nobody has seen


def sampled(scheme: Scheme, slicer: str, table: pa.Table | None) -> Load:
    """What some rows say of a stream."""
    if table is not None and table.num_rows:
        moments = moments_of(scheme, table)
        good = np.ones(table.num_rows, np.bool_) if moments.wrong is None else moments.wrong == ""
        if good.any():
            first, last = moments.first[good], moments.last[good]
            numbers = SliceNumbers(edges_of(scheme.cuts, slicer), first, last)
            begin, end = numbers.of(first), numbers.of(last)
            return load_of(end - begin + 1, int(end.max()) + 1)
    return UNSEEN


def technique_of(partial: CellPartial, load: Load) -> Choice:
    """How spans are put into slices, in words."""
    if partial.part == SPREAD:
        return Choice(PARTS)
    return _chosen(partial, replace(load, each=load.each - 1.0) if partial.part == ENDS else load)


def dry_run(named: Algorithm, layout: PartialLayout) -> None:
    """Raise where a technique cannot fold an aggregate."""
    inputs, none = layout.inputs, np.zeros(0, np.int64)
    values = tuple(np.zeros(0, dtype) for dtype in inputs.dtypes)
    load = replace(UNSEEN, operation=named.operation, aggregate=inputs.aggregate, exact=exact(layout.partial.state))
    if reason := named.refusal(load):
        raise Refused(f"{named.name} {reason}")
    if named.operation == COVER:
        named.run(inputs, values, none, none, np.zeros(0, layout.partial.state), np.zeros(0, np.uint8))
    else:
        named.run(inputs, values, none, none, none, none)
