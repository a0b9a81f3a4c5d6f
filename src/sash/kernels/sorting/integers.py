"""Signed whole numbers as unsigned ones in the same order.

needs   whole numbers of up to 64 bits
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

SIGN = np.uint64(1 << 63)
MANY = 1 << 18  # rows from which threads share them


def integer_keys(values: np.ndarray) -> np.ndarray:
    """A key for each number, in their order.

    >>> (integer_keys(np.array([-1, 0, 1])) - integer_keys(np.array([-1]))).tolist()
    [0, 1, 2]
    """
    if len(values) < MANY:
        return values.astype(np.int64, copy=False).view(np.uint64) ^ SIGN
    keys = empty(len(values), np.uint64)
    together([partial(_flip, values, a, b, keys) for a, b in shares(len(values), MANY >> 1)])
    return keys


@routine
def _flip(values: Any, start: int, stop: int, keys: Any) -> int:
    """Flip the sign."""
    sign = np.uint64(1 << 63)
    for i in range(start, stop):
        keys[np.uint64(i)] = np.uint64(np.int64(values[np.uint64(i)])) ^ sign
    return 0
