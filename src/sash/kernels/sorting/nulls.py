"""A place for NULL among keys: below or above all values, in their first word where that has room.

needs   words in the order of the values, the most significant first; what they hold for NULL does not matter
time    three passes
space   the answer
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from sash.kernels.compiling import routine
from sash.kernels.recycling import empty
from sash.kernels.sorting.words import measured
from sash.kernels.threads import shares, together


def with_nulls(words: list[np.ndarray], valid: np.ndarray, nulls_first: bool = True) -> list[np.ndarray]:
    """Words in the order of the values and NULLs, which are equal to each other.

    >>> valid = np.array([True, False, True])
    >>> [word.tolist() for word in with_nulls([np.array([5, 9, 7], np.uint64)], valid)]
    [[2, 0, 4]]
    """
    if not valid.any():
        return [np.zeros(len(valid), np.uint64)]
    marks = valid.view(np.uint8)
    first = _filled(words[0], marks, int(words[0][valid.argmax()]))
    rest = [_filled(word, marks, 0) for word in words[1:]]
    measure = measured(first)
    step = 1 << measure.shared  # keeps the low bits that all values share
    last = measure.greatest - measure.least + step
    if last >= 1 << 64:
        return [(valid if nulls_first else ~valid).astype(np.uint64), first, *rest]
    moved = np.array([measure.least, step if nulls_first else 0, 0 if nulls_first else last], np.uint64)
    together([partial(_move, first, marks, moved, a, b) for a, b in shares(len(valid), 1 << 18)])
    return [first, *rest]


def _filled(word: np.ndarray, valid: np.ndarray, filling: int) -> np.ndarray:
    out = empty(len(word), np.uint64)
    fill = np.array([filling], np.uint64)
    together([partial(_fill, word, valid, fill, a, b, out) for a, b in shares(len(word), 1 << 18)])
    return out


@routine
def _fill(word: Any, valid: Any, filling: Any, start: int, stop: int, out: Any) -> int:
    """Put the same number wherever NULL is."""
    fill = filling[0]
    for i in range(start, stop):
        out[np.uint64(i)] = word[np.uint64(i)] if valid[np.uint64(i)] else fill
    return 0


@routine
def _move(word: Any, valid: Any, moved: Any, start: int, stop: int) -> int:
    """Move all values down and then up, and NULL to its place."""
    least, step, null = moved[0], moved[1], moved[2]
    for i in range(start, stop):
        row = np.uint64(i)
        word[row] = word[row] - least + step if valid[row] else null
    return 0
