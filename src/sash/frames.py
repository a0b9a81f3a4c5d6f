"""Window functions on frames: ``sash.withColumns`` and ``sash.explain``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar, cast

from sash.libraries import is_spark

if TYPE_CHECKING:
    from sash.algebra import Over
    from sash.planner import Plan
    from sash.sql.plan import QueryPlan

Frame = TypeVar("Frame")


def withColumns(frame: Frame, columns: Mapping[str, Over]) -> Frame:
    """Add a column for each window expression; the same kind of frame comes back.

    Args:
        frame: a Spark DataFrame, a pyarrow Table, a pandas or a polars DataFrame.
        columns: names and expressions, such as ``sf.median("price").over(window)``.

    >>> import pyarrow as pa
    >>> from sash import Window, functions as sf
    >>> trades = pa.table({"at": [1, 2, 3, 4], "price": [5.0, 7.0, 6.0, 9.0]})
    >>> last_three = Window.orderBy("at").rowsBetween(-2, Window.currentRow)
    >>> out = withColumns(trades, {"median": sf.median("price").over(last_three)})
    >>> out["median"].to_pylist()
    [5.0, 6.0, 6.0, 7.0]

    """
    if is_spark(frame):
        from sash.spark import frames

        return cast(Frame, frames.with_columns(frame, columns))
    from sash.engine.evaluating import evaluate

    return evaluate(frame, columns)


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
