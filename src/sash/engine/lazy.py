"""LazyFrames of polars: answered when they are collected; what cannot be asked is refused at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from sash.engine import adding
from sash.expressions.columns import Column
from sash.libraries import is_lazy


def added(frame: Any, columns: Mapping[str, Column]) -> Any:
    """The LazyFrame with a column for each expression."""
    return deferred(frame, partial(adding.add, columns=columns))


def selected(frame: Any, columns: Iterable[Any]) -> Any:
    """The LazyFrame of these columns alone."""
    return deferred(frame, partial(adding.select, columns=tuple(columns)))


def deferred(frame: Any, work: Callable[[Any], Any]) -> Any:
    """The LazyFrame of what some work makes of the rows; it is tried on no rows, which also gives the types."""
    schema = frame.collect_schema()
    return frame.map_batches(work, schema=work(schema.to_frame()).schema)


def collected(frame: Any) -> Any:
    """The frame, in memory."""
    return frame.collect() if is_lazy(frame) else frame
