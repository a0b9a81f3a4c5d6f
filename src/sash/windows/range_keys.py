"""The order key of a RANGE frame, as whole numbers or floats, and the keys that its offsets reach from every row.

Whole numbers of 64 bits, exact, stand for integers, decimals, dates, times and durations; where one does not fit,
keys and targets are numbered together by size, with Python's own integers. (Imports pyarrow, so ``sash.windows``
does not import it.)
"""

from __future__ import annotations

import math
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from sash.errors import SashError
from sash.windows.calendars import LEAST, MOST, PER_DAY, has_fixed_days, saturated_sum, shifted_dates, shifted_times
from sash.windows.intervals import DAY, Interval
from sash.windows.offsets import float_offset, float_offsets, whole_offset

_CALENDAR = np.dtype([("months", np.int32), ("days", np.int32), ("nanoseconds", np.int64)])
_NANOSECONDS = {"s": 10**9, "ms": 10**6, "us": 1000, "ns": 1}


class Targets(NamedTuple):
    """What to look for among which keys: for each row its target plus the shift; keys ascend in a partition."""

    keys: np.ndarray
    targets: np.ndarray
    shift: np.ndarray
    ascend: bool  # whether the targets surely ascend like the keys


class RangeKeys:
    """A column of order keys, by position."""

    def __init__(self, key: Any, descending: bool) -> None:
        key = plain_array(key)
        self.type, self.descending = key.type, descending
        self.valid = key.is_valid().to_numpy(zero_copy_only=False) if key.null_count else None
        self.values = _values(key)
        self.unit: str = getattr(key.type, "unit", "")
        self.zone: str | None = getattr(key.type, "tz", None)
        self.is_date = types.is_date(key.type)

    def targets(self, offset: Any, stops: bool, name: str) -> Targets:
        """The targets of one offset for all rows, or of an Arrow array with one for each."""
        shift: Any = 0
        targets: Any = None
        if types.is_floating(self.type):
            return self._of_floats(offset, name)
        if types.is_temporal(self.type):
            upward = stops == self.descending  # how part of a unit is rounded
            shift, targets = self._of_times(offset, upward, name)
        elif isinstance(offset, pa.Array):
            targets = self._of_numbers(offset, name)
        else:
            shift = self._whole(offset, name)
        return self._ascending(targets, shift, targets is None)

    def _ascending(self, targets: Any, shift: Any, ascend: bool) -> Targets:
        """Keys and targets turned to ascend, as numbers that a kernel can compare and add."""
        keys = self.values
        if self.values.dtype == np.float64:
            if self.has_nan or (targets is not None and _holds_nan(targets)):
                targets = _float_codes(self.values + shift if targets is None else targets)
                keys, shift = _float_codes(keys), 0
        elif isinstance(targets, list) or keys.dtype == object or not self._bears(shift):
            keys, targets = _numbered(keys, [int(key) + shift for key in keys] if targets is None else targets)
            shift = 0
        keys = self.turned(keys)
        targets = keys if targets is None else self.turned(targets)
        return Targets(keys, targets, np.array([-shift if self.descending else shift], keys.dtype), ascend)

    @cached_property
    def has_nan(self) -> bool:
        """Whether a key is not a number, which is above every number."""
        return _holds_nan(self.values)

    def turned(self, numbers: np.ndarray) -> np.ndarray:
        """Numbers that ascend where the window's order does."""
        if not self.descending:
            return numbers
        return -numbers if numbers.dtype == np.float64 else ~numbers

    def _bears(self, shift: int) -> bool:
        """Whether the shift can be added to every key."""
        least, most = (int(self.values.min()), int(self.values.max())) if len(self.values) else (0, 0)
        return LEAST < shift <= MOST and least + shift >= LEAST and most + shift <= MOST

    def _of_floats(self, offset: Any, name: str) -> Targets:
        each = isinstance(offset, pa.Array)
        self._refuse_unless(_is_number(offset.type) if each else not isinstance(offset, Interval), offset, name)
        by = float_offsets(offset, self.type) if each else float_offset(offset, self.type)
        by = -by if self.descending else by
        finite = not each and bool(np.isfinite(by))
        if finite and self.type == pa.float64():
            return self._ascending(None, float(by), ascend=True)
        keys = self.values.astype(by.dtype, copy=False)
        with np.errstate(over="ignore", invalid="ignore"):
            targets = (keys + by).astype(np.float64)
        return self._ascending(targets, 0.0, ascend=finite)

    def _whole(self, offset: Any, name: str) -> int:
        """An offset in the direction of the keys and in their unit."""
        self._refuse_unless(not isinstance(offset, Interval), offset, name)
        if isinstance(offset, float) and not math.isfinite(offset):
            raise SashError(f"{name} must be finite where the order key is of type {self.type}, got {offset}")
        return whole_offset(-offset if self.descending else offset, self.type)

    def _of_numbers(self, offsets: pa.Array, name: str) -> np.ndarray | list[int]:
        self._refuse_unless(_is_number(offsets.type), offsets, name)
        if types.is_floating(offsets.type) and len(offsets) and not pc.all(pc.is_finite(offsets)).as_py():
            got = "a column with NaN or infinity"
            raise SashError(f"{name} must be finite where the order key is of type {self.type}, got {got}")
        shifts = self._small_shifts(offsets)
        if shifts is not None and self.values.dtype != object:
            targets = self.values + shifts
            if not (((self.values ^ targets) & (shifts ^ targets)) < 0).any():
                return targets
        each = (self._whole(offset, name) for offset in offsets.to_pylist())
        return [int(key) + shift for key, shift in zip(self.values, each, strict=True)]

    def _small_shifts(self, offsets: pa.Array) -> np.ndarray | None:
        """Offsets as shifts of 64 bits, where they fit."""
        scale = self.type.scale if types.is_decimal(self.type) else None
        is_float = types.is_floating(offsets.type)
        if types.is_decimal(offsets.type) or (scale is not None and (is_float or scale < 0)):
            return None
        size = 10 ** (scale or 0)
        limit = MOST // size
        shifts = np.trunc(offsets.to_numpy()) if is_float else offsets.to_numpy()
        if len(shifts) and not -limit < int(shifts.min()) <= int(shifts.max()) < limit:
            return None
        return shifts.astype(np.int64) * (-size if self.descending else size)

    def _of_times(self, offset: Any, upward: bool, name: str) -> tuple[int, np.ndarray | None]:
        months, days, nanoseconds = self._span(offset, name)
        if self.descending:
            months, days, nanoseconds = -months, -days, -nanoseconds
        if np.any(months) and not (self.is_date or types.is_timestamp(self.type)):
            self._refuse_unless(False, offset, name)
        if self.is_date:
            more, rest = divmod(nanoseconds, 1000 * DAY)
            self._refuse_unless(not np.any(rest), offset, name)
            days = days + more
            if isinstance(offset, pa.Array) or months:
                return 0, shifted_dates(self.values, months, days)
            return int(days), None
        zone = (offset.zone if isinstance(offset, Interval) else None) or self.zone
        tick = _NANOSECONDS[self.unit]
        ticks = -(-nanoseconds // tick) if upward else nanoseconds // tick
        if isinstance(offset, pa.Array) or months or (days and not has_fixed_days(zone)):
            if types.is_timestamp(self.type):
                return 0, shifted_times(self.values, self.unit, zone, months, days, ticks)
            return 0, saturated_sum(self.values, days * PER_DAY[self.unit] + ticks)
        return days * PER_DAY[self.unit] + ticks, None

    def _span(self, offset: Any, name: str) -> tuple[Any, Any, Any]:
        """Months, days and nanoseconds of an offset; of each of them, for an array."""
        if isinstance(offset, Interval):
            return offset.months, offset.days, offset.microseconds * 1000
        if isinstance(offset, pa.Array):
            if types.is_duration(offset.type):
                size, per_day = _NANOSECONDS[offset.type.unit], PER_DAY[offset.type.unit]
                whole = offset.view(pa.int64()).to_numpy()
                rest = np.fmod(whole, per_day)  # both parts have the sign of the whole, as in Spark
                return np.zeros(len(whole), np.int64), (whole - rest) // per_day, rest * size
            if types.is_interval(offset.type):
                parts = np.frombuffer(offset.buffers()[1], _CALENDAR)[offset.offset : offset.offset + len(offset)]
                return tuple(parts[name].astype(np.int64) for name in _CALENDAR.names or ())  # type: ignore[return-value]
            self._refuse_unless(self.is_date and types.is_integer(offset.type), offset, name)
            days = offset.cast(pa.int64()).to_numpy()
            return np.zeros_like(days), days, np.zeros_like(days)
        self._refuse_unless(self.is_date and isinstance(offset, int), offset, name)
        return 0, offset, 0

    def _refuse_unless(self, fits: bool, offset: Any, name: str) -> None:
        if fits:
            return
        takes = "a number"
        if self.is_date:
            takes = "a whole number of days, or an interval of days and months such as '-1 month'"
        elif types.is_timestamp(self.type):
            takes = "an interval such as '-5 minutes'"
        elif types.is_temporal(self.type):
            takes = "an interval of days or less such as '-5 minutes'"
        got = f"a column of type {offset.type}" if isinstance(offset, pa.Array) else str(offset)
        raise SashError(f"{name} must be {takes} where the order key is of type {self.type}, got {got}")


def plain_array(values: Any) -> pa.Array:
    """One Arrow array, its dictionary resolved."""
    array = values if isinstance(values, pa.Array | pa.ChunkedArray) else pa.array(values)
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    return array.dictionary_decode() if types.is_dictionary(array.type) else array


def _is_number(dtype: pa.DataType) -> bool:
    return types.is_integer(dtype) or types.is_floating(dtype) or types.is_decimal(dtype)


def _holds_nan(numbers: np.ndarray) -> bool:
    return bool(len(numbers)) and math.isnan(numbers.min())


def _float_codes(numbers: np.ndarray) -> np.ndarray:
    """Whole numbers in the order of floats, all NaNs above all numbers, and -0.0 as 0.0."""
    bits = (numbers + 0.0).view(np.int64)
    codes = bits ^ ((bits >> 63) & MOST)
    codes[np.isnan(numbers)] = MOST
    return codes


def _values(key: pa.Array) -> np.ndarray:
    """Keys as 64-bit numbers that keep their order and distances, 0 or so where they are NULL."""
    dtype = key.type
    if types.is_null(dtype):
        return np.zeros(len(key), np.int64)
    if types.is_decimal(dtype):
        return _unscaled(key)
    if types.is_date64(dtype):
        key, dtype = key.cast(pa.date32()), pa.date32()
    if types.is_temporal(dtype) and not types.is_interval(dtype):
        key = key.view(pa.int32() if dtype.bit_width == 32 else pa.int64())
    elif not _is_number(dtype):
        raise SashError(
            "rangeBetween with an offset takes an order key of numbers, dates, times, timestamps or durations, "
            f"got one of type {dtype}"
        )
    if key.null_count:
        key = pc.fill_null(key, pa.scalar(0, key.type))
    if types.is_uint64(dtype):
        return (key.to_numpy() ^ np.uint64(2**63)).view(np.int64)
    return key.to_numpy().astype(np.float64 if types.is_floating(dtype) else np.int64, copy=False)


def _unscaled(key: pa.Array) -> np.ndarray:
    """Decimals in units of their last place: 64 bits where all fit, else Python's integers."""
    width = key.type.bit_width // 8
    part = np.dtype(f"<i{min(width, 8)}")
    stored = np.frombuffer(key.buffers()[1], part).reshape(-1, max(1, width // 8))[key.offset : key.offset + len(key)]
    words = stored.astype(np.int64)
    if key.null_count:
        words[~key.is_valid().to_numpy(zero_copy_only=False)] = 0
    if (words[:, 1:] == words[:, :1] >> 63).all():
        return np.ascontiguousarray(words[:, 0])
    whole = words[:, -1].astype(object)
    for word in words[:, -2::-1].T:
        whole = (whole << 64) + word.view(np.uint64).astype(object)
    return whole


def _numbered(keys: np.ndarray, targets: list[int] | np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Keys and targets as numbers of 64 bits in the same order, whatever their size."""
    both = np.array([*map(int, keys), *targets], object)
    numbers = np.unique(both, return_inverse=True)[1].astype(np.int64)
    return numbers[: len(keys)], numbers[len(keys) :]
