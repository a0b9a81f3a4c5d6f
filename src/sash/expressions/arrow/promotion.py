"""Promotion: to which type values of several types are brought, by the rules of Spark's ANSI mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from sash.expressions.arrow.values import Trouble, Value, is_scalar
from sash.expressions.intervals import Months

_NAMES = {
    pa.bool_(): "boolean",
    pa.int8(): "tinyint",
    pa.int16(): "smallint",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.string(): "string",
    pa.large_string(): "string",
    pa.date32(): "date",
    pa.binary(): "binary",
    pa.large_binary(): "binary",
}
_DIGITS = {pa.int8(): 3, pa.int16(): 5, pa.int32(): 10, pa.int64(): 20}
_UNITS = ["s", "ms", "us", "ns"]


def kind_of(value: Value) -> str:
    """The family of a value's type: integer, float, decimal, string, date and so on."""
    return "months" if isinstance(value, Months) else family(value.type)


def family(kind: pa.DataType) -> str:
    """The family of a type."""
    types = pa.types
    tests = [
        ("null", types.is_null),
        ("boolean", types.is_boolean),
        ("integer", types.is_integer),
        ("float", types.is_floating),
        ("decimal", types.is_decimal),
        ("string", lambda kind: types.is_string(kind) or types.is_large_string(kind)),
        ("date", types.is_date),
        ("timestamp", types.is_timestamp),
        ("duration", types.is_duration),
        ("binary", lambda kind: types.is_binary(kind) or types.is_large_binary(kind)),
    ]
    return next((name for name, test in tests if test(kind)), "other")


def spark_name(value: Any) -> str:
    """A type as Spark calls it."""
    if isinstance(value, Months):
        return "interval of months"
    kind = value if isinstance(value, pa.DataType) else value.type
    if pa.types.is_decimal(kind):
        return f"decimal({kind.precision},{kind.scale})"
    if pa.types.is_timestamp(kind):
        return "timestamp" if kind.tz else "timestamp_ntz"
    return _NAMES.get(kind) or ("interval" if pa.types.is_duration(kind) else str(kind))


def decimal_type(value: Value, literal: bool = False) -> pa.DataType:
    """The decimal type that holds a number: all the digits of its type, or those a literal has."""
    if pa.types.is_decimal(value.type):
        return value.type
    if literal and is_scalar(value) and value.is_valid:
        return pa.decimal128(len(str(abs(value.as_py()))), 0)
    return pa.decimal128(_DIGITS[value.type], 0)


def common_type(values: Sequence[Value], wide: bool = False) -> pa.DataType:
    """The narrowest type to which all values can be brought; ``wide`` allows decimals of 76 digits."""
    typed = [value for value in values if kind_of(value) != "null"]
    kinds = {kind_of(value) for value in typed}
    if not typed:
        return pa.null()
    if len({getattr(value, "type", None) for value in typed}) == 1 and kinds != {"months"}:
        return typed[0].type
    if "string" in kinds and len(kinds) > 1:
        others = [value for value in typed if kind_of(value) != "string"]
        return _joined_with_text(common_type(others, wide), typed)
    if kinds == {"string"}:
        return pa.large_string()
    if kinds == {"binary"}:
        return pa.large_binary()
    if kinds == {"integer"}:
        return max((value.type for value in typed), key=lambda kind: kind.bit_width)
    if kinds <= {"integer", "float", "decimal"} and "float" in kinds:
        return pa.float64()  # two floats of one width are of one type
    if kinds <= {"integer", "decimal"}:
        return _wider_decimal([decimal_type(value) for value in typed], wide)
    if kinds <= {"date", "timestamp"}:
        return _finer([value.type for value in typed if kind_of(value) == "timestamp"])
    if kinds == {"duration"}:
        return pa.duration(max((value.type.unit for value in typed), key=_UNITS.index))
    raise Trouble(f"{' and '.join(dict.fromkeys(map(spark_name, typed)))} do not go together")


def _joined_with_text(kind: pa.DataType, typed: Sequence[Value]) -> pa.DataType:
    """Text beside another type is read as that type: as a bigint or a double beside numbers."""
    name = family(kind)
    if name == "integer":
        return pa.int64()
    if name in ("float", "decimal"):
        return pa.float64()
    if name == "timestamp" and kind.unit in ("s", "ms"):
        return pa.timestamp("us", kind.tz)  # the text may have a fraction
    if name in ("boolean", "date", "timestamp"):
        return kind
    raise Trouble(f"{' and '.join(dict.fromkeys(map(spark_name, typed)))} do not go together")


def _wider_decimal(kinds: Sequence[pa.DataType], wide: bool) -> pa.DataType:
    scale = max(kind.scale for kind in kinds)
    whole = max(kind.precision - kind.scale for kind in kinds)
    if whole + scale <= 38:
        return pa.decimal128(whole + scale, scale)
    return pa.decimal256(whole + scale, scale) if wide else pa.decimal128(38, max(38 - whole, min(scale, 6)))


def _finer(kinds: Sequence[pa.DataType]) -> pa.DataType:
    unit = max((kind.unit for kind in kinds), key=_UNITS.index)
    return pa.timestamp(unit, next((kind.tz for kind in kinds if kind.tz), None))
