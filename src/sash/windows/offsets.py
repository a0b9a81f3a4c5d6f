"""The offset of a RANGE frame as a number of the order key's type, cast as Spark casts it.

Spark casts first and adds then: integers drop what is behind the point, decimals are rounded half up to the scale of
the key, and short floats to the nearest, as is the sum. Where an offset is out of what the type can hold Spark
raises; here the frame is still exact. (Imports pyarrow, so ``sash.windows`` does not import it.)
"""

from __future__ import annotations

import math
from decimal import Decimal
from fractions import Fraction
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import types


def float_type(dtype: pa.DataType) -> np.dtype:
    """NumPy's type of floats as wide as Arrow's."""
    return np.dtype(f"f{dtype.bit_width // 8}")


def float_offset(offset: Any, dtype: pa.DataType) -> np.floating:
    """One offset as a float of the key's type, infinite where that cannot hold it.

    >>> float_offset(Decimal("0.1"), pa.float32())
    np.float32(0.1)
    """
    try:
        near = float(offset)
    except OverflowError:
        near = math.copysign(math.inf, offset)
    if dtype != pa.float64() and math.isfinite(near):
        near = _odd(near, Fraction(offset))
    with np.errstate(over="ignore"):
        return float_type(dtype).type(near)


def float_offsets(offsets: pa.Array, dtype: pa.DataType) -> np.ndarray:
    """Each row's offset as a float of the key's type."""
    if types.is_decimal(offsets.type):  # Arrow's own cast is not to the nearest
        few = offsets.dictionary_encode()
        each = np.array([float_offset(one, dtype) for one in few.dictionary.to_pylist()], float_type(dtype))
        return each[few.indices.to_numpy()] if len(each) else each
    with np.errstate(over="ignore"):
        return offsets.to_numpy().astype(float_type(dtype))


def whole_offset(offset: Any, dtype: pa.DataType) -> int:
    """One offset in units of the key's last place, however large.

    >>> whole_offset(-1.5, pa.int8()), whole_offset(Decimal("0.125"), pa.decimal128(4, 2))
    (-1, 13)
    """
    if not types.is_decimal(dtype):
        return math.trunc(offset)
    exact = Fraction(Decimal(repr(offset)) if isinstance(offset, float) else offset) * Fraction(10) ** dtype.scale
    size = math.floor(abs(exact) + Fraction(1, 2))
    return -size if exact < 0 else size


def _odd(near: float, exact: Fraction) -> float:
    """A float beside the exact number, its last bit set where they differ, so that rounding it once more is right."""
    if Fraction(near) == exact:
        return near
    if int(np.float64(near).view(np.int64)) & 1:
        return near
    return math.nextafter(near, math.inf if exact > near else -math.inf)
