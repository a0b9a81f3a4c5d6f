"""What a window expression reads of a table: that it is there, and the same expression reading something else."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sash.algebra import Call, Over
from sash.errors import SashError
from sash.expressions.binding import check_names
from sash.expressions.columns import Expression, Literal, Order, as_column
from sash.expressions.orders import as_order
from sash.expressions.parsing import as_predicate
from sash.libraries import is_pyspark
from sash.windows import as_window
from sash.windows.frame import Bound

Change = Callable[[Expression], Expression]


def arguments_of(over: Over) -> list[Expression]:
    """What the function is computed of: its arguments, its filter, its own orders and its frame's own offsets."""
    call, frame = over.call, as_window(over.window).frame
    found = [as_column(column) for column in call.columns]
    found += [] if call.condition is None else [as_predicate(call.condition)]
    found += [as_order(order).column for order in call.order]
    found += [bound.column for bound in (frame.start, frame.end) if bound.column is not None]
    return found


def expressions_of(over: Over) -> list[Expression]:
    """Every expression that a window expression reads, those of its window included.

    >>> from sash import Window, functions as sf
    >>> expressions_of(sf.first("bid").order_by("qty desc").over(Window.partitionBy("stock").orderBy("ts")))
    [bid, qty, stock, ts]
    """
    window = as_window(over.window)
    return [*arguments_of(over), *window.partition, *(order.column for order in window.order)]


def rewritten(over: Over, change: Change) -> Over:
    """The window expression with every expression that it reads changed; constants stay.

    >>> from sash import Window, col, functions as sf
    >>> rewritten(sf.sum("bid").over(Window.orderBy("ts desc")), lambda expression: col(f"{expression.key}_1"))
    sum(bid_1) over (order by ts_1 desc)
    """

    def changed(expression: Expression) -> Expression:
        return expression if isinstance(expression, Literal) else change(expression)

    def ordered(order: Order) -> Order:
        return replace(order, column=changed(order.column))

    def bounded(bound: Bound) -> Bound:
        return bound if bound.column is None else replace(bound, offset=changed(bound.column))

    call, window = over.call, as_window(over.window).checked()
    given = window.given
    window = replace(
        window,
        partition=tuple(map(changed, window.partition)),
        order=tuple(map(ordered, window.order)),
        given=given and replace(given, start=bounded(given.start), end=bounded(given.end)),
    )
    call = replace(
        call,
        columns=tuple(changed(as_column(column)) for column in call.columns),
        condition=None if call.condition is None else changed(as_predicate(call.condition)),
        order=tuple(ordered(as_order(order)) for order in call.order),
    )
    return replace(over, call=call, window=window)


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
