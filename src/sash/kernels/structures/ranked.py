"""Rows ranked within their partitions: what goes into trees instead of values."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

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
    structures: dict[Callable[[Any], Any], Any] = field(default_factory=dict, repr=False, compare=False)

    def structure(self, make: Callable[[Ranked], Any]) -> Any:
        """A structure over the ranks, made when it is first asked for; it must not refer to this object in turn."""
        if make not in self.structures:
            self.structures[make] = make(self)
        return self.structures[make]

    def __len__(self) -> int:
        return len(self.rank)
