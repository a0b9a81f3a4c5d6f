"""One look at a batch of frames: do their ends rise, how far back must rows be kept, how wide are they."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from sash.algebra.catalogue import builtin
from sash.kernels.compiling import Marks, kernel, specialise

BACK, FALLS, WIDEST = 0, 1, 2


class Survey(NamedTuple):
    """What a batch of frames is like; ``floor`` is, for each, the lowest start from there on."""

    floor: np.ndarray
    goes_back: bool
    falls: bool
    widest: int


@kernel
def look_at_frames(agg: Any) -> Any:
    def look(lo: Marks, hi: Marks, keep: int, floor: Marks, facts: Marks) -> int:
        least, widest, back, falls, after = keep, 0, 0, 0, hi[len(hi) - 1]
        for i in range(len(lo) - 1, -1, -1):
            if lo[i] > least:
                back = 1
            least = min(least, lo[i])
            floor[i] = least
            widest = max(widest, hi[i] - least)
            if hi[i] > after:
                falls = 1
            after = hi[i]
        facts[BACK], facts[FALLS], facts[WIDEST] = back, falls, widest
        return 0

    return look


@cache
def _look() -> Callable[..., int]:
    return specialise(look_at_frames, builtin("count"), ()).run  # the aggregate is not used


def survey(lo: np.ndarray, hi: np.ndarray, keep: int | None) -> Survey:
    """Look at frames, of which there must be some; rows from ``keep`` on stay, if given."""
    floor, facts = np.empty(len(lo), np.int64), np.zeros(3, np.int64)
    _look()(lo, hi, np.iinfo(np.int64).max if keep is None else int(keep), floor, facts)
    return Survey(floor, bool(facts[BACK]), bool(facts[FALLS]), int(facts[WIDEST]))
