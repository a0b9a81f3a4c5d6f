"""Order statistic tree: the ranks of a sliding frame in a counted B-tree, for comparison.

Inner nodes know how many rows live under each child, so the k-th row, and the rows below a threshold, are
found on one way down. Nodes are split on the way down and merged on the way up, where two neighbours fit
into half a node. Ranks keep partitions apart, so one tree slides over all of them.

order   bounds that only move right
needs   no holes
time    log n an insert, an evict and an answer; each thread starts with a frame of its own
space   at most 60 bytes for each row of the longest frame and thread, mostly 20
paper   framed-holistic-windows-2022, 3.2 and 5.5
"""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from sash.kernels.algorithm import COUNT, SELECT, Algorithm
from sash.kernels.compiling import routine
from sash.kernels.needs import forward, no_exclude, own_order
from sash.kernels.structures.ranked import Ranked
from sash.kernels.threads import shares, together
from sash.windows.bounds import Bounds

FANOUT = 32
ROOT, HEIGHT, FREE, FRESH = range(4)  # the marks of a tree: the root, levels above leaves, freed nodes, untouched ones
DEEPEST = 16  # levels; nodes hold a quarter of the fanout on average, so that 2^31 rows take 11


def select(ranked: Ranked, bounds: Bounds, k: np.ndarray, second: bool) -> tuple[np.ndarray, np.ndarray]:
    """The rank of each frame's k-th smallest row, from 0, and where asked of the one after; -1 where there is none."""
    first = np.empty(len(bounds), ranked.rank.dtype)
    after = np.empty(len(bounds) if second else 0, ranked.rank.dtype)

    def run(begin: int, end: int) -> int:
        return slide_select(begin, end, ranked.rank, bounds.lo, bounds.hi, k, *_tree(ranked, bounds), first, after)

    together([partial(run, begin, end) for begin, end in shares(len(bounds))])
    return first, after


def count_below(ranked: Ranked, bounds: Bounds, threshold: np.ndarray) -> np.ndarray:
    """How many rows of each frame have a rank below the frame's threshold."""
    counts = np.empty(len(bounds), ranked.rank.dtype)

    def run(begin: int, end: int) -> int:
        return slide_count(begin, end, ranked.rank, bounds.lo, bounds.hi, threshold, *_tree(ranked, bounds), counts)

    together([partial(run, begin, end) for begin, end in shares(len(bounds))])
    return counts


def _tree(ranked: Ranked, bounds: Bounds) -> tuple[np.ndarray, ...]:
    """Room for a tree of the longest frame and one row: keys, children, sizes, entries of each node, marks, a path."""
    longest = int((bounds.hi - bounds.lo).max(initial=0)) + 1
    nodes = longest // (FANOUT // 6) + 2 * DEEPEST  # neighbours hold more than half a node together
    entries = [np.empty(nodes * FANOUT, ranked.rank.dtype) for _ in range(3)]
    return *entries, np.empty(nodes, np.int64), np.zeros(4, np.int64), np.empty(2 * DEEPEST, np.int64)


@routine
def slide_select(
    begin: int, end: int, rank: Any, lo: Any, hi: Any, k: Any,
    keys: Any, children: Any, sizes: Any, used: Any, marks: Any, path: Any, first: Any, after: Any,
) -> int:  # fmt: skip
    """Find the wanted row of each frame."""
    head = tail = np.int64(0)
    reset(used, marks)
    for row in range(begin, end):
        head, tail = move(head, tail, lo[row], hi[row], rank, keys, children, sizes, used, marks, path)
        target, live = np.int64(k[row]), tail - head
        first[row] = nth(target, keys, children, sizes, marks) if 0 <= target < live else -1
        if len(after) > 0:
            after[row] = nth(target + 1, keys, children, sizes, marks) if 0 <= target < live - 1 else -1
    return 0


@routine
def slide_count(
    begin: int, end: int, rank: Any, lo: Any, hi: Any, threshold: Any,
    keys: Any, children: Any, sizes: Any, used: Any, marks: Any, path: Any, counts: Any,
) -> int:  # fmt: skip
    """Count each frame's rows below its threshold."""
    head = tail = np.int64(0)
    reset(used, marks)
    for row in range(begin, end):
        head, tail = move(head, tail, lo[row], hi[row], rank, keys, children, sizes, used, marks, path)
        counts[row] = below(threshold[row], keys, children, sizes, used, marks)
    return 0


def move(
    head: Any, tail: Any, lo: Any, hi: Any, rank: Any,
    keys: Any, children: Any, sizes: Any, used: Any, marks: Any, path: Any,
) -> Any:  # fmt: skip
    """Bring the tree from the frame [head, tail) to [lo, hi)."""
    if lo >= tail:
        reset(used, marks)
        head = tail = np.int64(lo)
    while head < lo:
        delete(rank[head], keys, children, sizes, used, marks, path)
        head += 1
    while tail < hi:
        insert(rank[tail], keys, children, sizes, used, marks)
        tail += 1
    return head, tail


def reset(used: Any, marks: Any) -> None:
    """Make the tree one empty leaf."""
    marks[ROOT], marks[HEIGHT], marks[FREE], marks[FRESH] = 0, 0, -1, 1
    used[0] = 0


def nth(target: Any, keys: Any, children: Any, sizes: Any, marks: Any) -> Any:
    """The key number ``target``, which there is."""
    node = marks[ROOT]
    for _ in range(marks[HEIGHT]):
        at = node * FANOUT
        while target >= sizes[at]:
            target -= sizes[at]
            at += 1
        node = np.int64(children[at])
    return keys[node * FANOUT + target]


def below(limit: Any, keys: Any, children: Any, sizes: Any, used: Any, marks: Any) -> Any:
    """How many keys are smaller than the limit."""
    node, count = marks[ROOT], np.int64(0)
    for _ in range(marks[HEIGHT]):
        entry = child_for(limit, node, keys, used)
        for at in range(node * FANOUT, entry):
            count += sizes[at]
        node = np.int64(children[entry])
    return count + place(limit, node, keys, used) - node * FANOUT


def child_for(key: Any, node: Any, keys: Any, used: Any) -> Any:
    """The entry whose child is to hold a key: the last that starts at or below it, or the first."""
    entry = node * FANOUT + 1
    while entry < node * FANOUT + used[node] and keys[entry] <= key:
        entry += 1
    return entry - 1


def place(key: Any, leaf: Any, keys: Any, used: Any) -> Any:
    """Where a key is in a leaf, or should be."""
    entry = leaf * FANOUT
    while entry < leaf * FANOUT + used[leaf] and keys[entry] < key:
        entry += 1
    return entry


def insert(key: Any, keys: Any, children: Any, sizes: Any, used: Any, marks: Any) -> None:
    """Add a key; full nodes are split on the way down, so that a parent has room for one more child."""
    if used[marks[ROOT]] == FANOUT:
        root = new_node(children, marks)
        used[root], children[root * FANOUT], keys[root * FANOUT] = 1, marks[ROOT], key
        sizes[root * FANOUT] = node_size(marks[ROOT], marks[HEIGHT], sizes, used)
        marks[ROOT] = root
        marks[HEIGHT] += 1
    node = marks[ROOT]
    for level in range(marks[HEIGHT], 0, -1):
        entry = child_for(key, node, keys, used)
        if used[children[entry]] == FANOUT:
            split(node, entry, level - 1, keys, children, sizes, used, marks)
            if keys[entry + 1] <= key:
                entry += 1
        sizes[entry] += 1
        node = np.int64(children[entry])
    entry = place(key, node, keys, used)
    for at in range(node * FANOUT + used[node], entry, -1):
        keys[at] = keys[at - 1]
    keys[entry] = key
    used[node] += 1


def delete(key: Any, keys: Any, children: Any, sizes: Any, used: Any, marks: Any, path: Any) -> None:
    """Remove a key that is there, then merge what has become small on the way up."""
    node, height = marks[ROOT], marks[HEIGHT]
    for step in range(height):
        entry = child_for(key, node, keys, used)
        sizes[entry] -= 1
        path[2 * step], path[2 * step + 1] = node, entry
        node = np.int64(children[entry])
    used[node] -= 1
    for at in range(place(key, node, keys, used), node * FANOUT + used[node]):
        keys[at] = keys[at + 1]
    for step in range(height - 1, -1, -1):
        node, entry = path[2 * step], path[2 * step + 1]
        first, last = node * FANOUT, node * FANOUT + used[node] - 1
        if entry < last and used[children[entry]] + used[children[entry + 1]] <= FANOUT // 2:
            merge(node, entry, height - 1 - step, keys, children, sizes, used, marks)
        elif entry > first and used[children[entry - 1]] + used[children[entry]] <= FANOUT // 2:
            merge(node, entry - 1, height - 1 - step, keys, children, sizes, used, marks)
        else:
            break
    while marks[HEIGHT] > 0 and used[marks[ROOT]] == 1:
        root = marks[ROOT]
        marks[ROOT] = children[root * FANOUT]
        marks[HEIGHT] -= 1
        free_node(root, children, marks)


def split(node: Any, entry: Any, level: Any, keys: Any, children: Any, sizes: Any, used: Any, marks: Any) -> None:
    """Move the upper half of a full child to a new child behind it."""
    old, new, half = np.int64(children[entry]), new_node(children, marks), FANOUT // 2
    for i in range(FANOUT - half):
        source, to = old * FANOUT + half + i, new * FANOUT + i
        keys[to] = keys[source]
        if level > 0:
            children[to], sizes[to] = children[source], sizes[source]
    used[old], used[new] = half, FANOUT - half
    for at in range(node * FANOUT + used[node], entry + 1, -1):
        keys[at], children[at], sizes[at] = keys[at - 1], children[at - 1], sizes[at - 1]
    used[node] += 1
    keys[entry + 1], children[entry + 1] = keys[new * FANOUT], new
    sizes[entry + 1] = node_size(new, level, sizes, used)
    sizes[entry] -= sizes[entry + 1]


def merge(node: Any, entry: Any, level: Any, keys: Any, children: Any, sizes: Any, used: Any, marks: Any) -> None:
    """Move all entries of the child behind an entry's into the entry's."""
    left, right = np.int64(children[entry]), np.int64(children[entry + 1])
    start = left * FANOUT + used[left]
    for i in range(used[right]):
        keys[start + i] = keys[right * FANOUT + i]
        if level > 0:
            children[start + i], sizes[start + i] = children[right * FANOUT + i], sizes[right * FANOUT + i]
    used[left] += used[right]
    sizes[entry] += sizes[entry + 1]
    used[node] -= 1
    for at in range(entry + 1, node * FANOUT + used[node]):
        keys[at], children[at], sizes[at] = keys[at + 1], children[at + 1], sizes[at + 1]
    free_node(right, children, marks)


def node_size(node: Any, level: Any, sizes: Any, used: Any) -> Any:
    """How many keys are under a node."""
    if level == 0:
        return used[node]
    size = np.int64(0)
    for at in range(node * FANOUT, node * FANOUT + used[node]):
        size += sizes[at]
    return size


def new_node(children: Any, marks: Any) -> Any:
    """A node that is not in use: the last freed, else an untouched one."""
    node = marks[FREE]
    if node < 0:
        marks[FRESH] += 1
        return marks[FRESH] - 1
    marks[FREE] = children[node * FANOUT]
    return node


def free_node(node: Any, children: Any, marks: Any) -> None:
    """Keep a node for later; its first child is the one freed before."""
    children[node * FANOUT] = marks[FREE]
    marks[FREE] = node


SELECTING = Algorithm(
    name="order_statistic_tree",
    operation=SELECT,
    words="a counted tree of the frame's rows",
    cost=lambda task: 28.0 * task.levels,
    run=select,
    needs=(
        own_order,
        no_exclude,
        forward,
    ),
    offered=False,
)
COUNTING = Algorithm(
    name="order_statistic_tree",
    operation=COUNT,
    words="a counted tree of the frame's rows",
    cost=lambda task: 28.0 * task.levels,
    run=count_below,
    needs=(
        own_order,
        no_exclude,
        forward,
    ),
    offered=False,
)
