"""Trees of cells: for each key a complete binary tree over the slots of its segment, kept between batches.

Node 1 of a tree is its root, node k has the children 2k and 2k + 1, and the leaves are the last half. A node is
filled once the last of its leaves is there, and is used only where all of its leaves are asked for: so those that
come in order cost one combine each, amortised, whatever there is, and those that have left cost nothing. A flag a
node says whether anything lives below it: a cell of which a partial counts no row is never combined. What changes at
once climbs level by level, so that each node above is combined once.

order   any
needs   associative
time    1 combine a cell in order, amortised; m(1 + log2 n/m) for m that are behind; 2 log2 n a range, of n cells
space   2 partials and flags a slot
paper   reactive-aggregator-2015, 4 and 5, in segments (kernels/slices/segments)
"""

from __future__ import annotations

from typing import Any

from sash.kernels.compiling import Answers, Flags, Marks, States, Values, kernel


@kernel
def tree_insert(agg: Any) -> Any:
    """Put cells that came into their places, or behind what is there, and combine anew what is above, if anything."""
    combine, load, store = agg.combine, agg.load, agg.store

    def insert(
        keys: Marks,
        place: Marks,
        hit: Flags,
        runs: Marks,
        count: int,
        base: Marks,
        room: Marks,
        head: Marks,
        tail: Marks,
        states: States,
        held: Flags,
        work: Marks,
        rises: int,
        nodes: States,
        live: Flags,
    ) -> int:
        for r in range(count):
            key = keys[runs[r]]
            root, level, first = 2 * base[key], room[key], head[key]
            leaves = root + level
            shift, upto = 0, tail[key]
            for i in range(runs[r], runs[r + 1]):
                shift += hit[i] == 0
            end, i = upto + shift, runs[r + 1] - 1
            while shift > 0:
                if hit[i] == 0:
                    for leaf in range(leaves + upto - 1, leaves + place[i] - 1, -1):
                        store(nodes, leaf + shift, load(nodes, leaf))
                        live[leaf + shift] = live[leaf]
                    upto = place[i]
                    shift -= 1
                    live[leaves + upto + shift] = 0
                i -= 1
            waiting, fresh = 0, 0
            for i in range(runs[r], runs[r + 1]):
                slot = place[i] + fresh
                if held[i] != 0:
                    new, leaf = load(states, i), leaves + slot
                    store(nodes, leaf, combine(load(nodes, leaf), new) if live[leaf] != 0 else new)
                    live[leaf] = 1
                if fresh == 0:
                    work[waiting] = slot
                    waiting += 1
                fresh += hit[i] == 0
            if fresh > 0:
                for slot in range(work[waiting - 1] + 1, end):  # all behind the first that is new have moved
                    work[waiting] = slot
                    waiting += 1
            width = 1
            while rises != 0 and waiting > 0 and level > 1:
                level, width, parents = level >> 1, width << 1, 0
                for k in range(waiting):
                    parent = work[k] >> 1
                    if (parent + 1) * width > end:
                        break
                    if parent * width < first or (parents > 0 and work[parents - 1] == parent):
                        continue
                    work[parents] = parent
                    parents += 1
                    node = root + level + parent
                    left = root + 2 * (level + parent)
                    if live[left] != 0 and live[left + 1] != 0:
                        store(nodes, node, combine(load(nodes, left), load(nodes, left + 1)))
                    elif live[left] != 0:
                        store(nodes, node, load(nodes, left))
                    elif live[left + 1] != 0:
                        store(nodes, node, load(nodes, left + 1))
                    live[node] = live[left] | live[left + 1]
                waiting = parents
        return 0

    return insert


@kernel
def tree_build(agg: Any) -> Any:
    """Fill the trees of some keys, whose leaves are there from the first slot on."""
    combine, load, store = agg.combine, agg.load, agg.store

    def build(keys: Marks, base: Marks, room: Marks, tail: Marks, nodes: States, live: Flags) -> int:
        for i in range(len(keys)):
            root, level, count = 2 * base[keys[i]], room[keys[i]], tail[keys[i]]
            while count > 1:
                level, count = level >> 1, count >> 1
                for node in range(root + level, root + level + count):
                    left = 2 * node - root
                    if live[left] != 0 and live[left + 1] != 0:
                        store(nodes, node, combine(load(nodes, left), load(nodes, left + 1)))
                    elif live[left] != 0:
                        store(nodes, node, load(nodes, left))
                    elif live[left + 1] != 0:
                        store(nodes, node, load(nodes, left + 1))
                    live[node] = live[left] | live[left + 1]
        return 0

    return build


@kernel
def tree_ranges(agg: Any) -> Any:
    """Fold ranges of cells, each of a key, into a partial; a flag says whether there is one."""
    combine, load, store = agg.combine, agg.load, agg.store

    def ranges(
        keys: Marks,
        lo: Marks,
        hi: Marks,
        base: Marks,
        room: Marks,
        nodes: States,
        live: Flags,
        states: States,
        held: Flags,
    ) -> int:
        for i in range(len(keys)):
            key = keys[i]
            root, left, right = 2 * base[key], room[key] + lo[i], room[key] + hi[i]
            some_before, some_after = False, False
            before = after = load(nodes, root)
            while left < right:
                if left & 1:
                    if live[root + left] != 0:
                        node = load(nodes, root + left)
                        before = combine(before, node) if some_before else node
                        some_before = True
                    left += 1
                if right & 1:
                    right -= 1
                    if live[root + right] != 0:
                        node = load(nodes, root + right)
                        after = combine(node, after) if some_after else node
                        some_after = True
                left >>= 1
                right >>= 1
            if some_before and some_after:
                store(states, i, combine(before, after))
            elif some_before:
                store(states, i, before)
            elif some_after:
                store(states, i, after)
            held[i] = some_before or some_after
        return 0

    return ranges


@kernel
def lowering(agg: Any) -> Any:
    """Answer partials that are given as columns of their numbers, as far as there are any."""
    lift, answer, absent = agg.lift, agg.answer, agg.absent

    def lower(values: Values, held: Flags, out: Answers) -> int:
        for i in range(len(held)):
            if held[i] != 0:
                answer(out, i, lift(values, i, i))
            else:
                absent(out, i)
        return 0

    return lower
