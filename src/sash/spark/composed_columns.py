"""Expressions of answers on Spark: answers are columns for a while, of which Spark computes the expressions."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, cast

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sash.engine.composing import composition, narrowing
from sash.expressions.binding import bind
from sash.expressions.columns import Column
from sash.expressions.naming import quoted
from sash.planner import Plan
from sash.spark import batch
from sash.spark.columns_read import spark_column
from sash.spark.described import described


def with_columns(frame: DataFrame, columns: Mapping[str, Column], schema: Any = None) -> DataFrame:
    """The frame with a column for each expression; of a schema that is given, nothing of the frame is looked at."""
    if schema is not None:
        out: DataFrame = _with_columns(described(frame, schema), columns).frame
        return out
    return cast(DataFrame, _with_columns(frame, columns))


def _with_columns(frame: Any, columns: Mapping[str, Column]) -> Any:
    whole = composition(columns, frame.columns)
    out = frame
    for stage in whole.stages:
        out = batch.with_columns(out, stage)
    if whole.is_plain:
        return out
    computed = {name: spark_column(bind(column, out.columns)) for name, column in whole.columns.items()}
    return out.withColumns(computed).drop(*whole.answers)


def select(frame: DataFrame, columns: Iterable[Any]) -> DataFrame:
    """A frame of these columns alone."""
    narrow = narrowing(columns, frame.columns)
    out = with_columns(frame, narrow.computed) if narrow.computed else frame
    return out.select(*(F.col(quoted(source)).alias(name) for source, name in narrow.names))


def explain(frame: DataFrame, columns: Mapping[str, Column]) -> Plan:
    """The plan; reads the first rows of the frame."""
    whole = composition(columns, frame.columns)
    if whole.is_plain:
        return batch.explain(frame, whole.stages[0])
    plans, out = [], frame
    for stage in whole.stages:
        plans.append(batch.explain(out, stage))
        out = batch.with_columns(out, stage)
    return whole.plan(plans or [batch.explain(frame, {})])
