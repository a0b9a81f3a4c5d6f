"""Hashing: a word for each value that is the same in every process and on every machine.

time    one step a byte of text, a few a number
space   8 bytes a row
"""

from __future__ import annotations

import numpy as np

from sash.kernels.compiling import routine
from sash.kernels.sorting.occurrences import splitmix


@routine
def hash_bytes(offsets, body, out):  # type: ignore[no-untyped-def]
    """Hash texts, which lie one behind the other (FNV-1a, then mixed)."""
    for i in range(len(out)):
        word = np.uint64(0xCBF29CE484222325)
        for at in range(offsets[i], offsets[i + 1]):
            word = (word ^ np.uint64(body[at])) * np.uint64(0x100000001B3)
        out[i] = splitmix(word)
    return 0


@routine
def hash_words(words, out):  # type: ignore[no-untyped-def]
    """Mix words into hashes that there are."""
    for i in range(len(out)):
        out[i] = splitmix(out[i] * np.uint64(0x9E3779B97F4A7C15) + words[i])
    return 0
