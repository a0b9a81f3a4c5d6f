"""Bounds: which rows each frame holds, as ranges of positions in the sorted partitions.

All partitions of a table lie one after the other, and positions count through them all; no frame crosses
the edge of a partition. EXCLUDE tears a hole into a frame, so that a frame is up to three pieces:

    [lo, a)  and  own  and  [b, hi)        with lo <= a <= b <= hi, and own in [a, b) or -1

Without EXCLUDE, a, b and hi are the same array, and there is no own.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

CONSTANT, MONOTONIC, ARBITRARY = "constant", "monotonic", "arbitrary"
NOTHING = np.zeros(0, np.int32)


@dataclass(frozen=True)
class Bounds:
    """One frame for each row that asks, over ``length`` positions.

    ``shape`` says what a kernel may rely on: ``"constant"``: the row at position i has the frame from
    i - before to i + after, cut at the edges of its partition, and no hole; ``"monotonic"``: all four arrays
    never fall; ``"arbitrary"``: nothing.
    """

    lo: np.ndarray
    hi: np.ndarray
    length: int
    shape: str = ARBITRARY
    before: int = 0
    after: int = 0
    a: np.ndarray = field(default_factory=lambda: NOTHING)
    b: np.ndarray = field(default_factory=lambda: NOTHING)
    own: np.ndarray = field(default_factory=lambda: NOTHING)  # one a row, or none at all

    def __post_init__(self) -> None:
        if self.a is NOTHING:
            object.__setattr__(self, "a", self.hi)
            object.__setattr__(self, "b", self.hi)

    def __len__(self) -> int:
        return len(self.lo)

    def some(self, which: np.ndarray) -> Bounds:
        """The frames of some rows, in ascending order."""
        shape = MONOTONIC if self.moves_forward else ARBITRARY
        lo, hi = self.lo[which], self.hi[which]
        if not self.holes:
            return Bounds(lo, hi, self.length, shape)
        own = self.own[which] if len(self.own) else self.own
        return Bounds(lo, hi, self.length, shape, a=self.a[which], b=self.b[which], own=own)

    @property
    def holes(self) -> bool:
        """Whether EXCLUDE tears holes into the frames."""
        return self.a is not self.hi

    @property
    def moves_forward(self) -> bool:
        """Whether every bound only ever moves right."""
        return self.shape != ARBITRARY

    @property
    def arrays(self) -> tuple[np.ndarray, ...]:
        """What a kernel takes: lo, a, b, hi, own."""
        return self.lo, self.a, self.b, self.hi, self.own

    def sizes(self) -> np.ndarray:
        """How many rows each frame holds; found once."""
        return self._sizes

    @cached_property
    def _sizes(self) -> np.ndarray:
        if not self.holes:
            return self.hi - self.lo
        sizes = (self.a - self.lo) + (self.hi - self.b)
        return sizes + (self.own >= 0) if len(self.own) else sizes

    @cached_property
    def widest(self) -> int:
        """How many rows the largest frame may hold."""
        if self.shape == CONSTANT:
            return max(min(self.before + self.after + 1, self.length), 0)
        return int(self.sizes().max(initial=0))


def positions(rows: int) -> Any:
    """The type of a position among so many rows: 32 bits where they suffice."""
    return np.int32 if rows < 2**31 - 1 else np.int64
