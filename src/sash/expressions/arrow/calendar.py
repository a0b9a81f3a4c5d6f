"""The calendar: dates and times moved by intervals, cut to units, and taken apart."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.expressions.arrow.casting import convert
from sash.expressions.arrow.operands import Trouble, Value, is_scalar, through_numpy
from sash.expressions.arrow.promotion import common_type, family_of, spark_name
from sash.expressions.intervals import Months

_DAY = 86_400_000_000
_UNITS = {
    "year": "year",
    "yyyy": "year",
    "yy": "year",
    "quarter": "quarter",
    "month": "month",
    "mon": "month",
    "mm": "month",
    "week": "week",
    "day": "day",
    "dd": "day",
    "hour": "hour",
    "minute": "minute",
    "second": "second",
    "millisecond": "millisecond",
    "microsecond": "microsecond",
}
_FIXED = ("UTC", "GMT", "Z", "Etc/UTC")


def moved(sign: str, left: Value, right: Value) -> Value:
    """A sum or a difference in which a date, a time or an interval takes part."""
    families = family_of(left), family_of(right)
    moments = {"date", "timestamp"}
    if sign == "+" and families[1] in moments and families[0] not in moments:
        left, right, families = right, left, (families[1], families[0])
    if families[0] in moments and families[1] == "months":
        return _by_months(left, right.count if sign == "+" else -right.count)
    if families[0] in moments and families[1] == "duration":
        return _by_time(left, right if sign == "+" else negated(right))
    if families[0] == "date" and families[1] == "integer":
        days = convert(right, pa.int32())
        operation = pc.add_checked if sign == "+" else pc.subtract_checked
        return pc.cast(operation(pc.cast(left, pa.int32()), days), pa.date32())
    if sign == "-" and families[0] in {*moments, "string"} and families[1] in {*moments, "string"}:
        return _apart(left, right)
    if families == ("duration", "duration"):
        dtype = common_type([left, right])
        operation = pc.add_checked if sign == "+" else pc.subtract_checked
        return operation(convert(left, dtype), convert(right, dtype))
    if families == ("months", "months"):
        return Months(left.count + right.count if sign == "+" else left.count - right.count)
    if "null" in families and families != ("months", "null"):
        other = left if families[1] == "null" else right
        missing = right if families[1] == "null" else left
        dtype = other.type if not isinstance(other, Months) else pa.timestamp("us")
        return convert(missing if is_scalar(other) or isinstance(other, Months) else pa.nulls(len(other)), dtype)
    raise Trouble(f"{spark_name(left)} {sign} {spark_name(right)} has no meaning")


def negated(value: Value) -> Value:
    """An interval with the other sign."""
    if isinstance(value, Months):
        return Months(-value.count)
    if family_of(value) != "duration":
        raise Trouble(f"a {spark_name(value)} has no sign")
    return pc.negate_checked(pc.cast(value, pa.int64())).cast(value.type)


def repeated(left: Value, right: Value) -> Value:
    """An interval so many times."""
    span, times = (left, right) if family_of(left) in ("duration", "months") else (right, left)
    if isinstance(span, Months) and is_scalar(times) and family_of(times) == "integer" and times.is_valid:
        return Months(span.count * times.as_py())
    if family_of(span) != "duration" or family_of(times) != "integer":
        raise Trouble(f"{spark_name(left)} * {spark_name(right)} has no meaning")
    return pc.multiply_checked(pc.cast(span, pa.int64()), convert(times, pa.int64())).cast(span.type)


def scaled(span: Value, divisor: Value) -> Value:
    """An interval divided by a number, to the next microsecond."""
    if family_of(span) != "duration":
        raise Trouble(f"{spark_name(span)} cannot be divided")
    counts = pc.cast(pc.cast(span, pa.duration("us")), pa.int64())

    def divided(count: np.ndarray, by: np.ndarray) -> np.ndarray:
        if (by == 0).any():
            raise Trouble("division by zero")
        exact = count / by
        return (np.sign(exact) * np.floor(np.abs(exact) + 0.5)).astype(np.int64)

    return through_numpy(divided, [counts, convert(divisor, pa.float64())], pa.int64(), [0, 1.0]).cast(
        pa.duration("us")
    )


def days_between(end: Value, start: Value) -> Value:
    """DATEDIFF: how many days one date is after another."""
    late, early = (pc.cast(convert(each, pa.date32()), pa.int32()) for each in (end, start))
    return pc.subtract(late, early)


def truncated(unit: Value, value: Value) -> Value:
    """DATE_TRUNC: the start of the unit that a time is in."""
    name = unit.as_py() if is_scalar(unit) else None
    if not isinstance(name, str) or name.lower() not in _UNITS:
        raise Trouble(f"date_trunc takes a unit from year to microsecond, not {name!r}")
    value = value if family_of(value) == "timestamp" else convert(value, pa.timestamp("us"))
    return pc.floor_temporal(value, unit=_UNITS[name.lower()])


def year(value: Value) -> Value:
    """The year."""
    return pc.cast(pc.year(_dated(value)), pa.int32())


def month(value: Value) -> Value:
    """The month, from 1."""
    return pc.cast(pc.month(_dated(value)), pa.int32())


def day(value: Value) -> Value:
    """The day of the month, from 1."""
    return pc.cast(pc.day(_dated(value)), pa.int32())


def hour(value: Value) -> Value:
    """The hour."""
    return pc.cast(pc.hour(_timed(value)), pa.int32())


def minute(value: Value) -> Value:
    """The minute."""
    return pc.cast(pc.minute(_timed(value)), pa.int32())


def second(value: Value) -> Value:
    """The second, without its fraction."""
    return pc.cast(pc.second(_timed(value)), pa.int32())


def _dated(value: Value) -> Value:
    return value if family_of(value) in ("date", "timestamp") else convert(value, pa.date32())


def _timed(value: Value) -> Value:
    return value if family_of(value) == "timestamp" else convert(value, pa.timestamp("us"))


def _apart(late: Value, early: Value) -> Value:
    families = {family_of(late), family_of(early)} - {"string"}
    dtype = pa.date32() if families == {"date"} else common_type([late, early])
    dtype = pa.timestamp("us", dtype.tz) if pa.types.is_timestamp(dtype) else pa.timestamp("us")
    late, early = (
        convert(convert(each, pa.date32()) if families == {"date"} else _in_microseconds(each), dtype)
        for each in (late, early)
    )
    return pc.cast(pc.subtract_checked(late, early), pa.duration("us"))


def _in_microseconds(value: Value) -> Value:
    return pc.cast(value, pa.timestamp("us", value.type.tz), safe=False) if family_of(value) == "timestamp" else value


def _by_time(moment: Value, span: Value) -> Value:
    if family_of(moment) == "date":
        count = pc.cast(pc.cast(span, pa.duration("us")), pa.int64())
        if is_scalar(count) and count.is_valid and count.as_py() % _DAY == 0:
            days = pa.scalar(count.as_py() // _DAY, pa.int32())
            return pc.cast(pc.add_checked(pc.cast(moment, pa.int32()), days), pa.date32())
        moment = convert(moment, pa.timestamp("us"))
    dtype = moment.type
    if dtype.unit in ("s", "ms"):
        dtype = pa.timestamp("us", dtype.tz)
        moment = pc.cast(moment, dtype)
    span = pc.cast(span, pa.duration(dtype.unit))
    if not dtype.tz or dtype.tz in _FIXED or dtype.tz[0] in "+-":
        return pc.add_checked(moment, span)
    # days are days of the calendar, whatever the clocks do; the rest is time that passes
    per_day = _DAY * (1000 if dtype.unit == "ns" else 1)
    count = pc.cast(span, pa.int64())
    days = pc.multiply(pc.divide(count, per_day), per_day)
    same_offset = pc.add_checked(moment, pc.cast(days, pa.duration(dtype.unit)))
    shifted = _at_clock(same_offset, pc.add_checked(pc.local_timestamp(moment), pc.cast(days, pa.duration(dtype.unit))))
    return pc.add_checked(shifted, pc.cast(pc.subtract(count, days), pa.duration(dtype.unit)))


def _at_clock(same_offset: Value, wanted: Value) -> Value:
    """The moment at which the clock shows what is wanted: with the same offset if that does, or with the other."""
    again = pc.assume_timezone(wanted, same_offset.type.tz, ambiguous="earliest", nonexistent="latest")
    good = pc.equal(pc.local_timestamp(again), wanted)
    return pc.if_else(pc.and_(good, pc.not_equal(pc.local_timestamp(same_offset), wanted)), again, same_offset)


def _by_months(moment: Value, count: int) -> Value:
    dtype = moment.type
    unit = "D" if pa.types.is_date(dtype) else dtype.unit
    local = pc.local_timestamp(moment) if getattr(dtype, "tz", None) else moment
    base = pa.date32() if unit == "D" else pa.timestamp(unit)

    def shifted(moments: np.ndarray) -> np.ndarray:
        days = moments.astype("M8[D]")
        months = days.astype("M8[M]")
        target = months + count
        longest = (target + 1).astype("M8[D]") - target.astype("M8[D]") - 1
        landed = target.astype("M8[D]") + np.minimum(days - months.astype("M8[D]"), longest)
        return landed if unit == "D" else landed.astype(f"M8[{unit}]") + (moments - days)

    answer = through_numpy(shifted, [local], base, [0])
    if not getattr(dtype, "tz", None):
        return answer
    offset = pc.subtract(pc.cast(moment, pa.timestamp(unit)), local)
    same_offset = pc.add(answer, offset).cast(dtype)
    return _at_clock(same_offset, answer)
