"""Two stacks: a window held as a front of suffix aggregates and one running aggregate of the back.

order   first in, first out
needs   associative
time    at most 3 combines a slide, amortised; n at a flip
space   n partials and the running one; the front takes the place of the rows it was made of
paper   parallel-boundary-aggregator-2021, 3.1
"""

from __future__ import annotations

from typing import Any

from sash.kernels.compiling import Answers, Frames, Marks, States, Values, kernel
from sash.kernels.fifo.forward_folding import slides
from sash.kernels.fifo.state_arrays import FIRST, HEAD, HELD, OWN, TAIL, count, one, per_row

FLIP = OWN  # one after the newest row of the front


@kernel(sizes={"ring": per_row, "back": one, "marks": count(OWN + 1)})
def two_stacks(agg: Any) -> Any:
    lift, combine, load, store, answer, frame = agg.lift, agg.combine, agg.load, agg.store, agg.answer, agg.frame
    absent = agg.absent

    def slide(values: Values, base: int, frames: Frames, ring: States, back: States, marks: Marks, out: Answers) -> int:
        capacity, answers = len(ring), len(out[1])
        head, tail, flip, first = marks[HEAD], marks[TAIL], marks[FLIP], marks[FIRST]
        last = (first + tail - head) % capacity
        running = load(back, 0)
        for i in range(answers):
            lo, hi = frame(frames, base, i)
            if lo >= tail:
                head, tail, flip, first, last = lo, lo, lo, 0, 0
            elif lo > head:
                first += lo - head
                if first >= capacity:
                    first -= capacity
                head = lo
                if head > flip:
                    slot = last - 1 if last > 0 else capacity - 1
                    suffix = load(ring, slot)
                    for _ in range(tail - head - 1):
                        slot = slot - 1 if slot > 0 else capacity - 1
                        suffix = combine(load(ring, slot), suffix)
                        store(ring, slot, suffix)
                    flip = tail
            for position in range(tail, hi):
                partial = lift(values, position - base, position)
                store(ring, last, partial)
                last = last + 1 if last + 1 < capacity else 0
                running = combine(running, partial) if position > flip else partial
            tail = max(tail, hi)
            if lo >= hi:
                absent(out, i)
            elif head >= flip:
                answer(out, i, running)
            elif tail == flip:
                answer(out, i, load(ring, first))
            else:
                answer(out, i, combine(load(ring, first), running))
        store(back, 0, running)
        marks[HEAD], marks[TAIL], marks[FIRST], marks[HELD], marks[FLIP] = head, tail, first, tail - head, flip
        return 0

    return slide


ALGORITHM = slides(two_stacks, "two stacks of partials", cost=lambda task: 13.0, offered=True)
