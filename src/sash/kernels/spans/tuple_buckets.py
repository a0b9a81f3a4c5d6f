"""Tuple buckets: every open window has a list of the events that overlap it, which is folded at its release.

order   any
needs   associative, commutative
time    one link for each event and window; one combine for each at the release
space   16 bytes for each event of each open window
paper   spanning-event-slicing-2021, 5.3.3; Traub and others 2019, General Stream Slicing
"""

from __future__ import annotations

from typing import Any

from sash.kernels.compiling import Flags, Marks, Specialised, States, Values, kernel
from sash.kernels.inputs import Inputs
from sash.kernels.spans.driving import Work, answers_windows
from sash.kernels.spans.event_lists import LEFT, LINKS, append, let_go, pool
from sash.kernels.spans.rings import CLOCK, Workload, adding, opened

DONE = 4  # of the marks, after those of the lists: how many windows are released


@kernel
def tuple_buckets(agg: Any) -> Any:
    """Answer windows, none wider than ``widest``; return the first event, from ``start`` on, that finds no links."""
    lift, add = agg.lift, adding(agg)

    @agg.function
    def release(values, links, events, heads, tails, marks, states, filled, w):  # type: ignore[no-untyped-def]
        place, length = w % len(heads), 0
        link = heads[place]
        while link >= 0:
            add(states, filled, w, lift(values, events[link], events[link]))
            link = links[link]
            length += 1
        let_go(links, marks, heads, tails, place, length)

    def answer(
        values: Values,
        first: Marks,
        last: Marks,
        lo: Marks,
        hi: Marks,
        postpone: int,
        widest: int,
        states: States,
        filled: Flags,
        start: int,
        links: Marks,
        events: Marks,
        heads: Marks,
        tails: Marks,
        marks: Marks,
    ) -> int:
        for i in range(start, len(first)):
            marks[CLOCK] = max(marks[CLOCK], last[i])
            while marks[DONE] < len(lo) and hi[marks[DONE]] + postpone <= marks[CLOCK]:
                release(values, links, events, heads, tails, marks, states, filled, marks[DONE])
                marks[DONE] += 1
            w = opened(hi, marks[DONE], first[i])
            if marks[LEFT] < opened(hi, w, last[i] + widest) - w:
                return i
            while w < len(lo) and hi[w] <= last[i] + widest:
                if lo[w] <= last[i]:
                    append(links, events, marks, heads, tails, w % len(heads), i)
                w += 1
        for w in range(marks[DONE], len(lo)):
            release(values, links, events, heads, tails, marks, states, filled, w)
        return len(first)

    return answer


def _work(specialised: Specialised, workload: Workload, inputs: Inputs) -> Work:
    links, lists, marks = pool(LINKS, workload.windows, DONE + 1)
    return Work((workload.widest,), tuple(lists), links, marks, workload.windows)


ANSWERING = answers_windows(
    lambda aggregate: tuple_buckets, _work, name="tuple_buckets", words="a list of spans for each open window"
)
answers = ANSWERING.run
