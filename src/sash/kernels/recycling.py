"""Memory for large arrays that was used before, from Arrow's pool.

NumPy asks the system for pages each time, and these are filled with zeros when they are first touched, which takes as
long as to write them two or three times. Arrow's pool gives pages again that it has had before; those that it has let
go since are asked for as huge ones, as NumPy does.
"""

from __future__ import annotations

import ctypes
import mmap
from functools import cache
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
            array = np.frombuffer(pa.allocate_buffer(length * dtype.itemsize), dtype)
            _advise(array)
            return array
    return np.empty(length, dtype)


def empty_like(array: np.ndarray) -> np.ndarray:
    """An array of anything, as long and of the same type as another of one dimension."""
    return empty(len(array), array.dtype)


def _advise(array: np.ndarray) -> None:
    """Ask for huge pages; where there are none, it is as well without."""
    call = _madvise()
    if call is not None:
        begin = -(-array.ctypes.data // mmap.PAGESIZE) * mmap.PAGESIZE
        whole = (array.ctypes.data + array.nbytes - begin) // mmap.PAGESIZE
        call(begin, whole * mmap.PAGESIZE, mmap.MADV_HUGEPAGE)


@cache
def _madvise() -> Any:
    """The system's call, or None where it knows no huge pages."""
    if not hasattr(mmap, "MADV_HUGEPAGE"):
        return None
    call = ctypes.CDLL(None).madvise
    call.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    return call
