"""Frames of PySpark, in and out: DataFrames, classic and Connect, and those of the pandas API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sash.algebra import Over
from sash.planner import Plan
from sash.spark import batch, explaining


def with_columns(frame: Any, columns: Mapping[str, Over]) -> Any:
    """The frame with a column for each window expression."""
    if not _is_pandas(frame):
        return batch.with_columns(frame, columns)
    spark, index = _with_index(frame)
    out = batch.with_columns(spark, columns).pandas_api(index_col=index)
    out.index.names = frame.index.names
    return out


def explain(frame: Any, columns: Mapping[str, Over]) -> Plan:
    """How the frame would be answered."""
    return explaining.explain(_with_index(frame)[0] if _is_pandas(frame) else frame, columns)


def _is_pandas(frame: Any) -> bool:
    return type(frame).__module__.startswith("pyspark.pandas.")


def _with_index(frame: Any) -> tuple[Any, list[str]]:
    """The frame of the pandas API as a Spark DataFrame, and the columns in which it has the index."""
    known = {str(name) for name in frame.columns}
    names = [
        name if isinstance(name, str) and name not in known else f"__sash_index_{level}"
        for level, name in enumerate(frame.index.names)
    ]
    return frame.to_spark(index_col=names), names
