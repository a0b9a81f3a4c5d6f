"""The vocabulary: ``from sash import functions as sf``.

Names and signatures are PySpark's where PySpark has the function. A column is a name, or an expression such
as ``sash.col("qty") * sash.col("price")``. All functions are made of their declarations in the catalogue;
``functions.pyi`` beside this file says the same to editors and type checkers.

>>> from sash import functions as sf
>>> sf.avg("load"), sf.max_by("trader", "price"), sf.count()
(avg(load), max_by(trader, price), count())
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from sash.algebra import Call
from sash.algebra.catalogue import FUNCTIONS, builtin
from sash.algebra.catalogue import declaring as d
from sash.algebra.catalogue.describing import described
from sash.errors import SashError, meant
from sash.expressions.columns import Foreign, Order, as_column, lit  # noqa: F401, an order is part of the vocabulary
from sash.expressions.orders import (  # noqa: F401, part of the vocabulary
    asc,
    asc_nulls_first,
    asc_nulls_last,
    desc,
    desc_nulls_first,
    desc_nulls_last,
)
from sash.expressions.parsing import as_predicate, parse
from sash.windows.frame import as_distance, is_column

_ELSEWHERE = {
    "col": "sash.col",
    "expr": "sash.col, or SQL text in filter",
    **{name: each.name + words for each in FUNCTIONS.values() for name, words in each.stands_for.items()},
}


_ORDERS = ("asc", "asc_nulls_first", "asc_nulls_last", "desc", "desc_nulls_first", "desc_nulls_last", "lit")
__all__ = sorted([*_ORDERS, *(each.name for each in FUNCTIONS.values() if each.in_python)])


def __getattr__(name: str) -> Any:
    if name.startswith("_"):
        raise AttributeError(f"sash.functions has no {name}")
    hint = f"; use {_ELSEWHERE[name]}" if name in _ELSEWHERE else meant(name, __all__)
    raise AttributeError(f"sash.functions has no {name}{hint}")


def __dir__() -> list[str]:
    return __all__


def call_of(declared: d.Function, arguments: dict[str, Any]) -> Call:
    """The call of a function with what is given for its parameters."""
    columns: list[Any] = []
    constants: list[Any] = []
    condition = ignored = None
    for parameter in declared.parameters:
        value = arguments[parameter.name]
        if parameter.takes == d.COLUMN or (parameter.takes == d.ROWS and not (isinstance(value, str) and value == "*")):
            columns.append(value)
        elif parameter.takes == d.COLUMNS:
            columns += value
        elif parameter.takes == d.CONDITION:
            condition = value
        elif (parameter.takes == d.SHARE and not isinstance(value, (int, float, list, tuple))) or (
            parameter.takes in (d.DISTANCE, d.NUMBER, d.TEXT) and is_column(value)
        ):
            columns.append(value)
            constants.append(None)
        elif parameter.takes in (d.NUMBER, d.TEXT) and value is None:
            what = "a whole number" if parameter.takes == d.NUMBER else "a string"
            raise SashError(f"{parameter.name} must be {what} or a column, got None")
        elif parameter.takes == d.DISTANCE:
            constants.append(as_distance(parameter.name, value))
        elif parameter.takes in (d.SHARE, d.CONSTANT, d.NUMBER, d.TEXT, d.FROM_LAST):
            value = value.tolist() if hasattr(value, "tolist") else value
            constants.append(tuple(value) if isinstance(value, list) else value)
        elif parameter.takes in (d.OPTIONAL, d.FREQUENCY):
            is_there = value is not None if parameter.takes == d.OPTIONAL else is_column(value) or value != 1
            if is_there:  # behind the other columns of the frame's rows
                columns.insert([each.takes for each in declared.parameters].count(d.COLUMN), as_column(value))
            constants.append(is_there)
        elif parameter.takes == d.DEFAULT and value is not None:
            columns.append(lit(value) if isinstance(value, str) else value)
        elif parameter.takes == d.NULLS:
            ignored = value
        elif parameter.takes == d.CALL:
            return _of_call(declared, columns, value)
    make = builtin(declared.base or declared.name, *constants)
    call: Call = make(*columns, *declared.weights) if condition is None else _where(make, condition)
    call = call.ignore_nulls() if ignored else call
    return call if declared.then is None else declared.then(call)


def _of_call(declared: d.Function, columns: list[Any], inner: Any) -> Call:
    """The call of a function of another one, which it asks of some rows."""
    wrong = not isinstance(inner, Call) or getattr(inner.aggregate, "per_row", False) or inner.of_spans
    if wrong:
        raise SashError(f'{declared.name} takes a function of a frame, such as sf.sum("x"), got {inner!r}')
    call: Call = builtin(declared.name, inner.aggregate)(*columns, *inner.columns)
    return replace(call, condition=inner.condition, unique=inner.unique, order=inner.order, nulls=inner.nulls)


def _where(count: Callable[..., Call], condition: Any) -> Call:
    """The count of rows that a condition holds for."""
    predicate = as_predicate(condition)
    if isinstance(predicate, Foreign):
        return count().filter(condition)
    return count(parse(f"case when {predicate.key} then true end"))


def signature_of(declared: d.Function) -> inspect.Signature:
    """What Python is told of the parameters of a function."""
    Parameter = inspect.Parameter
    parameters = []
    for each in declared.parameters:
        how = Parameter.VAR_POSITIONAL if each.takes == d.COLUMNS else Parameter.POSITIONAL_OR_KEYWORD
        default = Parameter.empty if each.default is d.REQUIRED else each.default
        parameters.append(Parameter(each.name, Parameter.KEYWORD_ONLY if each.keyword else how, default=default))
    return inspect.Signature(parameters)


def _function(declared: d.Function) -> Callable[..., Call]:
    signature = signature_of(declared)

    def function(*args: Any, **kwargs: Any) -> Call:
        try:
            bound = signature.bind(*args, **kwargs)
        except TypeError as error:
            raise TypeError(f"{declared.name}() {error}") from None
        bound.apply_defaults()
        return call_of(declared, bound.arguments)

    function.__name__ = function.__qualname__ = declared.name
    function.__doc__ = described(declared)
    function.__signature__ = signature  # type: ignore[attr-defined]
    function.__module__ = __name__
    return function


for _declared in FUNCTIONS.values():
    if _declared.in_python:
        globals()[_declared.name] = _function(_declared)
