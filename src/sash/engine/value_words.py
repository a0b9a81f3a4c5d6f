"""Values as words of 64 bits, which are equal where values are: the same in every process and on every machine."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.engine.tables import one_array
from sash.kernels.recycling import empty
from sash.kernels.slices.hashing import hash_bytes, hash_words

NULL = 0x6E756C6C  # a word that stands for no value
WORDS = {8: pa.int8(), 16: pa.int16(), 32: pa.int32(), 64: pa.int64()}


def hashes_of(columns: Sequence[pa.Array], rows: int) -> np.ndarray:
    """The hash of each row of some columns."""
    hashes = np.zeros(rows, np.uint64)
    for column in columns:
        hash_words(words_of(one_array(column)), hashes)
    return hashes


def value_hashes(array: pa.Array) -> np.ndarray:
    """A whole number of 64 bits for each value, as even as if drawn by lot; 0.0 and -0.0 have the same.

    >>> first, second, third = value_hashes(pa.array(["a", "b", "a"])).tolist()
    >>> first == third != second
    True
    """
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if pa.types.is_floating(array.type):
        array = pc.add(array, pa.scalar(0.0, array.type))
    return hashes_of([array], len(array)).view(np.int64)


def words_of(array: pa.Array) -> np.ndarray:
    """A word of 64 bits for each value; of texts their hashes, of numbers and times what they are in memory."""
    dtype = array.type
    if pa.types.is_boolean(dtype):
        array = array.cast(pa.int8())
    fixed = (pa.types.is_primitive(dtype) or pa.types.is_boolean(dtype)) and not pa.types.is_decimal(dtype)
    if fixed and array.type.bit_width in WORDS:
        whole = array.view(WORDS[array.type.bit_width]).cast(pa.int64())
        words = np.ascontiguousarray(whole.fill_null(0).to_numpy(zero_copy_only=False)).view(np.uint64)
    else:
        words = _texts(array)
    if array.null_count:
        words = np.where(array.is_valid().to_numpy(zero_copy_only=False), words, np.uint64(NULL))
    return words


def _texts(array: pa.Array) -> np.ndarray:
    """The hashes of texts, and of what can be written as one."""
    if not (pa.types.is_binary(array.type) or pa.types.is_large_binary(array.type)):
        array = array if pa.types.is_large_string(array.type) else array.cast(pa.string())
        array = array.cast(pa.large_binary())
    array = array.cast(pa.large_binary()).fill_null(b"")
    _, offsets, body = array.buffers()
    out = empty(len(array), np.uint64)
    edges = np.frombuffer(offsets, np.int64, len(array) + 1, array.offset * 8) if len(array) else np.zeros(1, np.int64)
    hash_bytes(edges, np.frombuffer(body if body is not None else b"", np.uint8), out)
    return out
