"""Framing: the edges of frames, one pass over all partitions for each side of the frame.

An edge is a position for every row: the first row of the frame, or the one after its last. Frames of ROWS
count positions, frames of GROUPS count groups of peers, and frames of RANGE look for a key: by merging where
targets ascend like the keys, and else from where the edge of the row before was, by steps that double.

needs   rows sorted by partition and key; peers as the position at which each row's group starts
time    1 step a row, RANGE 2; with an offset of its own for each row log n
space   the edges; GROUPS: two positions a row more
paper   none; exponential search is Bentley and Yao 1976
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sash.kernels.compiling import routine

FALLS, CROSSES = 1, 2  # what a survey finds


@routine
def rows_edge(segments: Any, p: int, r0: int, r1: int, shift: int, out: Any) -> int:
    """Write the position so many rows on, cut at the edges of the partition; p is the partition of r0."""
    while segments[p] < r1:
        begin, end = segments[p], segments[p + 1]
        for i in range(max(begin, r0), min(end, r1)):
            out[np.uint64(i)] = min(max(i + shift, begin), end)
        p += 1
    return 0


@routine
def rows_edge_each(segments: Any, p: int, r0: int, r1: int, offsets: Any, more: int, out: Any) -> int:
    """Write the position as many rows on as the row says, and ``more``."""
    while segments[p] < r1:
        begin, end = segments[p], segments[p + 1]
        for i in range(max(begin, r0), min(end, r1)):
            offset = max(min(offsets[np.uint64(i)], end - i), begin - i - 1)  # first, since the sum could overflow
            out[np.uint64(i)] = min(max(i + offset + more, begin), end)
        p += 1
    return 0


@routine
def peer_stops(peers: Any, r0: int, r1: int, last: int, out: Any) -> int:
    """Write where each row's peers stop; those of row r1 - 1 stop at ``last``."""
    stop = last
    for i in range(r1 - 1, r0 - 1, -1):
        out[np.uint64(i)] = stop
        if peers[np.uint64(i)] == i:
            stop = i
    return 0


@routine
def number_groups(peers: Any, numbers: Any, starts: Any) -> int:
    """Number the groups of peers through all partitions; write where each starts, and return how many."""
    group = -1
    for i in range(len(peers)):
        if peers[i] == i:
            group += 1
            starts[group] = i
        numbers[i] = group
    starts[group + 1] = len(peers)
    return group + 1


@routine
def groups_edge(
    segments: Any, p: int, r0: int, r1: int, numbers: Any, starts: Any, offsets: Any, more: int, out: Any
) -> int:
    """Write the start of the group so many groups on: ``more``, and what the row says where rows have offsets."""
    each = len(offsets) > 0
    while segments[p] < r1:
        begin, end = segments[p], segments[p + 1]
        if begin < end:
            least, most = np.int64(numbers[begin]), np.int64(numbers[end - 1]) + 1
            for i in range(max(begin, r0), min(end, r1)):
                group = np.int64(numbers[i])
                shift = more
                if each:
                    shift += max(min(offsets[i], most - group), least - group - 1)
                out[i] = starts[min(max(group + shift, least), most)]
        p += 1
    return 0


@routine
def known_rows(segments: Any, valid: Any, nulls_first: int, firsts: Any, lasts: Any) -> int:
    """Write where the keys that are not NULL begin and end in each partition."""
    for p in range(len(segments) - 1):
        begin, end = segments[p], segments[p + 1]
        firsts[p], lasts[p] = begin, end
        while begin < end:
            middle = (begin + end) // 2
            if (valid[middle] != 0) != (nulls_first != 0):
                begin = middle + 1
            else:
                end = middle
        if nulls_first:
            firsts[p] = begin
        else:
            lasts[p] = begin
    return 0


def _write_nulls(begin: int, first: int, last: int, end: int, stops: int, r0: int, r1: int, out: Any) -> None:
    """Give rows without a key the edges of their group: NULLs are peers of each other only."""
    for i in range(max(begin, r0), min(first, r1)):
        out[i] = first if stops else begin
    for i in range(max(last, r0), min(end, r1)):
        out[i] = end if stops else last


def _within(key: Any, target: Any, stops: int) -> bool:
    """Whether a row lies left of the edge: before the target, or where frames stop, not after it."""
    return key <= target if stops else key < target


def _seek(keys: Any, first: int, last: int, j: int, target: Any, stops: int) -> int:
    """Find the edge in [first, last], looking from j on by steps that double, to the right or to the left."""
    if j < last and _within(keys[j], target, stops):
        j += 1
        step = 1
        while j + step <= last and _within(keys[j + step - 1], target, stops):
            j += step
            step *= 2
        least, most = j, min(j + step - 1, last)
    elif j > first and not _within(keys[j - 1], target, stops):
        j -= 1
        step = 1
        while j - step >= first and not _within(keys[j - step], target, stops):
            j -= step
            step *= 2
        least, most = max(j - step + 1, first), j
    else:
        return j
    while least < most:  # rows left of least are within, those from most on are not
        middle = (least + most) // 2
        if _within(keys[middle], target, stops):
            least = middle + 1
        else:
            most = middle
    return least


@routine
def seek_edge(
    segments: Any, p: int, r0: int, r1: int, firsts: Any, lasts: Any, keys: Any, targets: Any, stops: int, out: Any
) -> int:
    """Write where the rows begin, or stop, whose keys reach the target of each row; keys ascend."""
    while segments[p] < r1:
        first, last = firsts[p], lasts[p]
        _write_nulls(segments[p], first, last, segments[p + 1], stops, r0, r1, out)
        j = first
        for i in range(max(first, r0), min(last, r1)):
            j = _seek(keys, first, last, j, targets[i], stops)
            out[i] = j
        p += 1
    return 0


def _steps(key: Any, target: Any, stop: Any) -> Any:
    """1 where the edge moves on by a row, else 0: there is no branch to guess wrong."""
    return np.uint64(key < target) | (stop & np.uint64(key == target))


def _merge(keys: Any, targets: Any, more: Any, stop: Any, i: Any, row_end: Any, j: Any, key_end: Any, out: Any) -> None:
    """Write the edges of rows from i on, the first of which is at j or after it."""
    while i < row_end and j < key_end:
        out[i] = j
        step = _steps(keys[j], targets[i] + more, stop)
        j += step
        i += np.uint64(1) - step
    while i < row_end:
        out[i] = j
        i += np.uint64(1)


@routine
def merge_edge(
    segments: Any,
    p: int,
    r0: int,
    r1: int,
    firsts: Any,
    lasts: Any,
    keys: Any,
    targets: Any,
    shift: Any,
    stops: int,
    out: Any,
) -> int:
    """Write the same where the targets ascend too; ``shift[0]`` is added to each. A step moves on a row or the edge.

    The halves of a long partition are merged side by side, since each step of one waits for the step before.
    """
    more, stop, one = shift[0], np.uint64(stops), np.uint64(1)
    while segments[p] < r1:
        first, last = firsts[p], lasts[p]
        _write_nulls(segments[p], first, last, segments[p + 1], stops, r0, r1, out)
        begin, end = max(first, r0), min(last, r1)
        i, row_end, j, key_end = np.uint64(begin), np.uint64(end), np.uint64(first), np.uint64(last)
        if first < begin < end:
            j = np.uint64(_seek(keys, first, last, first, targets[begin] + more, stops))
        if end - begin > 64:
            middle = (begin + end) // 2
            i2, row_end2 = np.uint64(middle), row_end
            j2 = np.uint64(_seek(keys, first, last, middle, targets[middle] + more, stops))
            row_end = i2
            while i < row_end and i2 < row_end2 and j < key_end and j2 < key_end:
                out[i] = j
                out[i2] = j2
                step, step2 = _steps(keys[j], targets[i] + more, stop), _steps(keys[j2], targets[i2] + more, stop)
                j += step
                j2 += step2
                i += one - step
                i2 += one - step2
            _merge(keys, targets, more, stop, i2, row_end2, j2, key_end, out)
        _merge(keys, targets, more, stop, i, row_end, j, key_end, out)
        p += 1
    return 0


@routine
def merge_between(
    starts: Any,
    p: int,
    r0: int,
    r1: int,
    firsts: Any,
    lasts: Any,
    keys: Any,
    targets: Any,
    shift: Any,
    stops: int,
    out: Any,
) -> int:
    """Write where rows of another table begin, or stop, whose keys reach the target of each row.

    Rows from ``starts[p]`` on look at the keys from ``firsts[p]`` to ``lasts[p]``; keys and targets ascend. Few rows
    among many keys step by doubling, others merge.
    """
    more, stop = shift[0], np.uint64(stops)
    while starts[p] < r1:
        begin, end = max(starts[p], r0), min(starts[p + 1], r1)
        first, last = firsts[p], lasts[p]
        if begin < end:
            j = first if begin == starts[p] else _seek(keys, first, last, first, targets[begin] + more, stops)
            if 16 * (end - begin) < last - first:
                for i in range(begin, end):
                    j = _seek(keys, first, last, j, targets[i] + more, stops)
                    out[i] = j
            else:
                row, row_end, key, key_end = np.uint64(begin), np.uint64(end), np.uint64(j), np.uint64(last)
                _merge(keys, targets, more, stop, row, row_end, key, key_end, out)
        p += 1
    return 0


@routine
def seek_between(
    starts: Any, p: int, r0: int, r1: int, firsts: Any, lasts: Any, keys: Any, targets: Any, stops: int, out: Any
) -> int:
    """Write the same where targets go back and forth."""
    while starts[p] < r1:
        first, last = firsts[p], lasts[p]
        j = first
        for i in range(max(starts[p], r0), min(starts[p + 1], r1)):
            j = _seek(keys, first, last, j, targets[i], stops)
            out[i] = j
        p += 1
    return 0


@routine
def survey(lo: Any, hi: Any, r0: int, r1: int) -> int:
    """Find whether an edge ever falls, and whether a frame begins after its end."""
    falls = crosses = 0
    one = np.uint64(1)
    for i in range(np.uint64(max(r0, 1)), np.uint64(r1)):
        falls += (lo[i] < lo[i - one]) + (hi[i] < hi[i - one])
    for i in range(np.uint64(r0), np.uint64(r1)):
        crosses += lo[i] > hi[i]
    return (FALLS if falls else 0) + (CROSSES if crosses else 0)


@routine
def cut_to_frames(edges: Any, lo: Any, hi: Any, r0: int, r1: int, out: Any) -> int:
    """Write an edge of what EXCLUDE takes out, cut to the frame."""
    for i in range(np.uint64(r0), np.uint64(r1)):
        out[i] = min(max(edges[i], lo[i]), hi[i])
    return 0


@routine
def rows_in_frames(lo: Any, hi: Any, r0: int, r1: int, out: Any) -> int:
    """Write the row itself where its frame holds it, else -1."""
    for i in range(np.uint64(r0), np.uint64(r1)):
        inside = (lo[i] <= i) & (i < hi[i])
        out[i] = np.int64(i) if inside else np.int64(-1)
    return 0


@routine
def count_selected(selected: Any, r0: int, r1: int, counted: int, before: Any) -> int:
    """Write how many rows are kept before each position from r0 on; ``counted`` are before r0."""
    for i in range(r0, r1):
        before[np.uint64(i)] = counted
        counted += selected[np.uint64(i)]
    before[r1] = counted
    return counted


@routine
def through(before: Any, positions: Any, r0: int, r1: int, out: Any) -> int:
    """Write the index of each edge."""
    for i in range(r0, r1):
        out[np.uint64(i)] = before[np.uint64(positions[np.uint64(i)])]
    return 0


@routine
def rows_through(before: Any, positions: Any, r0: int, r1: int, out: Any) -> int:
    """Write the index of each position; -1 where it is not kept, or there is none."""
    for i in range(r0, r1):
        position = positions[i]
        index = -1
        if position >= 0 and before[position] < before[position + 1]:
            index = before[position]
        out[i] = index
    return 0
