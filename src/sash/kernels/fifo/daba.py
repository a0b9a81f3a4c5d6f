"""DABA (the lite form): two stacks whose flip is done a little at every step.

The ring holds, from the oldest row on: aggregates up to the back; aggregates up to the middle; rows of
the middle not folded yet; aggregates up to the back; and the rows of the back. Every insertion and
eviction moves one border by one row, so that no answer waits for a flip.

order   first in, first out
needs   associative
time    at most 8 combines a slide, also in the worst case (here 6)
space   n + 2 partials
paper   parallel-boundary-aggregator-2021, 3.1
"""

from __future__ import annotations

from typing import Any

from sash.kernels.compiling import Answers, Frames, Marks, States, Values, kernel
from sash.kernels.fifo.forward_folding import slides
from sash.kernels.fifo.state_arrays import FIRST, HEAD, HELD, OWN, TAIL, count, per_row

LEFT, RIGHT, ACCUMULATED, BACK = OWN, OWN + 1, OWN + 2, OWN + 3  # where each part of the ring ends
MIDDLE_SUM, BACK_SUM = 0, 1


@kernel(sizes={"ring": per_row, "sums": count(2), "marks": count(OWN + 4)})
def daba(agg: Any) -> Any:
    lift, combine, load, store, answer, frame = agg.lift, agg.combine, agg.load, agg.store, agg.answer, agg.frame
    absent = agg.absent

    def slide(values: Values, base: int, frames: Frames, ring: States, sums: States, marks: Marks, out: Answers) -> int:
        capacity, answers = len(ring), len(out[1])
        head, tail, first = marks[HEAD], marks[TAIL], marks[FIRST]
        last = (first + tail - head) % capacity
        left, right, accumulated, back = marks[LEFT], marks[RIGHT], marks[ACCUMULATED], marks[BACK]
        middle_sum, back_sum = load(sums, MIDDLE_SUM), load(sums, BACK_SUM)
        for i in range(answers):
            lo, hi = frame(frames, base, i)
            if lo >= tail:
                head, tail, first, last, left, right, accumulated, back = lo, lo, 0, 0, lo, lo, lo, lo
            while head < lo or tail < hi:
                if head < lo:
                    head += 1
                    first = first + 1 if first + 1 < capacity else 0
                else:
                    partial = lift(values, tail - base, tail)
                    store(ring, last, partial)
                    last = last + 1 if last + 1 < capacity else 0
                    back_sum = combine(back_sum, partial) if tail > back else partial
                    tail += 1
                if head == back:  # one row at most: it is its own aggregate
                    left, right, accumulated, back = tail, tail, tail, tail
                    continue
                if left == back:  # every row of the front is folded up to the back: flip
                    left, right, accumulated, back = head, back, tail, tail
                    middle_sum = back_sum
                if left == right:
                    left, right, accumulated = left + 1, right + 1, accumulated + 1
                else:
                    slot = first + left - head
                    if slot >= capacity:
                        slot -= capacity
                    store(ring, slot, combine(load(ring, slot), middle_sum))
                    left += 1
                    accumulated -= 1
                    if accumulated + 1 < back:
                        slot = first + accumulated - head
                        if slot >= capacity:
                            slot -= capacity
                        below = slot + 1 if slot + 1 < capacity else 0
                        store(ring, slot, combine(load(ring, slot), load(ring, below)))
            if lo >= hi:
                absent(out, i)
            elif tail == back:
                answer(out, i, load(ring, first))
            else:
                answer(out, i, combine(load(ring, first), back_sum))
        store(sums, MIDDLE_SUM, middle_sum)
        store(sums, BACK_SUM, back_sum)
        marks[HEAD], marks[TAIL], marks[FIRST], marks[HELD] = head, tail, first, tail - head
        marks[LEFT], marks[RIGHT], marks[ACCUMULATED], marks[BACK] = left, right, accumulated, back
        return 0

    return slide


ALGORITHM = slides(daba, "two stacks, with no row that waits", cost=lambda task: 20.0)
