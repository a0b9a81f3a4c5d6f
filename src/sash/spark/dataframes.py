"""Frames of PySpark, in and out: DataFrames, classic and Connect, and those of the pandas API."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from sash.errors import SashError
from sash.expressions import Column
from sash.libraries import is_pandas_on_spark
from sash.planner import Plan
from sash.spark import composed_columns
from sash.spark.described import told_of_pipelines

if TYPE_CHECKING:
    from sash.engine.streams.sources import Source


def with_columns(frame: Any, columns: Mapping[str, Column], schema: Any = None) -> Any:
    """The frame with a column for each window expression."""
    if not is_pandas_on_spark(frame):
        return composed_columns.with_columns(frame, columns, schema)
    if schema is not None:
        raise SashError("schema= is for Spark DataFrames, got a frame of the pandas API")
    spark, index = _with_index(frame)
    out = composed_columns.with_columns(spark, columns).pandas_api(index_col=index)
    out.index.names = frame.index.names
    return out


def select(frame: Any, columns: Iterable[Any]) -> Any:
    """A frame of these columns alone; of the pandas API, with the index that it has."""
    if is_streaming(frame):
        from sash.spark import streaming_rows

        return streaming_rows.select(frame, columns)
    if not is_pandas_on_spark(frame):
        return composed_columns.select(frame, columns)
    spark, index = _with_index(frame)
    wanted = [*index, *(_all_but(index, spark) if isinstance(each, str) and each == "*" else each for each in columns)]
    out = composed_columns.select(spark, wanted).pandas_api(index_col=index)
    out.index.names = frame.index.names
    return out


def explain(frame: Any, columns: Mapping[str, Column]) -> Plan:
    """How the frame would be answered."""
    return composed_columns.explain(_with_index(frame)[0] if is_pandas_on_spark(frame) else frame, columns)


def is_streaming(frame: Any) -> bool:
    """Whether the rows of a frame are the batches of Structured Streaming."""
    with told_of_pipelines("give withColumns the columns that it reads, such as schema='k bigint, at timestamp'"):
        return not is_pandas_on_spark(frame) and bool(frame.isStreaming)


def answer_stream(frame: Any, columns: Mapping[str, Column], watermark: Any, emit: str, late: bool) -> Any:
    """The rows of a streaming DataFrame as they leave, with a column for each expression."""
    from sash.spark import streaming_rows

    return streaming_rows.with_columns(frame, columns, watermark, emit, late)


def stream_source(frame: Any) -> Source:
    """What a stream reads of a frame: rows that are there, or the batches of Structured Streaming."""
    with told_of_pipelines("sash.stream has to, so that it must be a query of its own"):
        is_streaming = frame.isStreaming
    if is_streaming:
        from sash.spark.streaming_boards import StreamingSource

        return StreamingSource(frame)
    from sash.spark.batch_boards import SparkSource

    return SparkSource(frame)


def _all_but(index: list[str], frame: Any) -> list[str]:
    return [name for name in frame.columns if name not in index]


def _with_index(frame: Any) -> tuple[Any, list[str]]:
    """The frame of the pandas API as a Spark DataFrame, and the columns in which it has the index."""
    for name, dtype in frame.dtypes.items():
        if str(dtype) == "category":
            raise SashError(f"the column {name!r} is categorical, of which Spark has the codes alone; cast it to str")
    known = {str(name) for name in frame.columns}
    names = [
        name if isinstance(name, str) and name not in known else f"__sash_index_{level}"
        for level, name in enumerate(frame.index.names)
    ]
    return frame.to_spark(index_col=names), names
