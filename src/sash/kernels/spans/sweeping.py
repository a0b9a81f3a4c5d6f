"""Sweeping: by what can be taken away again where the aggregate has an inverse, by what is best where it selects.

order   any
needs   associative, commutative; selective, or invertible and, unless asked for by name, exact
paper   spanning-event-slicing-2021, 5.3.3
"""

from __future__ import annotations

import numpy as np

from sash.kernels.algorithm import EVENTS, Algorithm
from sash.kernels.compiling import specialise
from sash.kernels.inputs import Inputs
from sash.kernels.needs import commutative, exact_or_selective, selective_or_invertible
from sash.kernels.spans import sweeping_cumulative as cumulative
from sash.kernels.spans import sweeping_selective as selective
from sash.kernels.spans.layout import CLOCK, Asked, refuse
from sash.kernels.spans.lists import LINKS, larger, pool


def answers(
    kind_inputs: Inputs,
    values: tuple[np.ndarray, ...],
    first: np.ndarray,
    last: np.ndarray,
    lo: np.ndarray,
    hi: np.ndarray,
    postpone: int = 0,
) -> tuple[np.ndarray, np.ndarray]:
    """The partial of each window and whether it has an event, as ``slicing.answers``."""
    aggregate = kind_inputs.aggregate
    refuse(ANSWERING, aggregate)
    asked = Asked(first, last, lo, hi, postpone)
    return (_selected if aggregate.selective else _accumulated)(kind_inputs, values, asked)


def _accumulated(inputs: Inputs, values: tuple[np.ndarray, ...], asked: Asked) -> tuple[np.ndarray, np.ndarray]:
    made = specialise(cumulative.sweeping_cumulative, inputs.aggregate, inputs.dtypes)
    states, held = asked.states(made)
    starting, stopping = (np.zeros(asked.cells, made.state) for _ in range(2))
    starts, stops = (np.zeros(asked.cells, np.int64) for _ in range(2))
    between, marks = np.zeros(1, made.state), np.zeros(cumulative.MARKS, np.int64)
    marks[CLOCK] = -1
    given = (asked.first, asked.last, asked.lo, asked.hi, asked.postpone, states, held)
    made.run(inputs.lifted(values), *given, starting, starts, stopping, stops, between, marks)
    return states, held


def _selected(inputs: Inputs, values: tuple[np.ndarray, ...], asked: Asked) -> tuple[np.ndarray, np.ndarray]:
    made = specialise(selective.sweeping_selective, inputs.aggregate, inputs.dtypes)
    states, held = asked.states(made)
    arrays, lists, marks = pool(LINKS, asked.cells, selective.MARKS)
    kept, ends = np.zeros(asked.cells, made.state), np.zeros(asked.cells, np.int64)
    given = (asked.first, asked.last, asked.lo, asked.hi, asked.postpone, states, held)
    columns, event = inputs.lifted(values), 0
    while (event := made.run(columns, *given, event, *arrays, *lists, kept, ends, marks)) < len(asked.first):
        arrays = larger(arrays, marks, 1)
    return states, held


ANSWERING = Algorithm(
    name="sweeping",
    operation=EVENTS,
    words="starts and ends of spans in order",
    cost=lambda load: load.each,
    run=answers,
    needs=(
        commutative,
        selective_or_invertible,
        exact_or_selective,
    ),
)
