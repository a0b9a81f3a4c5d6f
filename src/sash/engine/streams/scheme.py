"""The scheme of a stream: what is asked of it, checked against its columns, and what must be kept for that."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from sash.algebra import Aggregate, Call
from sash.algebra.catalogue.spans import SHARE, SPENT
from sash.algebra.sharing import Shared, partial_key, share
from sash.algebra.window_function import SpanFunction
from sash.engine.answering.asking import Question
from sash.engine.answering.folds import counted
from sash.engine.answering.lifted import is_coded
from sash.engine.columns_read import arguments_of
from sash.engine.evaluating import evaluation_of
from sash.engine.memo import Memo
from sash.engine.streams.assigners import assigner_of
from sash.engine.streams.assigners.base import Assigner
from sash.engine.streams.buffer import Buffer, StreamWindow, WindowFrame, WindowRows
from sash.engine.streams.cell_partials import BEYOND, COVERS, ENDS, OWN, POINTS, SPREAD, CellPartial
from sash.engine.streams.formats import PartialFormat, format_of
from sash.engine.streams.partial_layouts import ObjectLayout, PartialLayout
from sash.engine.streams.queries import Query
from sash.engine.streams.query_answers import Folding, PlannedQuery
from sash.engine.streams.timed_stream import TimedStream
from sash.errors import SashError, column_named
from sash.expressions.binding import check_names
from sash.expressions.evaluation import infer
from sash.expressions.parsing import as_predicate
from sash.kernels.sealing import making
from sash.planner.techniques import TECHNIQUES
from sash.windows import Window
from sash.windows.bounds import MONOTONIC, Bounds
from sash.windows.extents import microseconds
from sash.windows.grids import PER_MICROSECOND, CalendarGrid, Grid
from sash.windows.over import Over

NONE = np.zeros(0, np.int64)
PARTS = ("lift", "combine", "lower", "inverse", "finish", "empty")  # what makes the answers of two aggregates the same
FAR = 2**63 - 1
EVERYTHING = Window.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)


@dataclass(frozen=True)
class Scheme(TimedStream):
    """Queries over a stream of some columns."""

    queries: tuple[Query, ...]
    known: tuple[PlannedQuery, ...] = field(default=(), repr=False, compare=False)  # the first queries, as planned
    known_specs: dict[Any, int] = field(default_factory=dict, repr=False, compare=False)  # and numbers of their extents

    def __post_init__(self) -> None:
        if not self.known:
            self.check_columns()
        for query in self.queries[len(self.known) :]:
            self._check_kind(query)
            with column_named(query.name):
                self._check_weights(query.call)
                for each in arguments_of(Over(query.call, EVERYTHING)):
                    if str(each) not in (SHARE, SPENT):
                        check_names(each, self.schema.names)
        _ = self.planned

    def plus(self, queries: tuple[Query, ...]) -> Scheme:
        """The same with more queries; only these are planned."""
        return replace(self, queries=(*self.queries, *queries), known=self.planned, known_specs=self.specs)

    def __reduce__(self) -> Any:
        """Pickle what was given: the rest is found again wherever it is needed."""
        return Scheme, (self.schema, self.settings, self.queries)

    @property
    def kind(self) -> str:
        """By what windows are cut: all queries of a stream agree."""
        return self._first.positions.kind

    @property
    def by_time(self) -> bool:
        """Whether the watermark ends windows, and rows may come in any order."""
        return self._first.by_time

    def _check_kind(self, query: Query) -> None:
        """Refuse a query whose windows do not go with those of the first, or with the settings."""
        settings, first, mine = self.settings, self._first, assigner_of(query.extent, self)
        if mine.positions is not first.positions:
            raise SashError(
                f"the queries of a stream must have windows of one kind, got {first.kind} in "
                f"{self.queries[0].name} and {mine.kind} in {query.name}; use two streams"
            )
        mine.check()
        if settings.watermark is not None and settings.time is None:
            raise SashError("watermark needs time=, the column that it is behind")
        mine.check_beside(first)

    @cached_property
    def merging(self) -> tuple[int, ...]:
        """The numbers of the extents whose windows merge."""
        return tuple(spec for spec, each in enumerate(self.assigners) if each.merges)

    @property
    def by_cells(self) -> bool:
        """Whether cells say which windows there are; otherwise rows that are buffered do."""
        return bool(self.folded or self.spans or self.merging)

    def _check_weights(self, call: Call) -> None:
        """Refuse what only events that last have, where there are none."""
        if call.of_spans and not self.spans:
            raise SashError(f'{call} is for events that last: give span=("start", "end") in the place of time')

    @cached_property
    def query_schema(self) -> pa.Schema:
        """The columns that queries may read: those of the stream and, of spans, what a slice has of each."""
        if not self.spans:
            return self.schema
        return pa.schema([*self.schema, *(pa.field(name, pa.float64()) for name in (SHARE, SPENT))])

    @cached_property
    def specs(self) -> dict[Any, int]:
        """The number of each extent that is asked for, by its key."""
        specs = dict(self.known_specs)
        for query in self.queries[len(self.known) :]:
            specs.setdefault(query.extent.key, len(specs))
        return specs

    @cached_property
    def assigners(self) -> tuple[Assigner, ...]:
        """What gives rows the windows of each extent."""
        extents = {query.extent.key: query.extent for query in reversed(self.queries)}
        return tuple(assigner_of(extents[key], self) for key in self.specs)

    @cached_property
    def _first(self) -> Assigner:
        return assigner_of(self.queries[0].extent, self)

    @cached_property
    def cuts(self) -> tuple[Grid | CalendarGrid, ...]:
        """Grids at whose starts and ends slices begin, or some of these, as the slicer says."""
        return tuple(dict.fromkeys(cut for each in self.assigners for cut in each.cuts))

    @cached_property
    def margin(self) -> int:
        """How far from a row a window that holds it may begin or end."""
        if not self.by_time:
            return 0
        offset = abs(microseconds("", self.settings.offset)) * PER_MICROSECOND[self.unit]
        return max(each.margin for each in self.assigners) + offset + self.lateness

    @cached_property
    def reach(self) -> tuple[int, int]:
        """The first and the last position that a row of a stream may have, by time."""
        return self.margin - FAR + 1, FAR - 1 - self.margin

    @cached_property
    def slice_reach(self) -> tuple[int, int]:
        """The same of slices, which begin before the rows that they hold, but not by more than a slide."""
        least, most = self.reach
        return least - (self.margin - abs(self.ticks("offset", self.settings.offset))) // 2, most

    @cached_property
    def end_type(self) -> pa.DataType:
        """The type of ``window_end``."""
        return self.assigners[0].end_type

    @cached_property
    def planned(self) -> tuple[PlannedQuery, ...]:
        """Each query, asked of an empty table."""
        rows = WindowRows(Buffer(self.query_schema))
        planned = list(self.known)
        for query in self.queries[len(self.known) :]:
            with column_named(query.name):
                planned.append(self._plan(rows, query, self.specs[query.extent.key]))
        return tuple(planned)

    def _plan(self, rows: WindowRows, query: Query, spec: int) -> PlannedQuery:
        call, function = query.call, query.call.aggregate
        if function.per_row:
            raise SashError(f"{function.name} answers each row of a frame; a window of a stream has one answer")
        if function.nth is not None and function.nth[0] is None:
            raise SashError(f"the place of {function.name} must be a constant on a stream, got {call.columns[1]}")
        frame = WindowFrame(f"empty {spec}", Bounds(NONE, NONE, 0, MONOTONIC))
        using = None if query.using in TECHNIQUES else query.using
        question = Question(rows, Over(call, StreamWindow(frame), using))
        if isinstance(function, SpanFunction):
            return PlannedQuery(query, spec, question, question.selection())
        folds = assigner_of(query.extent, self).folds and isinstance(function, Aggregate) and not call.order
        if not folds or not self._folds(function, call):
            evaluation_of(question)
            return PlannedQuery(query, spec, question, question.selection())
        selection, lifted = counted(question)
        if any(is_coded(function, infer(column, self.query_schema)) for column in question.columns):
            return PlannedQuery(query, spec, question, selection)
        return PlannedQuery(query, spec, question, selection, lifted)

    def _folds(self, function: Aggregate, call: Call) -> bool:
        """Whether the partial of a slice is a few numbers that rows may join in the order in which they come."""
        if function.returns != "value" or function.rows or not (function.compiled or (function.bulk and function.pack)):
            return False
        if call.unique and not function.selective:
            return False
        return function.commutative or not self.by_time

    @cached_property
    def folded(self) -> tuple[int, ...]:
        """The numbers of the queries that partials answer."""
        return tuple(k for k, each in enumerate(self.planned) if each.by_partials)

    @cached_property
    def buffered(self) -> tuple[int, ...]:
        """The numbers of the holistic queries, for which rows are buffered."""
        return tuple(k for k, each in enumerate(self.planned) if not each.by_partials)

    @cached_property
    def shared(self) -> Shared:
        """The fewest partials that answer all queries that partials can."""
        return share(self.wanted, derive=not self.settings.grows)

    @cached_property
    def wanted(self) -> list[tuple[Aggregate, Any]]:
        """The aggregate of each query that partials answer, for its types, and whose rows and columns it is of."""
        first_of: dict[str, Aggregate] = {}
        wanted = []
        for k in self.folded:
            aggregate, place = self._place(self.planned[k])
            # parameters make a lift anew that means the same
            function = self.queries[k].call.aggregate
            meaning = making(aggregate) if aggregate.compiled else str((function.origin or id(function), place))
            first = first_of.setdefault(meaning, aggregate)
            wanted.append((replace(aggregate, lift=first.lift, combine=first.combine), place))
        return wanted

    def _place(self, planned: PlannedQuery) -> tuple[Aggregate, Any]:
        lifted, question = planned.lifted, planned.question
        assert lifted is not None
        dtypes = tuple(column.dtype for column in lifted.columns)
        condition = question.call.condition
        names = tuple(column.key for column in question.columns)
        types = tuple(str(infer(column, self.query_schema)) for column in question.columns)
        place: Any = (names, None if condition is None else as_predicate(condition).key, dtypes, types)
        if self.assigners[planned.spec].merges:
            place = (*place, str(planned.query.extent))
        return lifted.aggregate.of(dtypes), place

    @cached_property
    def partials(self) -> tuple[CellPartial, ...]:
        """The partials of a cell; of spans, the last ones are of those that go on beyond their slice."""
        places: dict[Any, PlannedQuery] = {}
        for k, (aggregate, place) in zip(self.folded, self.wanted, strict=True):
            places.setdefault((partial_key(aggregate), place), self.planned[k])
        partials = []
        for aggregate, place in self.shared.partials:
            planned = places[partial_key(aggregate), place]
            assert planned.lifted is not None
            dtypes = tuple(column.dtype for column in planned.lifted.columns)
            layout = (PartialLayout if aggregate.compiled else ObjectLayout)(aggregate, dtypes)
            spec = planned.spec if planned.spec in self.merging else None
            partials.append(CellPartial(layout, planned, self._part(aggregate, planned), spec))
        own = [CellPartial(each.layout, self.planned[k], OWN, spec)
               for spec, each in enumerate(assigner.own_partial for assigner in self.assigners) if each
               for k in self._first_of(spec)]  # fmt: skip
        return (*partials, *(each._replace(part=BEYOND) for each in partials if each.part == ENDS), *own)

    def _first_of(self, spec: int) -> list[int]:
        """The first query of an extent."""
        return [k for k, each in enumerate(self.planned) if each.spec == spec][:1]

    @cached_property
    def bounds(self) -> dict[int, int]:
        """Of each extent whose assigner has a partial of its own, the number of this."""
        return {each.spec: k for k, each in enumerate(self.partials) if each.part == OWN and each.spec is not None}

    @cached_property
    def own_partials(self) -> dict[int, tuple[int, ...]]:
        """Of each extent whose windows merge, the numbers of all partials that are of it alone."""
        return {spec: tuple(k for k, each in enumerate(self.partials) if each.spec == spec) for spec in self.merging}

    def _part(self, aggregate: Aggregate, planned: PlannedQuery) -> str:
        """Of which rows of a slice a partial is."""
        if not self.spans:
            return POINTS
        if weights_of(planned.query.call):
            return SPREAD
        return COVERS if aggregate.selective else ENDS

    @cached_property
    def beyond(self) -> dict[int, int]:
        """For partials of spans that end in a slice, by number, those of spans that go on beyond it."""
        ends = [k for k, each in enumerate(self.partials) if each.part == ENDS]
        return {k: len(self.shared.partials) + place for place, k in enumerate(ends)}

    @cached_property
    def foldings(self) -> dict[int, Folding]:
        """How each query that partials answer is answered, by its number; those that are alike have the same."""
        foldings: dict[int, Folding] = {}
        alike: dict[Any, Folding] = {}
        for place, k in enumerate(self.folded):
            aggregate = self.wanted[place][0]
            key = (self.shared.answers[place].sources, *(getattr(aggregate, part) for part in PARTS))
            foldings[k] = alike[key] = alike.get(key) or self._folding(place)
        return foldings

    def _folding(self, place: int) -> Folding:
        answer, beyond = self.shared.answers[place], self.beyond
        further = tuple(beyond[source] for source in answer.sources if source in beyond)
        layouts = [each.layout for each in self.partials]
        return Folding(answer, self.wanted[place][0], layouts, further, self.planned[self.folded[place]])

    @cached_property
    def none(self) -> Memo[str, list[pa.Array]]:
        """The answers of each query to no windows, found once: every operator of these queries needs their types."""
        return Memo()

    @cached_property
    def formats(self) -> tuple[PartialFormat, ...]:
        """What each of the partials that cells hold is known by, wherever it is kept."""
        formats = []
        for (aggregate, place), each in zip(self.shared.partials, self.partials, strict=False):
            call = each.planned.query.call
            meant = getattr(call.aggregate, "origin", None) or making(aggregate)
            formats.append(format_of(aggregate.format, (meant, place), each.layout.partial.state, str(call)))
        beyond = [formats[k]._replace(meaning=f"{formats[k].meaning} {BEYOND}") for k in self.beyond]
        own = [format_of(each.format, each.meaning, each.layout.partial.state, each.meaning)
               for each in (self.assigners[spec].own_partial for spec in self.bounds) if each]  # fmt: skip
        return (*formats, *beyond, *own)

    @cached_property
    def partial_ids(self) -> tuple[str, ...]:
        """The names of these partials as columns."""
        return tuple(each.id for each in self.formats)

    @cached_property
    def meaning(self) -> tuple[Any, ...]:
        """What the state of an operator depends on: queries, and what their functions are."""
        return tuple((query.name, str(query.call), str(query.extent), query.using, _meant(query.call.aggregate))
                     for query in self.queries)  # fmt: skip

    @cached_property
    def needed(self) -> tuple[str, ...]:
        """The columns of the stream that are kept of a row that waits or is buffered."""
        wanted: set[str] = set()
        for query in self.queries:
            for each in arguments_of(Over(query.call, EVERYTHING)):
                wanted |= check_names(each, self.query_schema.names)
        for part in (column for each in self.assigners for column in each.columns):
            wanted |= check_names(part, self.schema.names)
        return tuple(name for name in self.schema.names if name in wanted)

    @cached_property
    def whole_rows(self) -> bool:
        """Whether all columns of a row must be there when it is given a position."""
        return self.settings.on_error != "fail" or any(each.whole_rows for each in self.assigners)

    @property
    def row_columns(self) -> Sequence[str]:
        """The columns of rows on their way in."""
        names: list[str] = self.schema.names
        return names if self.whole_rows else self.needed

    @property
    def sorts(self) -> bool:
        """Whether rows wait for the watermark to be put in the order of time: where windows count rows."""
        return not self.by_time and self.settings.time is not None


def weights_of(call: Call) -> set[str]:
    """What a function reads of the part of a span that a slice has."""
    return set(map(str, call.columns)) & {SHARE, SPENT}


def _meant(function: Any) -> Any:
    if isinstance(function, Aggregate):
        return function.origin or making(function)
    return function.name, function.parameters
