"""Continuous queries on a batch DataFrame of Spark: rows are folded where they are, and windows answered by key.

Where partials hold all that the queries need, each task folds its rows into a partial for each key and slice, and
only these are moved. Otherwise the rows themselves are, with no more columns than the queries read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from sash.engine.reading import rewritten
from sash.engine.streams.lateness import Late
from sash.engine.streams.operator import Operator
from sash.engine.streams.scheme import Query, Scheme, Settings
from sash.engine.streams.sources import Source, with_late
from sash.errors import SashError
from sash.expressions.columns import Foreign, Name
from sash.expressions.naming import bind, check_names, quoted
from sash.spark import failures
from sash.spark.inputs import arrow_types, spark_column
from sash.spark.worker import begin
from sash.windows import Window

GATHERED = 1 << 20  # rows that are pushed at a time
COMPUTED = "__sash_"
ANYWHERE = Window.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)


class SparkSource(Source):
    """A batch DataFrame: nothing in it is late, and the tail is flushed."""

    def __init__(self, frame: DataFrame) -> None:
        if getattr(frame, "isStreaming", False):
            raise SashError("source must be a batch DataFrame, got a streaming one, which is not supported yet")
        self.frame = frame
        self.schema = arrow_types(frame)

    def scheme(self, settings: Settings, queries: tuple[Query, ...], before: Scheme | None = None) -> Scheme:
        """The queries, checked against the columns there are."""
        frame, settings, queries = self._read(settings, queries)
        if frame is self.frame:
            scheme = super().scheme(settings, queries, before)
        else:
            scheme = Scheme(arrow_types(frame), settings, queries)
        if queries and scheme.kind in ("count", "delta", "punctuation") and settings.time is None:
            raise SashError(
                f"time must be given for windows by {scheme.kind} on Spark, where rows have no order; got None"
            )
        return scheme

    def _read(self, settings: Settings, queries: tuple[Query, ...]) -> tuple[DataFrame, Settings, tuple[Query, ...]]:
        """The frame with PySpark's own columns computed, and the queries that read them by name."""
        found: dict[Any, str] = {}
        columns = {}

        def named(expression: Any) -> Any:
            if not isinstance(expression, Foreign):
                return expression
            if expression.key not in found:
                found[expression.key] = f"{COMPUTED}{len(found)}"
                columns[found[expression.key]] = F.coalesce(expression.column)
            return Name((found[expression.key],))

        def extent(given: Any) -> Any:
            parts = {part: named(getattr(given, part)) for part in ("column", "condition") if hasattr(given, part)}
            return replace(given, **parts) if parts else given

        names = tuple(self.frame.select(key.column).columns[0] if isinstance(key, Foreign) else None
                      for key in settings.key)  # fmt: skip
        keys, time = tuple(map(named, settings.key)), named(settings.time)
        settings = replace(settings, key=keys, time=time, names=names if any(names) else ())
        queries = tuple(replace(each, call=rewritten(each.call.over(ANYWHERE), named).call, extent=extent(each.extent))
                        for each in queries)  # fmt: skip
        return self.frame.withColumns(columns) if columns else self.frame, settings, queries

    def results(self, board: Any, emit: str, starts: bool, late: bool) -> DataFrame:
        """The answers, as a DataFrame."""
        operator = board.open(emit, starts)
        scheme, slicer = operator.scheme, operator.slicer
        answers = operator.answer_schema
        _refuse_unknown(answers)
        if scheme.kind == "time" and not scheme.held and not late:
            return self._by_partials(board, operator)
        schema = with_late(answers.empty_table(), _given(operator.late())).schema if late else answers

        def found(operator: Operator) -> pa.Table:
            closed = operator.close()
            return with_late(closed, _given(operator.late())) if late else closed

        return self._by_rows(board, scheme, slicer, emit, starts, schema, found, whole=late, late=late)

    def late(self, board: Any) -> DataFrame:
        """What has no place, as a DataFrame."""
        operator = board.open()

        def found(operator: Operator) -> pa.Table:
            operator.close()
            return _given(operator.late())

        schema = _given(Late.schema(operator.scheme.schema).empty_table()).schema
        return self._by_rows(board, operator.scheme, operator.slicer, "final", False, schema, found, whole=True)

    def _by_rows(
        self,
        board: Any,
        scheme: Scheme,
        slicer: str,
        emit: str,
        starts: bool,
        schema: pa.Schema,
        found: Callable[[Operator], pa.Table],
        whole: bool,
        late: bool = False,
    ) -> DataFrame:
        """Move rows by key, and let one task have all rows of a key."""
        failures.install()
        frame, settings, _ = self._read(board._settings, board._queries)
        names = list(scheme.schema.names) if whole or scheme.kind == "delta" else _columns(scheme)
        kept = scheme if names == list(scheme.schema.names) else _narrowed(scheme, names)
        keys = [spark_column(key if isinstance(key, Foreign) else bind(key, names)) for key in settings.key]
        placed = _numbered(frame.repartition(*keys) if keys else frame.repartition(1), names)

        def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            begin()
            operator = Operator(kept, slicer, emit=emit, starts=starts, arrival=False)
            operator.unmoved()
            for table in _gathered(batches, kept.schema, None if emit == "updates" else GATHERED):
                pushed = operator.push(table)
                if pushed.num_rows:
                    yield from _told(with_late(pushed, _given(operator.late())) if late else pushed, schema)
            yield from _told(found(operator), schema)

        return placed.mapInArrow(work, from_arrow_schema(schema))

    def _by_partials(self, board: Any, operator: Operator) -> DataFrame:
        """Fold rows where they are, move partials by key, and answer windows there."""
        failures.install()
        frame, _, _ = self._read(board._settings, board._queries)
        names = _columns(operator.scheme)
        scheme, slicer = _narrowed(operator.scheme, names), operator.slicer
        emit, starts, answers = operator.emit, operator.with_starts, operator.answer_schema
        partials = Operator(scheme, slicer).partials().schema

        def fold(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            begin()
            operator = Operator(scheme, slicer)
            operator.unmoved()
            for table in _gathered(batches, scheme.schema, GATHERED):
                operator.push(table)
            yield from _told(operator.partials(), partials)

        def answer(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            begin()
            operator = Operator(scheme, slicer, emit=emit, starts=starts)
            operator.unmoved()
            tables = [_as_schema(batch, partials) for batch in batches]
            if tables:
                operator.take(pa.concat_tables(tables))
            yield from _told(operator.close(), answers)

        folded = _numbered(frame, names).mapInArrow(fold, from_arrow_schema(partials))
        keys = [F.col(quoted(name)) for name in partials.names if name.startswith("key ")]
        return (folded.repartition(*keys) if keys else folded.repartition(1)).mapInArrow(
            answer, from_arrow_schema(answers)
        )


def _columns(scheme: Scheme) -> list[str]:
    """The columns that the queries, the key and the time are made of."""
    wanted = set(scheme.needed)
    for each in (*scheme.settings.key, *([scheme.settings.time] if scheme.settings.time is not None else [])):
        wanted |= check_names(each, scheme.schema.names)
    return [name for name in scheme.schema.names if name in wanted]


def _narrowed(scheme: Scheme, names: list[str]) -> Scheme:
    return replace(scheme, schema=pa.schema([scheme.schema.field(name) for name in names]))


def _numbered(frame: DataFrame, names: list[str]) -> DataFrame:
    """These columns under names that need no care: PySpark looks columns up by name, and takes a dot for a field."""
    columns = [F.col(quoted(name)).alias(f"c{place}") for place, name in enumerate(names)]
    return frame.select(*(columns or [F.lit(True).alias("c0")]))


def _given(aside: pa.Table) -> pa.Table:
    """Rows set aside, without the columns that were computed."""
    return aside.drop_columns([name for name in aside.column_names if name.startswith(COMPUTED)])


def _gathered(batches: Iterator[pa.RecordBatch], schema: pa.Schema, rows: int | None) -> Iterator[pa.Table]:
    """Batches put together to tables of so many rows, or to one: what is pushed costs as much as the state, too."""
    tables, count = [], 0
    for batch in batches:
        tables.append(_as_schema(batch, schema))
        count += batch.num_rows
        if rows is not None and count >= rows:
            yield pa.concat_tables(tables)
            tables, count = [], 0
    if tables:
        yield pa.concat_tables(tables)


def _as_schema(batch: pa.RecordBatch, schema: pa.Schema) -> pa.Table:
    """A batch as Spark gives it, with the types that were told; they differ in whether NULL is allowed, or in zones."""
    columns = [batch.column(k) for k in range(len(schema))]
    kinds = zip(columns, schema.types, strict=True)
    return pa.table([column if column.type == kind else column.cast(kind) for column, kind in kinds], schema.names)


def _told(table: pa.Table, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    columns = zip(table.columns, schema.types, strict=True)
    told = [column if column.type == kind else column.cast(kind) for column, kind in columns]
    yield from pa.table(told, schema.names).to_batches(max_chunksize=1 << 16)


def _refuse_unknown(answers: pa.Schema) -> None:
    for field in answers:
        if pa.types.is_null(field.type):
            raise SashError(
                f"{field.name}: Spark must know the type of the answer, which here only the rows would tell"
            )
