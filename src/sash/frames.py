"""Window functions on frames: ``sash.withColumns`` and ``sash.explain``."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from sash.algebra import Over
    from sash.planner import Plan

Frame = TypeVar("Frame")


def withColumns(frame: Frame, columns: Mapping[str, Over]) -> Frame:
    """Add a column for each window expression; the same kind of frame comes back.

    Args:
        frame: a pyarrow Table, a pandas or a polars DataFrame.
        columns: names and expressions, such as ``sf.median("price").over(window)``.

    >>> import pyarrow as pa
    >>> from sash import Window, functions as sf
    >>> trades = pa.table({"at": [1, 2, 3, 4], "price": [5.0, 7.0, 6.0, 9.0]})
    >>> last_three = Window.orderBy("at").rowsBetween(-2, Window.currentRow)
    >>> out = withColumns(trades, {"median": sf.median("price").over(last_three)})
    >>> out["median"].to_pylist()
    [5.0, 6.0, 6.0, 7.0]

    """
    from sash.engine.evaluating import evaluate

    return evaluate(frame, columns)


def explain(frame: Any, columns: Mapping[str, Over]) -> Plan:
    """Say how ``withColumns`` would answer: sorts, frames, algorithms, and why these.

    >>> import pyarrow as pa
    >>> from sash import Window, functions as sf
    >>> trades = pa.table({"at": [1, 2, 3, 4], "price": [5.0, 7.0, 6.0, 9.0]})
    >>> so_far = Window.orderBy("at")
    >>> explain(trades, {"best": sf.max("price").over(so_far)}).chosen
    {'best': 'two_stacks'}
    """
    from sash.engine.evaluating import explain

    return explain(frame, columns)
