"""Steps counted, not timed: kernels as plain Python, on arrays that count how often they are touched."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from unittest import mock

import numba  # noqa: F401, which reads NumPy's types when it is first imported, and must not find them patched
import numpy as np

import sash
from sash.kernels.compiling.routine import Routine


class Steps:
    """How many steps were taken."""

    taken = 0

    def total(self) -> sash.Aggregate:
        """A sum, as plain Python, whose lifts and combines are steps."""

        def lift(x: Any) -> Any:
            self.taken += 1
            return x

        def combine(a: Any, b: Any) -> Any:
            self.taken += 1
            return a + b

        return sash.Aggregate("total", lift=lift, combine=combine, commutative=True, compiled=False)


class Touched:
    """An array that counts its reads and writes, and gives Python's own numbers, but for words that wrap around."""

    __slots__ = ("array", "read", "steps")

    def __init__(self, array: np.ndarray, steps: Steps) -> None:
        self.array, self.steps = array, steps
        self.read = array.__getitem__ if array.dtype == np.uint64 else array.item

    def __len__(self) -> int:
        return len(self.array)

    def __getitem__(self, place: Any) -> Any:
        self.steps.taken += 1
        return self.read(place)

    def __setitem__(self, place: Any, value: Any) -> None:
        self.steps.taken += 1
        self.array[place] = value


def steps_of(ask: Callable[[Any, Steps], Any], rows: Any) -> int:
    """The steps of a kernel asked of some rows, which may count some of its own."""
    steps = Steps()

    def call(routine: Routine, *arguments: Any) -> int:
        return routine.plain(*(Touched(each, steps) if isinstance(each, np.ndarray) else each for each in arguments))

    with mock.patch.object(Routine, "__call__", call), mock.patch.object(np, "int64", int):
        ask(rows, steps)
    return steps.taken
