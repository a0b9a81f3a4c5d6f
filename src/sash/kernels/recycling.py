"""Memory for large arrays that was used before, from Arrow's pool.

NumPy asks the system for pages each time, and these are filled with zeros when they are first touched, which takes as
long as to write them two or three times. Arrow's pool gives pages again that it has had before.
"""

from __future__ import annotations

from typing import Any

import numpy as np

LARGE = 1 << 20  # bytes from which that pays
POOL = "mimalloc"  # Arrow's usual pool; the others give memory back at once


def empty(length: int, dtype: Any) -> np.ndarray:
    """An array of anything.

    >>> empty(3, np.float64).shape
    (3,)
    """
    dtype = np.dtype(dtype)
    if length * dtype.itemsize >= LARGE and not dtype.hasobject:
        import pyarrow as pa

        if pa.default_memory_pool().backend_name == POOL:
            return np.frombuffer(pa.allocate_buffer(length * dtype.itemsize), dtype)
    return np.empty(length, dtype)


def empty_like(array: np.ndarray) -> np.ndarray:
    """An array of anything, as long and of the same type as another of one dimension."""
    return empty(len(array), array.dtype)
