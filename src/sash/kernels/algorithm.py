"""An algorithm as an object: the operation it answers, what it needs, what it costs, and the code that runs.

It is declared beside its kernel, and known by its operation and name from then on. The code of each operation has
one signature:

| operation | ``run`` |
|---|---|
| fold | ``(aggregate, columns, rows, bounds, segments) -> Answered`` |
| select | ``(ranked, bounds, k, second) -> ranks, and those after them`` |
| count | ``(ranked, bounds, threshold) -> counts`` |
| distinct | ``(values, bounds) -> counts`` |
| distinct fold | ``(aggregate, columns, values, bounds, groups) -> Answered`` |
| distinct select | ``(ranked, values, bounds, k) -> ranks, and those after them`` |
| weighted select | ``(ranked, bounds, weights, asked) -> ranks, and those after them`` |
| dense rank | ``(codes, values, bounds, own_code) -> ranks`` |
| mode | ``(codes, bounds, distinct) -> codes`` |
| entropy | ``(codes, bounds, distinct) -> entropies`` |
| sessions | ``(segments, times, ends, shift) -> numbers`` |
| cover | ``(inputs, values, begin, end, states, held)``, which writes the last two |
| windows of events | ``(inputs, values, first, last, lo, hi, postpone) -> states, held`` |

``ranked`` is None where rows are in the window's own order, so that ranks are positions.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import log2
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from sash.windows.bounds import ARBITRARY, MONOTONIC

FOLD, SELECT, COUNT, DISTINCT, DISTINCT_FOLD = "fold", "select", "count", "distinct", "distinct fold"
DISTINCT_SELECT, DENSE, MODE, ENTROPY = "distinct select", "dense rank", "mode", "entropy"
COVER, EVENTS, SESSIONS, WEIGHTED = "cover", "windows of events", "sessions", "weighted select"


@dataclass(frozen=True)
class Task:
    """One operation over all frames of an expression, and what is known of them.

    ``frames`` is how many frames ask, ``rows`` how many rows they lie over, ``widest`` the size of the largest.
    """

    operation: str
    frames: int = 0
    rows: int = 0
    shape: str = MONOTONIC
    holes: bool = False
    widest: int = 0
    aggregate: Any = None
    exact: bool = False
    trailing: bool = False  # each frame is the last so many rows, of the only partition or of one that is long
    partitions: int = 1
    ordered: bool = True  # whether rows are ranked by something else than the window's order

    @property
    def forward(self) -> bool:
        """Whether all bounds only ever move right."""
        return self.shape != ARBITRARY

    @property
    def height(self) -> float:
        """The height of a binary tree over all rows."""
        return log2(max(self.rows, 2))

    @property
    def levels(self) -> float:
        """The height of a binary tree over the rows of a frame."""
        return log2(max(self.widest, 2))

    @property
    def length(self) -> int:
        """How many times the cost of a row is paid."""
        return max(self.frames, self.rows)


Need = Callable[[Any], str | None]  # why a task cannot be answered, such as "needs frames without EXCLUDE", or None


@dataclass(frozen=True, eq=False)
class Algorithm:
    """A way to answer an operation.

    ``cost`` is in nanoseconds a row of a task, on one thread, beside the sort that all of them share: ``sash bench
    --full --only studies.algorithms`` measures windows that move forward, ``--only holistic_2022`` holistic functions.
    ``combines`` says how many combines a fold does for each new row, and for each answer over so many rows.
    """

    name: str
    operation: str
    words: str
    cost: Callable[[Any], float]
    run: Callable[..., Any]
    needs: tuple[Need, ...] = ()
    offered: bool = True  # whether it is taken unless named
    combines: Callable[[int], tuple[float, float]] = lambda rows: (2, 1)
    variants: tuple[Algorithm, ...] = ()  # with other settings, from which one is taken unless it is named
    gives_indices: bool = False  # whether a select gives indices, which is less work, where one more argument asks so
    by_name: bool = True  # whether it is found by its name; a variant is not

    def __post_init__(self) -> None:
        if not self.by_name:
            return
        known = _DECLARED.setdefault(self.operation, {})
        if self.name in known and known[self.name].cost.__module__ != self.cost.__module__:
            raise ValueError(f"two algorithms for a {self.operation} are called {self.name}")
        known[self.name] = self

    def refusal(self, task: Any) -> str | None:
        """Why it cannot answer a task, in words that go behind its name, or None."""
        for need in self.needs:
            if reason := need(task):
                return reason
        return None


_DECLARED: dict[str, dict[str, Algorithm]] = {}


def declared(operation: str) -> Mapping[str, Algorithm]:
    """The algorithms for an operation by name, of those files that have been imported."""
    return MappingProxyType(_DECLARED.setdefault(operation, {}))


class Occurrences(NamedTuple):
    """Values of rows by where each occurs before and after, in its partition; numbered where that is asked for.

    Where a value does not occur before or after, there is -1 or the number of rows. ``numbered`` gives dense numbers
    and how many there are.
    """

    previous: np.ndarray
    following: np.ndarray
    numbered: Callable[[], tuple[np.ndarray, int]]
