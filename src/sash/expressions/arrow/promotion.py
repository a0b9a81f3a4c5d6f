"""Promotion: to which type values of several types are brought, by the rules of Spark's ANSI mode."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from sash.expressions.arrow.operands import Trouble, Value, is_scalar
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


def family_of(value: Value) -> str:
    """The family of a value's type: integer, float, decimal, string, date and so on."""
    return "months" if isinstance(value, Months) else family(value.type)


def family(dtype: pa.DataType) -> str:
    """The family of a type."""
    types = pa.types
    tests = [
        ("null", types.is_null),
        ("boolean", types.is_boolean),
        ("integer", types.is_integer),
        ("float", types.is_floating),
        ("decimal", types.is_decimal),
        ("string", lambda dtype: types.is_string(dtype) or types.is_large_string(dtype)),
        ("date", types.is_date),
        ("timestamp", types.is_timestamp),
        ("duration", types.is_duration),
        ("binary", lambda dtype: types.is_binary(dtype) or types.is_large_binary(dtype)),
    ]
    return next((name for name, test in tests if test(dtype)), "other")


def spark_name(value: Any) -> str:
    """A type as Spark calls it."""
    if isinstance(value, Months):
        return "interval of months"
    dtype = value if isinstance(value, pa.DataType) else value.type
    if pa.types.is_decimal(dtype):
        return f"decimal({dtype.precision},{dtype.scale})"
    if pa.types.is_timestamp(dtype):
        return "timestamp" if dtype.tz else "timestamp_ntz"
    return _NAMES.get(dtype) or ("interval" if pa.types.is_duration(dtype) else str(dtype))


def decimal_type(value: Value, literal: bool = False) -> pa.DataType:
    """The decimal type that holds a number: all the digits of its type, or those a literal has."""
    if pa.types.is_decimal(value.type):
        return value.type
    if literal and is_scalar(value) and value.is_valid:
        return pa.decimal128(len(str(abs(value.as_py()))), 0)
    return pa.decimal128(_DIGITS[value.type], 0)


def common_type(values: Sequence[Value], wide: bool = False) -> pa.DataType:
    """The narrowest type to which all values can be brought; ``wide`` allows decimals of 76 digits."""
    typed = [value for value in values if family_of(value) != "null"]
    families = {family_of(value) for value in typed}
    if not typed:
        return pa.null()
    if len({getattr(value, "type", None) for value in typed}) == 1 and families != {"months"}:
        return typed[0].type
    if "string" in families and len(families) > 1:
        others = [value for value in typed if family_of(value) != "string"]
        return _joined_with_text(common_type(others, wide), typed)
    if families == {"string"}:
        return pa.large_string()
    if families == {"binary"}:
        return pa.large_binary()
    if families == {"integer"}:
        return max((value.type for value in typed), key=lambda dtype: dtype.bit_width)
    if families <= {"integer", "float", "decimal"} and "float" in families:
        return pa.float64()  # two floats of one width are of one type
    if families <= {"integer", "decimal"}:
        return _wider_decimal([decimal_type(value) for value in typed], wide)
    if families <= {"date", "timestamp"}:
        return _finer([value.type for value in typed if family_of(value) == "timestamp"])
    if families == {"duration"}:
        return pa.duration(max((value.type.unit for value in typed), key=_UNITS.index))
    raise Trouble(f"{' and '.join(dict.fromkeys(map(spark_name, typed)))} do not go together")


def _joined_with_text(dtype: pa.DataType, typed: Sequence[Value]) -> pa.DataType:
    """Text beside another type is read as that type: as a bigint or a double beside numbers."""
    name = family(dtype)
    if name == "integer":
        return pa.int64()
    if name in ("float", "decimal"):
        return pa.float64()
    if name == "timestamp" and dtype.unit in ("s", "ms"):
        return pa.timestamp("us", dtype.tz)  # the text may have a fraction
    if name in ("boolean", "date", "timestamp"):
        return dtype
    raise Trouble(f"{' and '.join(dict.fromkeys(map(spark_name, typed)))} do not go together")


def _wider_decimal(dtypes: Sequence[pa.DataType], wide: bool) -> pa.DataType:
    scale = max(dtype.scale for dtype in dtypes)
    whole = max(dtype.precision - dtype.scale for dtype in dtypes)
    if whole + scale <= 38:
        return pa.decimal128(whole + scale, scale)
    return pa.decimal256(whole + scale, scale) if wide else pa.decimal128(38, max(38 - whole, min(scale, 6)))


def _finer(dtypes: Sequence[pa.DataType]) -> pa.DataType:
    unit = max((dtype.unit for dtype in dtypes), key=_UNITS.index)
    return pa.timestamp(unit, next((dtype.tz for dtype in dtypes if dtype.tz), None))
