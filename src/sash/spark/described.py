"""DataFrames whose columns the user names, for where Spark may not be asked: query functions of Declarative Pipelines.

Spark refuses there whatever analyses a frame. So names and types are those that are given, types of expressions are
found by Arrow, and columns are cast to what was given.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from pyspark.errors import AnalysisException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import to_arrow_schema
from pyspark.sql.types import StructType

from sash.errors import SashError
from sash.expressions.arrow.casting import TYPES
from sash.expressions.columns import Expression, Foreign
from sash.expressions.evaluation import infer
from sash.expressions.naming import quoted
from sash.expressions.spark_names import type_name

FORBIDDEN = ("ATTEMPT_ANALYSIS_IN_PIPELINE_QUERY_FUNCTION", "not allowed in pipeline query functions")
TAKES = 'a pyarrow Schema, a StructType or text such as "k bigint, at timestamp, v double"'
FIELD = re.compile(r"\s*(`(?:[^`]|``)+`|\w+)\s*[\s:]\s*(\w+(?:\s*\([\d\s,]*\))?)\s*")


@contextmanager
def told_of_pipelines(remedy: str) -> Iterator[None]:
    """Let the error of Spark that forbids to look at a frame say what to write."""
    try:
        yield
    except AnalysisException as error:
        if not any(words in str(error) for words in FORBIDDEN):
            raise
        raise SashError(f"Spark forbids to look at a DataFrame in a query function of a pipeline; {remedy}") from None


@dataclass(frozen=True)
class DescribedFrame:
    """A DataFrame, the names of its columns as far as they are known, and the types of those that were given."""

    frame: Any
    given: pa.Schema
    columns: list[str]

    isStreaming = False

    @property
    def sparkSession(self) -> Any:
        """The session of the frame."""
        return self.frame.sparkSession

    def type_of(self, expression: Expression) -> pa.DataType:
        """The type of an expression over the columns that were given."""
        if isinstance(expression, Foreign):
            raise SashError(
                f"with schema= nothing tells the type of a column of PySpark, got {expression}; write it with sash.col"
            )
        return infer(expression, self.given)

    def withColumn(self, name: str, column: Column) -> DescribedFrame:
        """The frame with one column more."""
        return self.withColumns({name: column})

    def withColumns(self, columns: Mapping[str, Column]) -> DescribedFrame:
        """The frame with some columns more."""
        names = [*self.columns, *(name for name in columns if name not in self.columns)]
        return replace(self, frame=self.frame.withColumns(dict(columns)), columns=names)

    def repartition(self, *by: Any) -> DescribedFrame:
        """The frame with its rows moved."""
        return replace(self, frame=self.frame.repartition(*by))

    def drop(self, *names: str) -> DescribedFrame:
        """The frame without some columns, said in SQL: what ``drop`` says has the server look at the frame."""
        if not names:
            return self
        left = [name for name in self.columns if name not in names]
        rest = F.expr(f"* except ({', '.join(map(quoted, names))})")
        return replace(self, frame=self.frame.select(rest), columns=left)


def described(frame: DataFrame, schema: Any) -> DescribedFrame:
    """The frame with the columns that are given for it."""
    if _is_stream(frame):
        raise SashError("schema= is for batch DataFrames, got a streaming one")
    given = as_schema(schema, frame.sparkSession.conf.get("spark.sql.session.timeZone") or "UTC")
    return DescribedFrame(frame, given, list(given.names))


def as_schema(schema: Any, zone: str) -> pa.Schema:
    """A schema as Arrow has it.

    >>> as_schema("k long, price decimal(10, 2)", "UTC")
    k: int64
    price: decimal128(10, 2)
    """
    if isinstance(schema, pa.Schema):
        return schema
    if isinstance(schema, StructType):
        return to_arrow_schema(schema, timezone=zone)
    if not isinstance(schema, str):
        raise SashError(f"schema must be {TAKES}, got {schema!r} of type {type(schema).__name__}")
    fields, at = [], 0
    while match := FIELD.match(schema, at):
        name = match[1][1:-1].replace("``", "`") if match[1][0] == "`" else match[1]
        fields.append((name, _type(match[2], schema, zone)))
        at = match.end()
        if at == len(schema) or schema[at] != ",":
            break
        at += 1
    if at != len(schema):
        raise SashError(f"schema must be {TAKES}, got {schema!r}")
    return pa.schema(fields)


def _type(text: str, schema: str, zone: str) -> pa.DataType:
    try:
        name = type_name(text)
    except (SashError, ValueError, KeyError):
        raise SashError(f"schema must be {TAKES}, got {text!r} in {schema!r}") from None
    if name == "timestamp":
        return pa.timestamp("us", zone)
    if name.startswith("decimal("):
        return pa.decimal128(*map(int, name[len("decimal(") : -1].split(",")))
    return TYPES[name]


def _is_stream(frame: Any) -> bool:
    """Whether a plan of Spark Connect reads a stream, by its messages; those of other sessions may be asked."""
    plan = getattr(frame, "_plan", None)
    if plan is None:
        return bool(frame.isStreaming)
    return _reads_stream(plan.plan(frame.sparkSession.client))


def _reads_stream(message: Any) -> bool:
    if message.DESCRIPTOR.name == "Read" and message.is_streaming:
        return True
    for field, value in message.ListFields():
        if field.message_type is None or field.message_type.GetOptions().map_entry:
            continue
        values = [value] if hasattr(value, "DESCRIPTOR") else value
        if any(_reads_stream(each) for each in values):
            return True
    return False
