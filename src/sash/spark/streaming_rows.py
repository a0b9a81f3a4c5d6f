"""Window expressions on the rows of a streaming DataFrame: shards of keys keep rows until they leave."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F

from sash import options
from sash.engine.columns_read import checked, rewritten
from sash.engine.composing import narrowing
from sash.engine.row_streams.answer_stream import stage_of
from sash.engine.row_streams.row_operator import RowOperator
from sash.engine.row_streams.row_scheme import FINAL, RowScheme
from sash.engine.row_streams.row_shards import RowShardPlan
from sash.engine.streams.settings import settings_of
from sash.engine.streams.sources import with_late
from sash.errors import SashError
from sash.expressions.binding import bind
from sash.expressions.columns import Expression, Foreign, Name
from sash.expressions.naming import quoted
from sash.spark import failures
from sash.spark.batch_boards import Read
from sash.spark.columns_read import arrow_types, is_plain, spark_column
from sash.spark.others import names_of
from sash.spark.passing import COMPUTED, numbered, refuse_unknown, shown
from sash.spark.shards import Sent
from sash.spark.streaming_boards import UNMARKED, StreamingSource, by_shards, need_protobuf
from sash.spark.task_names import window_task
from sash.windows.over import Over

LATE = "late"
BEHIND = "rows leave behind the watermark, once it has passed what follows them in their frames"


def with_columns(frame: DataFrame, columns: Mapping[str, Any], watermark: Any, emit: str, late: bool) -> DataFrame:
    """The rows of a streaming DataFrame as they leave, with a column for each expression."""
    whole = stage_of(columns, frame.columns)
    out = answered(frame, whole.stages[0], watermark, emit, late)
    if whole.is_plain:
        return out
    computed = {name: spark_column(bind(column, out.columns)) for name, column in whole.columns.items()}
    if late:  # a row that was set aside has no answers, whatever is computed of them
        computed = {name: F.when(F.col(LATE).isNull(), column) for name, column in computed.items()}
    out = out.withColumns(computed).drop(*whole.answers)
    return out.select(*(name for name in out.columns if name != LATE), LATE) if late else out


def select(frame: DataFrame, columns: Iterable[Any]) -> DataFrame:
    """These columns alone of the rows of a streaming DataFrame; it must have a watermark."""
    narrow = narrowing(columns, frame.columns)
    out = with_columns(frame, narrow.computed, None, FINAL, late=False) if narrow.computed else frame
    return out.select(*(F.col(quoted(source)).alias(name) for source, name in narrow.names))


def answered(frame: DataFrame, columns: Mapping[str, Over], watermark: Any, emit: str, late: bool) -> DataFrame:
    """The rows as they leave, with a column for each window expression."""
    need_protobuf()
    failures.foresee(frame.sparkSession)
    asked = checked(columns, frame.columns, names_of)
    inputs = _Computed(frame)
    overs = {name: rewritten(over, inputs.named) for name, over in asked.items()}
    wide = frame.withColumns(inputs.columns) if inputs.columns else frame
    schema = _schema(wide)
    first = next(iter(asked.values())).window
    source = StreamingSource(frame)
    settings = settings_of(None, None, watermark, None, None)
    settings = replace(settings, time=first.order[0].column if first.order else None)
    delay = source.delay_of(settings) if first.order else None
    rows = RowScheme(schema, overs, delay, emit)
    refuse_unknown(rows.answers)
    source.need_rocksdb()
    ticks = rows.stream.delay
    assert ticks is not None
    emitted = rows.answers
    if late:
        emitted = with_late(emitted.empty_table(), shown(RowOperator(rows).late())).schema
    shards = source.shard_count() if rows.key else 1
    plan = RowShardPlan(rows, shards, tuple((name, str(over)) for name, over in asked.items()))
    marked = source.watermarked(Read(wide, replace(settings, time=rows.time), (), {}), ticks)
    body = Sent(plan, ticks, late, options.asked_memory()).packed()
    out = by_shards(numbered(marked, schema.names), body, emitted, next(iter(asked)), partial(window_task, asked))
    out = out.drop(*inputs.columns)
    if is_plain(rows.time) and str(rows.time) in out.columns:
        out = out.withMetadata(str(rows.time), {UNMARKED: BEHIND})
    return out


class _Computed:
    """What Spark computes before rows go to their shards: all that is more than a column as it is."""

    def __init__(self, frame: DataFrame) -> None:
        self.names = list(frame.columns)
        self.columns: dict[str, Column] = {}
        self._known: dict[Any, str] = {}

    def named(self, expression: Expression) -> Expression:
        """The column that stands for an expression."""
        if not isinstance(expression, Foreign):
            if not expression.paths:
                return expression
            expression = bind(expression, self.names)
            if is_plain(expression):
                return expression
        if expression.key not in self._known:
            name = COMPUTED + hashlib.sha256(str(expression).encode()).hexdigest()[:12]
            while name in self.columns:  # two columns may look alike
                name += "_"
            self._known[expression.key] = name
            self.columns[name] = spark_column(expression)
        return Name((self._known[expression.key],))


def _schema(frame: DataFrame) -> pa.Schema:
    """The columns of the frame as workers receive them; all of them pass."""
    again = [name for name in frame.columns if frame.columns.count(name) > 1]
    if again:
        raise SashError(f"columns of a stream must have names of their own, got {again[0]!r} twice")
    schema = arrow_types(frame)
    if missing := [name for name in frame.columns if name not in schema.names]:
        dtype = frame.schema[missing[0]].dataType.simpleString()
        raise SashError(f"{missing[0]} is of type {dtype}, which does not pass through Arrow; drop or cast it")
    return schema
