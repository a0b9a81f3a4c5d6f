"""How many slices make a chunk of PBA where windows are of time: Theorem 2, and the time of a combine that it takes."""

from __future__ import annotations

import time
from typing import Any

import numpy as np

from sash.algebra import Aggregate
from sash.kernels.compiling import specialise
from sash.kernels.fifo.boundary import cumulate_left
from sash.kernels.inputs import Inputs


def chunk_for_times(size: float, slide: float, combine: float) -> int:
    """Theorem 2: the same for windows of time, given how long one combine takes in the same unit.

    >>> chunk_for_times(1000.0, 1.0, combine=1.0)
    667
    """
    slices, rest = int(size // slide), size % slide
    constant = rest + combine if rest else 0.0
    if slices <= (slide + 2 * combine + constant) / combine:
        return max(slices, 1)
    return int((slices * (slide + combine) + slide + 2 * combine + constant) // (slide + 2 * combine))


def seconds_per_combine(aggregate: Aggregate, *dtypes: Any, partials: int = 1 << 14) -> float:
    """How long one combine takes on this machine, measured: what ``chunk_for_times`` wants to know."""
    inputs = Inputs(aggregate, dtypes)
    made = specialise(cumulate_left, inputs.aggregate, inputs.dtypes)
    ring = np.zeros(partials, made.state)
    for name in made.state.names or ():
        ring[name] = 1
    times = []
    for _ in range(5):
        start = time.perf_counter()
        made.run(ring, 0, partials)
        times.append(time.perf_counter() - start)
    return min(times) / (partials - 1)
