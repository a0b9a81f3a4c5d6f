"""What a window expression reads of a table, and the same expression reading something else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from sash.algebra import Over
from sash.expressions.columns import Expression, Literal, Order, as_column
from sash.expressions.orders import as_order
from sash.expressions.parsing import as_predicate
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
