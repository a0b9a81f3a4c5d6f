"""What the window algorithms keep alike, so that any of them can be exported, restored and grown.

The first four marks say which rows are held and where a ring begins; an algorithm's own follow.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from sash.errors import SashError

HEAD = 0  # the position of the oldest row held
TAIL = 1  # one after the position of the newest
FIRST = 2  # the slot of the ring where its oldest entry stands
HELD = 3  # how many entries of the ring are taken, from FIRST on
OWN = 4  # where an algorithm's own marks begin


def per_row(capacity: int) -> int:
    """One entry a row."""
    return capacity


def twice_per_row(capacity: int) -> int:
    """Two entries a row."""
    return 2 * capacity


RINGS = (per_row, twice_per_row)


def one(_: int) -> int:
    """A single entry."""
    return 1


def count(entries: int) -> Callable[[int], int]:
    """A fixed number of entries."""
    return lambda _: entries


def power_of_two(capacity: int) -> int:
    """The next power of two."""
    return 1 << max(capacity - 1, 0).bit_length()


def twice_a_power_of_two(capacity: int) -> int:
    """The nodes of a complete binary tree over that many leaves; the first is not used."""
    return 2 * power_of_two(capacity)


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
