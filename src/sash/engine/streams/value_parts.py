"""What values are in memory where they are told apart or ordered: whole numbers of 64 bits, or bytes and their ends."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

MAGNITUDE = np.int64(2**63 - 1)
INTEGERS: dict[int, np.dtype[Any]] = {
    8: np.dtype(np.int8),
    16: np.dtype(np.int16),
    32: np.dtype(np.int32),
    64: np.dtype(np.int64),
}


def is_text(dtype: pa.DataType) -> bool:
    """Whether values are strings or bytes."""
    kinds = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary, pa.types.is_large_binary)
    return any(kind(dtype) for kind in kinds)


def is_whole(dtype: pa.DataType) -> bool:
    """Whether values are whole numbers of at most 64 bits in memory, in their order."""
    if pa.types.is_boolean(dtype):
        return True
    timelike = pa.types.is_temporal(dtype) and not pa.types.is_interval(dtype)
    return pa.types.is_integer(dtype) or timelike


def whole_numbers(array: pa.Array) -> np.ndarray:
    """Whole numbers, times and truth values as 64 bits in their order; of NULLs they say nothing."""
    dtype = array.type
    if pa.types.is_boolean(dtype):
        return array.fill_null(False).to_numpy(zero_copy_only=False).astype(np.int64)
    unsigned = pa.types.is_unsigned_integer(dtype)
    width = INTEGERS[dtype.bit_width]
    storage = array.view(pa.from_numpy_dtype(width.str.replace("i", "u") if unsigned else width))
    values = storage.fill_null(0).to_numpy(zero_copy_only=False) if array.null_count else storage.to_numpy()
    if unsigned and dtype.bit_width == 64:
        return (values ^ np.uint64(1 << 63)).view(np.int64)
    return values.astype(np.int64, copy=False)


def float_words(values: np.ndarray) -> np.ndarray:
    """Doubles as whole numbers in their order: NaNs are equal, and above all others.

    >>> float_words(np.array([-np.inf, -1.5, -0.0, 0.0, 2.0, np.nan])).argsort().tolist()
    [0, 1, 2, 3, 4, 5]
    """
    words = np.where(np.isnan(values), np.nan, values).view(np.int64)
    return words ^ ((words >> 63) & MAGNITUDE)


def text_bytes(array: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Where texts end in some bytes, and these; of NULLs they say nothing."""
    filled = array.fill_null("" if "string" in str(array.type) else b"") if array.null_count else array
    whole = filled.cast(pa.large_binary())
    _, ends, body = whole.buffers()
    if not len(whole):
        return np.zeros(1, np.int64), np.zeros(0, np.uint8)
    offsets = np.frombuffer(ends, np.int64, len(whole) + 1, 8 * whole.offset)
    return offsets, np.frombuffer(body if body is not None else b"", np.uint8)
