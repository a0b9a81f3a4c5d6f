"""Decimals, durations and unsigned integers, exactly: 128 bits as four limbs of 32, which are summed or compared.

Types are Spark's: a sum has ten digits more before the point, an average four more after it.
"""

from __future__ import annotations

from decimal import Context, Decimal
from typing import Any

import numpy as np

from sash.algebra.aggregate import Aggregate
from sash.errors import Overflow

DIGITS = 38
LIMB = (1 << 32) - 1
WORD, SIGN = (1 << 64) - 1, 1 << 63


def _add(a: Any, b: Any) -> Any:
    return (a[0] + b[0], a[1] + b[1], a[2] + b[2], a[3] + b[3])


def _subtract(s: Any, old: Any) -> Any:
    return (s[0] - old[0], s[1] - old[1], s[2] - old[2], s[3] - old[3])


def _carried(s: Any) -> Any:
    """The limbs with what is above 32 bits moved up."""
    second = s[1] + (s[0] >> 32)
    third = s[2] + (second >> 32)
    return (s[0] & LIMB, second & LIMB, third & LIMB, s[3] + (third >> 32))


SUM = Aggregate(
    "sum",
    lift=lambda a, b, c, d: (a, b, c, d),
    combine=_add,
    lower=_carried,
    identity=(0, 0, 0, 0),
    inverse=_subtract,
    commutative=True,
    exact=True,
    cast="int64",
    takes="limbs",
)
COUNTED = SUM.but(
    name="avg",
    lift=lambda a, b, c, d: (a, b, c, d, 1),
    combine=lambda a, b: (*_add(a, b), a[4] + b[4]),
    lower=lambda s: (*_carried(s), s[4]),
    inverse=lambda s, old: (*_subtract(s, old), s[4] - old[4]),
    identity=(0, 0, 0, 0, 0),
)


def sum_of(dtype: Any) -> Aggregate | None:
    """The sum of decimals, durations or unsigned integers of 64 bits; None for other types."""
    import pyarrow as pa

    if pa.types.is_decimal(dtype):
        result = pa.decimal128(min(DIGITS, dtype.precision + 10), dtype.scale)
        return SUM.but(finish=lambda answers: _decimals(answers, result))
    if not (pa.types.is_duration(dtype) or dtype == pa.uint64()):
        return None
    result = dtype if pa.types.is_duration(dtype) else pa.int64()
    return SUM.but(finish=lambda answers: _narrowed(_decimals(answers, _whole()), result))


def average_of(dtype: Any) -> Aggregate | None:
    """The average of decimals or durations, rounded half up; None for other types."""
    import pyarrow as pa

    if pa.types.is_duration(dtype):
        return COUNTED.but(finish=lambda answers: _narrowed(_divided(answers, 0, _whole()), dtype))
    if not pa.types.is_decimal(dtype):
        return None
    scale = min(DIGITS, dtype.scale + 4)
    result = pa.decimal128(min(DIGITS, dtype.precision + 4), scale)
    return COUNTED.but(finish=lambda answers: _divided(answers, dtype.scale, result))


LARGEST = Aggregate(
    "largest",
    lift=lambda row, a, b, c, d: ((d, c, b, a), row),  # the highest limb first, to be compared so
    combine=lambda a, b: b if b[0] > a[0] else a,
    lower=lambda s: s[1],
    rows=True,
    returns="row",
    cast="int64",
    takes="limbs",
)
SMALLEST = LARGEST.but(name="smallest", combine=lambda a, b: b if b[0] < a[0] else a)


def largest_of(dtype: Any) -> Aggregate | None:
    """The row of the largest decimal, or unsigned integer of 64 bits; None for other types."""
    return LARGEST if _is_wide(dtype) else None


def smallest_of(dtype: Any) -> Aggregate | None:
    """The row of the smallest decimal, or unsigned integer of 64 bits; None for other types."""
    return SMALLEST if _is_wide(dtype) else None


def _is_wide(dtype: Any) -> bool:
    import pyarrow as pa

    return bool(pa.types.is_decimal(dtype) or dtype == pa.uint64())


def _whole() -> Any:
    """The type of whole numbers of as many digits as there can be."""
    import pyarrow as pa

    return pa.decimal128(DIGITS, 0)


def _decimals(answers: np.ndarray, dtype: Any) -> Any:
    """Limbs as decimals; raises where one has too many digits."""
    top = answers["f3"]
    if np.any((top < -(1 << 31)) | (top >= 1 << 31)):
        raise _overflow("sum", dtype)
    return _checked(answers["f0"] | (answers["f1"] << 32), answers["f2"] | (top << 32), "sum", dtype)


def _checked(low: np.ndarray, high: np.ndarray, name: str, dtype: Any) -> Any:
    """Words as decimals; raises where one has too many digits."""
    import pyarrow as pa
    import pyarrow.compute as pc

    words = np.empty(2 * len(low), np.int64)
    words[0::2], words[1::2] = low, high
    decimals = pa.Array.from_buffers(dtype, len(low), [None, pa.py_buffer(words)])
    most = Decimal(10**dtype.precision - 1).scaleb(-dtype.scale, Context(prec=DIGITS))
    above, below = pc.greater(decimals, pa.scalar(most, dtype)), pc.less(decimals, pa.scalar(most.copy_negate(), dtype))
    if pc.any(pc.or_(above, below)).as_py():
        raise _overflow(name, dtype)
    return decimals


def _narrowed(whole: Any, dtype: Any) -> Any:
    """Whole numbers as durations, or as integers of 64 bits."""
    import pyarrow as pa

    try:
        return whole.cast(pa.int64()).cast(dtype)
    except pa.ArrowInvalid:
        raise Overflow(f"the sum of a frame does not fit {dtype}; sum a wider type, such as a decimal") from None


def _divided(answers: np.ndarray, scale: int, dtype: Any) -> Any:
    """Sums over counts, rounded half up: in 64 bits where that is enough, otherwise by Python's integers."""
    factor = 10 ** (dtype.scale - scale)
    count = np.maximum(answers["f4"], 1)
    low = answers["f0"] | (answers["f1"] << 32)
    sign = low >> 63
    most = (1 << 61) // factor
    small = (answers["f2"] == sign & LIMB) & (answers["f3"] == sign) & (low >= -most) & (low <= most)
    size = np.where(small, np.abs(low), 0) * factor
    low = np.where(sign < 0, -1, 1) * ((2 * size + count) // (2 * count))
    high = low >> 63
    for place in np.flatnonzero(~small).tolist():
        a, b, c, d, rows = answers[place].tolist()
        total = a + (b << 32) + (c << 64) + (d << 96)
        value = (2 * abs(total) * factor + rows) // (2 * rows)
        if value >= 10**dtype.precision:
            raise _overflow("avg", dtype)
        value = value if total >= 0 else -value
        high[place], low[place] = value >> 64, (value & WORD) - ((value & SIGN) << 1)
    return _checked(low, high, "avg", dtype)


def _overflow(name: str, dtype: Any) -> Overflow:
    return Overflow(f"the {name} of a frame does not fit {dtype}; cast to a type with fewer digits after the point")
