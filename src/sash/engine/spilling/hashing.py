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
import pyarrow.types as kinds

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
    found = np.zeros(rows, np.uint64)
    for column in columns:
        found = mixed(found * GOLDEN + _hashed(column))
    return found


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
    if kinds.is_run_end_encoded(column.type):
        return _hashed(pc.run_end_decode(column))
    if kinds.is_dictionary(column.type):
        return _looked_up(column)
    found = _of_values(column)
    return np.where(_valid(column), found, NULL) if column.null_count else found


def _of_values(array: pa.Array) -> np.ndarray:
    """Hashes that say nothing where a value is NULL."""
    kind, rows = array.type, len(array)
    if not rows or kinds.is_null(kind):
        return np.zeros(rows, np.uint64)
    if kinds.is_struct(kind):
        return hashes([array.field(place) for place in range(kind.num_fields)], rows)
    if kinds.is_list(kind) or kinds.is_large_list(kind) or kinds.is_fixed_size_list(kind):
        return _of_lists(array)
    if kinds.is_decimal(kind) and kind.bit_width > 64:
        return _of_strings(array.cast(pa.large_string()))  # its words may be fewer in one batch than in another
    if kinds.is_primitive(kind) or kinds.is_decimal(kind):
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
    found = values[indices.fill_null(0).to_numpy(zero_copy_only=False)]
    return np.where(_valid(indices), found, NULL) if indices.null_count else found


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
    found = mixed(lengths.astype(np.uint64))
    _fold(found, data, bounds[:-1], np.minimum(lengths, 8 * WORDS))
    long = np.flatnonzero(lengths > 8 * WORDS)
    if len(long):
        tails = np.minimum(lengths[long] - 8 * WORDS, 8 * WORDS)
        ends = found[long]
        _fold(ends, data, bounds[1:][long] - tails, tails)
        found[long] = ends
    return found


def _fold(found: np.ndarray, data: Any, starts: np.ndarray, lengths: np.ndarray) -> None:
    """Mix the bytes of strings into their hashes."""
    rows, longest = np.arange(len(found)), int(lengths.max(initial=0))
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
        found[rows] = mixed(found[rows] * GOLDEN ^ word)
