"""Continuous queries on a batch DataFrame of Spark: rows are folded where they are, and windows answered by key.

Where partials hold all that the queries need, each task folds its rows into a partial for each key and slice, and
only these are moved. Otherwise the rows themselves are, with no more columns than the queries read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterator
from dataclasses import replace
from functools import partial
from threading import Event
from typing import Any, NamedTuple

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from sash import options
from sash.engine.columns_read import rewritten
from sash.engine.memory_need import within_memory
from sash.engine.streams.bounded import answer_partials, answer_rows
from sash.engine.streams.bounded import fold as fold_rows
from sash.engine.streams.cells import KEY
from sash.engine.streams.lateness import Late
from sash.engine.streams.limits import Limits
from sash.engine.streams.logged import folds_cells
from sash.engine.streams.operator import Operator
from sash.engine.streams.queries import Query, Settings
from sash.engine.streams.scheme import Scheme
from sash.engine.streams.sources import Run, Source, with_late
from sash.errors import SashError
from sash.expressions.binding import bind
from sash.expressions.columns import Foreign, Name
from sash.expressions.naming import quoted
from sash.planner.stream_plan import StreamPlan
from sash.spark import failures
from sash.spark.by_value import shipped
from sash.spark.columns_read import arrow_types, spark_column
from sash.spark.kept_partials import answered, frames_of_spark
from sash.spark.passing import (
    COMPUTED,
    as_schema,
    columns_of,
    narrowed,
    numbered,
    refuse_unknown,
    shown,
)
from sash.spark.task_names import board_task
from sash.spark.unpacking import record_batches
from sash.spark.worker import beginning
from sash.watching.samples import sample
from sash.watching.sight import Sight
from sash.windows import Window
from sash.windows.over import Over

CLOCK = f"{COMPUTED}clock"
ANYWHERE = Window.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)


def _name(text: str, taken: Collection[str]) -> str:
    """A name for a column that is computed: the same whenever the column is, for state that is kept."""
    name = COMPUTED + hashlib.sha256(text.encode()).hexdigest()[:12]
    while name in taken:  # two columns that look alike
        name += "_"
    return name


class Read(NamedTuple):
    """A frame with columns of PySpark computed, what reads them by name, and what they are, by name."""

    frame: DataFrame
    settings: Settings
    queries: tuple[Query, ...]
    computed: dict[str, str]


class SparkSource(Source):
    """A batch DataFrame: nothing in it is late, and the tail is flushed."""

    def __init__(self, frame: DataFrame) -> None:
        self.frame = frame
        self.schema = arrow_types(frame)

    def scheme(self, settings: Settings, queries: tuple[Query, ...], before: Scheme | None = None) -> Scheme:
        """The queries, checked against the columns there are."""
        frame, settings, queries, _ = self._read(settings, queries)
        if frame is self.frame:
            scheme = super().scheme(settings, queries, before)
        else:
            scheme = Scheme(arrow_types(frame), settings, queries)
        self._check_case(scheme)
        if settings.spans is not None and settings.spans.pair is not None:
            raise SashError("pair is for rows in memory, got a Spark DataFrame; join its starts with its ends by "
                            f"{settings.spans.pair}, and give span= of the result")  # fmt: skip
        if queries and settings.time is None:
            raise SashError(
                f"time must be given for windows by {scheme.kind} on Spark, where rows have no order; got None"
            )
        return scheme

    def _check_case(self, scheme: Scheme) -> None:
        """Refuse names that Spark takes for the same."""
        if str(self.frame.sparkSession.conf.get("spark.sql.caseSensitive")).lower() == "true":
            return
        known: dict[str, str] = {}
        for name in (*scheme.key_names, "window_end", *(query.name for query in scheme.queries)):
            if (other := known.setdefault(name.lower(), name)) != name:
                raise SashError(
                    f"the names of keys and queries must differ in more than case on Spark, got {other} and {name}; or "
                    "set spark.sql.caseSensitive"
                )

    def _read(self, settings: Settings, queries: tuple[Query, ...]) -> Read:
        """The frame with PySpark's own columns computed, and the queries that read them by name."""
        name_of: dict[Any, str] = {}
        columns: dict[str, Any] = {}
        computed: dict[str, str] = {}

        def named(expression: Any) -> Any:
            if not isinstance(expression, Foreign):
                return expression
            if expression.key not in name_of:
                name_of[expression.key] = _name(str(expression), columns)
                columns[name_of[expression.key]] = F.coalesce(expression.column)
                computed[name_of[expression.key]] = str(expression)
            return Name((name_of[expression.key],))

        def read_extent(extent: Any) -> Any:
            parts = {part: named(getattr(extent, part)) for part in ("column", "condition") if hasattr(extent, part)}
            return replace(extent, **parts) if parts else extent

        names = tuple(self.frame.select(key.column).columns[0] if isinstance(key, Foreign) else None
                      for key in settings.key)  # fmt: skip
        keys, time = tuple(map(named, settings.key)), named(settings.time)
        spans = settings.spans
        if spans is not None:
            spans = replace(spans, start=named(spans.start), end=time, pair=named(spans.pair))
        settings = replace(settings, key=keys, time=time, spans=spans, names=names if any(names) else ())
        if settings.ahead is not None:
            columns[CLOCK] = F.current_timestamp()  # of a batch of a stream, the same whenever it runs
            settings, computed[CLOCK] = replace(settings, clock=Name((CLOCK,))), "the clock"
        queries = tuple(
            replace(each, call=rewritten(Over(each.call, ANYWHERE), named).call, extent=read_extent(each.extent))
            for each in queries
        )
        return Read(self.frame.withColumns(columns) if columns else self.frame, settings, queries, computed)

    def results(self, board: Any, emit: str, starts: bool, late: bool, fill: Any = False) -> DataFrame:
        """The answers, as a DataFrame."""
        operator = board._opened(emit, starts, fill)
        answers = operator.answer_schema
        refuse_unknown(answers)
        if folds_cells(operator.scheme) and not late:
            return self._by_partials(board, operator)
        schema = with_late(answers.empty_table(), shown(operator.late())).schema if late else answers

        def emitted(answers: pa.Table, aside: pa.Table) -> pa.Table:
            return with_late(answers, shown(aside)) if late else answers

        return self._by_rows(board, operator, schema, emitted, whole=late)

    def answered(self, board: Any, partials: Any, operator: Operator) -> Any:
        """The answers from partials that were kept, as a DataFrame where these are of Spark."""
        frames = frames_of_spark(partials)
        return super().answered(board, partials, operator) if frames is None else answered(board, frames, operator)

    def explain(self, board: Any) -> StreamPlan:
        """The plan, with columns of PySpark as they were given."""
        return super().explain(board).renamed(self._read(board._settings, board._queries).computed)

    def late(self, board: Any) -> DataFrame:
        """What has no place, as a DataFrame."""
        operator = board._opened("final")

        schema = shown(Late.schema(operator.scheme.schema).empty_table()).schema
        return self._by_rows(board, operator, schema, lambda _, aside: shown(aside), whole=True)

    def watched(self, board: Any, sight: Sight, query: Any) -> Run:
        """Compute all answers, and keep some of them for a page."""
        if query is not None:
            raise SashError("query must be of a streaming DataFrame, and this one is a batch; got a query")
        answers, wanted = board.results(), sight.wanted
        schema = pa.schema([("samples", pa.string()), ("answers", pa.int64())])
        names = list(answers.columns)

        def sampled(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for batch in batches:
                table = pa.Table.from_batches([batch]).rename_columns(names)
                columns = {"samples": [json.dumps(sample(table, wanted))], "answers": [table.num_rows]}
                yield pa.RecordBatch.from_pydict(columns, schema)

        def run(stopping: Event) -> None:
            sight.words = "Spark computes all answers, of which a page has a few"
            for row in answers.mapInArrow(
                shipped(sampled, board_task(board, "a page of")), from_arrow_schema(schema)
            ).collect():
                sight.sampled(json.loads(row.samples))
                sight.answers = (sight.answers or 0) + row.answers
            sight.words = ""

        return run

    def _by_rows(
        self,
        board: Any,
        operator: Operator,
        schema: pa.Schema,
        emitted: Callable[[pa.Table, pa.Table], pa.Table],
        whole: bool,
    ) -> DataFrame:
        """Move rows by key, and let one task have all rows of a key; ``emitted`` says what of answers and late rows."""
        failures.foresee(self.frame.sparkSession)
        frame, settings, _, _ = self._read(board._settings, board._queries)
        scheme, slicer, emit = operator.scheme, operator.slicer, operator.emit
        starts, fill = operator.with_starts, operator.fill
        names = list(scheme.schema.names) if whole or scheme.whole_rows else columns_of(scheme)
        needed = scheme if names == list(scheme.schema.names) else narrowed(scheme, names)
        keys = [spark_column(key if isinstance(key, Foreign) else bind(key, names)) for key in settings.key]
        placed = numbered(frame.repartition(*keys) if keys else frame.repartition(1), names)
        start, memory = beginning(), options.asked_memory()

        def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            start()
            limits = Limits.of(memory or options.budget())
            came = (as_schema(batch, needed.schema) for batch in batches)
            opened = partial(Operator, needed, slicer, emit=emit, starts=starts, fill=fill, arrival=False)
            with within_memory(limits.memory, "the rows of a task"):
                for answers, aside in answer_rows(came, opened, limits):
                    yield from record_batches(emitted(answers, aside), schema)

        return placed.mapInArrow(shipped(work, board_task(board)), from_arrow_schema(schema))

    def _by_partials(self, board: Any, operator: Operator) -> DataFrame:
        """Fold rows where they are, move partials by key, and answer windows there."""
        failures.foresee(self.frame.sparkSession)
        frame = self._read(board._settings, board._queries).frame
        names = columns_of(operator.scheme)
        scheme, slicer = narrowed(operator.scheme, names), operator.slicer
        emit, starts, answers = operator.emit, operator.with_starts, operator.answer_schema
        fill = operator.fill
        partials = Operator(scheme, slicer).partials().schema
        start, memory = beginning(), options.asked_memory()
        keys = [name for name in partials.names if name.startswith(KEY)]

        def fold(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            start()
            limits = Limits.of(memory or options.budget())
            came = (as_schema(batch, scheme.schema) for batch in batches)
            with within_memory(limits.memory, "the partials of a task"):
                for table in fold_rows(came, partial(Operator, scheme, slicer), limits):
                    yield from record_batches(table, partials)

        def answer(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            start()
            limits = Limits.of(memory or options.budget())
            came = (as_schema(batch, partials) for batch in batches)
            opened = partial(Operator, scheme, slicer, emit=emit, starts=starts, fill=fill)
            with within_memory(limits.memory, "the partials and answers of a task"):
                for table in answer_partials(came, opened, limits):
                    yield from record_batches(table, answers)

        folded = numbered(frame, names).mapInArrow(
            shipped(fold, board_task(board, "slices of")), from_arrow_schema(partials)
        )
        columns = [F.col(quoted(name)) for name in keys]
        return (folded.repartition(*columns) if columns else folded.repartition(1)).mapInArrow(
            shipped(answer, board_task(board)), from_arrow_schema(answers)
        )
