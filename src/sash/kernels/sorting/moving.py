"""Values moved to where an order has them, and back, on all threads.

needs   numbers or flags; an order in which each row is once
time    one pass, of which each step may miss the cache: what comes is fetched some rows ahead
space   the answer
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from sash.kernels.compiling import prefetch, routine
from sash.kernels.recycling import empty_like
from sash.kernels.threads import shares, together

AHEAD = 16  # rows whose values are on their way to the cache
FEW = 1 << 17  # rows below which NumPy has done it before threads have begun


def gathered(values: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Each value of the order's rows.

    >>> gathered(np.array([7.0, 8.0, 9.0]), np.array([2, 0, 1]))
    array([9., 7., 8.])
    """
    if not _by_threads(values, order):
        return np.asarray(values[order])
    out = empty_like(values)
    words, into = _words(values), _words(out)
    together([partial(_gather, words, order, a, b, into) for a, b in shares(len(order))])
    return out


def scattered(values: np.ndarray, order: np.ndarray) -> np.ndarray:
    """Values in an order, back where their rows were.

    >>> scattered(np.array([9.0, 7.0, 8.0]), np.array([2, 0, 1]))
    array([7., 8., 9.])
    """
    out = empty_like(values)
    if not _by_threads(values, order):
        out[order] = values
        return out
    words, into = _words(values), _words(out)
    together([partial(_scatter, words, order, a, b, into) for a, b in shares(len(order))])
    return out


def _by_threads(values: np.ndarray, order: np.ndarray) -> bool:
    plain = values.dtype.kind in "biuf" and values.itemsize in (1, 2, 4, 8) and values.flags.carray
    return plain and len(values) == len(order) >= FEW and order.dtype in (np.int32, np.int64)


def _words(values: np.ndarray) -> np.ndarray:
    return values.view(f"u{values.itemsize}")  # so that a kernel is compiled for each width only


@routine
def _gather(values: Any, order: Any, start: int, stop: int, out: Any) -> int:
    """Read each row's value, and write them one after the other."""
    for i in range(start, stop):
        prefetch(values, order[np.uint64(min(i + AHEAD, stop - 1))])
        out[np.uint64(i)] = values[np.uint64(order[np.uint64(i)])]
    return 0


@routine
def _scatter(values: Any, order: Any, start: int, stop: int, out: Any) -> int:
    """Read values one after the other, and write each to its row."""
    for i in range(start, stop):
        prefetch(out, order[np.uint64(min(i + AHEAD, stop - 1))])
        out[np.uint64(order[np.uint64(i)])] = values[np.uint64(i)]
    return 0
