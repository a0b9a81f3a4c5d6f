"""Window functions on frames: ``sash.withColumns`` and ``sash.explain``."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from sash.errors import SashError
from sash.libraries import is_spark, library_of

if TYPE_CHECKING:
    from sash.algebra import Over
    from sash.planner import Plan
    from sash.sql.plan import QueryPlan

Frame = TypeVar("Frame")


def withColumns(
    frame: Frame, columns: Mapping[str, Over], *, watermark: Any = None, emit: str = "final", late: bool = False
) -> Frame:
    """Add a column for each window expression; the same kind of frame comes back.

    On a stream each row leaves once, with its answers, when the watermark has passed its time and what follows it in
    its frames. A stream is a streaming DataFrame of Spark; an iterator or a list of Arrow batches, of which an
    iterator of Arrow tables comes back; or a pyarrow Schema, for an operator that batches are pushed through.

    Args:
        frame: a Spark DataFrame, a pyarrow Table, a pandas or a polars DataFrame, or a stream.
        columns: names and expressions, such as ``sf.median("price").over(window)``.
        watermark: for a stream: how far behind the latest row others may be, such as ``"10 seconds"``. Without one
            rows of an iterator leave at its end; a streaming DataFrame may have its own, by ``withWatermark``.
        emit: for a stream: ``"final"``, or ``"early"``: each row leaves as it comes, with answers from the rows that
            are there, and is never corrected.
        late: for a stream: add rows for what was set aside, with the reason, in a column ``late``.

    >>> import pyarrow as pa
    >>> from sash import Window, functions as sf
    >>> trades = pa.table({"at": [1, 2, 3, 4], "price": [5.0, 7.0, 6.0, 9.0]})
    >>> last_three = Window.orderBy("at").rowsBetween(-2, Window.currentRow)
    >>> out = withColumns(trades, {"median": sf.median("price").over(last_three)})
    >>> out["median"].to_pylist()
    [5.0, 6.0, 6.0, 7.0]

    """
    if not isinstance(late, bool):
        raise SashError(f"late must be True or False, got {late!r}")
    if is_spark(frame):
        from sash.spark import frames

        if frames.is_streaming(frame):
            return cast(Frame, frames.answer_stream(frame, columns, watermark, emit, late))
    elif _is_stream(frame):
        from sash.engine.row_streams.batches import answer_stream

        return cast(Frame, answer_stream(frame, columns, watermark, emit, late))
    given = {"watermark": watermark is not None, "emit": emit != "final", "late": late}
    if some := [name for name, is_given in given.items() if is_given]:
        raise SashError(f"{some[0]} is for streams: a streaming DataFrame, an iterator of Arrow batches or a pyarrow "
                        f"Schema, got it with a {type(frame).__name__}")  # fmt: skip
    if is_spark(frame):
        return cast(Frame, frames.with_columns(frame, columns))
    from sash.engine.evaluating import evaluate

    return evaluate(frame, columns)


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
        from sash.sql.running import explain as explain_query

        return explain_query(frame, columns if args is None else args, spark=spark, **tables)
    if is_spark(frame):
        from sash.spark import frames

        return frames.explain(frame, columns)
    from sash.engine.evaluating import explain

    return explain(frame, columns)
