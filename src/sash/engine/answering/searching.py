"""The two operations on ranked rows: the k-th of a frame, and how many come before. By the algorithm chosen."""

from __future__ import annotations

from typing import Any

import numpy as np

from sash.engine.sorted_rows import Ranking, Selection
from sash.kernels.coordinates import Indices, Positions, Ranks
from sash.planner import Choice
from sash.windows.bounds import Bounds


def select(
    choice: Choice, ranking: Ranking | None, bounds: Bounds, k: np.ndarray, second: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """The rank of the k-th row of each frame, and, where asked, of the one after; without a ranking, its index."""
    ranks: Any = choice.run(None if ranking is None else ranking.ranked, bounds, k, second)
    return ranks[0], ranks[1]


def select_by_index(
    choice: Choice, ranking: Ranking, bounds: Bounds, k: np.ndarray, second: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """The same rows by their indices, by an algorithm that gives these."""
    indices: Any = choice.run(ranking.ranked, bounds, k, second, True)
    return indices[0], indices[1]


def positions_of(ranks: np.ndarray, ranking: Ranking | None, selection: Selection) -> Positions:
    """The positions of ranks, or without a ranking of indices; -1 stays."""
    return selection.positions_of(Indices(ranks) if ranking is None else ranking.indices_of(Ranks(ranks)))


def count_below(choice: Choice, ranking: Ranking | None, bounds: Bounds, threshold: np.ndarray) -> np.ndarray:
    """How many rows of each frame have a rank below a threshold; without a ranking, an index."""
    counts: np.ndarray = choice.run(None if ranking is None else ranking.ranked, bounds, threshold)
    return counts
