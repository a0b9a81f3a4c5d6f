"""Subtract on evict: one running aggregate, from which the oldest rows are taken away again.

order   first in, first out
needs   associative, invertible; exact, unless asked for by name (floating-point sums drift)
time    2 operations a slide
space   n partials and the running one
paper   parallel-boundary-aggregator-2021, 1
"""

from __future__ import annotations

from typing import Any

from sash.kernels.compiling import Answers, Frames, Marks, States, Values, kernel
from sash.kernels.fifo.forward_folding import slides
from sash.kernels.fifo.state_arrays import FIRST, HEAD, HELD, OWN, TAIL, count, one, per_row
from sash.kernels.needs import invertible


@kernel(sizes={"ring": per_row, "whole": one, "marks": count(OWN)})
def subtract_on_evict(agg: Any) -> Any:
    lift, combine, inverse, answer, frame = agg.lift, agg.combine, agg.inverse, agg.answer, agg.frame
    absent = agg.absent
    load, store = agg.load, agg.store

    def slide(
        values: Values, base: int, frames: Frames, ring: States, whole: States, marks: Marks, out: Answers
    ) -> int:
        capacity, answers = len(ring), len(out[1])
        head, tail, first = marks[HEAD], marks[TAIL], marks[FIRST]
        last = (first + tail - head) % capacity
        running = load(whole, 0)
        for i in range(answers):
            lo, hi = frame(frames, base, i)
            if lo >= tail:
                head, tail, first, last = lo, lo, 0, 0
            while head < lo:
                running = inverse(running, load(ring, first))
                first = first + 1 if first + 1 < capacity else 0
                head += 1
            for position in range(tail, hi):
                partial = lift(values, position - base, position)
                store(ring, last, partial)
                last = last + 1 if last + 1 < capacity else 0
                running = combine(running, partial) if position > head else partial
            tail = max(tail, hi)
            if lo < hi:
                answer(out, i, running)
            else:
                absent(out, i)
        store(whole, 0, running)
        marks[HEAD], marks[TAIL], marks[FIRST], marks[HELD] = head, tail, first, tail - head
        return 0

    return slide


ALGORITHM = slides(subtract_on_evict, "rows taken away by the inverse", cost=lambda task: 6.0, needs=(invertible,))
