"""The shard of a key, and its share of one: by a hash that is the same in every process and on every machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sash.engine.value_words import hashes_of

HASH = 1  # the number of the way in which keys are hashed: other hashes, another number
DEEPEST = 64  # bits of a hash


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
