"""Sweeping: by what can be taken away again where the aggregate has an inverse, by what is best where it selects.

order   any
needs   associative, commutative; selective, or invertible and, unless asked for by name, exact
paper   spanning-event-slicing-2021, 5.3.3
"""

from __future__ import annotations

import numpy as np

from sash.algebra import Aggregate
from sash.kernels.compiling import Kernel, Specialised
from sash.kernels.inputs import Inputs
from sash.kernels.needs import exact_or_selective, selective_or_invertible
from sash.kernels.spans import sweeping_cumulative as cumulative
from sash.kernels.spans import sweeping_selective as selective
from sash.kernels.spans.driving import Work, answers_windows
from sash.kernels.spans.event_lists import LINKS, pool
from sash.kernels.spans.rings import CLOCK, Workload


def _accumulated(specialised: Specialised, workload: Workload) -> Work:
    starting, stopping = (np.zeros(workload.cells, specialised.state) for _ in range(2))
    starts, stops = (np.zeros(workload.cells, np.int64) for _ in range(2))
    between, marks = np.zeros(1, specialised.state), np.zeros(cumulative.MARKS, np.int64)
    marks[CLOCK] = -1
    return Work((), (starting, starts, stopping, stops, between, marks))


def _selected(specialised: Specialised, workload: Workload) -> Work:
    links, lists, marks = pool(LINKS, workload.cells, selective.MARKS)
    candidates, ends = np.zeros(workload.cells, specialised.state), np.zeros(workload.cells, np.int64)
    return Work((), (*lists, candidates, ends), links, marks)


def _work(specialised: Specialised, workload: Workload, inputs: Inputs) -> Work:
    return (_selected if inputs.aggregate.selective else _accumulated)(specialised, workload)


def _kernel(aggregate: Aggregate) -> Kernel:
    return selective.sweeping_selective if aggregate.selective else cumulative.sweeping_cumulative


ANSWERING = answers_windows(
    _kernel,
    _work,
    name="sweeping",
    words="starts and ends of spans in order",
    needs=(selective_or_invertible, exact_or_selective),
)
answers = ANSWERING.run
