"""The window expressions that a user gave, checked against the names of a frame's columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from sash.algebra import Call, Over
from sash.engine.reading import expressions_of
from sash.errors import SashError
from sash.expressions.binding import check_names
from sash.expressions.orders import as_order
from sash.libraries import is_pyspark
from sash.windows import as_window


def checked(columns: Mapping[str, Over], names: Sequence[str]) -> dict[str, Over]:
    """The expressions, with windows that are whole; raises where something is not what it should be."""
    if not isinstance(columns, Mapping):
        raise SashError(f"columns must map names to window expressions, got {type(columns).__name__}")
    found: dict[str, Over] = {}
    for name, over in columns.items():
        if not isinstance(name, str) or not name:
            raise SashError(f"the name of a column must be a non-empty string, got {name!r}")
        if not isinstance(over, Over):
            raise SashError(f'{name} must be such as sf.max("load").over(window), got {over!r}{_hint(over)}')
        if names.count(name) > 1:
            raise SashError(f"the column {name!r} cannot be replaced: there are {names.count(name)} of that name")
        found[name] = replace(over, window=as_window(over.window).checked())
        for order in (*found[name].window.order, *map(as_order, over.call.order)):
            _check_order(order, names)
        for expression in expressions_of(found[name]):
            check_names(expression, names)
    return found


def _hint(thing: Any) -> str:
    if isinstance(thing, Call):
        return "; .over(window) is missing"
    if is_pyspark(thing, "Column"):
        return "; that is a column of PySpark: use the function of the same name in sash.functions"
    return ""


def _check_order(order: Any, names: Sequence[str]) -> None:
    try:
        check_names(order.column, names)
    except SashError as error:
        raise SashError(
            f"{error}; an order is such as 'price' or 'price desc nulls last', several are given apart"
        ) from None
