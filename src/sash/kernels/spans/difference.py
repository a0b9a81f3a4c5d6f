"""Difference: an event is added where it begins and taken away where it has ended, in one pass over the cells.

order   any
needs   associative, commutative, invertible; exact, unless asked for by name (floating-point sums drift)
time    2 combines an event; a combine and an inverse a cell
space   2 partials and 2 counts for each cell that the events span
paper   the cumulative sweeping of spanning-event-slicing-2021, 5.3.3, over cells instead of endpoints
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sash.kernels.compiling import Flags, Marks, Specialised, States, Values, kernel
from sash.kernels.needs import exact_partials, invertible
from sash.kernels.spans.driving import covers
from sash.kernels.spans.rings import adding, touched


@kernel
def difference_cover(agg: Any) -> Any:
    """Fold events into where they begin and end, ``base`` being the first of these cells, and then into cells."""
    lift, combine, load, store, add = agg.lift, agg.combine, agg.load, agg.store, adding(agg)
    inverse = agg.inverse

    @agg.function
    def put(states, counts, place, partial):  # type: ignore[no-untyped-def]
        store(states, place, combine(load(states, place), partial) if counts[place] != 0 else partial)
        counts[place] += 1

    def cover(
        values: Values,
        begin: Marks,
        end: Marks,
        base: int,
        starting: States,
        starts: Marks,
        stopping: States,
        stops: Marks,
        states: States,
        filled: Flags,
    ) -> int:
        for i in range(len(begin)):
            if begin[i] < end[i]:
                partial = lift(values, i, i)
                put(starting, starts, begin[i] - base, partial)
                put(stopping, stops, end[i] - base, partial)
        if len(starts) == 0:
            return 0
        live, running = 0, load(starting, 0)
        for cell in range(len(starts)):
            if starts[cell] != 0:
                partial = load(starting, cell)
                running = combine(running, partial) if live != 0 else partial
                live += starts[cell]
            if stops[cell] != 0:
                live -= stops[cell]
                if live != 0:  # otherwise nothing is left, of which there need not be a partial
                    running = inverse(running, load(stopping, cell))
            if live != 0:
                add(states, filled, base + cell, running)
        return 0

    return cover


def _work(specialised: Specialised, begin: np.ndarray, end: np.ndarray) -> tuple[Any, ...]:
    base, cells = touched(begin, end)
    starting, stopping = (np.empty(cells + 1, specialised.state) for _ in range(2))
    starts, stops = (np.zeros(cells + 1, np.int64) for _ in range(2))
    return base, starting, starts, stopping, stops


COVERING = covers(
    difference_cover,
    _work,
    name="difference",
    words="each span added where it begins and taken away where it ends",
    cost=lambda load: 5.0 + 8.0 * load.cells_a_span,
    needs=(invertible, exact_partials),
)
cover = COVERING.run
