"""Orders: by which column, in which direction, and where the NULLs go."""

from __future__ import annotations

import re
from typing import Any

from sash.errors import SashError
from sash.expressions.columns import Column, Foreign, Order, as_column
from sash.libraries import is_pyspark

_TEXT = re.compile(
    r"\s*(?P<name>`(?:[^`]|``)+`|.*?)(?:\s+(?P<way>asc|desc))?(?:\s+nulls\s+(?P<nulls>first|last))?\s*",
    re.IGNORECASE | re.DOTALL,
)
_MARKED = re.compile(r" (ASC|DESC) NULLS (FIRST|LAST)'>$")


def asc(column: Any) -> Order:
    """Ascending, NULLs first."""
    return Order(_column(column), descending=False, nulls_first=True)


def desc(column: Any) -> Order:
    """Descending, NULLs last."""
    return Order(_column(column), descending=True, nulls_first=False)


def asc_nulls_first(column: Any) -> Order:
    """Ascending, NULLs first."""
    return Order(_column(column), descending=False, nulls_first=True)


def asc_nulls_last(column: Any) -> Order:
    """Ascending, NULLs last."""
    return Order(_column(column), descending=False, nulls_first=False)


def desc_nulls_first(column: Any) -> Order:
    """Descending, NULLs first."""
    return Order(_column(column), descending=True, nulls_first=True)


def desc_nulls_last(column: Any) -> Order:
    """Descending, NULLs last."""
    return Order(_column(column), descending=True, nulls_first=False)


def as_order(thing: Any) -> Order:
    """What an argument of ``order_by`` means.

    >>> as_order("price desc"), as_order("`unit price` ASC nulls last")
    (price desc, `unit price` nulls last)
    """
    if isinstance(thing, Order):
        return thing
    if not isinstance(thing, str):
        return asc(thing)
    match = _TEXT.fullmatch(thing)
    if not match or not match["name"]:
        raise SashError(f"an order is a column such as 'price', 'price desc' or 'price desc nulls last', got {thing!r}")
    name = match["name"]
    if name.startswith("`") and name.endswith("`") and len(name) > 1:
        name = name[1:-1].replace("``", "`")
    descending = (match["way"] or "").lower() == "desc"
    nulls_first = match["nulls"].lower() == "first" if match["nulls"] else not descending
    return Order(as_column(name), descending, nulls_first)


def _column(thing: Any) -> Column | Foreign:
    if is_pyspark(thing, "WindowSpec"):
        raise SashError(
            "a PySpark WindowSpec cannot be looked into; write sash.Window, which has the same methods, "
            "and order by sash.functions.desc(...)"
        )
    if isinstance(thing, Order):
        raise SashError(f"this is an order already, got {thing!r}; give its column")
    if not isinstance(thing, str | Column | Foreign) and not is_pyspark(thing, "Column"):
        raise SashError(
            "an order is a column's name, sash.col(...), or sash.functions.asc or desc of one, "
            f"got {thing!r} of type {type(thing).__name__}"
        )
    column = as_column(thing)
    if isinstance(column, Foreign) and _MARKED.search(str(column.column)):
        raise SashError(
            f"the order inside a PySpark column cannot be seen without the JVM, got {column!r}; "
            "write sash.functions.desc(...) or sash.functions.asc(...)"
        )
    return column
