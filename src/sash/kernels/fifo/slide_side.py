"""SlideSide: two stacks that keep the rows beside the suffix aggregates, for windows of many sizes.

Since the rows stay, the suffixes can be made anew at any time: once the start of any window has passed
the last row they reach.

order   first in, first out; starts may go back and forth
needs   associative
time    3 combines a slide, amortised; n at a flip
space   2n partials and the running one
paper   parallel-boundary-aggregator-2021, 3.1
"""

from __future__ import annotations

from typing import Any

from sash.kernels.compiling import Answers, Frames, Marks, States, Values, kernel
from sash.kernels.fifo.forward_folding import slides
from sash.kernels.fifo.state_arrays import FIRST, HEAD, HELD, OWN, TAIL, count, one, per_row

FLIP = OWN  # one after the newest row that the suffixes reach


@kernel(sizes={"ring": per_row, "suffixes": per_row, "back": one, "marks": count(OWN + 1)}, ranges=True)
def slide_side(agg: Any) -> Any:
    lift, combine, load, store, answer, frame = agg.lift, agg.combine, agg.load, agg.store, agg.answer, agg.frame
    absent = agg.absent

    def slide(
        values: Values,
        base: int,
        frames: Frames,
        starts: Marks,
        ring: States,
        suffixes: States,
        back: States,
        marks: Marks,
        out: Answers,
    ) -> int:
        capacity, answers = len(ring), len(out[1])
        head, tail, first, flip = marks[HEAD], marks[TAIL], marks[FIRST], marks[FLIP]
        last = (first + tail - head) % capacity
        running = load(back, 0)
        for i in range(answers):
            lo, hi = frame(frames, base, i)
            start = starts[i] if i < len(starts) else lo
            if lo >= tail:
                head, tail, first, last, flip = lo, lo, 0, 0, lo
            elif lo > head:
                first += lo - head
                if first >= capacity:
                    first -= capacity
                head = lo
            if head > flip or (flip < start < tail):
                slot = last - 1 if last > 0 else capacity - 1
                suffix = load(ring, slot)
                store(suffixes, slot, suffix)
                for _ in range(tail - head - 1):
                    slot = slot - 1 if slot > 0 else capacity - 1
                    suffix = combine(load(ring, slot), suffix)
                    store(suffixes, slot, suffix)
                flip = tail
            for position in range(tail, hi):
                partial = lift(values, position - base, position)
                store(ring, last, partial)
                last = last + 1 if last + 1 < capacity else 0
                running = combine(running, partial) if position > flip else partial
            tail = max(tail, hi)
            if start >= hi:
                absent(out, i)
            elif start == flip:
                answer(out, i, running)
            elif start > flip:  # a window shorter than the rows just inserted
                slot = first + start - head
                if slot >= capacity:
                    slot -= capacity
                whole = load(ring, slot)
                for _ in range(hi - start - 1):
                    slot = slot + 1 if slot + 1 < capacity else 0
                    whole = combine(whole, load(ring, slot))
                answer(out, i, whole)
            else:
                slot = first + start - head
                if slot >= capacity:
                    slot -= capacity
                suffix = load(suffixes, slot)
                answer(out, i, suffix if tail == flip else combine(suffix, running))
        store(back, 0, running)
        marks[HEAD], marks[TAIL], marks[FIRST], marks[HELD], marks[FLIP] = head, tail, first, tail - head, flip
        return 0

    return slide


ALGORITHM = slides(slide_side, "two stacks for several ranges", cost=lambda task: 10.0)
