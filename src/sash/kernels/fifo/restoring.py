"""What a state of a window must be before a kernel runs on it: a seal says that it is whole, not that it is sound."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from sash.errors import SashError
from sash.kernels.fifo.layout import FIRST, HEAD, HELD, TAIL


def refuse_unless(sound: Any, what: str) -> None:
    """Refuse a state of which something is not so."""
    if not sound:
        raise SashError(f"state must have {what}, got others")


def refuse_shapes(arrays: Mapping[str, np.ndarray], wanted: Mapping[str, tuple[np.dtype, int]]) -> None:
    """Refuse arrays of other types or lengths."""
    for name, (dtype, length) in wanted.items():
        array = arrays[name]
        if array.dtype != dtype or array.shape != (length,):
            raise SashError(
                f"state must have {length} of {np.dtype(dtype)} in {name}, got {array.dtype} of shape {array.shape}"
            )


def refuse_marks(arrays: Mapping[str, np.ndarray], capacity: int) -> None:
    """Refuse marks of rows that the arrays of a window have no place for."""
    head, tail, first, held = (int(arrays["marks"][mark]) for mark in (HEAD, TAIL, FIRST, HELD))
    room = len(arrays["ring"]) if "ring" in arrays else 1
    sound = 0 <= head <= tail <= head + capacity and 0 <= first < room and 0 <= held <= tail - head
    refuse_unless(sound, f"marks of at most {capacity} rows")


def in_ring(array: np.ndarray, marks: np.ndarray) -> np.ndarray:
    """What a ring holds, from its oldest entry on."""
    return np.roll(array, -int(marks[FIRST]))[: int(marks[HELD])]
