"""Why a stream is answered as it is: its slices, what they share, and what folds them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.streams.buffer import Buffer, WindowRows
from sash.engine.streams.covering import UNSEEN, sampled, technique_of
from sash.engine.streams.forest_answers import words_between
from sash.engine.streams.queries import Spans
from sash.engine.streams.query_answers import evaluation_of_rows
from sash.engine.streams.run_answers import WORDS, run_queries
from sash.engine.streams.scheme import Scheme
from sash.engine.streams.span_cells import AUTO
from sash.engine.streams.span_windows import SWEEP, is_swept
from sash.kernels.spans.load import Load
from sash.planner import Choice
from sash.planner.stream_plan import QueryStep, StreamPlan, drawn
from sash.planner.techniques import technique
from sash.windows.bounds import ARBITRARY
from sash.windows.grids import PER_MICROSECOND, Grid
from sash.windows.shared_plan import SharedPlan
from sash.windows.slicers import SLICERS, edges_of

DRAWN = 32  # edges of a drawing
NONE = np.zeros(0, np.int64)


def explain(scheme: Scheme, slicer: str, more: Sequence[str] = (), table: pa.Table | None = None) -> StreamPlan:
    """The plan of a stream's queries; ``more`` is what its source has to say, and ``table`` rows that it has."""
    keys = f", for each {', '.join(scheme.key_names)}" if scheme.key_names else ""
    lines = [f"windows by {scheme.kind}{keys}; {len(scheme.queries)} quer{'y' if len(scheme.queries) == 1 else 'ies'}"]
    load = None
    if scheme.settings.spans is not None:
        load = sampled(scheme, slicer, table)
        lines += _spans(scheme.settings.spans, load)
    plan = None
    grids = {planned.query.name: scheme.assigners[planned.spec].grid for planned in scheme.planned}
    if any(grids.values()):
        why = "as asked" if scheme.settings.slicer else SLICERS[slicer].why
        lines.append(f"slices: {slicer} ({why})")
        fixed = {name: grid for name, grid in grids.items() if isinstance(grid, Grid)}
        if len(fixed) == len(grids):
            plan = SharedPlan(fixed, slicer)
            lines += _slices(scheme, plan)
    lines += dict.fromkeys(line for each in scheme.assigners for line in each.words)
    stands = table is None and all(grids.values()) and not SLICERS[slicer].finer
    steps = _steps(scheme, plan, load, stands)
    lines += _sharing(scheme)
    lines += _state(scheme, plan)
    if plan:
        lines += _together(scheme, plan, steps)
        lines.append(_cost(scheme, plan, steps))
    lines += more
    return StreamPlan(slicer, tuple(lines), tuple(steps), _drawing(scheme, plan, slicer) if plan else ())


def _slices(scheme: Scheme, plan: SharedPlan) -> list[str]:
    at_most = "" if plan.counted else "at most "
    slices, shared = plan.edges_per_composite, plan.common_edges
    common = (
        f"; {shared:,} edge{'s are' if shared != 1 else ' is'} of two queries or more" if plan.common_counted else ""
    )
    return [
        f"the cuts repeat every {scheme.assigners[0].length(plan.composite)} (the composite slide): "
        f"{at_most}{slices:,} slice{'s' * (slices != 1)}{common}",
        f"longest window: {plan.largest:,} slice{'s' * (plan.largest != 1)}, which is what a key keeps",
    ]


def _spans(spans: Spans, load: Load) -> list[str]:
    wait = {None: "at their ends (no postpone)", AUTO: "when all but a thousandth of recent spans would have ended"}
    when = wait.get(spans.postpone) or f"{spans.postpone} after their ends"  # type: ignore[arg-type]
    seen = f", in {load.each:.3g} slices on average" if load is not UNSEEN else ""
    return [f"events last from {spans.start} to {spans.end}{seen}; windows are answered {when}"]


def _steps(scheme: Scheme, plan: SharedPlan | None, load: Load | None, stands: bool) -> list[QueryStep]:
    folding, by_runs = scheme.foldings, run_queries(scheme) if stands else {}
    rows = WindowRows(Buffer(scheme.query_schema))
    steps = []
    for k, planned in enumerate(scheme.planned):
        query = planned.query
        slices = plan.slices_in(query.name) if plan else 0
        if k in folding:
            sources = ", ".join(_partial(scheme, source) for source in folding[k].sources)
            choices = [folding[k].choice(query.using, 1000, max(slices, 1), max(slices, 1))]
            if load is not None:
                choices.append(technique_of(scheme.partials[folding[k].sources[0]], load))
            between = words_between(query.using, choices[0].name) if stands else ""
            steps.append(QueryStep(query.name, str(query.call), str(query.extent), tuple(choices), slices,
                                   f"from the partials of slices: {sources}", between))  # fmt: skip
            continue
        if is_swept(planned) or planned.lifted is not None:
            swept = Choice(technique(query.using) or SWEEP, by_using=bool(query.using))
            steps.append(
                QueryStep(query.name, str(query.call), str(query.extent), (swept,), 0, "from spans that are held")
            )
            continue
        _, choices = evaluation_of_rows(rows, planned, NONE, NONE)
        source = "from the rows of its windows, which are held: a partial would be as large, or order counts"
        between = WORDS + choices[0].name if k in by_runs else ""
        steps.append(QueryStep(query.name, str(query.call), str(query.extent), tuple(choices), 0, source, between))
    return steps


def _partial(scheme: Scheme, source: int) -> str:
    return str(scheme.partials[source].planned.query.call)


def _sharing(scheme: Scheme) -> list[str]:
    """Which queries take the same partials."""
    users: dict[int, list[str]] = defaultdict(list)
    for place, k in enumerate(scheme.folded):
        for source in scheme.shared.answers[place].sources:
            users[source].append(scheme.queries[k].name)
    lines = []
    for source, names in sorted(users.items()):
        shown = ", ".join(names[:8]) + (f" and {len(names) - 8} more" if len(names) > 8 else "")
        if len(names) > 1:
            lines.append(f"the partial of {_partial(scheme, source)} is shared by {shown}")
    return lines


def _state(scheme: Scheme, plan: SharedPlan | None) -> list[str]:
    """How large the state is, as far as that can be said before there are rows."""
    key = 8 + sum(map(_width, scheme.key_types))  # with the place of a slice, or the time of a row
    lines = []
    if scheme.folded and plan:
        sizes = [each.layout.partial.state.itemsize for each in scheme.partials]
        sketches = sum(each.layout.partial.state.hasobject for each in scheme.partials)
        size = key + sum(sizes) - 8 * sketches
        more = f" and {sketches} sketch{'es' * (sketches > 1)}" if sketches else ""
        waiting = (
            -(-((scheme.delay or 0) + scheme.lateness) * plan.edges_per_composite // plan.composite)
            if scheme.by_time
            else 0
        )
        count = plan.largest + waiting + 1  # windows that wait for the watermark, and the slice that is open
        lines.append(f"state: about {count:,} slices for each key with events in all of them, of about {size:,} bytes"
                     f"{more}: {_bytes(size * count)}")  # fmt: skip
    if scheme.buffered or scheme.sorts:
        names = scheme.schema.names if scheme.whole_rows else scheme.needed
        size = key + sum(_width(scheme.schema.field(name).type) for name in names)
        which = "of the longest windows" if scheme.buffered else "that wait for the watermark"
        lines.append(f"state: the rows {which}, of about {size:,} bytes each")
    return lines


def _width(dtype: pa.DataType) -> int:
    """The bytes of a value; of text, a guess."""
    try:
        return max(dtype.bit_width // 8, 1)
    except ValueError:
        return 16


def _bytes(size: int) -> str:
    for unit in ("bytes", "KB", "MB"):
        if size < 1024:
            return f"{size:,.3g} {unit}"
        size /= 1024  # type: ignore[assignment]
    return f"{size:,.3g} GB"


def _together(scheme: Scheme, plan: SharedPlan, steps: list[QueryStep]) -> list[str]:
    """Which ranges of one aggregate are folded together, and how many combines that saves."""
    if not scheme.by_time:
        return []
    per, groups = plan.edges_per_composite / plan.composite, defaultdict(list)
    for k, folding in scheme.foldings.items():
        if folding.by_numbers and scheme.queries[k].using is None:
            groups[id(folding)].append(k)
    lines = []
    for queries in groups.values():
        steps_of = {scheme.planned[k].spec: steps[k] for k in queries}
        if len(steps_of) < 2:
            continue
        alone, due, widest = 0.0, 0.0, max(step.slices for step in steps_of.values())
        for spec, step in steps_of.items():
            grid: Any = scheme.assigners[spec].grid
            slice_cost, answer_cost = step.choices[0].algorithm.combines(step.slices)
            alone += slice_cost * per + answer_cost / grid.slide
            due += 1 / grid.slide
        folding = scheme.foldings[queries[0]]
        algorithm = folding.choice(None, 1000, 1000, widest, ARBITRARY).algorithm
        slice_cost, answer_cost = algorithm.combines(widest)
        second = 10**6 * PER_MICROSECOND[scheme.unit]
        combines, apart = (f"{cost * second:.3g}" for cost in (slice_cost * per + answer_cost * due, alone))
        lines.append(
            f"{len(steps_of)} ranges of {scheme.queries[queries[0]].call} are folded together by {algorithm.name}, "
            f"where a push brings much: about {combines} combines a second for each key, {apart} apart"
        )
    return lines


def _cost(scheme: Scheme, plan: SharedPlan, steps: list[QueryStep]) -> str:
    per = plan.edges_per_composite / plan.composite
    total = 0.0
    for step, planned in zip(steps, scheme.planned, strict=True):
        grid: Any = scheme.assigners[planned.spec].grid
        if planned.by_partials:
            slice_cost, answer_cost = step.choices[0].algorithm.combines(step.slices)
            total += slice_cost * per + answer_cost / grid.slide
    return scheme.assigners[0].cost(total)


def _drawing(scheme: Scheme, plan: SharedPlan, slicer: str) -> tuple[str, ...]:
    """One composite slide, or as much of it as can be drawn: where queries are answered, and where slices begin."""
    step = min(each.step for each in plan.edges.progressions)
    span = plan.composite if plan.edges_per_composite <= DRAWN else DRAWN * step
    marks: dict[str, list[int]] = {}
    for planned in scheme.planned[:12]:
        grid: Any = scheme.assigners[planned.spec].grid
        first, last = grid.ending(-1, span)
        marks[planned.query.name] = grid.ends(np.arange(first, last + 1)).tolist()
    edges = edges_of(scheme.cuts, slicer).between(0, span)
    marks["slices"] = [int(edge) for edge in edges if edge >= 0]
    return ("answers, and where slices begin:", *drawn(marks, span, scheme.assigners[0].length(span)))
