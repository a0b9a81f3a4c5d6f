"""FlatFAT: a complete binary tree in one array, its leaves a circular buffer of the rows.

An insertion rewrites the path from its leaf to the root; rows that come at once share what their paths
have in common. Rows that have left stay where they are: a node is used only where all its leaves are in
the window, and by then all of them have been rewritten.
Where the buffer has wrapped around, the answer is the suffix from the oldest row and then the prefix
up to the newest; but the root, where the window fills the tree and the order of rows does not matter.

order   first in, first out; starts may go back and forth; windows with holes: see flatfat_window
needs   associative
time    m(1 + ceil(log2 n/m)) combines for m rows; 2 log2 n a look-up, none of a full tree, unwrapped or commutative
space   2^(ceil(log2 n) + 1) partials
paper   reactive-aggregator-2015, 4 and 5
"""

from __future__ import annotations

from math import ceil, log2
from typing import Any

from sash.kernels.compiling import Answers, Frames, Marks, States, Values, kernel
from sash.kernels.fifo.forward_folding import slides
from sash.kernels.fifo.state_arrays import HEAD, OWN, TAIL, count, twice_a_power_of_two


def climbing(agg: Any) -> Any:
    """``climb(nodes, head, begin, end)``: combine anew all that is above the newest rows, each node once."""
    combine, load, store = agg.combine, agg.load, agg.store

    @agg.function
    def climb(nodes, head, begin, end):  # type: ignore[no-untyped-def]
        """Go up from the rows [begin, end) level by level."""
        capacity = len(nodes) // 2
        level, width = capacity, 1  # the first node of a level, and how many leaves each of its nodes covers
        first, last = begin, end - 1  # runs of so many rows, numbered on where the buffer wraps around
        while level > 1:
            level, width, first, last = level >> 1, 2 * width, first >> 1, last >> 1
            for run in range(max(first, last - level + 1), last + 1):
                node = level + (run & (level - 1))
                right = (run + 1) * width - 1  # the rows in the last leaves below, of a lap ago if not there yet
                left = right - width // 2
                some_left = (left if left < end else left - capacity) >= head
                some_right = (right if right < end else right - capacity) >= head
                if some_left and some_right:
                    store(nodes, node, combine(load(nodes, 2 * node), load(nodes, 2 * node + 1)))
                elif some_left or some_right:
                    store(nodes, node, load(nodes, 2 * node if some_left else 2 * node + 1))
        return 0

    return climb


@kernel
def flatfat_grow(agg: Any) -> Any:
    """Move the rows held to a larger tree."""
    load, store, climb = agg.load, agg.store, climbing(agg)

    def move(old: States, nodes: States, marks: Marks) -> int:
        before, capacity = len(old) // 2, len(nodes) // 2
        for position in range(marks[HEAD], marks[TAIL]):
            store(nodes, capacity + (position & (capacity - 1)), load(old, before + (position & (before - 1))))
        climb(nodes, marks[HEAD], marks[HEAD], marks[TAIL])
        return 0

    return move


@kernel(sizes={"nodes": twice_a_power_of_two, "marks": count(OWN)}, ranges=True, grow=flatfat_grow)
def flatfat(agg: Any) -> Any:
    lift, combine, load, store, answer, frame = agg.lift, agg.combine, agg.load, agg.store, agg.answer, agg.frame
    absent, commutative, climb = agg.absent, agg.commutative, climbing(agg)

    @agg.function
    def rise(nodes, head, row):  # type: ignore[no-untyped-def]
        """Combine anew the path from the newest row to the root."""
        capacity = len(nodes) // 2
        leaf = row & (capacity - 1)
        node, width = leaf + capacity, 1
        whole = load(nodes, node)
        while node > 1:
            # The newest row under the sibling; it wraps around where that is on the right.
            newest = row - (leaf & (width - 1)) - 1
            if node & 1 == 0:
                newest += 2 * width - capacity
            if newest >= head:
                sibling = load(nodes, node ^ 1)
                # On which side it is no processor can foretell: where that does not matter, it is not asked.
                whole = combine(sibling, whole) if commutative or node & 1 else combine(whole, sibling)
            node, width = node >> 1, width << 1
            store(nodes, node, whole)
        return 0

    @agg.function
    def between(nodes, left, right):  # type: ignore[no-untyped-def]
        """The aggregate of the leaves [left, right), which are numbers of nodes."""
        some_before, some_after = False, False
        before = after = load(nodes, left)
        while left < right:
            if left & 1:
                before = combine(before, load(nodes, left)) if some_before else load(nodes, left)
                some_before = True
                left += 1
            if right & 1:
                right -= 1
                after = combine(load(nodes, right), after) if some_after else load(nodes, right)
                some_after = True
            left >>= 1
            right >>= 1
        if some_before and some_after:
            return combine(before, after)
        return before if some_before else after

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
                store(nodes, capacity + (position & (capacity - 1)), lift(values, position - base, position))
            if hi - tail == 1:
                rise(nodes, head, tail)
            elif hi - tail > 1:
                climb(nodes, head, tail, hi)
            tail = max(tail, hi)
            if start >= hi:
                absent(out, i)
                continue
            left, right = start & (capacity - 1), (hi - 1) & (capacity - 1)
            if commutative and hi - start == capacity:
                answer(out, i, load(nodes, 1))
            elif left <= right:
                answer(out, i, between(nodes, left + capacity, right + capacity + 1))
            else:
                suffix = between(nodes, left + capacity, 2 * capacity)
                answer(out, i, combine(suffix, between(nodes, capacity, right + capacity + 1)))
        marks[HEAD], marks[TAIL] = head, tail
        return 0

    return slide


ALGORITHM = slides(
    flatfat,
    "a tree of partials in a ring",
    cost=lambda task: 10.0 + 10.0 * task.levels,
    combines=lambda rows: (ceil(log2(max(rows, 2))),) * 2,
)
