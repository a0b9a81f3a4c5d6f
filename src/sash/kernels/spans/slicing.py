"""Slicing: an event is folded into each cell that it overlaps, and a window is made of its cells.

Where duplicates do harm, a cell has two partials: of the events that end in it, and of those that go on after it.
Of the latter, a window takes only those of its last cell: in the others they are counted further on.

order   any
needs   associative, commutative
time    one combine for each event and cell; one for each window and cell, and one more
space   a partial, or two, for each cell of the widest window and of ``postpone``
paper   spanning-event-slicing-2021, 3.2 and 5.2.1
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sash.kernels.compiling import Flags, Marks, Specialised, States, Values, kernel
from sash.kernels.inputs import Inputs
from sash.kernels.spans.driving import Work, answers_windows, covers
from sash.kernels.spans.rings import CLOCK, Workload, adding, clear, places


@kernel
def slicing_cover(agg: Any) -> Any:
    """Fold events into all cells that they overlap."""
    lift, combine, load, store, add = agg.lift, agg.combine, agg.load, agg.store, adding(agg)

    def cover(values: Values, begin: Marks, end: Marks, states: States, filled: Flags) -> int:
        for i in range(len(begin)):
            partial = lift(values, i, i)
            full = np.uint8(1)  # of the type of the flags: both loops are made of wide instructions
            for cell in range(begin[i], end[i]):
                full = np.uint8(full & filled[np.uint64(cell)])
            if full != 0:
                for cell in range(begin[i], end[i]):
                    store(states, cell, combine(load(states, cell), partial))
            else:
                for cell in range(begin[i], end[i]):
                    add(states, filled, cell, partial)
        return 0

    return cover


@kernel
def slicing(agg: Any) -> Any:
    """Answer windows; ``both`` says whether a cell has two partials, of events that end and that go on."""
    lift, load, add = agg.lift, agg.load, adding(agg)

    @agg.function
    def release(lo, hi, clock, both, ends, ends_filled, on, on_filled, states, filled, w):  # type: ignore[no-untyped-def]
        cells = len(ends_filled)
        for cell in range(lo, min(hi, clock + 1)):
            if ends_filled[cell % cells] != 0:
                add(states, filled, w, load(ends, cell % cells))
        if both != 0 and hi <= clock + 1 and on_filled[(hi - 1) % cells] != 0:
            add(states, filled, w, load(on, (hi - 1) % cells))

    def answer(
        values: Values,
        first: Marks,
        last: Marks,
        lo: Marks,
        hi: Marks,
        postpone: int,
        both: int,
        states: States,
        filled: Flags,
        ends: States,
        ends_filled: Flags,
        on: States,
        on_filled: Flags,
        marks: Marks,
    ) -> int:
        cells, clock, done = len(ends_filled), marks[CLOCK], 0
        for i in range(len(first)):
            if last[i] > clock:
                while done < len(lo) and hi[done] + postpone <= last[i]:
                    release(lo[done], hi[done], clock, both, ends, ends_filled, on, on_filled, states, filled, done)
                    done += 1
                clear(ends_filled, clock + 1, last[i] + 1, 1)
                clear(on_filled, clock + 1, last[i] + 1, 1)
                clock = last[i]
            partial, oldest = lift(values, i, i), max(first[i], clock - cells + 1)
            if last[i] >= oldest:
                add(ends, ends_filled, last[i] % cells, partial)
            for cell in range(oldest, last[i]):
                if both != 0:
                    add(on, on_filled, cell % cells, partial)
                else:
                    add(ends, ends_filled, cell % cells, partial)
        for w in range(done, len(lo)):
            release(lo[w], hi[w], clock, both, ends, ends_filled, on, on_filled, states, filled, w)
        marks[CLOCK] = clock
        return 0

    return answer


def _work(specialised: Specialised, workload: Workload, inputs: Inputs) -> Work:
    both = int(inputs.aggregate.cumulative)
    cells = (*places(specialised, workload.cells), *places(specialised, workload.cells * both))
    return Work((both,), (*cells, np.full(1, -1)))


COVERING = covers(
    slicing_cover,
    lambda specialised, begin, end: (),
    name="slicing",
    words="each span into every slice that it covers",
    cost=lambda load: 3.0 + min((1.0 + 2.5 * load.varied) * (load.each - 1.0), 7.0) + 0.2 * load.each,
)
ANSWERING = answers_windows(lambda aggregate: slicing, _work, name="slicing", words="a partial, or two, for each slice")
cover, answers = COVERING.run, ANSWERING.run
