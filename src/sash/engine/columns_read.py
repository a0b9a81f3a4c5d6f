"""What a window expression reads of a table: that it is there, and the same expression reading something else."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

from sash.algebra import Call
from sash.errors import SashError, column_named
from sash.expressions.binding import check_names
from sash.expressions.columns import Expression, Literal, Order, as_column
from sash.expressions.orders import as_order
from sash.expressions.parsing import as_predicate
from sash.libraries import is_pyspark
from sash.windows import as_window
from sash.windows.frame import Bound
from sash.windows.over import Over

Change = Callable[[Expression], Expression]
NamesOf = Callable[[Any], Sequence[str]]


def arguments_of(over: Over) -> list[Expression]:
    """What the function is computed of: its arguments, its filter, its own orders and its frame's own offsets."""
    return [*_of_rows(over), *_of_asker(over)]


def expressions_of(over: Over) -> list[Expression]:
    """Every expression that a window expression reads of the table that it is added to.

    >>> from sash import Window, functions as sf
    >>> expressions_of(sf.first("bid").order_by("qty desc").over(Window.partitionBy("stock").orderBy("ts")))
    [bid, qty, stock, ts]
    """
    others = as_window(over.window).others
    if others is None:
        return [*_of_rows(over), *_of_asker(over), *_sorting(over)]
    return [*_of_asker(over), *others.on, *([] if others.at is None else [others.at])]


def expressions_of_others(over: Over) -> list[Expression]:
    """Every expression that a window expression reads of another table, if its frames are of such rows."""
    return [] if as_window(over.window).others is None else [*_of_rows(over), *_sorting(over)]


def tie_breakers_of(over: Over) -> list[Expression]:
    """What rows that are equal in the order of the window are told apart by: all that is read of them."""
    return arguments_of(over) if as_window(over.window).others is None else _of_rows(over)


def _of_rows(over: Over) -> list[Expression]:
    """What a function reads of the rows of its frames."""
    call = over.call
    columns = [as_column(column) for column in call.columns[: call.of_frame]]
    columns += [] if call.condition is None else [as_predicate(call.condition)]
    return columns + [as_order(order).column for order in call.order]


def _of_asker(over: Over) -> list[Expression]:
    """What is read of the row that is answered: values to be ranked, shares and offsets of its own."""
    call, frame = over.call, as_window(over.window).frame
    columns = [as_column(column) for column in call.columns[call.of_frame :]]
    return columns + [bound.column for bound in (frame.start, frame.end) if bound.column is not None]


def _sorting(over: Over) -> list[Expression]:
    window = as_window(over.window)
    return [*window.partition, *(order.column for order in window.order)]


def rewritten(over: Over, change: Change, others: Change | None = None) -> Over:
    """The window expression with every expression that it reads changed; constants stay.

    ``others`` changes what it reads of another table, where its frames are of such rows.

    >>> from sash import Window, col, functions as sf
    >>> rewritten(sf.sum("bid").over(Window.orderBy("ts desc")), lambda expression: col(f"{expression.key}_1"))
    sum(bid_1) over (order by ts_1 desc)
    """

    def of_asker(expression: Expression) -> Expression:
        return expression if isinstance(expression, Literal) else change(expression)

    def of_rows(expression: Expression) -> Expression:
        return expression if isinstance(expression, Literal) else (others or change)(expression)

    def ordered(order: Order) -> Order:
        return replace(order, column=of_rows(order.column))

    def bounded(bound: Bound) -> Bound:
        return bound if bound.column is None else replace(bound, offset=of_asker(bound.column))

    call, window = over.call, as_window(over.window).checked()
    frame, table = window.given, window.others
    window = replace(
        window,
        partition=tuple(map(of_rows, window.partition)),
        order=tuple(map(ordered, window.order)),
        given=frame and replace(frame, start=bounded(frame.start), end=bounded(frame.end)),
        others=table
        and replace(table, on=tuple(map(of_asker, table.on)), at=None if table.at is None else of_asker(table.at)),
    )
    columns = tuple(map(as_column, call.columns))
    call = replace(
        call,
        columns=(*map(of_rows, columns[: call.of_frame]), *map(of_asker, columns[call.of_frame :])),
        condition=None if call.condition is None else of_rows(as_predicate(call.condition)),
        order=tuple(ordered(as_order(order)) for order in call.order),
    )
    return replace(over, call=call, window=window)


def checked(columns: Mapping[str, Over], names: Sequence[str], names_of: NamesOf | None = None) -> dict[str, Over]:
    """The expressions, with windows that are whole; raises where something is not what it should be.

    ``names_of`` gives the columns of another table, where frames are of its rows.
    """
    if not isinstance(columns, Mapping):
        raise SashError(f"columns must map names to window expressions, got {type(columns).__name__}")
    expressions: dict[str, Over] = {}
    for name, over in columns.items():
        if not isinstance(name, str) or not name:
            raise SashError(f"the name of a column must be a non-empty string, got {name!r}")
        if not isinstance(over, Over):
            raise not_a_column(name, over)
        if names.count(name) > 1:
            raise SashError(f"the column {name!r} cannot be replaced: there are {names.count(name)} of that name")
        if over.min_samples is not None:
            raise SashError(f"{name}: min_samples is for the rows of a frame that is there, not of a stream")
        with column_named(name):
            expressions[name] = replace(over, window=as_window(over.window).checked())
            _check_names(expressions[name], names, names_of)
    return expressions


def _check_names(over: Over, names: Sequence[str], names_of: NamesOf | None) -> None:
    """Refuse what an expression reads and there is not, and what it cannot ask or be ordered by."""
    _check_asks(over)
    others = over.window.others
    theirs = names if others is None or names_of is None else names_of(others.table)
    for expression in expressions_of(over):
        check_names(expression, names)
    with _said_of(others):
        for order in (*over.window.order, *map(as_order, over.call.order)):
            _check_order(order, theirs)
        for expression in expressions_of_others(over):
            check_names(expression, theirs)


@contextmanager
def _said_of(others: Any) -> Iterator[None]:
    """Let an error say that it is about another table, if there is one."""
    try:
        yield
    except SashError as error:
        raise error if others is None else SashError(f"in the table of Window.of, {error}") from None


def _check_asks(over: Over) -> None:
    """Refuse functions of a row of the frame, where the row is not one of them."""
    function, others = over.call.aggregate, over.window.others
    if others is None or not getattr(function, "per_row", False) or (over.call.columns and not function.of_frame):
        return
    raise SashError(
        f"{over.call} asks for a row of its own frame, and a row is not among the rows of Window.of; "
        'sf.rank(sash.col("price")).order_by("price") ranks a value of the row among them, and sf.nth_value takes one'
    )


def not_a_column(name: str, thing: Any) -> SashError:
    """What is said of something that a column cannot be."""
    return SashError(f'{name} must be such as sf.max("load").over(window), got {thing!r}{_hint(thing)}')


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
