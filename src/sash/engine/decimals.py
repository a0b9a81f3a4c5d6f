"""Decimals summed exactly: 128 bits as four limbs of 32, each summed on its own.

Types are Spark's: a sum has ten digits more before the point, an average four more after it.
"""

from __future__ import annotations

from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

import numpy as np
import pyarrow as pa

from sash.algebra import Aggregate
from sash.errors import Overflow

DIGITS = 38
LIMB = (1 << 32) - 1


def limbs(array: pa.Array) -> tuple[np.ndarray, ...]:
    """The values of a decimal array as limbs, the lowest first; the highest has the sign. Zeros for NULLs."""
    array = array.cast(pa.decimal128(max(array.type.precision, 1), array.type.scale))
    words = np.frombuffer(array.buffers()[1], "<i8", count=2 * (array.offset + len(array)))[2 * array.offset :]
    low, high = words[0::2], words[1::2]
    parts = (low & LIMB, (low >> 32) & LIMB, high & LIMB, high >> 32)
    if not array.null_count:
        return tuple(np.ascontiguousarray(part) for part in parts)
    valid = array.is_valid().to_numpy(zero_copy_only=False)
    return tuple(np.where(valid, part, 0) for part in parts)


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
    """The sum of decimals of a type."""
    result = pa.decimal128(min(DIGITS, kind.precision + 10), kind.scale)
    return SUM.but(finish=lambda answers: _decimals(answers, result))


def average_of(kind: pa.DataType) -> Aggregate:
    """The average of decimals of a type, rounded half up."""
    scale = min(DIGITS, kind.scale + 4)
    result = pa.decimal128(min(DIGITS, kind.precision + 4), scale)
    return COUNTED.but(finish=lambda answers: _divided(answers, kind.scale, result))


def _decimals(answers: np.ndarray, kind: pa.DataType) -> pa.Array:
    """Limbs as decimals; raises where one has too many digits."""
    top = answers["f3"]
    if np.any((top < -(1 << 31)) | (top >= 1 << 31)):
        raise _overflow(kind)
    words = np.empty(2 * len(answers), np.int64)
    words[0::2] = answers["f0"] | (answers["f1"] << 32)
    words[1::2] = answers["f2"] | (top << 32)
    found = pa.Array.from_buffers(kind, len(answers), [None, pa.py_buffer(words)])
    limit = pa.scalar(Decimal(10**kind.precision - 1).scaleb(-kind.scale, Context(prec=DIGITS)), kind)
    import pyarrow.compute as pc

    if len(found) and pc.any(pc.greater(pc.abs(found), limit)).as_py():
        raise _overflow(kind)
    return found


def _divided(answers: np.ndarray, scale: int, kind: pa.DataType) -> pa.Array:
    """Sums over counts. Python's integers are exact; each different pair is divided once."""
    context = Context(prec=76, rounding=ROUND_HALF_UP)
    unit = Decimal(1).scaleb(-kind.scale)
    pairs, where = np.unique(answers, return_inverse=True)
    found = []
    for a, b, c, d, count in pairs.tolist():
        total = Decimal(a + (b << 32) + (c << 64) + (d << 96)).scaleb(-scale, context)
        found.append(context.divide(total, Decimal(count)).quantize(unit, context=context)
                     if count else Decimal(0).quantize(unit))  # fmt: skip
    return pa.array(found, kind).take(pa.array(where.ravel()))


def _overflow(kind: pa.DataType) -> Overflow:
    return Overflow(f"the sum of a frame does not fit {kind}; cast to a type with fewer digits after the point")
