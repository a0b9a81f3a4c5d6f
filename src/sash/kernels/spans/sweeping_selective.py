"""Selective sweeping: a line at the window's end takes events in where they begin; the best of these are kept.

Of the events taken in, one is kept as long as no other that ends at the same time or later is as good. In the order
of their ends the kept ones get worse, so that the first that ends in the window, or after it, is the answer.

order   any
needs   associative, commutative, selective
time    2 combines an event, amortised, a step for each kept one that ends later; log2 of those kept a window
space   a partial and 4 numbers for each cell of the widest window and of ``postpone``; 16 bytes for each event that
        begins after the line
paper   spanning-event-slicing-2021, 5.3.3; Piatov and Helmer 2017, Sweeping-based temporal aggregation
"""

from __future__ import annotations

from typing import Any

from sash.kernels.compiling import Flags, Marks, States, Values, kernel
from sash.kernels.spans.event_lists import LEFT, append, let_go
from sash.kernels.spans.rings import CLOCK

DONE, TO, HEAD, KEPT, MARKS = 4, 5, 6, 7, 8  # after the marks of the lists; HEAD and KEPT say where the kept are


def seek(ends: Any, marks: Any, cell: int) -> int:
    """How many of the kept end before a cell."""
    low, high = 0, marks[KEPT]
    while low < high:
        middle = (low + high) >> 1
        if ends[(marks[HEAD] + middle) % len(ends)] < cell:
            low = middle + 1
        else:
            high = middle
    return low


@kernel
def sweeping_selective(agg: Any) -> Any:
    """Answer windows; return the first event, from ``start`` on, that finds no link."""
    lift, combine, same, load, store = agg.lift, agg.combine, agg.same, agg.load, agg.store

    @agg.function
    def enter(partial, end, candidates, ends, marks):  # type: ignore[no-untyped-def]
        room, head, count = len(ends), marks[HEAD], marks[KEPT]
        later = seek(ends, marks, end)
        begin = later  # those from begin to before later are no better than the new one
        if later < count:
            best = load(candidates, (head + later) % room)
            if same(combine(best, partial), best):
                return
            if ends[(head + later) % room] == end:
                later += 1
        while begin > 0 and same(combine(load(candidates, (head + begin - 1) % room), partial), partial):
            begin -= 1
        move = begin + 1 - later
        if move > 0:
            for k in range(head + count - 1, head + later - 1, -1):
                store(candidates, (k + 1) % room, load(candidates, k % room))
                ends[(k + 1) % room] = ends[k % room]
        elif move < 0:
            for k in range(head + later, head + count):
                store(candidates, (k + move) % room, load(candidates, k % room))
                ends[(k + move) % room] = ends[k % room]
        store(candidates, (head + begin) % room, partial)
        ends[(head + begin) % room] = end
        marks[KEPT] = count + move

    @agg.function
    def sweep(values, last, hi, links, events, heads, tails, candidates, ends, marks):  # type: ignore[no-untyped-def]
        for cell in range(marks[TO], min(hi, marks[CLOCK] + 1)):
            place, length = cell % len(heads), 0
            link = heads[place]
            while link >= 0:
                event = events[link]
                enter(lift(values, event, event), last[event], candidates, ends, marks)
                link = links[link]
                length += 1
            let_go(links, marks, heads, tails, place, length)
        marks[TO] = max(hi, marks[TO])

    @agg.function
    def release(lo, candidates, ends, marks, states, filled, w):  # type: ignore[no-untyped-def]
        place = seek(ends, marks, lo)
        if place < marks[KEPT]:
            store(states, w, load(candidates, (marks[HEAD] + place) % len(ends)))
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
        start: int,
        links: Marks,
        events: Marks,
        heads: Marks,
        tails: Marks,
        candidates: States,
        ends: Marks,
        marks: Marks,
    ) -> int:
        cells = len(heads)
        for i in range(start, len(first)):
            if last[i] > marks[CLOCK]:
                while marks[DONE] < len(lo) and hi[marks[DONE]] + postpone <= last[i]:
                    w = marks[DONE]
                    sweep(values, last, hi[w], links, events, heads, tails, candidates, ends, marks)
                    release(lo[w], candidates, ends, marks, states, filled, w)
                    marks[DONE] += 1
                oldest = last[i] - cells + 1
                sweep(values, last, oldest, links, events, heads, tails, candidates, ends, marks)
                gone = seek(ends, marks, oldest)
                marks[HEAD] = (marks[HEAD] + gone) % len(ends)
                marks[KEPT] -= gone
                marks[CLOCK] = last[i]
            if first[i] >= marks[TO]:
                if marks[LEFT] == 0:
                    return i
                append(links, events, marks, heads, tails, first[i] % cells, i)
            elif last[i] > marks[CLOCK] - cells:
                enter(lift(values, i, i), last[i], candidates, ends, marks)
        for w in range(marks[DONE], len(lo)):
            sweep(values, last, hi[w], links, events, heads, tails, candidates, ends, marks)
            release(lo[w], candidates, ends, marks, states, filled, w)
        return len(first)

    return answer
