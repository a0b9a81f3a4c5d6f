"""Casting: a value as another type, raising where Spark's ANSI mode does."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime
from decimal import ROUND_HALF_UP, Context, Decimal, InvalidOperation
from typing import Any
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.expressions.arrow.operands import Trouble, Value, any_true, arrays, is_scalar, row_by_row, through_numpy, zero
from sash.expressions.arrow.promotion import family, family_of, spark_name
from sash.expressions.text_formats import java_double, parsed_date, parsed_timestamp

TYPES = {
    "boolean": pa.bool_(),
    "tinyint": pa.int8(),
    "smallint": pa.int16(),
    "int": pa.int32(),
    "bigint": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "date": pa.date32(),
    "timestamp": pa.timestamp("us"),
    "timestamp_ntz": pa.timestamp("us"),
    "binary": pa.binary(),
}
_TRUE, _FALSE = {"t", "true", "y", "yes", "1"}, {"f", "false", "n", "no", "0"}
_EXACT = Context(prec=100)


def cast(value: Value, to: str, safe: bool = False) -> Value:
    """CAST, or TRY_CAST where ``safe``; the type is one of Spark's names."""
    dtype = TYPES.get(to) or pa.decimal128(*map(int, to[len("decimal(") : -1].split(",")))
    if to == "timestamp_ntz" and family_of(value) == "timestamp" and value.type.tz:
        value = pc.local_timestamp(value)
    if to == "timestamp" and family_of(value) == "timestamp":
        return value  # with or without a zone, as the column is
    if not safe:
        return convert(value, dtype, explicit=True)
    try:
        return convert(value, dtype, explicit=True)
    except (Trouble, pa.ArrowInvalid):
        convert(value[:0] if not is_scalar(value) else pa.nulls(0, value.type), dtype, explicit=True)  # never possible
    return _value_by_value(value, dtype)


def convert(value: Value, to: pa.DataType, explicit: bool = False) -> Value:
    """The value in that type; what only an explicit cast may do is refused otherwise."""
    if family_of(value) == "months":
        raise Trouble(f"an {spark_name(value)} is not a {spark_name(to)}")
    if value.type == to:
        return value
    if family_of(value) == "null":
        return pa.scalar(None, to) if is_scalar(value) else pa.nulls(len(value), to)
    source, target = family_of(value), family(to)
    if source == "string" and target != "string":
        return _from_text(value, to)
    step = _STEPS.get((source, target))
    if step is None or (not explicit and (source, target) in _EXPLICIT):
        raise Trouble(f"{spark_name(value)} cannot become {spark_name(to)}")
    return step(value, to)


def _direct(value: Value, to: pa.DataType) -> Value:
    return pc.cast(value, to)


def _loose(value: Value, to: pa.DataType) -> Value:
    return pc.cast(value, to, safe=False)


def _integer(value: Value, to: pa.DataType) -> Value:
    try:
        return pc.cast(value, to)
    except pa.ArrowInvalid:
        raise Trouble(f"a value does not fit {spark_name(to)}", overflow=True) from None


def _float_to_integer(value: Value, to: pa.DataType) -> Value:
    low, high = -(2.0 ** (to.bit_width - 1)), 2.0 ** (to.bit_width - 1)

    def cut(numbers: np.ndarray) -> np.ndarray:
        whole = np.trunc(numbers)
        if not ((whole >= low) & (whole < high)).all():  # false for NaN too
            raise Trouble(f"a value does not fit {spark_name(to)}", overflow=True)
        return whole.astype(to.to_pandas_dtype())

    return through_numpy(cut, [value], to, [0.0])


def _decimal_to_integer(value: Value, to: pa.DataType) -> Value:
    return _integer(pc.cast(pc.trunc(value), pa.decimal256(value.type.precision, 0)), to)


def _to_boolean(value: Value, to: pa.DataType) -> Value:
    return pc.not_equal(value, zero(value.type))


def _boolean_to_number(value: Value, to: pa.DataType) -> Value:
    return convert(pc.cast(value, pa.int8()), to, explicit=True)


def _integer_to_decimal(value: Value, to: pa.DataType) -> Value:
    return _decimal(pc.cast(value, pa.decimal256(20, 0)), to)


def _decimal(value: Value, to: pa.DataType) -> Value:
    if to.scale < value.type.scale:
        room = pa.decimal256(min(value.type.precision + 1, 76), value.type.scale)  # 9.9 rounds up to 10
        value = pc.round(pc.cast(value, room), ndigits=to.scale, round_mode="half_towards_infinity")
    try:
        return pc.cast(value, to)
    except pa.ArrowInvalid:
        raise Trouble(f"a value does not fit {spark_name(to)}", overflow=True) from None


def rounded(number: Decimal, dtype: pa.DataType) -> Decimal:
    """The number at the scale of a decimal type, half up; raises where it has too many digits."""
    try:
        quantized = number.quantize(Decimal(1).scaleb(-dtype.scale), ROUND_HALF_UP, _EXACT)
    except InvalidOperation:
        quantized = None
    if quantized is None or len(quantized.as_tuple().digits) > dtype.precision:
        raise Trouble(f"{number} does not fit {spark_name(dtype)}", overflow=True)
    return quantized


def _float_to_decimal(value: Value, to: pa.DataType) -> Value:
    return row_by_row(lambda number: rounded(_shortest(number, value.type), to), [value], to)


def _shortest(number: float, dtype: pa.DataType) -> Decimal:
    return Decimal(str(np.float32(number)) if pa.types.is_float32(dtype) else repr(number))


def _float_to_text(value: Value, to: pa.DataType) -> Value:
    return row_by_row(lambda number: java_double(float(_shortest(number, value.type))), [value], to)


def _decimal_to_text(value: Value, to: pa.DataType) -> Value:
    return row_by_row(lambda number: format(number, "f"), [value], to)


def _timestamp_to_text(value: Value, to: pa.DataType) -> Value:
    def text(moment: datetime) -> str:
        whole = moment.strftime("%H:%M:%S")
        fraction = f".{moment.microsecond:06}".rstrip("0").rstrip(".")
        return f"{moment.year:04}-{moment.month:02}-{moment.day:02} {whole}{fraction}"

    local = pc.local_timestamp(value) if value.type.tz else value
    return row_by_row(text, [pc.cast(local, pa.timestamp("us"), safe=False)], to)


def _timestamp(value: Value, to: pa.DataType) -> Value:
    if to.tz and not value.type.tz:
        return pc.assume_timezone(
            pc.cast(value, pa.timestamp(to.unit)), to.tz, ambiguous="earliest", nonexistent="latest"
        )
    if value.type.tz and not to.tz:
        value = pc.local_timestamp(value)
    return pc.cast(value, to)


def _date_to_timestamp(value: Value, to: pa.DataType) -> Value:
    return _timestamp(pc.cast(value, pa.timestamp(to.unit)), to)


def _timestamp_to_date(value: Value, to: pa.DataType) -> Value:
    return pc.cast(pc.local_timestamp(value) if value.type.tz else value, to, safe=False)


def _timestamp_to_number(value: Value, to: pa.DataType) -> Value:
    count = pc.cast(pc.cast(pc.cast(value, pa.timestamp("us"), safe=False), pa.int64()), pa.int64())
    seconds = through_numpy(lambda n: n // 1_000_000, [count], pa.int64(), [0])
    if family(to) == "integer":
        return _integer(seconds, to)
    return pc.cast(through_numpy(lambda n: n / 1e6, [count], pa.float64(), [0]), to)


def _number_to_timestamp(value: Value, to: pa.DataType) -> Value:
    scaled = pc.multiply_checked(pc.cast(value, pa.int64()), 1_000_000)
    return pc.cast(scaled, pa.timestamp("us", "UTC"))


_STEPS: dict[tuple[str, str], Callable[[Value, pa.DataType], Value]] = {
    ("integer", "integer"): _integer,
    ("integer", "float"): _loose,
    ("integer", "decimal"): _integer_to_decimal,
    ("integer", "boolean"): _to_boolean,
    ("integer", "string"): _direct,
    ("integer", "timestamp"): _number_to_timestamp,
    ("float", "integer"): _float_to_integer,
    ("float", "float"): _loose,
    ("float", "decimal"): _float_to_decimal,
    ("float", "boolean"): _to_boolean,
    ("float", "string"): _float_to_text,
    ("decimal", "integer"): _decimal_to_integer,
    ("decimal", "float"): _loose,
    ("decimal", "decimal"): _decimal,
    ("decimal", "boolean"): _to_boolean,
    ("decimal", "string"): _decimal_to_text,
    ("boolean", "integer"): _boolean_to_number,
    ("boolean", "float"): _boolean_to_number,
    ("boolean", "decimal"): _boolean_to_number,
    ("boolean", "string"): _direct,
    ("string", "string"): _direct,
    ("date", "timestamp"): _date_to_timestamp,
    ("date", "string"): _direct,
    ("timestamp", "timestamp"): _timestamp,
    ("timestamp", "date"): _timestamp_to_date,
    ("timestamp", "string"): _timestamp_to_text,
    ("timestamp", "integer"): _timestamp_to_number,
    ("timestamp", "float"): _timestamp_to_number,
    ("duration", "duration"): _direct,
    ("binary", "binary"): _direct,
    ("binary", "string"): _direct,
}
_EXPLICIT = {
    ("integer", "boolean"),
    ("float", "boolean"),
    ("decimal", "boolean"),
    ("boolean", "integer"),
    ("boolean", "float"),
    ("boolean", "decimal"),
    ("integer", "timestamp"),
    ("timestamp", "integer"),
    ("timestamp", "float"),
}


def _from_text(value: Value, to: pa.DataType) -> Value:
    """Read text as Spark does: Arrow's reader for the usual spellings, Python's for the rest."""
    trimmed = pc.utf8_trim_whitespace(value)
    name = family(to)
    if name in ("integer", "float", "date") or (name == "timestamp" and not to.tz):
        try:
            if name != "integer" or not any_true(pc.match_substring(trimmed, "x", ignore_case=True)):
                return pc.cast(trimmed, to)
        except pa.ArrowInvalid:
            pass
    return row_by_row(lambda text: _read(text, to, name), [trimmed], to)


def _read(text: str, to: pa.DataType, name: str) -> Any:
    read: Any = None
    try:
        if name == "integer":
            read = int(text) if text.isascii() and text.lstrip("+-").isdigit() else None
            if read is not None and not -(2 ** (to.bit_width - 1)) <= read < 2 ** (to.bit_width - 1):
                read = None
        elif name == "float":
            read = float(text.rstrip("dDfF") if text[:1].isdigit() else text) if "_" not in text else None
        elif name == "decimal":
            number = Decimal(text) if "_" not in text else None
            read = rounded(number, to) if number is not None and number.is_finite() else None
        elif name == "boolean":
            read = True if text.lower() in _TRUE else False if text.lower() in _FALSE else None
        elif name == "binary":
            read = text.encode()
        elif name == "date":
            read = parsed_date(text)
        elif name == "timestamp":
            read = parsed_timestamp(text)
            zone = ZoneInfo(to.tz) if to.tz and not to.tz.startswith(("+", "-")) else UTC
            if read is not None and (to.tz or read.tzinfo):  # an instant, told as the clock of the target shows it
                read = (read if read.tzinfo else read.replace(tzinfo=zone)).astimezone(UTC)
                read = read if to.tz else read.replace(tzinfo=None)
    except (ValueError, InvalidOperation):
        pass
    if read is None:
        raise Trouble(f"{text!r} is not a {spark_name(to)}")
    return read


def _value_by_value(value: Value, to: pa.DataType) -> Value:
    """Cast each distinct value by itself, NULL where that fails."""
    (array,), scalar = arrays(value)
    coded = array.dictionary_encode()
    converted = []
    for each in coded.dictionary:
        try:
            converted.append(convert(each, to, explicit=True).as_py())
        except (Trouble, pa.ArrowInvalid):
            converted.append(None)
    answer = pc.take(pa.array(converted, to), coded.indices)
    return answer[0] if scalar else answer
