"""Arithmetic: the operators on numbers, checked for overflow and for division by zero."""

from __future__ import annotations

from collections.abc import Callable
from decimal import Context, Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.expressions.arrow.calendar import moved, negated, repeated, scaled
from sash.expressions.arrow.casting import convert, rounded
from sash.expressions.arrow.operands import Trouble, Value, any_true, row_by_row, through_numpy, zero
from sash.expressions.arrow.promotion import common_type, decimal_type, family_of, spark_name

_EXACT = Context(prec=120)
_CHECKED = {"+": pc.add_checked, "-": pc.subtract_checked, "*": pc.multiply_checked}
_FLOATING = {"+": pc.add, "-": pc.subtract, "*": pc.multiply}
_IN_TIME = frozenset({"months", "duration", "date", "timestamp"})


def add(left: Value, right: Value) -> Value:
    """The sum of numbers, or a moment moved by an interval."""
    return _calculated("+", left, right)


def subtract(left: Value, right: Value) -> Value:
    """The difference of numbers or moments, or a moment moved back."""
    return _calculated("-", left, right)


def multiply(left: Value, right: Value) -> Value:
    """The product of numbers, or an interval repeated."""
    return _calculated("*", left, right)


def divide(left: Value, right: Value) -> Value:
    """The quotient: a double, or a decimal of decimals."""
    if family_of(left) in _IN_TIME:
        return scaled(left, _numeric(right))
    left, right = _numbers(left, right)
    _no_zero(left, right)
    if _is_decimal(left, right):
        return _decimal("/", left, right)
    return pc.divide(convert(left, pa.float64()), convert(right, pa.float64()))


def whole_quotient(left: Value, right: Value) -> Value:
    """DIV: the quotient cut to a whole number, as a bigint."""
    left, right = _numbers(left, right)
    if "float" in (family_of(left), family_of(right)):
        raise Trouble(f"div takes whole numbers, not {spark_name(left)} and {spark_name(right)}")
    _no_zero(left, right)
    if _is_decimal(left, right):
        return row_by_row(lambda a, b: int(_EXACT.divide_int(a, b)), [left, right], pa.int64())
    return pc.divide_checked(convert(left, pa.int64()), convert(right, pa.int64()))


def remainder(left: Value, right: Value) -> Value:
    """What division leaves over, with the sign of the dividend."""
    left, right = _numbers(left, right)
    _no_zero(left, right)
    if _is_decimal(left, right):
        return _decimal("%", left, right)
    dtype = common_type([left, right])
    return through_numpy(np.fmod, [convert(left, dtype), convert(right, dtype)], dtype, [0, 1])


def negate(value: Value) -> Value:
    """The number, or the interval, with the other sign."""
    if family_of(value) in _IN_TIME:
        return negated(value)
    value = _numeric(value)
    return pc.negate_checked(value) if family_of(value) == "integer" else pc.negate(value)


def _calculated(sign: str, left: Value, right: Value) -> Value:
    if not _IN_TIME.isdisjoint((family_of(left), family_of(right))):
        return repeated(left, right) if sign == "*" else moved(sign, left, right)
    left, right = _numbers(left, right)
    if _is_decimal(left, right):
        return _decimal(sign, left, right)
    dtype = common_type([left, right])
    operations = _CHECKED if pa.types.is_integer(dtype) else _FLOATING
    return operations[sign](convert(left, dtype), convert(right, dtype))


def _numbers(left: Value, right: Value) -> tuple[Value, Value]:
    """Both as numbers: text is read as a bigint beside whole numbers and as a double otherwise."""
    families = family_of(left), family_of(right)
    if "string" in families:
        as_type = pa.int64() if "integer" in families else pa.float64()
        left = convert(left, as_type) if families[0] == "string" else left
        right = convert(right, as_type) if families[1] == "string" else right
    elif "null" in families:
        dtype = common_type([left, right])
        dtype = pa.int32() if pa.types.is_null(dtype) else dtype
        left, right = convert(left, dtype), convert(right, dtype)
    return _numeric(left), _numeric(right)


def _numeric(value: Value) -> Value:
    name = family_of(value)
    if name == "string":
        return convert(value, pa.float64())
    if name == "null":
        return convert(value, pa.int32())
    if name not in ("integer", "float", "decimal"):
        raise Trouble(f"arithmetic takes numbers, not {spark_name(value)}")
    return value


def _no_zero(left: Value, right: Value) -> None:
    nought = pc.equal(right, zero(right.type))
    if any_true(nought) and any_true(pc.and_(nought, pc.is_valid(left))):
        raise Trouble("division by zero")


def _is_decimal(left: Value, right: Value) -> bool:
    families = {family_of(left), family_of(right)}
    return "decimal" in families and "float" not in families


def _decimal(sign: str, left: Value, right: Value) -> Value:
    """Spark's types of decimal results; Arrow computes what it does alike, Python the rest."""
    a, b = decimal_type(left, literal=True), decimal_type(right, literal=True)
    left, right = convert(left, a), convert(right, b)
    whole = max(a.precision - a.scale, b.precision - b.scale)
    scale = max(a.scale, b.scale)
    if sign in "+-":
        precision = whole + scale + 1
    elif sign == "*":
        precision, scale = a.precision + b.precision + 1, a.scale + b.scale
    elif sign == "/":
        scale = max(6, a.scale + b.precision + 1)
        precision = a.precision - a.scale + b.scale + scale
    else:
        precision = min(a.precision - a.scale, b.precision - b.scale) + scale
    if sign in "+-*" and precision <= 38:
        return _FLOATING[sign](left, right)
    dtype = _fitted(precision, scale)
    operation: Callable[[Decimal, Decimal], Decimal] = {
        "+": _EXACT.add,
        "-": _EXACT.subtract,
        "*": _EXACT.multiply,
        "/": _EXACT.divide,
        "%": _EXACT.remainder,
    }[sign]
    return row_by_row(lambda x, y: rounded(operation(x, y), dtype), [left, right], dtype)


def _fitted(precision: int, scale: int) -> pa.DataType:
    """A type of at most 38 digits: rather fewer decimals than a whole part that does not fit."""
    if precision <= 38:
        return pa.decimal128(max(precision, 1), scale)
    return pa.decimal128(38, max(38 - (precision - scale), min(scale, 6)))
