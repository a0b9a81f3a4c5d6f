"""FlatFIT: every row keeps an aggregate and the row it reaches up to; a look-up shortens the chain it walks.

A look-up follows the chain from the start of the window to its end, then, from the newest row back,
lets every row on the way but the first reach the end. Where one window slides alone, the chain is of
single rows once a cycle; that walk is done without the stack (the manual wReset, seeded with the
newest partial).

order   first in, first out; starts may go back and forth (several ranges: the longest first)
needs   associative
time    3 combines a slide, amortised, n - 1 in the worst case; n - 1 for all n ranges
space   n partials, n links, and a stack of at most n (2 for one range)
paper   flatfit-2017, 3.2 and 3.3
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sash.kernels.compiling import Answers, Frames, Marks, States, Values, kernel
from sash.kernels.fifo.forward_folding import slides
from sash.kernels.fifo.state_arrays import FIRST, HEAD, HELD, OWN, TAIL, count, in_ring, per_row

PLAIN = OWN  # from this row on, every link reaches just the next row


def links_sound(arrays: Any, constant: bool) -> bool:
    """Whether every row that is held reaches up to a later one."""
    links, (head, tail) = in_ring(arrays["links"], arrays["marks"]), arrays["marks"][[HEAD, TAIL]]
    return len(links) == tail - head and bool(((links > head + np.arange(len(links))) & (links <= tail)).all())


@kernel(
    sizes={"ring": per_row, "links": per_row, "path": per_row, "marks": count(OWN + 1)}, ranges=True, sound=links_sound
)
def flatfit(agg: Any) -> Any:
    lift, combine, load, store, answer, frame = agg.lift, agg.combine, agg.load, agg.store, agg.answer, agg.frame
    absent = agg.absent

    def slide(
        values: Values,
        base: int,
        frames: Frames,
        starts: Marks,
        ring: States,
        links: Marks,
        path: Marks,
        marks: Marks,
        out: Answers,
    ) -> int:
        capacity, answers = len(ring), len(out[1])
        head, tail, first, plain = marks[HEAD], marks[TAIL], marks[FIRST], marks[PLAIN]
        for i in range(answers):
            lo, hi = frame(frames, base, i)
            start = starts[i] if i < len(starts) else lo
            if lo >= tail:
                head, tail, first, plain = lo, lo, 0, lo
            elif lo > head:
                first += lo - head
                if first >= capacity:
                    first -= capacity
                head = lo
            for position in range(tail, hi):
                slot = first + position - head
                if slot >= capacity:
                    slot -= capacity
                store(ring, slot, lift(values, position - base, position))
                links[slot] = position + 1
            tail = max(tail, hi)
            if start >= hi:
                absent(out, i)
                continue
            slot = first + start - head
            if slot >= capacity:
                slot -= capacity
            whole = load(ring, slot)
            if len(starts) == 0 and start >= plain and start + 1 < tail:
                end = first + tail - 1 - head
                if end >= capacity:
                    end -= capacity
                whole = load(ring, end)
                for _ in range(tail - 2 - start):
                    end = end - 1 if end > 0 else capacity - 1
                    whole = combine(load(ring, end), whole)
                    store(ring, end, whole)
                    links[end] = tail
                answer(out, i, combine(load(ring, slot), whole))
                plain = tail - 1
                continue
            depth, position, before = 0, links[slot], start
            while position < tail:
                here = first + position - head
                if here >= capacity:
                    here -= capacity
                if depth > 0:  # the row before is about to reach further
                    plain = max(plain, before + 1)
                before = position
                path[depth] = here
                depth += 1
                position = links[here]
            if depth == 0:
                answer(out, i, whole)
                continue
            depth -= 1
            rest = load(ring, path[depth])
            while depth > 0:
                depth -= 1
                rest = combine(load(ring, path[depth]), rest)
                store(ring, path[depth], rest)
                links[path[depth]] = tail
            answer(out, i, combine(whole, rest))
        marks[HEAD], marks[TAIL], marks[FIRST], marks[HELD], marks[PLAIN] = head, tail, first, tail - head, plain
        return 0

    return slide


ALGORITHM = slides(flatfit, "partials that remember where they end", cost=lambda task: 15.0)
