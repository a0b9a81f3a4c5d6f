"""Recalculation: fold the whole window for every answer.

order   first in, first out; starts may go back and forth
needs   associative
time    n - 1 combines an answer
space   n partials
paper   flatfit-2017, 4.1 (Naive); parallel-boundary-aggregator-2021, 5.1 (Recal)
"""

from __future__ import annotations

from typing import Any

from sash.kernels.compiling import Answers, Frames, Marks, States, Values, kernel
from sash.kernels.fifo.forward_folding import slides
from sash.kernels.fifo.state_arrays import FIRST, HEAD, HELD, OWN, TAIL, count, per_row


@kernel(sizes={"ring": per_row, "marks": count(OWN)}, ranges=True)
def recalc(agg: Any) -> Any:
    lift, combine, load, store, answer, frame = agg.lift, agg.combine, agg.load, agg.store, agg.answer, agg.frame
    absent = agg.absent

    def slide(
        values: Values, base: int, frames: Frames, starts: Marks, ring: States, marks: Marks, out: Answers
    ) -> int:
        capacity, answers = len(ring), len(out[1])
        head, tail, first = marks[HEAD], marks[TAIL], marks[FIRST]
        last = (first + tail - head) % capacity
        for i in range(answers):
            lo, hi = frame(frames, base, i)
            start = starts[i] if i < len(starts) else lo
            if lo >= tail:
                head, tail, first, last = lo, lo, 0, 0
            elif lo > head:
                first += lo - head
                if first >= capacity:
                    first -= capacity
                head = lo
            for position in range(tail, hi):
                store(ring, last, lift(values, position - base, position))
                last = last + 1 if last + 1 < capacity else 0
            tail = max(tail, hi)
            if start >= hi:
                absent(out, i)
                continue
            slot = first + start - head
            if slot >= capacity:
                slot -= capacity
            whole = load(ring, slot)
            for _ in range(hi - start - 1):
                slot = slot + 1 if slot + 1 < capacity else 0
                whole = combine(whole, load(ring, slot))
            answer(out, i, whole)
        marks[HEAD], marks[TAIL], marks[FIRST], marks[HELD] = head, tail, first, tail - head
        return 0

    return slide


ALGORITHM = slides(
    recalc, "each frame folded anew", cost=lambda task: 1.0 + task.widest, combines=lambda rows: (0, max(rows - 1, 0))
)
