"""DISTINCT of any commutative aggregate: each value counts at its first row in the frame.

Row j is the first of its value in [lo, hi) if its previous occurrence is before lo. So the frames are answered in
the order of lo, from a segment tree in which rows come alive as lo passes their previous occurrence. Rows never
die: the tree is a function of lo alone, and threads begin at any lo with a tree built at once. Rows whose previous
occurrence is further back than any frame is wide may live from the beginning.

With a hole [a, b), which is the part of a group of peers that is in the frame, the rows of [lo, a) and [b, hi) are
answered in the same way. What is missing are the values whose previous occurrence before b is in the hole, but that
are not in [lo, a). For a value v of group g let P be its last row before g, and N its first row after g; then v
counts if P < lo and N < hi. So there is a second tree over all pairs (g, v), sorted by (g, N), in which pairs come
alive as lo passes P. Where the frame begins within g there is nothing but [b, hi), answered with b in the place of lo.

Where frames only move forward and partials can be taken away exactly, there is no tree: a value is added when its
first row comes in, and taken away when its last one goes.

order   any frames, with holes
needs   associative, commutative; without a tree: invertible, exact
time    log2(n / 8) + 8 combines a row and up to twice that a frame; without a tree 2 combines a row
space   n / 4 partials a thread and, with holes, as many again and 32 bytes a row
paper   framed-holistic-windows-2022, 4.2 and 4.3, has previous occurrences; the sweep and the pairs are ours
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from sash.algebra import Aggregate, Call
from sash.errors import Refused, SashError
from sash.kernels.algorithm import DISTINCT_FOLD, Algorithm, Occurrences
from sash.kernels.answers import NONE, SLICE, Answered, finished, unanswered, widened
from sash.kernels.compiling import (
    Answers,
    Flags,
    Marks,
    States,
    Values,
    kernel,
    prefetch,
    routine,
    specialise,
)
from sash.kernels.inputs import Inputs
from sash.kernels.needs import exact as exact_aggregate
from sash.kernels.needs import forward, invertible, no_exclude
from sash.kernels.structures.segment_tree import AHEAD, live_tree
from sash.kernels.threads import shares, together
from sash.windows.bounds import Bounds

HEAD, TAIL, HELD = 0, 1, 2  # marks of a slide: the rows it has seen, and how many values it holds


@kernel
def distinct_sweep(agg: Any) -> Any:
    """Answer frames in the order of what they wait for, waking rows and pairs on the way; at first, fill the trees."""
    fill, wake, gather = live_tree(agg)
    lift, combine, load, answer, absent = agg.lift, agg.combine, agg.load, agg.answer, agg.absent

    @agg.function
    def fetch(levels, nodes, live, row):  # type: ignore[no-untyped-def]
        """Bring the lowest nodes above a row into the cache."""
        prefetch(live, row >> 3)
        for level in range(min(4, len(levels) - 1)):
            prefetch(nodes, levels[level] + (row >> (3 + level)))

    def sweep(
        values: Values,
        levels: Marks,
        nodes: States,
        live: Flags,
        wakes: Marks,
        pair_values: Values,
        pair_levels: Marks,
        pair_nodes: States,
        pair_live: Flags,
        pair_wakes: Marks,
        since: int,
        order: Marks,
        passed: Marks,
        lo: Marks,
        a: Marks,
        b: Marks,
        hi: Marks,
        own: Marks,
        pair_lo: Marks,
        pair_hi: Marks,
        out: Answers,
    ) -> int:
        tree, pairs = (values, levels, nodes, live), (pair_values, pair_levels, pair_nodes, pair_live)
        done, last = 0, len(order) - 1
        if last < 0:
            fill(tree)
            fill(pairs)
        for i in range(len(order)):
            ahead = min(i + AHEAD, last)
            fetch(levels, nodes, live, lo[ahead])
            fetch(levels, nodes, live, hi[ahead])
            while done < passed[i] - since:
                if done + AHEAD < len(wakes):
                    fetch(levels, nodes, live, wakes[done + AHEAD])
                if wakes[done] >= 0:
                    wake(tree, wakes[done])
                if done < len(pair_wakes) and pair_wakes[done] >= 0:
                    wake(pairs, pair_wakes[done])
                done += 1
            some, state = gather(tree, lo[i], a[i], False, load(nodes, 0))
            if i < len(own) and own[i] >= 0:
                state = combine(state, lift(values, own[i], own[i])) if some else lift(values, own[i], own[i])
                some = True
            some, state = gather(tree, b[i], hi[i], some, state)
            if i < len(pair_lo):
                some, state = gather(pairs, pair_lo[i], pair_hi[i], some, state)
            if some:
                answer(out, order[i], state)
            else:
                absent(out, order[i])
        return 0

    return sweep


@kernel
def distinct_slide(agg: Any) -> Any:
    """Answer frames that move forward by adding values that come in and taking away those that go."""
    lift, combine, inverse, load, store = agg.lift, agg.combine, agg.inverse, agg.load, agg.store
    answer, absent = agg.answer, agg.absent

    def slide(
        values: Values,
        lo: Marks,
        hi: Marks,
        previous: Marks,
        following: Marks,
        marks: Marks,
        whole: States,
        out: Answers,
    ) -> int:
        head, tail, different, state = marks[HEAD], marks[TAIL], marks[HELD], load(whole, 0)
        first_in, first_out = tail, head  # the rows at which the slices of previous and following begin
        for i in range(len(lo)):
            if lo[i] >= tail:
                head, tail, different = lo[i], lo[i], 0
            for row in range(tail, hi[i]):
                if previous[row - first_in] < head:
                    state = combine(state, lift(values, row, row)) if different else lift(values, row, row)
                    different += 1
            tail = max(tail, hi[i])
            for row in range(head, lo[i]):
                if not 0 <= following[row - first_out] < tail:
                    state = inverse(state, lift(values, row, row))
                    different -= 1
            head = max(head, lo[i])
            if different:
                answer(out, i, state)
            else:
                absent(out, i)
        store(whole, 0, state)
        marks[HEAD], marks[TAIL], marks[HELD] = head, tail, different
        return 0

    return slide


@routine
def in_order(passed, counts, order):  # type: ignore[no-untyped-def]
    """Sort frames by the position they wait for: ``counts`` is zeros, two more than there are rows."""
    for i in range(len(passed)):
        counts[passed[i] + 1] += 1
    for k in range(1, len(counts)):
        counts[k] += counts[k - 1]
    for i in range(len(passed)):
        order[counts[passed[i]]] = i
        counts[passed[i]] += 1
    return 0


@routine
def around_groups(group_start, group_stop, previous, following, start, stop, before, after):  # type: ignore[no-untyped-def]
    """For each row, the start of its group, and the rows of its value before and after the group.

    ``stop`` is zeros. Groups that no frame has do not matter.
    """
    rows = len(previous)
    for i in range(len(group_start)):
        if group_start[i] < group_stop[i]:
            stop[group_start[i]] = group_stop[i]
    begin = -1
    for row in range(rows):
        if stop[row] > 0:
            begin = row
        start[row] = begin if begin >= 0 and row < stop[begin] else -1
        earlier = previous[row]
        before[row] = before[earlier] if start[row] >= 0 and earlier >= start[row] else earlier
    for row in range(rows - 1, -1, -1):
        later = following[row] if 0 <= following[row] < rows else rows
        after[row] = after[later] if start[row] >= 0 and later < stop[start[row]] else later
    return 0


@routine
def pair_up(previous, start, stop, before, widest, ends, pair_after, pair_before, wakes):  # type: ignore[no-untyped-def]
    """Sort the pairs of a group and a value by (group, next row after it); returns how many there are.

    ``ends`` is zeros; then the pairs of the group that starts at s end at ``ends[s]``, and begin where those
    of the row before do. ``wakes`` is -1 for each row; then the pair whose value was there last before its group,
    unless no frame reaches from there to the next row after it.
    """
    rows = len(previous)
    for row in range(rows):
        last = previous[row]
        if last >= 0 and start[last] >= 0 and row >= stop[start[last]]:
            ends[start[last] + 1] += 1
    for row in range(1, rows):
        ends[row] += ends[row - 1]
    pairs = 0
    for row in range(rows):
        last = previous[row]
        if last >= 0 and start[last] >= 0 and row >= stop[start[last]]:
            pair = ends[start[last]]
            ends[start[last]] += 1
            pair_after[pair], pair_before[pair] = row, -1
            if before[last] >= 0 and row - before[last] < widest:
                pair_before[pair], wakes[before[last]] = before[last], pair
            pairs += 1
    return pairs


@routine
def pairs_within(lo, hi, group_start, group_stop, ends, pair_after, pair_lo, pair_hi):  # type: ignore[no-untyped-def]
    """The pairs of each frame's group that come again before hi, if the group is in the frame as a whole."""
    for i in range(len(lo)):
        start = group_start[i]
        pair_lo[i] = pair_hi[i] = 0
        if lo[i] <= start < group_stop[i] <= hi[i]:
            pair_lo[i] = ends[start - 1] if start > 0 else 0
            low, high = pair_lo[i], np.int64(ends[start])
            while low < high:
                middle = (low + high) >> 1
                if pair_after[middle] < hi[i]:
                    low = middle + 1
                else:
                    high = middle
            pair_hi[i] = low
    return 0


def slide_distinct(
    aggregate: Aggregate | Call,
    columns: tuple[np.ndarray, ...],
    values: Occurrences,
    bounds: Bounds,
    groups: Any = None,
) -> Answered:
    """The aggregate of the distinct values of every frame, of frames that move forward without holes.

    >>> from sash import functions as sf
    >>> column, previous, following = np.array([5, 5, 2]), np.array([-1, 0, -1]), np.array([1, 3, 3])
    >>> values = Occurrences(previous, following, lambda: (column, 6))
    >>> bounds = Bounds(np.array([0, 0, 1]), np.array([2, 3, 3]), 3, "monotonic")
    >>> slide_distinct(sf.sum("x"), (column,), values, bounds).values
    array([5, 7, 7])
    """
    inputs, lifted = _checked(aggregate, columns, values)
    return finished(inputs.aggregate, _slid(inputs, lifted, values.previous, values.following, bounds))


def sweep_distinct(
    aggregate: Aggregate | Call,
    columns: tuple[np.ndarray, ...],
    values: Occurrences,
    bounds: Bounds,
    groups: tuple[np.ndarray, np.ndarray] | None = None,
) -> Answered:
    """The aggregate of the distinct values of every frame.

    ``groups``, where frames have holes, is each frame's group of peers, uncut: the hole is what of it is in the frame.

    >>> from sash import functions as sf
    >>> column, previous, following = np.array([5, 5, 2]), np.array([-1, 0, -1]), np.array([1, 3, 3])
    >>> values = Occurrences(previous, following, lambda: (column, 6))
    >>> bounds = Bounds(np.array([0, 0, 1]), np.array([3, 1, 3]), 3)
    >>> sweep_distinct(sf.sum("x"), (column,), values, bounds).values
    array([7, 5, 7])
    """
    inputs, lifted = _checked(aggregate, columns, values)
    if bounds.holes and groups is None:
        raise SashError("groups must be given where frames have holes, got None")
    return finished(inputs.aggregate, _swept(inputs, lifted, values.previous, values.following, bounds, groups))


def _checked(
    aggregate: Aggregate | Call, columns: tuple[np.ndarray, ...], values: Occurrences
) -> tuple[Inputs, tuple[np.ndarray, ...]]:
    inputs = Inputs(aggregate, tuple(column.dtype for column in columns))
    lifted, _ = inputs.columns("fold", columns, len(values.previous))
    definition = inputs.aggregate
    if not definition.commutative or definition.rows:
        raise Refused(
            f"DISTINCT needs a commutative aggregate of values alone; {definition.name} does not say commutative=True"
        )
    return inputs, lifted


def _slid(
    inputs: Inputs, values: tuple[np.ndarray, ...], previous: np.ndarray, following: np.ndarray, bounds: Bounds
) -> Answered:
    """Answer frames that move forward, each thread its share from nothing."""
    specialised = specialise(distinct_slide, inputs.aggregate, inputs.dtypes)
    out = unanswered(len(bounds), specialised.answer)

    def answer(first: int, last: int) -> None:
        marks, whole = np.zeros(3, np.int64), np.zeros(1, specialised.state)
        marks[:2] = bounds.lo[first] if first < last else 0
        for start in range(first, last, SLICE):
            stop = min(start + SLICE, last)
            lo, _, _, hi, _ = widened(bounds, start, stop)
            come, gone = previous[marks[TAIL] : hi[-1]], following[marks[HEAD] : lo[-1]]
            into = (out.values[start:stop], out.valid[start:stop])
            specialised.run(values, lo, hi, come.astype(np.int64), gone.astype(np.int64), marks, whole, into)

    together([partial(answer, *share) for share in shares(len(bounds))])
    return out


@dataclass(frozen=True)
class _Waiting:
    """Rows, or pairs, that come alive as a sweep passes a position; their values as kernels take them."""

    values: tuple[Any, ...]
    until: np.ndarray  # the position that each waits for
    wakes: np.ndarray  # who waits for each position
    widest: int  # how many are gathered at most

    def tree(self, state: np.dtype, passed: int) -> tuple[Any, ...]:
        """A tree with room for all, and the bits of those set that live when so many positions are passed."""
        leaves = (len(self.until) >> 3) + 1
        counts = [leaves >> level for level in range(max(self.widest >> 3, 1).bit_length())]
        levels = np.concatenate([[0], np.cumsum(counts)]).astype(np.int64)
        live = np.zeros(levels[-1], np.uint8)
        bits = np.packbits(self.until < passed, bitorder="little")
        live[: len(bits)] = bits
        return self.values, levels, np.zeros(levels[-1], state), live


class _Pairs:
    """The values of each group of peers, and where they were before it and come again after it."""

    def __init__(self, inputs: Inputs, values: Any, previous: Any, following: Any, groups: Any, widest: int) -> None:
        rows, dtype = len(previous), previous.dtype
        start, stop, ends = np.empty(rows, dtype), np.zeros(rows, dtype), np.zeros(rows, dtype)
        self.groups, self.ends, self.before, self.after = groups, ends, np.empty(rows, dtype), np.empty(rows, dtype)
        around_groups(*groups, previous, following, start, stop, self.before, self.after)
        pair_after, pair_before, wakes = np.empty(rows, dtype), np.empty(rows, dtype), np.full(rows, -1, dtype)
        pairs = pair_up(previous, start, stop, self.before, widest, ends, pair_after, pair_before, wakes)
        self.again = pair_after[:pairs].copy()
        lifted = inputs.lifted(tuple(column[self.again] for column in values))
        largest = int(np.max(groups[1] - groups[0], initial=0))
        self.waiting = _Waiting(lifted, pair_before[:pairs].copy(), wakes, largest)

    def within(self, frames: Any, lo: np.ndarray, hi: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The pairs to be gathered for some frames."""
        start, stop = (edge[frames].astype(np.int64) for edge in self.groups)
        pair_lo, pair_hi = np.empty(len(lo), np.int64), np.empty(len(lo), np.int64)
        pairs_within(lo, hi, start, stop, self.ends, self.again, pair_lo, pair_hi)
        return pair_lo, pair_hi

    def alone(self, own: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> np.ndarray:
        """Of the frames' own rows those whose value is not in the rest of the frame; otherwise -1."""
        if not len(own) or not len(self.before):
            return own
        return np.where((own >= 0) & (self.before[own] < lo) & (self.after[own] >= hi), own, -1)


def _swept(
    inputs: Inputs,
    values: tuple[np.ndarray, ...],
    previous: np.ndarray,
    following: np.ndarray,
    bounds: Bounds,
    groups: Any,
) -> Answered:
    """Answer frames in the order of what they wait for, each thread its share, beginning with trees of its own."""
    specialised, rows = specialise(distinct_sweep, inputs.aggregate, inputs.dtypes), len(previous)
    out = unanswered(len(bounds), specialised.answer)
    widest, at = int(np.max(bounds.hi - bounds.lo, initial=0)), np.arange(rows, dtype=previous.dtype)
    before = np.where(at - previous < widest, previous, -1)
    after = np.where((following < rows) & (following - at < widest), following, -1)
    waiting = _Waiting(inputs.lifted(values), before, after, widest)
    nobody = _Waiting(inputs.lifted(tuple(column[:0] for column in values)), previous[:0], NONE, 0)
    pairs = _Pairs(inputs, values, previous, following, groups, widest) if bounds.holes else None
    passed = np.where(bounds.lo <= groups[0], bounds.lo, bounds.b) if pairs else bounds.lo
    order = None
    if pairs or not bounds.moves_forward:
        order = np.empty(len(bounds), previous.dtype)
        in_order(passed, np.zeros(rows + 2, previous.dtype), order)

    def answer(first: int, last: int) -> None:
        since = int(passed[first if order is None else order[first]]) if first < last else 0
        trees = [one.tree(specialised.state, since) for one in (waiting, pairs.waiting if pairs else nobody)]
        specialised.run(*trees[0], NONE, *trees[1], NONE, 0, *[NONE] * 9, tuple(out))
        for begin in range(first, last, SLICE):
            end = min(begin + SLICE, last)
            frames: Any = slice(begin, end) if order is None else order[begin:end]
            lo, a, b, hi, upto = (
                edge[frames].astype(np.int64) for edge in (bounds.lo, bounds.a, bounds.b, bounds.hi, passed)
            )
            own, pair_lo, pair_hi, pair_wakes = NONE, NONE, NONE, NONE
            if pairs:
                own = pairs.alone(bounds.own[frames].astype(np.int64) if len(bounds.own) else NONE, lo, hi)
                pair_lo, pair_hi = pairs.within(frames, lo, hi)
                pair_wakes = pairs.waiting.wakes[since : upto[-1]].astype(np.int64)
            rows_asked = np.arange(begin, end) if order is None else frames.astype(np.int64)
            specialised.run(
                *trees[0], waiting.wakes[since : upto[-1]].astype(np.int64), *trees[1], pair_wakes, since,
                rows_asked, upto, lo, a, b, hi, own, pair_lo, pair_hi, tuple(out),
            )  # fmt: skip
            since = int(upto[-1])

    cut = shares(len(bounds)) if inputs.aggregate.compiled else [(0, len(bounds))]
    together([partial(answer, *share) for share in cut])
    return out


OCCURRENCES = Algorithm(
    name="occurrences",
    operation=DISTINCT_FOLD,
    words="previous and next occurrences, in one pass",
    cost=lambda task: 15.0,
    run=slide_distinct,
    needs=(
        no_exclude,
        forward,
        invertible,
        exact_aggregate,
    ),
)
SWEPT_SEGMENT_TREE = Algorithm(
    name="swept_segment_tree",
    operation=DISTINCT_FOLD,
    words="a tree of first occurrences, swept over sorted bounds",
    cost=lambda task: 40.0 + 18.0 * task.levels,
    run=sweep_distinct,
)
