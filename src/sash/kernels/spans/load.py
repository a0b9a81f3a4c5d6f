"""Events to be folded into cells, as far as techniques are chosen by them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sash.kernels.algorithm import COVER

SEEN = 1 << 14  # events whose sizes are compared


@dataclass(frozen=True)
class Load:
    """So many spans go into so many cells each on average, of so many cells in all.

    ``varied`` is the share of spans that go into more or fewer cells than the one before.
    """

    spans: int
    each: float
    cells: int
    varied: float = 1.0
    aggregate: Any = None
    exact: bool = False
    operation: str = COVER

    @property
    def length(self) -> int:
        """How many times the cost of a span is paid."""
        return self.spans

    @property
    def cells_a_span(self) -> float:
        """How many cells there are for each span, whether it covers them or not."""
        return self.cells / max(self.spans, 1)


def load_of(sizes: np.ndarray, cells: int) -> Load:
    """The load of spans that go into so many of the cells."""
    if not len(sizes):
        return Load(0, 1.0, cells)
    some = sizes[:SEEN]
    return Load(len(sizes), float(sizes.mean()), cells, np.count_nonzero(some[1:] != some[:-1]) / len(some))
