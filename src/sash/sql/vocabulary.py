"""The functions that a query may call over a window, by their SQL names, and how their arguments are read."""

from __future__ import annotations

from dataclasses import replace
from decimal import Decimal
from typing import Any, Protocol

from sash import functions as sf
from sash.algebra import Aggregate, Call
from sash.algebra.catalogue import builtin
from sash.algebra.catalogue import declaring as d
from sash.algebra.window_function import MANY, CountDistinct, RankFunction
from sash.errors import SashError
from sash.expressions.columns import Order, lit
from sash.sql.named_functions import NAMES, OF_SPANS, REGISTERED, NamedFunction
from sash.sql.syntax import Called, Ordered, Span


class Arguments(Protocol):
    """What turns pieces of the query into columns and constants."""

    def column(self, span: Span) -> Any:
        """The column that an expression is."""

    def constant(self, span: Span, what: str) -> Any:
        """The value of an expression that reads no column."""

    def offset(self, span: Span, kind: str, what: str = "the offset of a frame") -> Any:
        """A constant that is a number, or of RANGE an interval, which may be written as text."""

    def is_constant(self, span: Span) -> bool:
        """Whether an expression reads no column."""

    def every(self, spans: tuple[Span, ...]) -> Any:
        """A column that is NULL where one of several expressions is."""

    def is_number(self, span: Span) -> bool:
        """Whether an expression is a number as it stands."""

    def call(self, span: Span) -> Called | None:
        """The function call, without a window, that an expression is, or None."""


def call_of(called: Called, arguments: Arguments, spans: bool = False) -> Call:
    """The call that a query writes, with its order, its filter and what it does with NULLs."""
    named = _named(called.name, spans)
    call = _registered(called, arguments) if named is None else _read(named, called, arguments)
    if called.distinct and not isinstance(call.aggregate, CountDistinct):
        call = call.distinct()
    if called.order and not (named is not None and named.function.by_order):
        call = call.order_by(*(order_of(each, arguments) for each in called.order))
    if called.nulls == "ignore":
        call = call.ignore_nulls()
    if called.from_last and not (named is not None and named.function.takes(d.FROM_LAST)):
        raise SashError(f"FROM LAST is for nth_value, got {called.name}")
    return call if called.condition is None else call.filter(arguments.column(called.condition))


def never_null(call: Call) -> bool:
    """Whether a call answers a number for every row, as counts and ranks do, so that Spark knows it as not NULL."""
    what = call.aggregate
    if isinstance(what, RankFunction):
        return call.condition is None and not call.order and not call.columns
    return isinstance(what, CountDistinct) or (
        isinstance(what, Aggregate) and what.origin is not None and type(what.empty) is int
    )


def order_of(key: Ordered, arguments: Arguments) -> Any:
    """A key of an order."""
    return Order(arguments.column(key.span), key.descending, key.nulls_first)


def known(name: str, spans: bool = False) -> bool:
    """Whether a function of this name is built in, or registered."""
    return name.lower() in REGISTERED or _named(name, spans) is not None


def _named(name: str, spans: bool) -> NamedFunction | None:
    of_spans = OF_SPANS.get(name.lower()) if spans else None
    return of_spans or NAMES.get(name.lower())


def _registered(called: Called, arguments: Arguments) -> Call:
    _takes_no_star(called)
    if any(called.names):
        raise SashError(f"{called.name} takes its arguments in their order, without names")
    return REGISTERED[called.name.lower()](*map(arguments.column, called.arguments))


def _read(named: NamedFunction, called: Called, arguments: Arguments) -> Call:
    """The call of a built-in function: its arguments by what its parameters take."""
    function, synonym = named
    called, by_name = _without_names(function, called)
    if by_name and (function.takes(d.ROWS) or (function.by_order and called.order)):
        raise SashError(f"{called.name} takes its arguments in their order here, without names")
    if function.takes(d.ROWS):
        return _counted(function, called, arguments)
    if function.by_order and called.order:
        return _by_order(function, called, arguments)
    parameters = [
        each for each in function.parameters if not each.keyword and each.takes != d.UNUSED and each.name not in by_name
    ]
    spans = list(called.arguments)
    if function.takes(d.SHARE) and len(called.arguments) == 1 and not by_name:
        raise SashError(f"{called.name} of a share alone needs an ORDER BY in the call, or WITHIN GROUP")
    _check_count(called, parameters)
    if function.takes(d.SHARE) and not by_name:
        _check_share(called, arguments)
    if synonym is not None and synonym.swapped:
        spans.reverse()
    arguments_by_name = {} if synonym is None else dict(synonym.defaults)
    for parameter in parameters:
        if parameter.takes == d.COLUMNS:
            arguments_by_name[parameter.name] = tuple(map(arguments.column, spans))
        elif spans:
            arguments_by_name[parameter.name] = _argument(parameter, spans.pop(0), arguments)
    for parameter in function.parameters:
        if parameter.name in by_name:
            arguments_by_name[parameter.name] = _argument(parameter, by_name[parameter.name], arguments)
    return _called(function, arguments_by_name, from_last=called.from_last)


def _without_names(function: d.Function, called: Called) -> tuple[Called, dict[str, Span]]:
    """The call with the arguments that have no names, and the others by the names of their parameters."""
    if not any(called.names):
        return called, {}
    taken = [each.name for each in function.parameters if each.takes not in (d.COLUMNS, d.FROM_LAST, d.UNUSED)]
    spelling = {name.lower(): name for name in taken}
    by_name: dict[str, Span] = {}
    plain: list[Span] = []
    for name, span in zip(called.names, called.arguments, strict=True):
        if name is None and by_name:
            raise SashError(f"{called.name}: arguments with names stand behind the others")
        if name is None:
            plain.append(span)
            continue
        known = "col" if name == "input" and "col" in taken else spelling.get(name, name)
        if known not in taken:
            raise SashError(f"{called.name} has no argument {name}; it takes {', '.join(taken) or 'none'}")
        if known in by_name or known in taken[: len(plain)]:
            raise SashError(f"{called.name} is given {name} twice")
        by_name[known] = span
    return replace(called, arguments=tuple(plain), names=(None,) * len(plain)), by_name


def _argument(parameter: d.Parameter, span: Span, arguments: Arguments) -> Any:
    """What a query gives for a parameter."""
    if parameter.takes == d.SHARE:
        return _share(span, arguments)
    if parameter.takes == d.CALL:
        inner = arguments.call(span)
        if inner is None or not known(inner.name):
            raise SashError(f"{parameter.said} must be one over windows, such as sum(x)")
        return call_of(inner, arguments)
    if parameter.takes == d.DISTANCE and arguments.is_constant(span):
        return arguments.offset(span, "range", parameter.said)
    if parameter.takes in (d.NUMBER, d.TEXT):
        if not arguments.is_constant(span):
            return arguments.column(span)
        value = arguments.constant(span, parameter.said)
        return lit(None) if value is None else value
    if parameter.takes in (d.CONSTANT, d.NULLS):
        value = arguments.constant(span, parameter.said)
        return float(value) if isinstance(value, Decimal) else value  # as which SQL reads 0.5
    if parameter.takes == d.FREQUENCY and arguments.is_constant(span):
        return arguments.constant(span, parameter.said)
    if parameter.takes == d.DEFAULT and _is_null(span, arguments):
        return None
    return arguments.column(span)


def _called(function: d.Function, arguments_by_name: dict[str, Any], from_last: bool = False) -> Call:
    """The call with what is given, and what the other parameters are without."""
    whole = {each.name: each.default for each in function.parameters} | arguments_by_name
    for each in function.parameters:
        if each.takes == d.FROM_LAST:
            whole[each.name] = from_last
    return sf.call_of(function, whole)


def _takes_no_star(called: Called) -> None:
    if called.star:
        raise SashError(f"{called.name} takes columns, got *")


def _check_count(called: Called, parameters: list[d.Parameter]) -> None:
    _takes_no_star(called)
    least = sum(each.default is d.REQUIRED and each.takes != d.COLUMNS for each in parameters)
    most = MANY if any(each.takes == d.COLUMNS for each in parameters) else len(parameters)
    if not least <= len(called.arguments) <= most:
        takes = str(least) if least == most else f"{least} to {most}"
        raise SashError(f"{called.name} takes {takes} argument{'s' * (takes != '1')}, got {len(called.arguments)}")


def _counted(function: d.Function, called: Called, arguments: Arguments) -> Call:
    """Count: of rows, of a column, of several columns, of different values."""
    spans = called.arguments
    if called.distinct:
        if not spans:
            raise SashError("count(distinct …) takes columns")
        return builtin("count_distinct")(*map(arguments.column, spans))
    (parameter,) = function.parameters
    if not spans or (len(spans) == 1 and arguments.is_number(spans[0])):
        return _called(function, {})
    column = arguments.column(spans[0]) if len(spans) == 1 else arguments.every(spans)
    return _called(function, {parameter.name: column})


def _by_order(function: d.Function, called: Called, arguments: Arguments) -> Call:
    """A call whose column is what it is ordered by; a quantile's argument is then its share."""
    if len(called.order) != 1:
        raise SashError(f"{called.name} takes one expression to order by, got {len(called.order)}")
    key = called.order[0]
    column, *others = (each for each in function.parameters if each.takes != d.UNUSED)
    shares = [each for each in others if each.takes == d.SHARE]
    own = () if shares else called.arguments  # the column, which the others may also name
    _check_count(called, shares or [replace(column, default=None)])
    arguments_by_name = {column.name: arguments.column(own[0] if own else key.span)}
    arguments_by_name |= {each.name: _share(called.arguments[0], arguments) for each in shares}
    call = _called(function, arguments_by_name)
    return call.order_by(order_of(key, arguments)) if own or key.descending else call


def _check_share(called: Called, arguments: Arguments) -> None:
    """Say what a quantile takes where its column and its share are the other way round."""
    value, *others = called.arguments
    if len(others) == 1 and arguments.is_number(value) and not arguments.is_constant(others[0]):
        raise SashError(f"{called.name} takes the value first and the share second")


def _share(span: Span, arguments: Arguments) -> Any:
    if not arguments.is_constant(span):
        return arguments.column(span)
    value = arguments.constant(span, "the percentage")
    if isinstance(value, list):
        return [float(each) for each in value]
    try:
        return float(value)
    except (TypeError, ValueError):
        raise SashError(f"percentage must be between 0 and 1, got {value!r}") from None


def _is_null(span: Span, arguments: Arguments) -> bool:
    return arguments.is_constant(span) and arguments.constant(span, "the default") is None
