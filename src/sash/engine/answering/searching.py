"""The two operations on ranked rows: the k-th of a frame, and how many come before. By the algorithm chosen."""

from __future__ import annotations

from typing import Any

import numpy as np

from sash.engine.sorted_rows import Ranking
from sash.planner import Choice
from sash.windows.bounds import Bounds


def select(
    choice: Choice, ranking: Ranking | None, bounds: Bounds, k: np.ndarray, second: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """The rank of the k-th row of each frame, and, where asked, of the one after; without a ranking, its position."""
    found: Any = choice.run(None if ranking is None else ranking.ranked, bounds, k, second)
    return found[0], found[1]


def count_below(choice: Choice, ranking: Ranking | None, bounds: Bounds, threshold: np.ndarray) -> np.ndarray:
    """How many rows of each frame have a rank below a threshold; without a ranking, a position."""
    counts: np.ndarray = choice.run(None if ranking is None else ranking.ranked, bounds, threshold)
    return counts
