"""Decimals, durations and unsigned integers summed exactly: 128 bits as four limbs of 32, each summed on its own.

Types are Spark's: a sum has ten digits more before the point, an average four more after it.
"""

from __future__ import annotations

from decimal import Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.algebra import Aggregate
from sash.errors import Overflow, SashError

DIGITS = 38
LIMB = (1 << 32) - 1
WORD, SIGN = (1 << 64) - 1, 1 << 63
WHOLE = pa.decimal128(DIGITS, 0)


def limbs(array: pa.Array, name: str = "sum") -> tuple[np.ndarray, ...]:
    """Decimals, or integers of 64 bits, as limbs, the lowest first; the highest has the sign. Zeros for NULLs."""
    low, high = words(array, name)
    parts = (low & LIMB, (low >> 32) & LIMB, high & LIMB, high >> 32)
    if not array.null_count:
        return tuple(np.ascontiguousarray(part) for part in parts)
    valid = array.is_valid().to_numpy(zero_copy_only=False)
    return tuple(np.where(valid, part, 0) for part in parts)


def words(array: pa.Array, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The low and the high 64 bits of each value; whatever is where NULLs are."""
    kind = array.type
    if not pa.types.is_decimal(kind):
        low = array.view(pa.int64()).fill_null(0).to_numpy()
        return low, np.zeros_like(low) if kind == pa.uint64() else low >> 63
    if kind.scale < 0:
        raise SashError(f"{name} takes decimals of a scale of at least 0, got {kind}")
    try:
        array = array.cast(pa.decimal128(min(kind.precision, DIGITS), kind.scale))
    except (pa.ArrowInvalid, ValueError):
        raise SashError(f"{name} takes decimals of at most {DIGITS} digits, got some of {kind} with more") from None
    if not len(array):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    pairs = np.frombuffer(array.buffers()[1], "<i8", count=2 * (array.offset + len(array)))[2 * array.offset :]
    return pairs[0::2], pairs[1::2]


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
    cast="int64",
)
COUNTED = SUM.but(
    name="avg",
    lift=lambda a, b, c, d: (a, b, c, d, 1),
    combine=lambda a, b: (*_add(a, b), a[4] + b[4]),
    lower=lambda s: (*_carried(s), s[4]),
    inverse=lambda s, old: (*_subtract(s, old), s[4] - old[4]),
    identity=(0, 0, 0, 0, 0),
)


def sum_of(kind: pa.DataType) -> Aggregate:
    """The sum of decimals, durations or unsigned integers of a type."""
    if pa.types.is_decimal(kind):
        result = pa.decimal128(min(DIGITS, kind.precision + 10), kind.scale)
        return SUM.but(finish=lambda answers: _decimals(answers, result))
    result = kind if pa.types.is_duration(kind) else pa.int64()
    return SUM.but(finish=lambda answers: _narrowed(_decimals(answers, WHOLE), result))


def average_of(kind: pa.DataType) -> Aggregate:
    """The average of decimals or durations of a type, rounded half up."""
    if not pa.types.is_decimal(kind):
        return COUNTED.but(finish=lambda answers: _narrowed(_divided(answers, 0, WHOLE), kind))
    scale = min(DIGITS, kind.scale + 4)
    result = pa.decimal128(min(DIGITS, kind.precision + 4), scale)
    return COUNTED.but(finish=lambda answers: _divided(answers, kind.scale, result))


def _decimals(answers: np.ndarray, kind: pa.DataType) -> pa.Array:
    """Limbs as decimals; raises where one has too many digits."""
    top = answers["f3"]
    if np.any((top < -(1 << 31)) | (top >= 1 << 31)):
        raise _overflow("sum", kind)
    return _checked(answers["f0"] | (answers["f1"] << 32), answers["f2"] | (top << 32), "sum", kind)


def _checked(low: np.ndarray, high: np.ndarray, name: str, kind: pa.DataType) -> pa.Array:
    """Words as decimals; raises where one has too many digits."""
    words = np.empty(2 * len(low), np.int64)
    words[0::2], words[1::2] = low, high
    found = pa.Array.from_buffers(kind, len(low), [None, pa.py_buffer(words)])
    most = Decimal(10**kind.precision - 1).scaleb(-kind.scale, Context(prec=DIGITS))
    above, below = pc.greater(found, pa.scalar(most, kind)), pc.less(found, pa.scalar(most.copy_negate(), kind))
    if pc.any(pc.or_(above, below)).as_py():
        raise _overflow(name, kind)
    return found


def _narrowed(whole: pa.Array, kind: pa.DataType) -> pa.Array:
    """Whole numbers as durations, or as integers of 64 bits."""
    try:
        return whole.cast(pa.int64()).cast(kind)
    except pa.ArrowInvalid:
        raise Overflow(f"the sum of a frame does not fit {kind}; sum a wider type, such as a decimal") from None


def _divided(answers: np.ndarray, scale: int, kind: pa.DataType) -> pa.Array:
    """Sums over counts, rounded half up: in 64 bits where that is enough, otherwise by Python's integers."""
    factor = 10 ** (kind.scale - scale)
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
        if value >= 10**kind.precision:
            raise _overflow("avg", kind)
        value = value if total >= 0 else -value
        high[place], low[place] = value >> 64, (value & WORD) - ((value & SIGN) << 1)
    return _checked(low, high, "avg", kind)


def _overflow(name: str, kind: pa.DataType) -> Overflow:
    return Overflow(f"the {name} of a frame does not fit {kind}; cast to a type with fewer digits after the point")
