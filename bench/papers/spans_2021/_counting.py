"""Combines of a technique, told apart by whether an event comes in or a window is released.

An aggregate that is not compiled runs its kernel as plain Python, where the callers of a combine can be seen. The
first partial in an empty place is stored without a combine. Only windows are asked for that are full of events.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Any

import numpy as np

from bench.papers.spans_2021._common import Cut, Events
from sash.algebra.catalogue import builtin
from sash.kernels.inputs import Inputs
from sash.kernels.spans import ANSWERS
from sash.planner.techniques import with_height

RELEASING = {"release", "sweep"}  # functions of the kernels
SLIDE, STEPS = 8, 12  # moments; windows that are asked for


@dataclass(frozen=True)
class Counts:
    """Of a window: its events, the combines of insertions, which windows share, and the partials read at its release.

    A release of n partials takes n - 1 combines.
    """

    events: float
    insert: float
    release: float


class Counter:
    """An aggregate that counts its combines and inverses by what they are for."""

    def __init__(self, name: str) -> None:
        self.inserting = self.releasing = 0
        dtypes = (np.dtype(np.int64),) if name == "max" else ()
        found = Inputs(builtin(name), dtypes).aggregate
        changes: dict[str, Any] = {"combine": self._counted(found.combine)}
        if found.inverse:
            changes["inverse"] = self._counted(found.inverse)
        self.inputs = Inputs(found.but(compiled=False, typed=None, **changes), dtypes)

    def _counted(self, function: Any) -> Any:
        def counted(one: Any, other: Any) -> Any:
            if _is_releasing(sys._getframe(1)):
                self.releasing += 1
            else:
                self.inserting += 1
            return function(one, other)

        return counted


def _is_releasing(frame: Any) -> bool:
    while frame is not None and frame.f_code.co_name != "answer":
        if frame.f_code.co_name in RELEASING:
            return True
        frame = frame.f_back
    return False


def stream(rate: int, size: int, range_: int) -> Events:
    """So many events a moment as they end, of lengths of 1 to twice ``size``, in which there are full windows."""
    random, moments = np.random.default_rng(3), 4 * size + range_ + STEPS * SLIDE
    ends = np.repeat(np.arange(moments), rate) + 2 * size
    lengths = random.integers(1, 2 * size, len(ends))
    return ends - lengths, ends, random.integers(0, 1 << 40, len(ends))


def counts(technique: str, aggregate: str, *, rate: int, size: int, overlap: int, rest: int = 0) -> Counts:
    """The combines of windows of ``overlap`` slides of 8 moments and a ``rest``, with ``rate`` events a moment."""
    range_ = SLIDE * overlap + rest
    cut, counter = Cut(stream(rate, size, range_), range_, SLIDE, wait=2 * size), Counter(aggregate)
    begin = -(-2 * size // SLIDE)  # the first window before which all events that reach into it can have begun
    lo, hi = cut.lo[begin : begin + STEPS], cut.hi[begin : begin + STEPS]
    name, height = with_height(technique)
    columns = (cut.values,) if counter.inputs.dtypes else ()
    options = {"height": height} if height else {}
    ANSWERS[str(name)].answers(counter.inputs, columns, cut.first, cut.last, lo, hi, cut.postpone, **options)
    within = ((cut.first < hi[:, None]) & (cut.last >= lo[:, None])).sum() / STEPS
    shared = counter.inserting / (STEPS if name == "aggregate_buckets" else len(cut.first) / (rate * SLIDE))
    return Counts(float(within), shared, 1 + counter.releasing / STEPS)
