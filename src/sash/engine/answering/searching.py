"""The two questions to ranked rows: the k-th of a frame, and how many come before. By the algorithm named."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np

from sash.engine.sorted_rows import Ranking
from sash.kernels.index import window_order
from sash.windows.bounds import Bounds

MODULES = {
    "small_frames": "small_frames",
    "block_sort": "block_sort",
    "rank_bitset": "rank_bitset",
    "swept_bitset": "sweep",
    "wavelet_matrix": "wavelet_matrix",
    "merge_sort_tree": "merge_sort_tree",
    "sorted_segment_tree": "sorted_segment_tree",
    "order_statistic_tree": "order_statistic_tree",
    "incremental": "incremental",
}


def _module(name: str) -> Any:
    return import_module(f"sash.kernels.index.{MODULES[name]}")


def select(
    ranking: Ranking | None, bounds: Bounds, k: np.ndarray, name: str, second: bool = False
) -> tuple[np.ndarray, np.ndarray]:
    """The rank of the k-th row of each frame, and, where asked, of the one after; without a ranking, its position."""
    if ranking is None:
        return window_order.select(bounds, k), k[:0]
    if name == "wavelet_matrix":
        return ranking.matrix.select(bounds, k, second)
    return _module(name).select(ranking.ranked, bounds, k, second)


def count_below(ranking: Ranking | None, bounds: Bounds, threshold: np.ndarray, name: str) -> np.ndarray:
    """How many rows of each frame have a rank below a threshold; without a ranking, a position."""
    if ranking is None:
        return window_order.count_below(bounds, threshold)
    if name == "wavelet_matrix":
        return ranking.matrix.count_below(bounds, threshold)
    return _module(name).count_below(ranking.ranked, bounds, threshold)
