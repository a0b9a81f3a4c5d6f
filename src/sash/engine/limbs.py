"""Arrow's decimals and wide integers as numbers of 128 bits: four limbs of 32."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sash.algebra.catalogue.limbs import DIGITS, LIMB
from sash.errors import SashError


def limbs(array: pa.Array, name: str) -> tuple[np.ndarray, ...]:
    """Decimals, or integers of 64 bits, as limbs, the lowest first; the highest has the sign. Zeros for NULLs."""
    low, high = words(array, name)
    parts = (low & LIMB, (low >> 32) & LIMB, high & LIMB, high >> 32)
    if not array.null_count:
        return tuple(np.ascontiguousarray(part) for part in parts)
    valid = array.is_valid().to_numpy(zero_copy_only=False)
    return tuple(np.where(valid, part, 0) for part in parts)


def words(array: pa.Array, name: str) -> tuple[np.ndarray, np.ndarray]:
    """The low and the high 64 bits of each value; whatever is where NULLs are."""
    dtype = array.type
    if not pa.types.is_decimal(dtype):
        low = array.view(pa.int64()).fill_null(0).to_numpy()
        return low, np.zeros_like(low) if dtype == pa.uint64() else low >> 63
    if dtype.scale < 0:
        raise SashError(f"{name} takes decimals of a scale of at least 0, got {dtype}")
    try:
        array = array.cast(pa.decimal128(min(dtype.precision, DIGITS), dtype.scale))
    except (pa.ArrowInvalid, ValueError):
        raise SashError(f"{name} takes decimals of at most {DIGITS} digits, got some of {dtype} with more") from None
    if not len(array):
        return np.zeros(0, np.int64), np.zeros(0, np.int64)
    pairs = np.frombuffer(array.buffers()[1], "<i8", count=2 * (array.offset + len(array)))[2 * array.offset :]
    return pairs[0::2], pairs[1::2]
