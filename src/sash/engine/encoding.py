"""Arrow columns as 64-bit keys: what sorting and hashing see of values of any type.

Order and equality are Spark's: NaN equals itself and is above all numbers, -0.0 equals 0.0, NULLs equal each
other, strings compare by their bytes, ordered categories as they are ordered. A column has one key where its values
leave room for NULL.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from sash.errors import SashError
from sash.kernels.recycling import empty
from sash.kernels.sorting import argsort
from sash.kernels.sorting.floats import float_keys
from sash.kernels.sorting.integers import integer_keys
from sash.kernels.sorting.nulls import with_nulls
from sash.kernels.sorting.strings import BYTES, string_ranks, string_words
from sash.kernels.sorting.words import packed

SAMPLE = 4096  # strings looked at to tell whether most are distinct
FLOATS = {16: np.float16, 32: np.float32, 64: np.float64}


def order_key(column: Any, descending: bool = False, nulls_first: bool = True) -> list[np.ndarray]:
    """Keys whose lexicographic order is the order of the values.

    >>> [key.argsort().tolist() for key in order_key(pa.array([2.5, None, -1.0, float("nan")]))]
    [[1, 2, 0, 3]]
    """
    array = _plain(column)
    words = [~word for word in _ordered(array)] if descending else _ordered(array)
    return _placed(words, array, nulls_first)


def equality_key(column: Any) -> np.ndarray:
    """A key that is equal where values are equal; in an order that does not depend on the order of the rows.

    >>> first, second, third = equality_key(pa.array([[1, None], [1, 2], [1, None]])).tolist()
    >>> first == third, first == second
    (True, False)
    """
    return _key(_plain(column))


def tie_keys(column: Any) -> list[np.ndarray]:
    """Keys that tell all values of any type apart, even -0.0 and 0.0, in one order whatever that of the rows.

    NULLs are first, and what has an order is in it.

    >>> [key.tolist() for key in tie_keys(pa.array([{"a": 1}, None, {"a": 0}]))]
    [[1, 0, 1], [2, 0, 1]]
    """
    array = _plain(column)
    return _placed(_equal(array, ties=True), array)


def known_rows(columns: Iterable[Any]) -> np.ndarray | None:
    """In which rows no column is NULL; None where none is in any.

    >>> known_rows([pa.array([1, None]), pa.array([1, 2])]).tolist()
    [True, False]
    """
    masks = [mask for mask in (_valid(_plain(column)) for column in columns) if mask is not None]
    return np.logical_and.reduce(masks) if masks else None


def _key(array: pa.Array, ties: bool = False) -> np.ndarray:
    return combined(_placed(_equal(array, ties), array))


def combined(keys: list[np.ndarray]) -> np.ndarray:
    """One key that is equal where all keys are, in their order.

    >>> combined([np.array([1, 1, 2], np.uint64), np.array([9, 9, 9], np.uint64)]).tolist()
    [1, 1, 2]
    """
    if len(keys) == 1:
        return keys[0]
    words = packed(keys)
    if len(words) < 2:
        return words[0].values if words else np.zeros(len(keys[0]), np.uint64)
    order = argsort([word.values for word in words])
    new = np.zeros(len(order), bool)
    for word in words:
        ordered = word.values[order]
        new[1:] |= ordered[1:] != ordered[:-1]
    codes = empty(len(order), np.uint64)
    codes[order] = np.cumsum(new)
    return codes


def _plain(column: Any) -> pa.Array:
    """One array, with no wrapping of extension types and runs around its values."""
    if isinstance(column, pa.ChunkedArray):
        wider = {pa.string(): pa.large_string(), pa.binary(): pa.large_binary()}
        if column.type in wider and column.nbytes >= 2**31:
            column = column.cast(wider[column.type])
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
        if isinstance(column, pa.ChunkedArray):  # of no chunks, or of more than one array holds
            column = pa.concat_arrays(column.chunks) if column.num_chunks else pa.array([], column.type)
    while True:
        if isinstance(column.type, pa.BaseExtensionType):
            column = column.storage
        elif types.is_run_end_encoded(column.type):
            column = pc.run_end_decode(column)
        else:
            return column


def _valid(array: pa.Array) -> np.ndarray | None:
    """Which values are not NULL; None where all are."""
    if types.is_dictionary(array.type) and array.dictionary.null_count:
        array = array.dictionary.is_valid().take(array.indices).fill_null(False)
        return array.to_numpy(zero_copy_only=False)
    return array.is_valid().to_numpy(zero_copy_only=False) if array.null_count else None


def _placed(words: list[np.ndarray], array: pa.Array, nulls_first: bool = True) -> list[np.ndarray]:
    valid = _valid(array)
    return words if valid is None else with_nulls(words, valid, nulls_first)


def _ordered(array: pa.Array) -> list[np.ndarray]:
    """Words in the order of the values, the most significant first; of NULLs they say nothing."""
    dtype = array.type
    if types.is_null(dtype):
        return [np.zeros(len(array), np.uint64)]
    if types.is_boolean(dtype):
        return [_numbers(array.cast(pa.uint8()), np.uint8).astype(np.uint64)]
    if types.is_floating(dtype):
        return [float_keys(_numbers(array, FLOATS[dtype.bit_width]).astype(np.float64, copy=False))]
    if types.is_unsigned_integer(dtype):
        return [_numbers(array, np.dtype(f"u{dtype.bit_width // 8}")).astype(np.uint64, copy=False)]
    if types.is_decimal(dtype) and dtype.bit_width > 64:
        return _wide(array)
    timelike = types.is_temporal(dtype) and not types.is_interval(dtype)
    if timelike or types.is_signed_integer(dtype) or types.is_decimal(dtype):
        return [integer_keys(_numbers(array, np.dtype(f"i{dtype.bit_width // 8}")))]
    if _is_string(dtype):
        return [_string_keys(array)]
    if types.is_dictionary(dtype) and dtype.ordered:  # categories are in an order of their own
        return [array.indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.uint64)]
    if types.is_dictionary(dtype):
        values, indices = _looked_up(array)
        return [combined(_placed(_ordered(values), values))[indices]]
    raise SashError(f"a column of type {dtype} cannot be ordered; order by numbers, strings, dates or times")


def _equal(array: pa.Array, ties: bool = False) -> list[np.ndarray]:
    """Words that are equal where values are; of NULLs they say nothing. For ties, of types that do not compare, too."""
    dtype = array.type
    if types.is_dictionary(dtype):
        values, indices = _looked_up(array)
        return [_key(values, ties)[indices]]
    if types.is_struct(dtype):
        return [np.zeros(len(array), np.uint64), *(_key(_plain(field), ties) for field in array.flatten())]
    if _is_list(dtype):
        return [_string_keys(_as_strings(array, ties))]
    if types.is_map(dtype) or types.is_union(dtype) or types.is_interval(dtype):
        if not ties:
            raise SashError(f"values of type {dtype} cannot be compared; use a column of another type")
        return _told_apart(array)
    if types.is_floating(dtype) and ties:
        return [*_ordered(array), *_float_bits(_numbers(array, FLOATS[dtype.bit_width]))]
    return _ordered(array)


def _told_apart(array: pa.Array) -> list[np.ndarray]:
    """Words of values that have neither order nor equality in SQL."""
    dtype = array.type
    if types.is_map(dtype):
        entries = pa.StructArray.from_arrays([array.keys, array.items], ["key", "value"])
        return [_string_keys(_strings_of(entries, array.offsets.to_numpy(), ties=True))]
    if types.is_interval(dtype):
        pairs = _numbers(array, np.dtype((np.uint64, 2)))
        return [np.ascontiguousarray(pairs[:, 0]), np.ascontiguousarray(pairs[:, 1])]
    return [_string_keys(pa.array(map(repr, array.to_pylist()), pa.large_string()))]


def _float_bits(values: np.ndarray) -> list[np.ndarray]:
    """A word that tells floats apart which are equal but not the same: zeros by their sign, and NaNs."""
    if not ((values == 0) & np.signbit(values) | np.isnan(values)).any():
        return []
    bits = values.view(f"u{values.itemsize}").astype(np.uint64)
    return [np.where((values == 0) | np.isnan(values), bits, np.uint64(0))]


def _numbers(array: pa.Array, dtype: Any) -> np.ndarray:
    """The values as they lie in memory, whatever is where NULLs are."""
    dtype, buffer = np.dtype(dtype), array.buffers()[1]
    if buffer is None or not len(array):
        return np.zeros(len(array), dtype)
    return np.frombuffer(buffer, dtype, len(array), array.offset * dtype.itemsize)


def biased(values: np.ndarray) -> np.ndarray:
    """Signed 64-bit numbers as unsigned ones in the same order."""
    return integer_keys(values)


def _wide(array: pa.Array) -> list[np.ndarray]:
    """Whole numbers of 128 or 256 bits, in as many words as they need."""
    count = array.type.bit_width // 64
    buffer = array.buffers()[1]
    table = np.zeros((len(array), count), np.int64)
    if buffer is not None and len(array):
        table = np.frombuffer(buffer, np.int64, len(array) * count, array.offset * count * 8).reshape(-1, count)
    valid = _valid(array)
    table = table if valid is None else np.where(valid[:, None], table, 0)
    high = count - 1
    while high and np.array_equal(table[:, high], table[:, high - 1] >> 63):  # no more than the sign
        high -= 1
    first, *rest = (np.ascontiguousarray(table[:, word]) for word in range(high, -1, -1))
    return [biased(first), *(word.view(np.uint64) for word in rest)]


def _looked_up(array: pa.Array) -> tuple[pa.Array, np.ndarray]:
    """The values of a dictionary that may be in use, and which of them each row has; NULL has any."""
    indices = array.indices.fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64, copy=False)
    values = array.dictionary
    if not len(values):
        return _plain(pa.nulls(1, values.type)), np.zeros(len(array), np.int64)
    if len(values) > len(array):
        used, indices = np.unique(indices, return_inverse=True)
        values = values.take(pa.array(used))
    return _plain(values), indices


def _is_string(dtype: pa.DataType) -> bool:
    return (
        types.is_string(dtype)
        or types.is_binary(dtype)
        or types.is_large_string(dtype)
        or types.is_large_binary(dtype)
        or types.is_string_view(dtype)
        or types.is_binary_view(dtype)
        or types.is_fixed_size_binary(dtype)
    )


def _string_keys(array: pa.Array) -> np.ndarray:
    """A key for each string of bytes, in their order."""
    dtype = array.type
    if types.is_string_view(dtype) or types.is_binary_view(dtype) or types.is_fixed_size_binary(dtype):
        array = array.cast(pa.large_string() if types.is_string_view(dtype) else pa.large_binary())
    if not len(array) or array.null_count == len(array):
        return np.zeros(len(array), np.uint64)
    offsets, data = _bytes(array)
    if int(np.diff(offsets).max()) <= BYTES:
        return string_words(offsets, data)
    if _repetitive(array):
        coded = array.dictionary_encode()
        codes = coded.indices.fill_null(0).to_numpy(zero_copy_only=False)
        return _ranks(coded.dictionary)[codes]
    return _ranks(array)


def _ranks(array: pa.Array) -> np.ndarray:
    """How many strings are less than each."""

    def whole(rows: np.ndarray) -> np.ndarray:
        coded = array.take(pa.array(rows)).dictionary_encode()
        ranks = np.empty(len(coded.dictionary), np.int64)
        ranks[pc.array_sort_indices(coded.dictionary).to_numpy()] = np.arange(len(ranks))
        return ranks[coded.indices.to_numpy()]

    if array.null_count:
        ranks = np.zeros(len(array), np.uint64)
        ranks[_valid(array)] = _ranks(array.drop_null())
        return ranks
    return string_ranks(*_bytes(array), whole)


def _repetitive(array: pa.Array) -> bool:
    """Whether fewer than half of a sample of strings are distinct."""
    if len(array) < 2 * SAMPLE:
        return False
    rows = np.random.default_rng(0).integers(0, len(array), SAMPLE)
    return len(array.take(pa.array(rows)).unique()) < SAMPLE // 2


def _bytes(array: pa.Array) -> tuple[np.ndarray, np.ndarray]:
    """Where the strings of an array start, and one more, in its bytes."""
    large = types.is_large_string(array.type) or types.is_large_binary(array.type)
    _, offsets, data = array.buffers()
    dtype = np.dtype(np.int64 if large else np.int32)
    starts = np.frombuffer(offsets, dtype, len(array) + 1, array.offset * dtype.itemsize).astype(np.int64, copy=False)
    return starts, np.frombuffer(data, np.uint8) if data is not None and data.size else np.zeros(1, np.uint8)


def _is_list(dtype: pa.DataType) -> bool:
    return types.is_list(dtype) or types.is_large_list(dtype) or types.is_fixed_size_list(dtype) or _is_view(dtype)


def _is_view(dtype: pa.DataType) -> bool:
    return types.is_list_view(dtype) or types.is_large_list_view(dtype)


def _as_strings(array: pa.Array, ties: bool) -> pa.Array:
    """Lists as strings of the keys of their elements."""
    if _is_view(array.type):  # Arrow's own cast to a list gives invalid offsets
        starts, sizes = (part.to_numpy().astype(np.int64) for part in (array.offsets, array.sizes))
        valid = _valid(array)
        sizes = sizes if valid is None else np.where(valid, sizes, 0)
        offsets = np.append(0, np.cumsum(sizes))
        elements = array.values.take(pa.array(np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], sizes)))
        return _strings_of(elements, offsets, ties)
    if types.is_fixed_size_list(array.type):
        return _strings_of(
            array.values, (np.arange(len(array) + 1, dtype=np.int64) + array.offset) * array.type.list_size, ties
        )
    return _strings_of(array.values, array.offsets.to_numpy(), ties)


def _strings_of(elements: pa.Array, offsets: np.ndarray, ties: bool) -> pa.Array:
    """Runs of elements as strings of their keys; each starts at an offset and stops at the next."""
    offsets = offsets.astype(np.int64)
    elements = elements[int(offsets[0]) : int(offsets[-1])]
    keys = _key(_plain(elements), ties).astype(">u8")  # so that bytes compare as keys do
    offsets = (offsets - offsets[0]) * 8
    return pa.Array.from_buffers(pa.large_binary(), len(offsets) - 1, [None, pa.py_buffer(offsets), pa.py_buffer(keys)])
