"""Cumulative sweeping: two lines, at the start and the end of the window, and the fold of the events between them.

Events are indexed by the cells that they begin and end in. The line at the window's end takes them in where they
begin; the line at its start takes them out where they have ended. As windows differ in width, the latter may go
back, and then puts them in again.

order   any
needs   associative, commutative, invertible; exact, unless asked for by name (floating-point sums drift)
time    3 combines an event; 2 operations for each cell that the lines pass
space   2 partials and 2 counts for each cell of the widest window and of ``postpone``
paper   spanning-event-slicing-2021, 5.3.3; Piatov and Helmer 2017, Sweeping-based temporal aggregation
"""

from __future__ import annotations

from typing import Any

from sash.kernels.compiling import Flags, Marks, States, Values, kernel
from sash.kernels.spans.rings import CLOCK, clear

FROM, TO, LIVE, MARKS = 1, 2, 3, 4  # between the lines are the events that end at FROM or later and begin before TO


@kernel
def sweeping_cumulative(agg: Any) -> Any:
    """Answer windows by moving both lines to each in turn."""
    lift, combine, inverse, load, store = agg.lift, agg.combine, agg.inverse, agg.load, agg.store

    @agg.function
    def put(states, counts, place, partial):  # type: ignore[no-untyped-def]
        store(states, place, combine(load(states, place), partial) if counts[place] != 0 else partial)
        counts[place] += 1

    @agg.function
    def take_in(between, marks, partial, count):  # type: ignore[no-untyped-def]
        store(between, 0, combine(load(between, 0), partial) if marks[LIVE] != 0 else partial)
        marks[LIVE] += count

    @agg.function
    def take_out(between, marks, partial, count):  # type: ignore[no-untyped-def]
        marks[LIVE] -= count
        if marks[LIVE] != 0:
            store(between, 0, inverse(load(between, 0), partial))

    @agg.function
    def sweep(lo, hi, starting, starts, stopping, stops, between, marks):  # type: ignore[no-untyped-def]
        cells, after = len(starts), marks[CLOCK] + 1
        for cell in range(marks[TO], min(hi, after)):
            if starts[cell % cells] != 0:
                take_in(between, marks, load(starting, cell % cells), starts[cell % cells])
        for cell in range(lo, min(marks[FROM], after)):
            if stops[cell % cells] != 0:
                take_in(between, marks, load(stopping, cell % cells), stops[cell % cells])
        for cell in range(marks[FROM], min(lo, after)):
            if stops[cell % cells] != 0:
                take_out(between, marks, load(stopping, cell % cells), stops[cell % cells])
        marks[FROM], marks[TO] = lo, max(hi, marks[TO])

    @agg.function
    def release(lo, hi, starting, starts, stopping, stops, between, marks, states, filled, w):  # type: ignore[no-untyped-def]
        sweep(lo, hi, starting, starts, stopping, stops, between, marks)
        if marks[LIVE] != 0:
            store(states, w, load(between, 0))
            filled[w] = 1

    def answer(
        values: Values,
        first: Marks,
        last: Marks,
        lo: Marks,
        hi: Marks,
        postpone: int,
        states: States,
        filled: Flags,
        starting: States,
        starts: Marks,
        stopping: States,
        stops: Marks,
        between: States,
        marks: Marks,
    ) -> int:
        cells, done = len(starts), 0
        for i in range(len(first)):
            if last[i] > marks[CLOCK]:
                while done < len(lo) and hi[done] + postpone <= last[i]:
                    w = done
                    release(lo[w], hi[w], starting, starts, stopping, stops, between, marks, states, filled, w)
                    done += 1
                oldest = last[i] - cells + 1
                if marks[FROM] < oldest:  # the lines must not lie where cells are let go
                    sweep(oldest, oldest, starting, starts, stopping, stops, between, marks)
                clear(starts, marks[CLOCK] + 1, last[i] + 1, 1)
                clear(stops, marks[CLOCK] + 1, last[i] + 1, 1)
                marks[CLOCK] = last[i]
            partial = lift(values, i, i)
            if first[i] >= marks[TO]:
                put(starting, starts, first[i] % cells, partial)
            elif last[i] >= marks[FROM]:
                take_in(between, marks, partial, 1)
            if last[i] > marks[CLOCK] - cells:
                put(stopping, stops, last[i] % cells, partial)
        for w in range(done, len(lo)):
            release(lo[w], hi[w], starting, starts, stopping, stops, between, marks, states, filled, w)
        return 0

    return answer
