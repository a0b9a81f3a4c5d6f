"""How a kernel asks for its i-th frame: two arrays of bounds, or one constant size."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def _bounds(frames: Any, base: int, i: int) -> tuple[int, int]:
    return frames[0][i], frames[1][i]


def _last(frames: Any, base: int, i: int) -> tuple[int, int]:
    hi = base + i + 1
    return max(hi - frames[0], 0), hi


def frame_of(form: str) -> Callable[..., tuple[int, int]]:
    """``frame(frames, base, i)``: the half-open range of rows of the i-th answer.

    ``"bounds"`` reads two arrays; ``"size"`` is the last so many rows at each row of the batch, whose
    first row has the position ``base``.
    """
    return {"bounds": _bounds, "size": _last}[form]
