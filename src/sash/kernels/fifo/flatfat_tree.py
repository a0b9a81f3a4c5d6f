"""FlatFAT with holes: the four walks over the tree that a window which is not FIFO is made of.

Node 1 is the root, node k has the children 2k and 2k + 1, and the leaves are the last half of the array.
A flag a node says whether anything lives below it: ⊥ is a flag that is down, and is never combined. A
bulk change climbs level by level, so that each parent is combined once, after all of its children.

order   any: rows leave, change and are merged into anywhere
needs   associative
time    m(1 + ceil(log2 n/m)) combines for m changed leaves; 2 log2 n a look-up; n - 1 to build
space   2^(ceil(log2 n) + 1) partials and as many flags
paper   reactive-aggregator-2015, 4.2 and 5.1
"""

from __future__ import annotations

from typing import Any

from sash.kernels.compiling import Answers, Flags, Marks, States, Values, kernel


def climbing(agg: Any) -> Any:
    """``climb(work, nodes, live)``: combine anew all that is above the leaves of a sorted work list."""
    combine, load, store = agg.combine, agg.load, agg.store

    @agg.function
    def climb(work, nodes, live):  # type: ignore[no-untyped-def]
        """Turn the work list, which is used up, into that of the next level until it is the root."""
        waiting = len(work)
        while waiting > 0 and work[0] > 1:
            parents = 0
            for k in range(waiting):
                parent = work[k] >> 1
                if parents > 0 and work[parents - 1] == parent:
                    continue
                work[parents] = parent
                parents += 1
                left, right = 2 * parent, 2 * parent + 1
                if live[left] and live[right]:
                    store(nodes, parent, combine(load(nodes, left), load(nodes, right)))
                elif live[left] or live[right]:
                    store(nodes, parent, load(nodes, left if live[left] else right))
                live[parent] = live[left] | live[right]
            waiting = parents
        return 0

    return climb


@kernel
def flatfat_write(agg: Any) -> Any:
    lift, combine, load, store = agg.lift, agg.combine, agg.load, agg.store
    climb = climbing(agg)

    def write(values: Values, order: Marks, ids: Marks, work: Marks, merging: int, nodes: States, live: Flags) -> int:
        """Put row ``order[k]`` into the k-th slot of the sorted work list, or merge it into what is there."""
        capacity = len(nodes) // 2
        for k in range(len(work)):
            row, leaf = order[k], capacity + work[k]
            partial = lift(values, row, ids[row])
            if merging:
                partial = combine(load(nodes, leaf), partial)
            store(nodes, leaf, partial)
            live[leaf] = 1
            work[k] = leaf
        climb(work, nodes, live)
        return 0

    return write


@kernel
def flatfat_evict(agg: Any) -> Any:
    climb = climbing(agg)

    def evict(work: Marks, front: int, held: int, nodes: States, live: Flags) -> int:
        """Empty the slots of the sorted work list; returns how many slots are held without leading holes."""
        capacity = len(nodes) // 2
        for k in range(len(work)):
            work[k] += capacity
            live[work[k]] = 0
        climb(work, nodes, live)
        while held > 0 and not live[capacity + (front & (capacity - 1))]:
            front, held = front + 1, held - 1
        return held

    return evict


@kernel
def flatfat_build(agg: Any) -> Any:
    lift, combine, load, store = agg.lift, agg.combine, agg.load, agg.store

    def build(
        old: States,
        old_live: Flags,
        old_ids: Marks,
        front: int,
        held: int,
        values: Values,
        base: int,
        rows: int,
        nodes: States,
        live: Flags,
        ids: Marks,
    ) -> int:
        """Fill an empty tree with the live rows of another and new ones after them; returns how many there are."""
        before, capacity = len(old) // 2, len(nodes) // 2
        taken = 0
        for offset in range(held):
            slot = (front + offset) & (before - 1)
            if old_live[before + slot]:
                store(nodes, capacity + taken, load(old, before + slot))
                live[capacity + taken] = 1
                ids[taken] = old_ids[slot]
                taken += 1
        for row in range(rows):
            store(nodes, capacity + taken, lift(values, row, base + row))
            live[capacity + taken] = 1
            ids[taken] = base + row
            taken += 1
        level, width = capacity, taken
        while level > 1:
            for node in range(level, level + width, 2):
                if node + 1 < level + width:
                    store(nodes, node >> 1, combine(load(nodes, node), load(nodes, node + 1)))
                else:
                    store(nodes, node >> 1, load(nodes, node))
                live[node >> 1] = 1
            level, width = level >> 1, (width + 1) >> 1
        return taken

    return build


@kernel
def flatfat_ranges(agg: Any) -> Any:
    combine, load, answer, absent = agg.combine, agg.load, agg.answer, agg.absent
    commutative = agg.commutative

    @agg.function
    def between(nodes, live, left, right):  # type: ignore[no-untyped-def]
        """Whether anything lives in the slots [left, right), and its aggregate."""
        left, right = left + len(nodes) // 2, right + len(nodes) // 2
        some_before, some_after = False, False
        before = after = load(nodes, 0)
        while left < right:
            if left & 1:
                if live[left]:
                    before = combine(before, load(nodes, left)) if some_before else load(nodes, left)
                    some_before = True
                left += 1
            if right & 1:
                right -= 1
                if live[right]:
                    after = combine(load(nodes, right), after) if some_after else load(nodes, right)
                    some_after = True
            left >>= 1
            right >>= 1
        if some_before and some_after:
            before = combine(before, after)
        elif some_after:
            before = after
        return some_before or some_after, before

    def ranges(lo: Marks, hi: Marks, front: int, held: int, nodes: States, live: Flags, out: Answers) -> int:
        """Answer each range [lo[i], hi[i]) of slots counted from the front."""
        capacity = len(nodes) // 2
        inverted = front + held > capacity
        for i in range(len(out[1])):
            left, right = front + lo[i], front + hi[i]
            if not inverted or (commutative and lo[i] == 0 and hi[i] == held):
                # Nothing lives before the front or behind the back: one side of the tree is climbed, or only the root.
                left = 0 if lo[i] == 0 else left
                right = capacity if hi[i] == held else right
            if lo[i] >= hi[i]:
                some, whole = False, load(nodes, 0)
            elif left >= capacity:
                some, whole = between(nodes, live, left - capacity, right - capacity)
            elif right <= capacity:
                some, whole = between(nodes, live, left, right)
            else:
                some, whole = between(nodes, live, left, capacity)
                some_after, after = between(nodes, live, 0, right - capacity)
                if some and some_after:
                    whole = combine(whole, after)
                elif some_after:
                    some, whole = True, after
            if some:
                answer(out, i, whole)
            else:
                absent(out, i)
        return 0

    return ranges
