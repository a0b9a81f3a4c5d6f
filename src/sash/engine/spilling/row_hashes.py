"""A number for each row that is the same for equal keys in every batch, unlike the engine's keys.

Equality is Spark's: NaN equals itself, -0.0 equals 0.0, NULLs equal each other. Of a long string the ends and the
length are looked at.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from sash.engine.encoding import order_key

GOLDEN = np.uint64(0x9E3779B97F4A7C15)
NULL = np.uint64(0xA0761D6478BD642F)
WORDS = 32  # of eight bytes, looked at from each end of a string
BYTE = np.uint64(8)


def hashes(columns: Iterable[Any], rows: int) -> np.ndarray:
    """A hash of each row over some columns.

    >>> first, second = (hashes([pa.array(values)], 2) for values in ([0.0, None], [None, -0.0]))
    >>> bool((first == second[::-1]).all()), bool(first[0] == first[1])
    (True, False)
    """
    hashed = np.zeros(rows, np.uint64)
    for column in columns:
        hashed = mixed(hashed * GOLDEN + _hashed(column))
    return hashed


def mixed(words: np.ndarray) -> np.ndarray:
    """Words with every bit of each spread over all its bits (the finaliser of SplitMix64)."""
    words = words + GOLDEN
    words = (words ^ (words >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    words = (words ^ (words >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return words ^ (words >> np.uint64(31))


def _hashed(column: Any) -> np.ndarray:
    if isinstance(column, pa.ChunkedArray):
        return np.concatenate([np.zeros(0, np.uint64), *map(_hashed, column.chunks)])
    if isinstance(column.type, pa.BaseExtensionType):
        return _hashed(column.storage)
    if types.is_run_end_encoded(column.type):
        return _hashed(pc.run_end_decode(column))
    if types.is_dictionary(column.type):
        return _looked_up(column)
    hashed = _of_values(column)
    return np.where(_valid(column), hashed, NULL) if column.null_count else hashed


def _of_values(array: pa.Array) -> np.ndarray:
    """Hashes that say nothing where a value is NULL."""
    dtype, rows = array.type, len(array)
    if not rows or types.is_null(dtype):
        return np.zeros(rows, np.uint64)
    if types.is_struct(dtype):
        return hashes([array.field(place) for place in range(dtype.num_fields)], rows)
    if types.is_list(dtype) or types.is_large_list(dtype) or types.is_fixed_size_list(dtype):
        return _of_lists(array)
    if types.is_decimal(dtype) and dtype.bit_width > 64:
        return _of_strings(array.cast(pa.large_string()))  # its words may be fewer in one batch than in another
    if types.is_primitive(dtype) or types.is_decimal(dtype):
        return mixed(_words(array))
    for text in (pa.large_string(), pa.large_binary()):
        try:
            return _of_strings(array.cast(text))
        except pa.ArrowException:
            continue
    return np.zeros(rows, np.uint64)  # a type of which Sash knows no equality either


def _words(array: pa.Array) -> np.ndarray:
    """The values as one word each; there must be no NULLs, for which the encoding makes room as a batch allows."""
    buffers = array.buffers()
    known = pa.Array.from_buffers(array.type, len(array), [None, *buffers[1:]], offset=array.offset)
    return order_key(known)[0]


def _valid(array: pa.Array) -> np.ndarray:
    return array.is_valid().to_numpy(zero_copy_only=False)


def _looked_up(array: pa.DictionaryArray) -> np.ndarray:
    indices = array.indices
    values = _hashed(array.dictionary)
    if not len(values):
        return np.full(len(array), NULL)
    hashed = values[indices.fill_null(0).to_numpy(zero_copy_only=False)]
    return np.where(_valid(indices), hashed, NULL) if indices.null_count else hashed


def _of_lists(array: pa.Array) -> np.ndarray:
    """The sum of the hashes of a list's elements, each mixed with its place, and of its length."""
    lengths = pc.list_value_length(array).fill_null(0).to_numpy(zero_copy_only=False).astype(np.int64)
    elements = _hashed(array.flatten())
    starts = np.cumsum(lengths) - lengths
    places = np.arange(len(elements)) - np.repeat(starts, lengths)
    sums = np.append(np.uint64(0), np.cumsum(mixed(elements + mixed(places.astype(np.uint64)))))  # wraps around
    return mixed(sums[starts + lengths] - sums[starts] + lengths.astype(np.uint64))


def _of_strings(array: pa.Array) -> np.ndarray:
    """Eight bytes of every string at a time; those that have ended are left alone."""
    _, offsets, data = array.buffers()
    bounds = np.frombuffer(offsets, np.int64, len(array) + 1, array.offset * 8)
    lengths = np.diff(bounds)
    if array.null_count:
        lengths = np.where(_valid(array), lengths, 0)
    hashed = mixed(lengths.astype(np.uint64))
    _fold(hashed, data, bounds[:-1], np.minimum(lengths, 8 * WORDS))
    long = np.flatnonzero(lengths > 8 * WORDS)
    if len(long):
        tails = np.minimum(lengths[long] - 8 * WORDS, 8 * WORDS)
        ends = hashed[long]
        _fold(ends, data, bounds[1:][long] - tails, tails)
        hashed[long] = ends
    return hashed


def _fold(hashed: np.ndarray, data: Any, starts: np.ndarray, lengths: np.ndarray) -> None:
    """Mix the bytes of strings into their hashes."""
    rows, longest = np.arange(len(hashed)), int(lengths.max(initial=0))
    if not longest:
        return
    base, end = int(starts.min()), int((starts + lengths).max())
    padded = np.zeros(end - base + 8, np.uint8)  # so that a word may be read at the last byte
    padded[: end - base] = np.frombuffer(data, np.uint8, end - base, base)
    words = np.ndarray((end - base + 1,), "<u8", padded, strides=(1,))  # one at every byte
    starts = starts - base
    for done in range(0, longest, 8):
        rows = rows[lengths[rows] > done]
        left = np.minimum(lengths[rows] - done, 8).astype(np.uint64)
        word = words[starts[rows] + done] << (BYTE * (BYTE - left))  # without what follows the string
        hashed[rows] = mixed(hashed[rows] * GOLDEN ^ word)
