"""Values: an array or a scalar of Arrow's, on the way through an expression."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

Value = Any  # pa.Scalar, pa.Array or pa.ChunkedArray; a Months stays what it is

_UNSIGNED = {
    pa.uint8(): pa.int16(),
    pa.uint16(): pa.int32(),
    pa.uint32(): pa.int64(),
    pa.uint64(): pa.decimal128(20, 0),  # as Spark reads it from Parquet
    pa.float16(): pa.float32(),
    pa.date64(): pa.date32(),
    pa.string_view(): pa.string(),
    pa.binary_view(): pa.binary(),
}


class Trouble(Exception):
    """An operation cannot be done on these values; whoever knows the expression makes a sentence of it."""

    def __init__(self, why: str, overflow: bool = False) -> None:
        super().__init__(why)
        self.overflow = overflow


def plain(value: Value) -> Value:
    """The value in one of the types that Spark has."""
    dtype = value.type
    if pa.types.is_dictionary(dtype):
        return plain(pc.cast(value, dtype.value_type))
    if pa.types.is_run_end_encoded(dtype):
        chunks = value.chunks if isinstance(value, pa.ChunkedArray) else [value]
        return plain(pa.chunked_array([pc.run_end_decode(chunk) for chunk in chunks], dtype.value_type))
    if dtype in _UNSIGNED:
        return pc.cast(value, _UNSIGNED[dtype])
    if pa.types.is_decimal(dtype) and not pa.types.is_decimal128(dtype):
        return pc.cast(value, pa.decimal128(min(dtype.precision, 38), dtype.scale))
    return value


def is_scalar(value: Value) -> bool:
    """Whether this is one value for all rows."""
    return isinstance(value, pa.Scalar)


def arrays(*values: Value) -> tuple[list[pa.Array], bool]:
    """The values as arrays of one length; and whether they all were scalars."""
    lengths = [len(value) for value in values if not is_scalar(value)]
    length = lengths[0] if lengths else 1
    lengthened = []
    for value in values:
        if is_scalar(value):
            lengthened.append(pa.repeat(value, length))
        else:
            lengthened.append(_joined(value))
    return lengthened, not lengths


def through_numpy(
    function: Callable[..., np.ndarray], values: Sequence[Value], dtype: pa.DataType, empty: Sequence[Any]
) -> Value:
    """Apply a NumPy function to the values of which none is NULL; ``empty`` stands in where one is.

    The function may return a masked array, whose masked values become NULL.
    """
    taken, scalar = arrays(*values)
    valid = np.ones(len(taken[0]), bool)
    inputs = []
    for array, filler in zip(taken, empty, strict=True):
        if array.null_count:
            valid &= pc.is_valid(array).to_numpy(zero_copy_only=False)
            array = pc.fill_null(array, pa.scalar(filler, array.type))
        inputs.append(array.to_numpy(zero_copy_only=False))
    with np.errstate(all="ignore"):
        answer = function(*inputs)
    if isinstance(answer, np.ma.MaskedArray):
        valid &= ~np.ma.getmaskarray(answer)
        answer = answer.data
    answers = pa.array(answer, dtype, mask=None if valid.all() else ~valid)
    return answers[0] if scalar else answers


def row_by_row(function: Callable[..., Any], values: Sequence[Value], dtype: pa.DataType) -> Value:
    """Apply a Python function to each row in which no value is NULL."""
    taken, scalar = arrays(*values)
    if len(taken) == 1 and len(taken[0]) > 1:  # each distinct value once
        coded = taken[0].dictionary_encode()
        return pc.take(_listed(function, [coded.dictionary], dtype), coded.indices)
    answer = _listed(function, taken, dtype)
    return answer[0] if scalar else answer


def zero(dtype: pa.DataType) -> pa.Scalar:
    """Nought, in a type of numbers."""
    return pa.scalar(Decimal(0) if pa.types.is_decimal(dtype) else 0, dtype)


def any_true(value: Value) -> bool:
    """Whether a boolean value is true in some row."""
    if is_scalar(value):
        return bool(value.as_py())
    return bool(pc.any(value).as_py())


def _listed(function: Callable[..., Any], taken: Sequence[pa.Array], dtype: pa.DataType) -> pa.Array:
    rows = zip(*(array.to_pylist() for array in taken), strict=True)
    return pa.array([None if any(each is None for each in row) else function(*row) for row in rows], dtype)


def _joined(value: Value) -> pa.Array:
    if not isinstance(value, pa.ChunkedArray):
        return value
    if value.num_chunks == 1:
        return value.chunk(0)
    joined = value.combine_chunks()
    return pa.concat_arrays(joined.chunks) if isinstance(joined, pa.ChunkedArray) else joined
