"""Floats as whole numbers in the same order: NaN equals itself and is above all numbers, -0.0 equals 0.0.

needs   doubles, seen as 64-bit words
time    one pass
space   the answer
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from sash.kernels.compiling import routine
from sash.kernels.recycling import empty
from sash.kernels.threads import shares, together


def float_keys(values: np.ndarray) -> np.ndarray:
    """A key for each double, in the order of the doubles.

    >>> keys = float_keys(np.array([-0.0, 0.0, -1.5, np.inf, np.nan]))
    >>> np.argsort(keys, kind="stable").tolist(), bool(keys[0] == keys[1])
    ([2, 0, 1, 3, 4], True)
    """
    keys = empty(len(values), np.uint64)
    words = values.view(np.uint64)
    together([partial(_encode, words, a, b, keys) for a, b in shares(len(keys), 1 << 18)])
    return keys


@routine
def _encode(words: Any, start: int, stop: int, keys: Any) -> int:
    """Flip the sign of what is positive, and all bits of what is negative."""
    sign, infinity = np.uint64(1 << 63), np.uint64(0x7FF0000000000000)
    for i in range(start, stop):
        word = words[np.uint64(i)]
        if word & ~sign > infinity:
            word = np.uint64(0x7FF8000000000000)
        elif word == sign:
            word = np.uint64(0)
        keys[np.uint64(i)] = ~word if word & sign else word | sign
    return 0
