"""Aggregate buckets: every open window has a partial, into which each event that overlaps it is folded.

order   any
needs   associative, commutative
time    one combine for each event and window
space   a partial for each open window
paper   spanning-event-slicing-2021, 5.3.3; Traub and others 2019, General Stream Slicing
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sash.kernels.compiling import Flags, Marks, Specialised, States, Values, kernel
from sash.kernels.inputs import Inputs
from sash.kernels.spans.driving import Work, answers_windows
from sash.kernels.spans.rings import CLOCK, Workload, adding, opened, places


@kernel
def aggregate_buckets(agg: Any) -> Any:
    """Answer windows, none of which is wider than ``widest``."""
    lift, load, store, add = agg.lift, agg.load, agg.store, adding(agg)

    @agg.function
    def release(buckets, buckets_filled, states, filled, w):  # type: ignore[no-untyped-def]
        place = w % len(buckets_filled)
        if buckets_filled[place] != 0:
            store(states, w, load(buckets, place))
        filled[w], buckets_filled[place] = buckets_filled[place], 0

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
        buckets: States,
        buckets_filled: Flags,
        marks: Marks,
    ) -> int:
        clock, done = marks[CLOCK], 0
        for i in range(len(first)):
            clock = max(clock, last[i])
            while done < len(lo) and hi[done] + postpone <= clock:
                release(buckets, buckets_filled, states, filled, done)
                done += 1
            partial, w = lift(values, i, i), opened(hi, done, first[i])
            while w < len(lo) and hi[w] <= last[i] + widest:
                if lo[w] <= last[i]:
                    add(buckets, buckets_filled, w % len(buckets_filled), partial)
                w += 1
        for w in range(done, len(lo)):
            release(buckets, buckets_filled, states, filled, w)
        marks[CLOCK] = clock
        return 0

    return answer


def _work(specialised: Specialised, workload: Workload, inputs: Inputs) -> Work:
    return Work((workload.widest,), (*places(specialised, workload.windows), np.full(1, -1)))


ANSWERING = answers_windows(
    lambda aggregate: aggregate_buckets, _work, name="aggregate_buckets", words="a partial for each open window"
)
answers = ANSWERING.run
