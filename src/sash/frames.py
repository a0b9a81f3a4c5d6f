"""Window functions on frames: ``sash.withColumns`` and ``sash.explain``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from sash.errors import SashError
from sash.libraries import is_lazy, is_spark, library_of

if TYPE_CHECKING:
    from sash.expressions import Column
    from sash.planner import Plan
    from sash.sql.query_plan import QueryPlan

Frame = TypeVar("Frame")


def withColumns(
    frame: Frame,
    columns: Mapping[str, Column],
    *,
    watermark: Any = None,
    emit: str = "final",
    late: bool = False,
    schema: Any = None,
) -> Frame:
    """Add a column for each expression; the same kind of frame comes back.

    On a stream each row leaves once, with its answers, when the watermark has passed its time and what follows it in
    its frames. A stream is a streaming DataFrame of Spark; an iterator or a list of Arrow batches, of which an
    iterator of Arrow tables comes back; or a pyarrow Schema, for an operator that batches are pushed through.

    Args:
        frame: a Spark DataFrame, a pyarrow Table, a pandas DataFrame, a polars DataFrame or LazyFrame, or a stream.
        columns: names and expressions, such as ``sf.median("price").over(window)``, or what is computed of such
            answers. All of them read the frame as it is; answers that several need are computed once.
        watermark: for a stream: how far behind the latest row others may be, such as ``"10 seconds"``. Without one
            rows of an iterator leave at its end; a streaming DataFrame may have its own, by ``withWatermark``.
        emit: for a stream: ``"final"``, or ``"early"``: each row leaves as it comes, with answers from the rows that
            are there, and is never corrected.
        late: for a stream: add rows for what was set aside, with the reason, in a column ``late``.
        schema: for a Spark DataFrame that nothing may look at, as in the query functions of Declarative Pipelines:
            the columns that the expressions read, as a pyarrow Schema, a StructType or ``"k bigint, v double"``.

    >>> import pyarrow as pa
    >>> from sash import Window, col, functions as sf
    >>> trades = pa.table({"at": [1, 2, 3, 4], "price": [5.0, 7.0, 6.0, 9.0]})
    >>> last_three = Window.orderBy("at").rowsBetween(-2, Window.currentRow)
    >>> out = withColumns(trades, {"median": sf.median("price").over(last_three)})
    >>> out["median"].to_pylist()
    [5.0, 6.0, 6.0, 7.0]
    >>> off = col("price") - sf.avg("price").over(last_three)
    >>> withColumns(trades, {"off": off.round(2)})["off"].to_pylist()
    [0.0, 1.0, 0.0, 1.67]

    """
    if not isinstance(late, bool):
        raise SashError(f"late must be True or False, got {late!r}")
    if is_spark(frame):
        from sash.spark import dataframes

        if schema is None and dataframes.is_streaming(frame):
            return cast(Frame, dataframes.answer_stream(frame, columns, watermark, emit, late))
    elif _is_stream(frame):
        from sash.engine.row_streams.answer_stream import answer_stream

        return cast(Frame, answer_stream(frame, cast(Any, columns), watermark, emit, late))
    given = {"watermark": watermark is not None, "emit": emit != "final", "late": late}
    if some := [name for name, is_given in given.items() if is_given]:
        raise SashError(f"{some[0]} is for streams: a streaming DataFrame, an iterator of Arrow batches or a pyarrow "
                        f"Schema, got it with a {type(frame).__name__}")  # fmt: skip
    if is_spark(frame):
        return cast(Frame, dataframes.with_columns(frame, columns, schema))
    if schema is not None:
        raise SashError(f"schema is for Spark DataFrames, got it with a {type(frame).__name__}")
    from sash.engine import adding, lazy

    return cast(Frame, lazy.added(frame, columns) if is_lazy(frame) else adding.add(frame, columns))


def select(frame: Frame, *columns: Any) -> Frame:
    """The frame of these columns alone, in this order; the same kind of frame comes back.

    Args:
        frame: a Spark DataFrame, a pyarrow Table, a pandas DataFrame, a polars DataFrame or LazyFrame; a streaming
            DataFrame that has a watermark.
        columns: names of columns ("*" for all), expressions with ``alias``, or names and expressions as for
            ``withColumns``.

    >>> import pyarrow as pa
    >>> from sash import Window, col, functions as sf
    >>> trades = pa.table({"at": [1, 2, 3], "price": [5.0, 7.0, 6.0]})
    >>> mean = sf.avg("price").over(Window.orderBy("at"))
    >>> select(trades, "at", (col("price") - mean).alias("off"), {"mean": mean}).to_pylist()[2]
    {'at': 3, 'off': 0.0, 'mean': 6.0}

    """
    if is_spark(frame):
        from sash.spark import dataframes

        return cast(Frame, dataframes.select(frame, columns))
    from sash.engine import adding, lazy

    return cast(Frame, lazy.selected(frame, columns) if is_lazy(frame) else adding.select(frame, columns))


def _is_stream(frame: Any) -> bool:
    """Whether rows come in batches, one after the other, or are to be pushed by hand."""
    if library_of(frame) == "pyarrow":
        return type(frame).__name__ in ("Schema", "RecordBatchReader")
    return isinstance(frame, (list, tuple, Iterator))


def explain(frame: Any, columns: Any = None, *, args: Any = None, spark: Any = None, **tables: Any) -> Plan | QueryPlan:
    """Say how ``withColumns`` would answer, or ``sash.sql``: sorts, frames, algorithms, and why these.

    Args:
        frame: a frame, or a query as text.
        columns: names and expressions, for a frame.
        args: values for the parameters of a query, as for ``sash.sql``.
        spark: the session of a query, as for ``sash.sql``.
        tables: the tables of a query.

    >>> import pyarrow as pa
    >>> from sash import Window, functions as sf
    >>> trades = pa.table({"at": [1, 2, 3, 4], "price": [5.0, 7.0, 6.0, 9.0]})
    >>> so_far = Window.orderBy("at")
    >>> explain(trades, {"best": sf.max("price").over(so_far)}).chosen
    {'best': 'two_stacks'}

    """
    if isinstance(frame, str):
        from sash.sql.entry import explain as explain_query

        return explain_query(frame, columns if args is None else args, spark=spark, **tables)
    if is_spark(frame):
        from sash.spark import dataframes

        return dataframes.explain(frame, columns)
    from sash.engine import adding, lazy

    return adding.explain(lazy.collected(frame), columns)
