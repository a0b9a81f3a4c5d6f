"""SlickDeque: a deque of the rows that may still be an answer; a newer, better row drops older ones.

order   first in, first out
needs   associative, selective
time    under 2 combines a slide, amortised; n in the worst case
space   n partials and their positions, at most
paper   parallel-boundary-aggregator-2021, 3.1
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sash.kernels.compiling import Answers, Frames, Marks, States, Values, kernel
from sash.kernels.fifo.forward_folding import slides
from sash.kernels.fifo.state_arrays import FIRST, HEAD, HELD, OWN, TAIL, count, in_ring, per_row
from sash.kernels.needs import selective


def places_sound(arrays: Any, constant: bool) -> bool:
    """Whether the deque has rows that are held, in order."""
    places, (head, tail) = in_ring(arrays["places"], arrays["marks"]), arrays["marks"][[HEAD, TAIL]]
    return bool((np.diff(places, prepend=head - 1, append=tail) > 0).all())


@kernel(sizes={"ring": per_row, "places": per_row, "marks": count(OWN)}, sound=places_sound)
def slick_deque(agg: Any) -> Any:
    lift, combine, same, answer, frame = agg.lift, agg.combine, agg.same, agg.answer, agg.frame
    absent = agg.absent
    load, store = agg.load, agg.store

    def slide(
        values: Values, base: int, frames: Frames, ring: States, places: Marks, marks: Marks, out: Answers
    ) -> int:
        capacity, answers = len(ring), len(out[1])
        head, tail, first, held = marks[HEAD], marks[TAIL], marks[FIRST], marks[HELD]
        last = (first + held) % capacity  # where the next candidate goes
        for i in range(answers):
            lo, hi = frame(frames, base, i)
            if lo >= tail:
                head, tail, first, held, last = lo, lo, 0, 0, 0
            head = max(head, lo)
            while held > 0 and places[first] < head:
                first = first + 1 if first + 1 < capacity else 0
                held -= 1
            for position in range(tail, hi):
                partial = lift(values, position - base, position)
                while held > 0:
                    newest = last - 1 if last > 0 else capacity - 1
                    if not same(combine(load(ring, newest), partial), partial):
                        break
                    last = newest
                    held -= 1
                store(ring, last, partial)
                places[last] = position
                last = last + 1 if last + 1 < capacity else 0
                held += 1
            tail = max(tail, hi)
            if lo < hi:
                answer(out, i, load(ring, first))
            else:
                absent(out, i)
        marks[HEAD], marks[TAIL], marks[FIRST], marks[HELD] = head, tail, first, held
        return 0

    return slide


ALGORITHM = slides(slick_deque, "a deque of candidates", cost=lambda task: 15.0, needs=(selective,))
