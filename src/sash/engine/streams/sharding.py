"""The shard of a key, and its share of one: by a hash that is the same in every process and on every machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sash.engine.tables import one_array
from sash.kernels.slices.hashing import hash_bytes, hash_words

HASH = 1  # the number of the way in which keys are hashed: other hashes, another number
DEEPEST = 64  # bits of a hash
NULL = 0x6E756C6C  # a word that stands for no value
WORDS = {8: pa.int8(), 16: pa.int16(), 32: pa.int32(), 64: pa.int64()}


class Share(NamedTuple):
    """Which keys of a shard: those whose hash, divided by the number of shards, has these last bits."""

    depth: int = 0
    bits: int = 0

    def split(self) -> tuple[Share, Share]:
        """One bit more."""
        return Share(self.depth + 1, self.bits), Share(self.depth + 1, self.bits | 1 << self.depth)

    def holds(self, words: np.ndarray) -> np.ndarray:
        """Which of some hashes, divided, are of these keys."""
        return words & np.uint64((1 << self.depth) - 1) == np.uint64(self.bits)


def cover(shares: Sequence[Share]) -> bool:
    """Whether shares have all keys of a shard, each once.

    >>> cover([Share(1, 0), Share(2, 1), Share(2, 3)]), cover([Share(1, 0), Share(2, 1)]), cover([Share(), Share(1, 0)])
    (True, False, False)
    """
    if any(share.depth > DEEPEST or share.bits >> share.depth for share in shares):
        return False
    apart = len(set(shares)) == len(shares)
    within = {Share(depth, share.bits & ((1 << depth) - 1)) for share in shares for depth in range(share.depth)}
    whole = sum(1 << (DEEPEST - share.depth) for share in shares) == 1 << DEEPEST
    return apart and whole and within.isdisjoint(shares)


def shards_of(columns: Sequence[pa.Array], rows: int, shards: int) -> np.ndarray:
    """The shard of each row's key, given the columns of the key.

    >>> shards_of([pa.array(["a", "b", None, "a"])], 4, 8).tolist()
    [4, 6, 5, 4]
    """
    return (hashes_of(columns, rows) % np.uint64(shards)).astype(np.int64)


def hashes_of(columns: Sequence[pa.Array], rows: int) -> np.ndarray:
    """The hash of each row's key."""
    hashes = np.zeros(rows, np.uint64)
    for column in columns:
        hash_words(_hashes(one_array(column)), hashes)
    return hashes


def _hashes(array: pa.Array) -> np.ndarray:
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
    out = np.empty(len(array), np.uint64)
    edges = np.frombuffer(offsets, np.int64, len(array) + 1, array.offset * 8) if len(array) else np.zeros(1, np.int64)
    hash_bytes(edges, np.frombuffer(body if body is not None else b"", np.uint8), out)
    return out
