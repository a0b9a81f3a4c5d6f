"""Rows ranked within their partitions: what goes into trees instead of values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Ranked:
    """Positions and ranks of all rows, one to one.

    Rows are sorted by (partition, key, position). A partition's ranks are the same range of numbers as its
    positions: ``segments[p]`` to ``segments[p + 1]``.
    """

    order: np.ndarray  # the position of each rank
    rank: np.ndarray  # the rank of each position
    segments: np.ndarray  # where each partition starts, and then the number of rows

    def __len__(self) -> int:
        return len(self.rank)
