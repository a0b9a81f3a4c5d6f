"""B-Int: base intervals. Level l holds the aggregates of aligned runs of 2^l rows, in a ring each.

An insertion completes only the intervals that end with it; a look-up covers its range with the fewest
intervals.

order   first in, first out; starts may go back and forth
needs   associative
time    1 combine an insertion, amortised; 2 log2 n a look-up
space   2^(ceil(log2 n) + 1) partials
paper   flatfit-2017, 2.2
"""

from __future__ import annotations

from math import ceil, log2
from typing import Any

from sash.kernels.compiling import Answers, Frames, Marks, States, Values, kernel
from sash.kernels.fifo.forward_folding import slides
from sash.kernels.fifo.state_arrays import HEAD, OWN, TAIL, count, twice_a_power_of_two


@kernel
def b_int_grow(agg: Any) -> Any:
    """Move the rows held to a larger structure."""
    combine, load, store = agg.combine, agg.load, agg.store

    def move(old: States, nodes: States, marks: Marks) -> int:
        before, capacity = len(old) // 2, len(nodes) // 2
        for position in range(marks[HEAD], marks[TAIL]):
            store(nodes, position & (capacity - 1), load(old, position & (before - 1)))
        level = 1
        while (1 << level) <= capacity:
            entries, below = capacity >> level, 2 * (capacity - (capacity >> (level - 1)))
            start = (marks[HEAD] + (1 << level) - 1) >> level
            for run in range(start, marks[TAIL] >> level):
                left = below + ((2 * run) & (2 * entries - 1))
                store(
                    nodes,
                    2 * (capacity - entries) + (run & (entries - 1)),
                    combine(load(nodes, left), load(nodes, left + 1)),
                )
            level += 1
        return 0

    return move


@kernel(sizes={"nodes": twice_a_power_of_two, "marks": count(OWN)}, ranges=True, grow=b_int_grow)
def b_int(agg: Any) -> Any:
    lift, combine, load, store, answer, frame = agg.lift, agg.combine, agg.load, agg.store, agg.answer, agg.frame
    absent = agg.absent

    @agg.function
    def place(capacity, level, position):  # type: ignore[no-untyped-def]
        """The node of the interval of this level that starts at a position."""
        entries = capacity >> level
        return 2 * (capacity - entries) + ((position >> level) & (entries - 1))

    def slide(
        values: Values, base: int, frames: Frames, starts: Marks, nodes: States, marks: Marks, out: Answers
    ) -> int:
        capacity, answers = len(nodes) // 2, len(out[1])
        head, tail = marks[HEAD], marks[TAIL]
        for i in range(answers):
            lo, hi = frame(frames, base, i)
            start = starts[i] if i < len(starts) else lo
            head = max(head, lo)
            tail = max(tail, head)
            for position in range(tail, hi):
                whole = lift(values, position - base, position)
                store(nodes, place(capacity, 0, position), whole)
                level, end = 1, position + 1
                while end & ((1 << level) - 1) == 0 and end - (1 << level) >= head and (1 << level) <= capacity:
                    whole = combine(load(nodes, place(capacity, level - 1, end - (1 << level))), whole)
                    store(nodes, place(capacity, level, end - (1 << level)), whole)
                    level += 1
            tail = max(tail, hi)
            if start >= hi:
                absent(out, i)
                continue
            position, level, some = start, 0, False
            whole = load(nodes, place(capacity, 0, start))
            while position < hi:
                while position & ((2 << level) - 1) == 0 and position + (2 << level) <= hi:
                    level += 1
                while position + (1 << level) > hi:
                    level -= 1
                part = load(nodes, place(capacity, level, position))
                whole = combine(whole, part) if some else part
                some = True
                position += 1 << level
            answer(out, i, whole)
        marks[HEAD], marks[TAIL] = head, tail
        return 0

    return slide


ALGORITHM = slides(
    b_int,
    "partials of intervals of powers of two",
    cost=lambda task: 10.0 + 10.0 * task.levels,
    combines=lambda rows: (ceil(log2(max(rows, 2))),) * 2,
)
