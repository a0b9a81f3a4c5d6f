"""What a user says of a stream and its queries, read and checked."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from functools import lru_cache
from typing import Any

import numpy as np

from sash import options
from sash.algebra import Aggregate, Call
from sash.engine.streams.buffer import Buffer, WindowRows
from sash.engine.streams.covering import dry_run
from sash.engine.streams.partial_layouts import PartialLayout
from sash.engine.streams.poison import ASIDE, FAIL, check_on_error
from sash.engine.streams.queries import Query, Settings, Spans
from sash.engine.streams.query_answers import PlannedQuery, evaluation_of_rows
from sash.engine.streams.scheme import Scheme
from sash.engine.streams.span_cells import AUTO
from sash.engine.streams.span_windows import is_swept
from sash.errors import Refused, SashError, column_named
from sash.expressions.columns import Expression, as_column
from sash.planner import names
from sash.planner.techniques import TECHNIQUES, technique, with_height
from sash.windows.calendars import check_zone
from sash.windows.extents import extent_of, interval_of, microseconds
from sash.windows.grids import CalendarGrid
from sash.windows.intervals import Interval
from sash.windows.over import Over
from sash.windows.slicers import CUTTY, PAIRS, PANES, SLICERS, edges_of

NONE = np.zeros(0, np.int64)


def settings_of(
    time: Any,
    key: Any,
    watermark: Any,
    offset: Any,
    slicer: str | None,
    spans: Spans | None = None,
    zone: Any = None,
    lateness: Any = None,
    ahead: Any = None,
    idle: Any = None,
    on_error: Any = FAIL,
) -> Settings:
    """The settings of a stream."""
    if slicer is not None and slicer not in SLICERS:
        raise SashError(f"slicer must be one of {', '.join(SLICERS)}, got {slicer!r}")
    if on_error not in (FAIL, ASIDE):
        raise SashError(f"on_error must be {FAIL!r} or {ASIDE!r}, got {on_error!r}")
    delay, stay = _wait("watermark", watermark), _wait("lateness", lateness)
    moved = Interval() if offset is None else interval_of("offset", offset)
    microseconds("offset", moved)
    at = None if time is None else as_column(time)
    zone = options.zone if zone is None and (at is not None or spans is not None) else zone
    if spans is not None:
        at = spans.end
        if slicer is not None and SLICERS[slicer].in_order:
            raise Refused(f"{slicer} needs events of one moment; spans reach back over slices that are cut already")
    if zone is not None:
        if not isinstance(zone, str) or not zone:
            raise SashError(f"zone must be a time zone such as 'Europe/Berlin', got {zone!r}")
        with column_named("zone"):
            check_zone(zone)
    future, quiet = _wait("ahead", ahead), _wait("idle", idle)
    if future is not None and spans is not None and spans.pair is not None:
        raise SashError(
            f"ahead is for rows that have their times, got {ahead!r} with pair=, whose halves wait for others"
        )
    if future is not None and at is None:
        raise SashError(f"ahead needs time=, the column that it is of, got {ahead!r}")
    if quiet is not None and (at is None or delay is None):
        raise SashError(f"idle needs time= and watermark=, which the clock moves on, got {idle!r}")
    if quiet is not None and not quiet:
        raise SashError(f"idle must be more than zero, got {idle!r}")
    return Settings(
        at,
        _keys(key),
        delay,
        moved,
        slicer,
        spans=spans,
        zone=zone,
        lateness=stay,
        ahead=future,
        idle=quiet,
        on_error=on_error,
    )


def _wait(name: str, value: Any) -> Interval | None:
    """An interval that is not below zero, where one was given."""
    if value is None:
        return None
    wait = interval_of(name, value)
    if wait.backward and wait:
        raise SashError(f"{name} must not be below zero, got {value!r}")
    microseconds(name, wait)
    return wait


def spans_of(span: Any, postpone: Any, longest: Any, pair: Any, time: Any) -> Spans | None:
    """What is said of events that last."""
    if span is None:
        for name, value in (("postpone", postpone), ("longest", longest), ("pair", pair)):
            if value is not None:
                raise SashError(f"{name} is for events that last, got {value!r} without span=, such as "
                                'span=("start", "end")')  # fmt: skip
        return None
    if not isinstance(span, (list, tuple)) or len(span) != 2:
        raise SashError(f'span must be two columns, such as ("start", "end"), got {span!r}')
    if time is not None:
        raise SashError(f"time must not be given with span, whose end is the time of an event; got {time!r}")
    wait = postpone
    if postpone is not None and not (isinstance(postpone, str) and postpone == AUTO):
        try:
            wait = interval_of("postpone", postpone)
        except SashError as error:
            raise SashError(f'{error}; or "auto"') from None
        if wait.backward and wait:
            raise SashError(f"postpone must not be below zero, got {postpone!r}")
        microseconds("postpone", wait)
    most = None if longest is None else interval_of("longest", longest)
    if most is not None and microseconds("longest", most) <= 0:
        raise SashError(f"longest must be more than zero, got {longest!r}")
    if pair is not None and most is None:
        raise SashError("longest must be given with pair: a start whose end never comes must end some time; got None")
    if isinstance(pair, (list, tuple)):
        raise SashError(f"pair must be one column, got {pair!r}")
    start, end = map(as_column, span)
    return Spans(start, end, wait, most, None if pair is None else as_column(pair))


def _keys(key: Any) -> tuple[Expression, ...]:
    if key is None:
        return ()
    keys = tuple(key) if isinstance(key, (list, tuple)) else (key,)
    return tuple(as_column(each) for each in keys)


def queries_of(
    name: str | Mapping[str, Any],
    aggregate: Any,
    range: Any,
    slide: Any,
    using: str | None,
    taken: Collection[str],
    time: Expression | None,
    was: Any = None,
) -> tuple[Query, ...]:
    """One query, or several over the same windows."""
    if isinstance(name, Mapping):
        if aggregate is not None:
            raise SashError("query takes names with aggregates, or a name and an aggregate, got both")
        calls = dict(name)
    else:
        calls = {name: aggregate}
    if not calls:
        raise SashError("query takes at least one aggregate, got none")
    using, height = with_height(using)
    if using is not None and using not in (known := (*names(), *TECHNIQUES)):
        raise SashError(f"using must be one of {', '.join(known)}, got {using!r}")
    extent = extent_of(range, slide)
    former = _former(was, list(calls))
    queries: list[Query] = []
    for each, call in calls.items():
        if not isinstance(each, str) or not each:
            raise SashError(f"the name of a query must be a non-empty string, got {each!r}")
        if each in taken:
            raise SashError(f"the name of a query must be its own, got {each!r}, which is taken")
        if isinstance(call, Over):
            raise SashError(f"aggregate must be without a window, got {call}; range and slide say what it is over")
        if not isinstance(call, Call):
            raise SashError(f'aggregate must be such as sf.max("load"), got {call!r}')
        if call.waits_for_time:
            if time is None:
                raise SashError(f"{call} looks at the time of rows: give the stream a time=, or the function a by=")
            call = call.by_time(time)
        if former.get(each) in {*taken, *calls}:
            raise SashError(f"was must be a name that no query has any more, got {former[each]!r}")
        queries.append(Query(each, call, extent, using, height, former.get(each)))
    return tuple(queries)


def _former(was: Any, names: list[Any]) -> dict[str, str]:
    """The names that queries had before, by those that they have now."""
    former = was if isinstance(was, Mapping) else {} if was is None else {names[0]: was}
    if not isinstance(was, Mapping) and was is not None and len(names) > 1:
        raise SashError(f"was must be names by names where there are several queries, got {was!r}")
    for now, before in former.items():
        if now not in names or not isinstance(before, str) or not before:
            raise SashError(f"was must be the name that {now} had before, got {before!r}")
    return dict(former)


def slicer_of(scheme: Scheme) -> str:
    """The slicer that cuts a stream: the one named, or the one with the fewest slices."""
    if scheme.settings.slicer is not None:
        return scheme.settings.slicer
    grids = scheme.cuts
    if grids and not any(isinstance(grid, CalendarGrid) for grid in grids):
        pairs, panes = edges_of(grids, PAIRS.name), edges_of(grids, PANES.name)
        if pairs.progressions == panes.progressions:
            return PANES.name
    cutty = scheme.delay == 0 and scheme.by_time and not scheme.spans and in_order(scheme)
    return CUTTY.name if cutty else PAIRS.name


@lru_cache(maxsize=1024)
def _compiles(aggregate: Aggregate, dtypes: tuple[np.dtype, ...]) -> None:
    PartialLayout(aggregate, dtypes)


def check_slicer(scheme: Scheme, query: Query) -> None:
    """Refuse windows that cannot be cut, or not by the slicer that was named."""
    named = scheme.settings.slicer
    if named is None:
        return
    assigner = scheme.assigners[scheme.specs[query.extent.key]]
    if not assigner.cuts:
        raise Refused(f"{named} needs windows by time or by count; those by {assigner.kind} have no slices")
    if SLICERS[named].in_order and not in_order(scheme):
        raise Refused(f"{named} needs input in order, answered at each edge; {_disorder(scheme)} allows disorder")
    edges_of(assigner.cuts, named)


def _disorder(scheme: Scheme) -> str:
    return f"a watermark of {scheme.settings.watermark}" if scheme.delay else "lateness"


def check_technique(scheme: Scheme, planned: PlannedQuery) -> None:
    """Refuse a technique for spans that cannot answer a query, or where there are none."""
    name, call, lifted = planned.query.using, planned.query.call, planned.lifted
    named = technique(name, planned.query.height)
    assert named is not None
    if not scheme.spans:
        raise Refused(f'{name} is for events that last: give span=("start", "end") in the place of time')
    if lifted is None:
        raise Refused(f"{name} needs an aggregate that partials hold; {call} is of whole windows")
    if call.of_spans:
        raise Refused(f"{name} takes spans as a whole; {call} weighs their parts")
    if not lifted.aggregate.compiled:
        raise Refused(f"{name} needs an aggregate that is compiled; {call} is not")
    dry_run(named, PartialLayout(lifted.aggregate, tuple(column.dtype for column in lifted.columns)))


def in_order(scheme: Scheme) -> bool:
    """Whether rows come in the order of their windows, as far as the settings say."""
    return not scheme.by_time or (not scheme.delay and scheme.settings.lateness is None)


def check(scheme: Scheme) -> None:
    """Refuse a slicer, or an algorithm that a new query names, which cannot do what it is to do."""
    check_on_error(scheme)
    new = range(len(scheme.known), len(scheme.queries))
    for planned in scheme.planned[len(scheme.known) :]:
        with column_named(planned.query.name):
            check_slicer(scheme, planned.query)
            if planned.lifted is not None and planned.lifted.aggregate.compiled:
                _compiles(planned.lifted.aggregate, tuple(column.dtype for column in planned.lifted.columns))
            if planned.query.using in TECHNIQUES:
                check_technique(scheme, planned)
            elif planned.query.using is not None and is_swept(planned):
                raise Refused(f"{planned.query.call} sweeps over starts and ends, got using={planned.query.using!r}")
    if not any(scheme.queries[k].using not in (None, *TECHNIQUES) for k in new):
        return
    folding, rows = scheme.foldings, WindowRows(Buffer(scheme.schema))
    for k in new:
        planned = scheme.planned[k]
        with column_named(planned.query.name):
            if k in folding:
                folding[k].choice(planned.query.using, 0, 0, 0)
            elif planned.query.using not in (None, *TECHNIQUES):
                evaluation_of_rows(rows, planned, NONE, NONE)
