"""Mathematics: the functions on numbers."""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Decimal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.expressions.arrow.casting import convert
from sash.expressions.arrow.operands import Trouble, Value, is_scalar, through_numpy
from sash.expressions.arrow.promotion import family_of, spark_name


def absolute(value: Value) -> Value:
    """The number without its sign."""
    name = family_of(value)
    if name == "string":
        return pc.abs(convert(value, pa.float64()))
    if name not in ("integer", "float", "decimal", "null"):
        raise Trouble(f"abs takes a number, not {spark_name(value)}")
    return value if name == "null" else pc.abs_checked(value)


def square_root(value: Value) -> Value:
    """The square root; NaN below zero."""
    return through_numpy(np.sqrt, [convert(value, pa.float64())], pa.float64(), [0.0])


def exponential(value: Value) -> Value:
    """The exponential."""
    return through_numpy(np.exp, [convert(value, pa.float64())], pa.float64(), [0.0])


def natural_logarithm(value: Value) -> Value:
    """The natural logarithm; NULL at zero and below."""
    return _positive(np.log, convert(value, pa.float64()))


def logarithm(base: Value, value: Value) -> Value:
    """The logarithm to a base; NULL where either is zero or below."""
    base, value = convert(base, pa.float64()), convert(value, pa.float64())
    if is_scalar(base) and base.as_py() == 10:
        return _positive(np.log10, value)
    return _positive(lambda b, x: np.log(x) / np.log(b), base, value)


def power(base: Value, exponent: Value) -> Value:
    """One number to the power of another, as a double."""
    return through_numpy(
        np.power, [convert(base, pa.float64()), convert(exponent, pa.float64())], pa.float64(), [1.0, 1.0]
    )


def sign(value: Value) -> Value:
    """-1, 0 or 1, as a double."""
    return through_numpy(np.sign, [convert(value, pa.float64())], pa.float64(), [0.0])


def is_nan(value: Value) -> Value:
    """Whether the number is NaN; false for NULL."""
    return pc.fill_null(pc.is_nan(convert(value, pa.float64())), False)


def floor(value: Value) -> Value:
    """The next whole number below, as a bigint; of a decimal a decimal."""
    return _whole(value, pc.floor, np.floor)


def ceiling(value: Value) -> Value:
    """The next whole number above, as a bigint; of a decimal a decimal."""
    return _whole(value, pc.ceil, np.ceil)


def round_half_up(value: Value, digits: Value | None = None) -> Value:
    """The number at so many decimals, ties away from zero, judged on its shortest decimal form."""
    places = 0
    if digits is not None:
        if not is_scalar(digits) or family_of(digits) != "integer" or not digits.is_valid:
            raise Trouble("the second argument of round must be a whole number, the same for all rows")
        places = digits.as_py()
    if family_of(value) in ("string", "null"):
        value = convert(value, pa.float64())
    dtype = value.type
    if pa.types.is_integer(dtype):
        return value if places >= 0 else convert(_rounded_decimal(convert(value, pa.decimal128(20, 0)), places), dtype)
    if pa.types.is_decimal(dtype):
        return _rounded_decimal(value, places)
    if not pa.types.is_floating(dtype):
        raise Trouble(f"round takes a number, not {spark_name(value)}")
    return through_numpy(lambda numbers: _rounded(numbers, places), [value], dtype, [0.0])


def _positive(function, *values: Value) -> Value:  # type: ignore[no-untyped-def]
    def masked(*numbers: np.ndarray) -> np.ndarray:
        bad = np.zeros(len(numbers[0]), bool)
        for each in numbers:
            bad |= each <= 0
        return np.ma.MaskedArray(function(*numbers), bad)

    return through_numpy(masked, values, pa.float64(), [1.0] * len(values))


def _whole(value: Value, on_decimal, on_float) -> Value:  # type: ignore[no-untyped-def]
    dtype = value.type
    if pa.types.is_integer(dtype):
        return convert(value, pa.int64())
    if pa.types.is_decimal(dtype):
        room = pa.decimal256(dtype.precision + 1, dtype.scale)
        return pc.cast(on_decimal(pc.cast(value, room)), pa.decimal128(min(dtype.precision - dtype.scale + 1, 38), 0))

    def cut(numbers: np.ndarray) -> np.ndarray:  # Java's cast to long: NaN is 0, the rest is clipped
        whole = on_float(numbers)
        inside = (whole >= -(2.0**63)) & (whole < 2.0**63)
        far = np.where(whole > 0, np.iinfo(np.int64).max, np.where(whole < 0, np.iinfo(np.int64).min, 0))
        return np.where(inside, np.where(inside, whole, 0).astype(np.int64), far)

    return through_numpy(cut, [convert(value, pa.float64())], pa.int64(), [0.0])


def _rounded_decimal(value: Value, places: int) -> Value:
    dtype = value.type
    whole = dtype.precision - dtype.scale + 1
    scale = max(min(dtype.scale, places), 0)
    digits = whole + scale if places >= 0 else max(whole, -places + 1)
    if places < dtype.scale:
        room = pa.decimal256(max(dtype.precision + 1, -places + 1 + dtype.scale), dtype.scale)
        value = pc.round(pc.cast(value, room), ndigits=places, round_mode="half_towards_infinity")
    return pc.cast(value, pa.decimal128(min(digits, 38), scale))


def _rounded(numbers: np.ndarray, places: int) -> np.ndarray:
    """Round fast where the scaled number is clearly on one side, and by decimal digits where it is near a tie."""
    numbers = np.asarray(numbers)
    wide = numbers.astype(np.float64)
    if abs(places) <= 15:
        factor = 10.0 ** abs(places)
        scaled = wide * factor if places >= 0 else wide / factor
        nearest = np.rint(scaled)
        answer = nearest / factor if places >= 0 else nearest * factor
        unsure = ~(np.abs(np.abs(scaled - np.trunc(scaled)) - 0.5) > 1e-4) | ~(np.abs(scaled) < 2.0**40)
    else:
        answer, unsure = wide.copy(), np.ones(len(wide), bool)
    unit = Decimal(1).scaleb(-places)
    for row in np.flatnonzero(unsure & np.isfinite(wide)):
        number = Decimal(str(numbers[row]))
        if number.is_zero() or int(number.as_tuple().exponent) >= -places:
            answer[row] = wide[row]
        else:
            answer[row] = float((number / unit).quantize(Decimal(1), ROUND_HALF_UP) * unit)
    answer[~np.isfinite(wide)] = wide[~np.isfinite(wide)]
    return answer.astype(numbers.dtype)
