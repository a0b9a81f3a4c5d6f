"""What the techniques share: folding into a place, rings of cells and of windows, and refusals by name.

A cell has the place ``cell % len(ring)``. The clock is the last cell that an event has reached; a window that ends
``postpone`` cells before it is released, so that of the cells only the widest window and ``postpone`` are kept.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sash.algebra import Aggregate
from sash.errors import Refused, SashError
from sash.kernels.algorithm import Need
from sash.kernels.compiling import Specialised
from sash.kernels.inputs import whole
from sash.kernels.spans.load import Load

CLOCK = 0  # the first of the marks that a technique keeps


def adding(agg: Any) -> Any:
    """``add(states, held, place, partial)``: fold a partial into a place that may be empty."""
    combine, load, store = agg.combine, agg.load, agg.store

    @agg.function
    def add(states, filled, place, partial):  # type: ignore[no-untyped-def]
        store(states, place, combine(load(states, place), partial) if filled[place] != 0 else partial)
        filled[place] = 1

    return add


def clear(filled: Any, begin: int, end: int, each: int) -> None:
    """Empty the places of these cells, ``each`` a cell, before they are used again."""
    cells = len(filled) // each
    for cell in range(max(begin, end - cells), end):
        place = cell % cells * each
        for k in range(place, place + each):
            filled[k] = 0


def opened(hi: Any, start: int, cell: int) -> int:
    """The first window, from ``start`` on, that ends after a cell."""
    low, high = start, len(hi)
    while low < high:
        middle = (low + high) >> 1
        if hi[middle] > cell:
            high = middle
        else:
            low = middle + 1
    return low


def refuse(name: str, needs: tuple[Need, ...], aggregate: Aggregate) -> None:
    """Raise where an aggregate lacks what a technique needs; whether partials are exact is for the planner to see."""
    load = Load(0, 1.0, 0, aggregate=aggregate, exact=True)
    for need in needs:
        if reason := need(load):
            raise Refused(f"{name} {reason}")


def at_least(argument: str, value: Any, least: int) -> int:
    """A whole number that is not too small."""
    if not isinstance(value, (int, np.integer)) or value < least:
        raise SashError(f"{argument} must be a whole number, at least {least}, got {value!r}")
    return int(value)


def touched(begin: np.ndarray, end: np.ndarray) -> tuple[int, int]:
    """The first cell of all events, and how many there are from it to the last.

    >>> touched(np.array([5, 3, 0]), np.array([6, 9, 0]))
    (3, 6)
    """
    some = begin < end
    if not some.all():
        begin, end = begin[some], end[some]
    if not len(begin):
        return 0, 0
    base = int(begin.min())
    return base, int(end.max()) - base


def places(specialised: Specialised, count: int) -> tuple[np.ndarray, np.ndarray]:
    """Empty partials, and a flag for each."""
    return np.zeros(count, specialised.state), np.zeros(count, np.uint8)


class Workload:
    """Events and windows as kernels take them, and how much of them is open at a time.

    >>> asked = Workload([0, 2], [1, 6], [0, 1], [3, 4], 1)
    >>> asked.cells, asked.windows
    (5, 3)
    """

    def __init__(self, first: Any, last: Any, lo: Any, hi: Any, postpone: int) -> None:
        self.first, self.last, self.lo, self.hi = map(whole, ("first", "last", "lo", "hi"), (first, last, lo, hi))
        for one, other, pair in ((self.first, self.last, "first and last"), (self.lo, self.hi, "lo and hi")):
            if len(one) != len(other):
                raise SashError(f"{pair} must be of one length, got {len(one)} and {len(other)}")
        self.widest = int((self.hi - self.lo).max(initial=0))
        none = np.iinfo(np.int64)
        apart = int(self.last.max(initial=none.min)) - int(self.hi.min(initial=none.max)) + 1  # more has no effect
        self.postpone = min(at_least("postpone", postpone, 0), max(apart, 0))

    @property
    def cells(self) -> int:
        """How many cells an open window may need."""
        return self.widest + self.postpone + 1

    @property
    def windows(self) -> int:
        """How many windows may be open at once."""
        after = np.searchsorted(self.hi, self.hi + (self.widest + self.postpone), "right")
        return int((after - np.arange(len(self.hi))).max(initial=0)) + 1

    def states(self, kernel: Specialised) -> tuple[np.ndarray, np.ndarray]:
        """An empty partial and a flag for each window."""
        return places(kernel, len(self.lo))
