"""Sweeping with the paper's own structure: an index of the end points of events, which windows read as they end.

The paper has a ``std::map`` of starts and one of ends. Here each is a skip list, which also takes log n steps to
search: an event goes into it as it comes, a window reads on to its bound and deletes what it has read. For max, the
events read that no later one beats are kept by their ends, as in Sash's own sweeping. Windows go forward, and each is
released so late that all events that begin before its end have come.
"""

from __future__ import annotations

import numpy as np

from sash.kernels.compiling import routine

LEVELS, NONE = 12, -1  # of a skip list, each with a quarter of the nodes of the one below
SEED, FREE, NEXT = LEVELS, LEVELS + 1, LEVELS + 2  # its marks after the first nodes of all levels: of what heights are
# drawn, the first node let go, and the first that was never used


def enter(marks, keys, events, links, key, event):  # type: ignore[no-untyped-def]
    """Put an event into an index, behind those with the same key."""
    node = marks[FREE]
    if node >= 0:
        marks[FREE] = links[node * LEVELS]
    else:
        node = marks[NEXT]
        marks[NEXT] += 1
    marks[SEED] = (marks[SEED] * 1103515245 + 12345) & 0x7FFFFFFF
    draw, height, before = marks[SEED] >> 7, 1, np.int64(NONE)
    while height < LEVELS and draw & 3 == 0:
        draw >>= 2
        height += 1
    keys[node], events[node] = key, event
    for level in range(LEVELS - 1, -1, -1):
        after = marks[level] if before < 0 else np.int64(links[before * LEVELS + level])
        while after >= 0 and keys[after] <= key:
            before, after = after, np.int64(links[after * LEVELS + level])
        if level < height:
            links[node * LEVELS + level] = after
            if before < 0:
                marks[level] = node
            else:
                links[before * LEVELS + level] = node


def leave(marks, links):  # type: ignore[no-untyped-def]
    """Delete the first node of an index."""
    node = marks[0]
    for level in range(LEVELS):
        if marks[level] == node:
            marks[level] = links[node * LEVELS + level]
    links[node * LEVELS] = marks[FREE]
    marks[FREE] = node


def between(values, lo, hi, starts, ends, w, totals, counts):  # type: ignore[no-untyped-def]
    """Add the events that begin before a window's end, and take away those that ended before its start."""
    marks, keys, events, links = starts
    total, count = (totals[w - 1], counts[w - 1]) if w > 0 else (0.0, np.int64(0))
    while marks[0] >= 0 and keys[marks[0]] < hi[w]:
        total += values[events[marks[0]]]
        count += 1
        leave(marks, links)
    marks, keys, events, links = ends
    while marks[0] >= 0 and keys[marks[0]] < lo[w]:
        total -= values[events[marks[0]]]
        count -= 1
        leave(marks, links)
    totals[w], counts[w] = total, count


@routine
def sweep_cumulative(values, first, last, lo, hi, postpone, sm, sk, se, sl, em, ek, ee, el, totals, counts):  # type: ignore[no-untyped-def]
    """Sums and counts of windows, by an index of starts and one of ends."""
    starts, ends, done = (sm, sk, se, sl), (em, ek, ee, el), 0
    for i in range(len(first)):
        while done < len(lo) and hi[done] + postpone <= last[i]:
            between(values, lo, hi, starts, ends, done, totals, counts)
            done += 1
        enter(sm, sk, se, sl, first[i], i)
        enter(em, ek, ee, el, last[i], i)
    for w in range(done, len(lo)):
        between(values, lo, hi, starts, ends, w, totals, counts)
    return 0


def seek(ends, head, tail, cell):  # type: ignore[no-untyped-def]
    """The first of the kept that ends at a cell or later."""
    while head < tail:
        middle = (head + tail) >> 1
        if ends[middle] < cell:
            head = middle + 1
        else:
            tail = middle
    return head


def best(values, last, lo, hi, index, w, kept, kept_ends, edges, totals, counts):  # type: ignore[no-untyped-def]
    """Keep those of the events that begin before a window's end that may be its largest, or a later one's."""
    marks, keys, events, links = index
    while marks[0] >= 0 and keys[marks[0]] < hi[w]:
        value, end = values[events[marks[0]]], last[events[marks[0]]]
        leave(marks, links)
        place = seek(kept_ends, edges[0], edges[1], end)
        if place < edges[1] and kept[place] >= value:
            continue
        begin = place
        while begin > edges[0] and kept[begin - 1] <= value:
            begin -= 1
        if place < edges[1] and kept_ends[place] == end:
            place += 1
        move = begin + 1 - place
        if move > 0:
            for k in range(edges[1] - 1, place - 1, -1):
                kept[k + 1], kept_ends[k + 1] = kept[k], kept_ends[k]
        elif move < 0:
            for k in range(place, edges[1]):
                kept[k + move], kept_ends[k + move] = kept[k], kept_ends[k]
        edges[1] += move
        kept[begin], kept_ends[begin] = value, end
    edges[0] = seek(kept_ends, edges[0], edges[1], lo[w])
    counts[w] = edges[1] > edges[0]
    totals[w] = kept[edges[0]]


@routine
def sweep_selective(values, first, last, lo, hi, postpone, sm, sk, se, sl, kept, kept_ends, edges, totals, counts):  # type: ignore[no-untyped-def]
    """The largest of windows, by an index of starts."""
    index, done = (sm, sk, se, sl), 0
    for i in range(len(first)):
        while done < len(lo) and hi[done] + postpone <= last[i]:
            best(values, last, lo, hi, index, done, kept, kept_ends, edges, totals, counts)
            done += 1
        enter(sm, sk, se, sl, first[i], i)
    for w in range(done, len(lo)):
        best(values, last, lo, hi, index, w, kept, kept_ends, edges, totals, counts)
    return 0


def _index(events: int) -> tuple[np.ndarray, ...]:
    marks = np.full(NEXT + 1, NONE)
    marks[SEED], marks[NEXT] = 1, 0
    return marks, *(np.empty(events, np.int64) for _ in range(2)), np.full(events * LEVELS, NONE, np.int32)


def swept(aggregate: str, values, first, last, lo, hi, postpone: int) -> tuple[np.ndarray, np.ndarray]:  # type: ignore[no-untyped-def]
    """The count, sum or max of every window, and how many events it has; of max, whether it has any."""
    events, totals, counts = len(first), np.empty(len(lo)), np.empty(len(lo), np.int64)
    asked = values, first, last, lo, hi, postpone, *_index(events)
    if aggregate == "max":
        kept, edges = np.empty(events + 1), np.zeros(2, np.int64)
        sweep_selective(*asked, kept, np.empty(events + 1, np.int64), edges, totals, counts)
    else:
        sweep_cumulative(*asked, *_index(events), totals, counts)
    return (counts if aggregate == "count" else totals), counts
