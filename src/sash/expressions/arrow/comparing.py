"""Comparing: NaN equals itself and is above every number; with NULL the answer is NULL."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce

import pyarrow as pa
import pyarrow.compute as pc

from sash.expressions.arrow.casting import convert
from sash.expressions.arrow.operands import Trouble, Value, any_true, is_scalar
from sash.expressions.arrow.promotion import common_type, family_of, spark_name

_PLAIN = {
    "=": pc.equal,
    "<>": pc.not_equal,
    "<": pc.less,
    "<=": pc.less_equal,
    ">": pc.greater,
    ">=": pc.greater_equal,
}


BY_ORDER = frozenset({"<", "<=", ">", ">=", "greatest", "least"})


def by_category(values: Sequence[Value]) -> list[Value]:
    """Ordered categories, and constants beside them, as their places in the order; other values as they are."""
    ordered = [each for each in values if _is_ordered(each)]
    if not ordered:
        return list(values)
    categories = _categories(ordered[0])
    return [_place(each, categories) for each in values]


def _place(value: Value, categories: list[str]) -> Value:
    """Where a value stands among categories; without any, of no rows, anywhere."""
    if _is_ordered(value):
        if categories != _categories(value):
            raise Trouble("ordered categories compare with the same ones only; cast both to string to compare texts")
        chunks = value.chunks if isinstance(value, pa.ChunkedArray) else [value]
        return pa.chunked_array([chunk.indices.cast(pa.int64()) for chunk in chunks], pa.int64())
    if not is_scalar(value):
        raise Trouble("ordered categories compare with the same ones only; cast them to string to compare texts")
    if categories and value.is_valid and value.as_py() not in categories:
        raise Trouble(f"{value.as_py()!r} is none of the ordered categories {', '.join(map(repr, categories))}")
    return pa.scalar(categories.index(value.as_py()) if categories and value.is_valid else None, pa.int64())


def _is_ordered(value: Value) -> bool:
    return isinstance(value, pa.Array | pa.ChunkedArray) and pa.types.is_dictionary(value.type) and value.type.ordered


def _categories(value: Value) -> list[str]:
    chunks = value.chunks if isinstance(value, pa.ChunkedArray) else [value]
    return chunks[0].dictionary.to_pylist() if chunks else []


def comparison(sign: str) -> Callable[[Value, Value], Value]:
    """The function that compares two values by that sign."""
    return lambda left, right: compare(sign, left, right)


def compare(sign: str, left: Value, right: Value) -> Value:
    """Compare two values after bringing them to one type."""
    left, right = together([left, right], wide=True)
    if pa.types.is_null(left.type):
        return convert(left if is_scalar(right) else right, pa.bool_())
    if pa.types.is_floating(left.type) and (_has_nan(left) or _has_nan(right)):
        return _with_nan(sign, left, right)
    try:
        return _PLAIN[sign](left, right)
    except pa.ArrowNotImplementedError:
        raise Trouble(f"values of type {spark_name(left)} cannot be compared") from None


def null_safe_equal(left: Value, right: Value) -> Value:
    """Equality in which NULL equals NULL, and the answer is never NULL."""
    equal = pc.fill_null(compare("=", left, right), False)
    return pc.or_(equal, pc.and_(pc.is_null(left), pc.is_null(right)))


def is_in(value: Value, *options: Value) -> Value:
    """Whether the value equals one of the options; NULL where none does and one is NULL."""
    value, *choices = together([value, *options], wide=True)
    dtype = value.type
    if not all(map(is_scalar, choices)) or is_scalar(value) or pa.types.is_null(dtype) or pa.types.is_decimal256(dtype):
        return reduce(pc.or_kleene, (compare("=", value, option) for option in choices))
    listed = [option.as_py() for option in choices if option.is_valid]
    known = pa.array([option for option in listed if option == option], dtype)
    if pa.types.is_floating(dtype):  # hashing tells -0.0 from 0.0, and one NaN from another
        value, known = pc.add(value, pa.scalar(0.0, dtype)), pc.add(known, pa.scalar(0.0, dtype))
    is_listed = pc.is_in(value, value_set=known)
    if any(option != option for option in listed):
        is_listed = pc.or_(is_listed, pc.fill_null(pc.is_nan(value), False))
    unknown = pa.scalar(None, pa.bool_())
    if len(listed) < len(choices):
        return pc.if_else(is_listed, is_listed, unknown)
    return pc.if_else(pc.is_valid(value), is_listed, unknown) if value.null_count else is_listed


def greatest(*values: Value) -> Value:
    """The largest of the values that are not NULL."""
    return _extreme(">", values)


def least(*values: Value) -> Value:
    """The smallest of the values that are not NULL."""
    return _extreme("<", values)


def both(left: Value, right: Value) -> Value:
    """AND, in three-valued logic."""
    return pc.and_kleene(truth(left), truth(right))


def either(left: Value, right: Value) -> Value:
    """OR, in three-valued logic."""
    return pc.or_kleene(truth(left), truth(right))


def opposite(value: Value) -> Value:
    """NOT, in three-valued logic."""
    return pc.invert(truth(value))


def truth(value: Value) -> Value:
    """The value as a boolean, which it must be."""
    if family_of(value) == "null":
        return convert(value, pa.bool_())
    if family_of(value) != "boolean":
        raise Trouble(f"a condition must be boolean, not {spark_name(value)}")
    return value


def together(values: Sequence[Value], wide: bool = False) -> list[Value]:
    """The values in their common type."""
    dtype = common_type(values, wide)
    try:
        return [convert(value, dtype) for value in values]
    except pa.ArrowInvalid:
        if not pa.types.is_timestamp(dtype) or dtype.unit != "ns":
            raise
    # the year 9999 does not fit nanoseconds; Spark has microseconds anyway
    coarse = pa.timestamp("us", dtype.tz)
    values = [
        pc.cast(v, pa.timestamp("us", v.type.tz), safe=False) if family_of(v) == "timestamp" else v for v in values
    ]
    return [convert(value, coarse) for value in values]


def _extreme(sign: str, values: Sequence[Value]) -> Value:
    best, *others = together(values)
    for other in others:
        better = pc.or_(pc.is_null(best), pc.fill_null(compare(sign, other, best), False))
        best = pc.if_else(better, other, best)
    return best


def _has_nan(value: Value) -> bool:
    return any_true(pc.is_nan(value))


def _with_nan(sign: str, left: Value, right: Value) -> Value:
    if sign in (">", "<="):
        sign, left, right = {">": "<", "<=": ">="}[sign], right, left
    if sign in ("<>", ">="):
        return pc.invert(_with_nan({"<>": "=", ">=": "<"}[sign], left, right))
    if sign == "=":
        return pc.or_(pc.equal(left, right), pc.and_(pc.is_nan(left), pc.is_nan(right)))
    return pc.or_(pc.less(left, right), pc.and_(pc.invert(pc.is_nan(left)), pc.is_nan(right)))
