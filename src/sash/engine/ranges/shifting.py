"""Order keys moved by the offset of a RANGE frame, so far that the frame of no row beyond the key is cut.

Numbers move as frames have it; part of a unit of time is rounded outward. On the calendar a later time may be moved
to an earlier one than its predecessor: 30 March 12:00 and 31 March 10:00, a month before, and both times that clocks
show twice. Keys are moved farther by as much as that can be.
"""

from __future__ import annotations

from decimal import Decimal
from fractions import Fraction
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
from pyarrow import types

from sash.windows.calendars import LEAST, MOST, PER_DAY, has_fixed_days, shifted_dates, shifted_times
from sash.windows.intervals import Interval
from sash.windows.offsets import float_offset, whole_offset
from sash.windows.range_keys import RangeKeys

FIRST_DAY, LAST_DAY = -719_160, 2_932_894  # inside the years 1 to 9999 in every time zone, for Python's dates
NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 1000, "ns": 1}
CLOCKS = 26  # hours between the least and the most that clocks of a time zone ever were ahead of UTC: Pacific/Apia
MONTHS = 3 * 24  # hours by which the lengths of months differ


class Shifted(NamedTuple):
    """Keys moved, and which of them were moved out of what their type can hold."""

    keys: pa.Array
    beyond: np.ndarray


def shifted(keys: pa.Array, offset: Any, descending: bool, before: bool) -> Shifted:
    """Keys so far before or after all that frames with this offset reach from there; NULL and NaN stay."""
    name = f"rangeBetween: {'start' if before else 'end'}"
    RangeKeys(keys, descending).targets(offset, not before, name)  # refuses what the engine refuses
    up, by = before == descending, -offset if descending else offset
    dtype, valid = keys.type, keys.is_valid().to_numpy(zero_copy_only=False)
    if types.is_floating(dtype):
        more = float_offset(by, dtype)
        if not np.isfinite(more):  # an infinite key less that is NaN, which is above all
            return Shifted(pa.nulls(len(keys), dtype), valid)
        return Shifted(_floats(keys, more), np.zeros(len(keys), np.bool_))
    if types.is_temporal(dtype):
        moved, least, most = _times(keys, by, up)
    else:
        moved, least, most = _numbers(keys, by)
    beyond = np.array([not least <= number <= most for number in moved], np.bool_) & valid
    in_range = [number if ok else None for number, ok in zip(moved, valid & ~beyond, strict=True)]
    return Shifted(_as_keys(in_range, dtype), beyond)


def _floats(keys: pa.Array, by: np.floating) -> pa.Array:
    """Sums as frames have them; they never fall where keys ascend."""
    known = keys.to_numpy(zero_copy_only=False).astype(by.dtype)
    with np.errstate(over="ignore"):
        return pa.array(known + by, keys.type, mask=keys.is_null().to_numpy(zero_copy_only=False))


def _numbers(keys: pa.Array, by: Any) -> tuple[list[int], int, int]:
    """Whole numbers, or decimals in units of their last place."""
    dtype, more = keys.type, whole_offset(by, keys.type)
    scale = dtype.scale if types.is_decimal(dtype) else 0
    moved = [int(Fraction(key or 0) * Fraction(10) ** scale) + more for key in keys.to_pylist()]
    if types.is_decimal(dtype):
        return moved, 1 - 10**dtype.precision, 10**dtype.precision - 1
    if types.is_unsigned_integer(dtype):
        return moved, 0, 2**dtype.bit_width - 1
    return moved, -(2 ** (dtype.bit_width - 1)), 2 ** (dtype.bit_width - 1) - 1


def _times(keys: pa.Array, by: Any, up: bool) -> tuple[list[int], int, int]:
    """Dates in days, and times in their unit."""
    dtype, span = keys.type, by if isinstance(by, Interval) else Interval(days=by)
    if types.is_date(dtype):
        days = _stored(keys.cast(pa.date32()))
        more = span.days + span.microseconds // PER_DAY["us"]
        return [day + more for day in shifted_dates(days, span.months).tolist()], FIRST_DAY, LAST_DAY
    unit, stored = dtype.unit, _stored(keys)
    per_day, nanoseconds = PER_DAY[unit], span.microseconds * 1000
    ticks = -(-nanoseconds // NANOSECONDS[unit]) if up else nanoseconds // NANOSECONDS[unit]
    if types.is_timestamp(dtype):
        zone = span.zone or dtype.tz
        ticks += _disorder(zone, span) * (per_day // 24) * (1 if up else -1)
        stored = shifted_times(stored, unit, zone, span.months, span.days)
        edges = max(FIRST_DAY * per_day, LEAST), min(LAST_DAY * per_day, MOST)
    else:
        ticks += span.days * per_day
        edges = (LEAST, MOST) if types.is_duration(dtype) else (0, per_day - 1)
    return [time + ticks for time in stored.tolist()], *edges


def _disorder(zone: str | None, span: Interval) -> int:
    """Hours by which a later time may be moved to before where an earlier one is."""
    clocks = 0 if has_fixed_days(zone) else CLOCKS
    if not span.months:
        return 2 * clocks if span.days else 0
    return 24 + (MONTHS + 4 * clocks if clocks else 0)  # a day where days are cut at the end of a month


def _stored(keys: pa.Array) -> np.ndarray:
    whole = keys.view(pa.int32() if keys.type.bit_width == 32 else pa.int64())
    return whole.fill_null(0).to_numpy().astype(np.int64)


def _as_keys(numbers: list[int | None], dtype: pa.DataType) -> pa.Array:
    if types.is_decimal(dtype):
        return pa.array([None if n is None else _decimal(n, dtype.scale) for n in numbers], dtype)
    if types.is_date(dtype):
        return pa.array(numbers, pa.int32()).view(pa.date32()).cast(dtype)
    if types.is_temporal(dtype):
        return pa.array(numbers, pa.int32() if dtype.bit_width == 32 else pa.int64()).view(dtype)
    return pa.array(numbers, dtype)


def _decimal(unscaled: int, scale: int) -> Decimal:
    """Exactly, whatever the precision of the context is."""
    return Decimal((int(unscaled < 0), tuple(map(int, str(abs(unscaled)))), -scale))
