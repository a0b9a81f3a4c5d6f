"""FlatFAT: a complete binary tree in one array, its leaves a circular buffer of the rows.

An insertion rewrites the path from its leaf to the root. Rows that have left stay where they are: a
node is used only where all its leaves are in the window, and by then all of them have been rewritten.
Where the buffer has wrapped around, the answer is the suffix from the oldest row and then the prefix
up to the newest; but the root, where the window fills the tree and the order of rows does not matter.

order   first in, first out; starts may go back and forth; windows with holes: see flatfat_window
needs   associative
time    log2 n combines an insertion; 2 log2 n a look-up, none where it fills the tree, unwrapped or commutative
space   2^(ceil(log2 n) + 1) partials
paper   reactive-aggregator-2015, 4 and 5
"""

from __future__ import annotations

from typing import Any

from sash.kernels.compiling import Answers, Frames, Marks, States, Values, kernel
from sash.kernels.fifo.layout import HEAD, OWN, TAIL, count, twice_a_power_of_two


@kernel
def flatfat_grow(agg: Any) -> Any:
    """Move the rows held to a larger tree."""
    combine, load, store = agg.combine, agg.load, agg.store

    def move(old: States, nodes: States, marks: Marks) -> int:
        before, capacity = len(old) // 2, len(nodes) // 2
        for position in range(marks[HEAD], marks[TAIL]):
            store(nodes, capacity + (position & (capacity - 1)), load(old, before + (position & (before - 1))))
        head, newest = marks[HEAD], marks[TAIL] - 1
        level, width = capacity, 1  # the first node of a level, and how many leaves each of its nodes covers
        while level > 1:
            for node in range(level, 2 * level, 2):
                left = (node - level + 1) * width - 1  # the last leaf under the node, and under its sibling
                right = left + width
                some_left = newest - ((newest - left) & (capacity - 1)) >= head
                some_right = newest - ((newest - right) & (capacity - 1)) >= head
                if some_left and some_right:
                    store(nodes, node >> 1, combine(load(nodes, node), load(nodes, node + 1)))
                elif some_left or some_right:
                    store(nodes, node >> 1, load(nodes, node if some_left else node + 1))
            level, width = level >> 1, width << 1
        return 0

    return move


@kernel(sizes={"nodes": twice_a_power_of_two, "marks": count(OWN)}, ranges=True, grow=flatfat_grow)
def flatfat(agg: Any) -> Any:
    lift, combine, load, store, answer, frame = agg.lift, agg.combine, agg.load, agg.store, agg.answer, agg.frame
    absent, commutative = agg.absent, agg.commutative

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
                leaf = position & (capacity - 1)
                whole = lift(values, position - base, position)
                node, width = leaf + capacity, 1
                store(nodes, node, whole)
                while node > 1:
                    # The newest row under the sibling; it wraps around where that is on the right.
                    newest = position - (leaf & (width - 1)) - 1
                    if node & 1 == 0:
                        newest += 2 * width - capacity
                    if newest >= head:
                        sibling = load(nodes, node ^ 1)
                        whole = combine(sibling, whole) if node & 1 else combine(whole, sibling)
                    node, width = node >> 1, width << 1
                    store(nodes, node, whole)
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
