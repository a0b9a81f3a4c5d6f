"""Rings of rows: where the rows of each key lie, by position, in room that is used again as rows leave in front.

All keys share one arena of slots. A key has ``room`` of it from ``base`` on, a power of two; its rows are numbered by
places that only grow, from ``head`` to ``tail``, and place p has slot ``base + p mod room``. Whatever is known of rows
(positions, values) is an array over the same slots. Rows that come are sorted by key and position; those of one key
are a run, and rows that are not the last move the ones behind them.

order   any; positions are searched from the newest row backwards, and equal ones stay as they came
time    log2 of the distance from the newest row for each that comes; a step for each row that moves
space   8 bytes a slot and array, 40 a key
"""

from __future__ import annotations

from sash.kernels.compiling import routine

RUNS, FULL, MOVED = range(3)


@routine
def look_up_rows(keys, at, base, room, head, tail, ring, place, runs, marks):  # type: ignore[no-untyped-def]
    """Find the place before which each row belongs; count the runs, the keys without room, and the rows that move."""
    i, count, full, moved = 0, 0, 0, 0
    while i < len(keys):
        key = keys[i]
        first, mask, bottom = base[key], room[key] - 1, head[key]
        runs[count] = i
        while i < len(keys) and keys[i] == key:
            position, high, step = at[i], tail[key], 1
            low = bottom
            while high > low:
                probe = max(high - step, low)
                if ring[first + (probe & mask)] <= position:
                    low = probe + 1
                    break
                high, step = probe, 2 * step
            while low < high:
                middle = (low + high) >> 1
                if ring[first + (middle & mask)] <= position:
                    low = middle + 1
                else:
                    high = middle
            bottom = low
            place[i] = low
            i += 1
        full += tail[key] - head[key] + i - runs[count] > room[key]
        moved += tail[key] - place[runs[count]]
        count += 1
    runs[count] = len(keys)
    marks[RUNS], marks[FULL], marks[MOVED] = count, full, moved
    return 0


@routine
def put_in(keys, place, runs, count, base, room, tail, values, ring):  # type: ignore[no-untyped-def]
    """Move what is behind rows that came, and write what these have; ``tail`` is where it was before."""
    for r in range(count):
        key = keys[runs[r]]
        first, mask = base[key], room[key] - 1
        upto, shift = tail[key], runs[r + 1] - runs[r]
        for i in range(runs[r + 1] - 1, runs[r] - 1, -1):
            while upto > place[i]:
                upto -= 1
                ring[first + ((upto + shift) & mask)] = ring[first + (upto & mask)]
            shift -= 1
            ring[first + ((upto + shift) & mask)] = values[i]
    return 0


@routine
def move_rings(keys, old, old_room, new, new_room, head, tail, source, target):  # type: ignore[no-untyped-def]
    """Copy the rings of keys to where there is more room for them."""
    for i in range(len(keys)):
        key = keys[i]
        for place in range(head[key], tail[key]):
            target[new[i] + (place & (new_room[i] - 1))] = source[old[i] + (place & (old_room[i] - 1))]
    return 0


@routine
def find_places(keys, starts, ends, base, room, head, tail, ring, lo, hi):  # type: ignore[no-untyped-def]
    """Find the places of the rows of windows; returns how many windows have one."""
    count = 0
    for i in range(len(keys)):
        key = keys[i]
        first, mask = base[key], room[key] - 1
        low, high = head[key], tail[key]
        step = 1
        bottom = low
        while high > low:
            probe = max(high - step, low)
            if ring[first + (probe & mask)] < ends[i]:
                bottom = probe + 1
                break
            high, step = probe, 2 * step
        while bottom < high:
            middle = (bottom + high) >> 1
            if ring[first + (middle & mask)] < ends[i]:
                bottom = middle + 1
            else:
                high = middle
        hi[i] = bottom
        high, bottom = bottom, low
        while bottom < high:
            middle = (bottom + high) >> 1
            if ring[first + (middle & mask)] < starts[i]:
                bottom = middle + 1
            else:
                high = middle
        lo[i] = bottom
        count += lo[i] < hi[i]
    return count


@routine
def drop_rows(cuts, base, room, head, tail, ring):  # type: ignore[no-untyped-def]
    """Let go of the rows of all keys before a position, the same for all or each its own; returns how many."""
    count = 0
    for key in range(len(base)):
        cut, first, mask = cuts[key if len(cuts) > 1 else 0], base[key], room[key] - 1
        before = head[key]
        while head[key] < tail[key] and ring[first + (head[key] & mask)] < cut:
            head[key] += 1
        count += head[key] - before
    return count


@routine
def count_flags(keys, since, base, room, head, tail, flags, before):  # type: ignore[no-untyped-def]
    """How many rows that are flagged come before each row, from a place of each key on."""
    for i in range(len(keys)):
        key, place = keys[i], since[i]
        first, mask = base[key], room[key] - 1
        count = 0
        if place > head[key]:
            slot = first + ((place - 1) & mask)
            count = before[slot] + flags[slot]
        for at in range(place, tail[key]):
            slot = first + (at & mask)
            before[slot] = count
            count += flags[slot]
    return 0


@routine
def count_between(keys, lo, hi, base, room, flags, before, out):  # type: ignore[no-untyped-def]
    """How many rows are flagged from one place to another."""
    for i in range(len(keys)):
        out[i] = 0
        if lo[i] < hi[i]:
            first, mask = base[keys[i]], room[keys[i]] - 1
            last = first + ((hi[i] - 1) & mask)
            out[i] = before[last] + flags[last] - before[first + (lo[i] & mask)]
    return 0


@routine
def unlink(keys, since, base, room, tail, codes, previous, last):  # type: ignore[no-untyped-def]
    """Forget the last occurrences of values among the rows from a place of each key on."""
    for i in range(len(keys)):
        key = keys[i]
        first, mask = base[key], room[key] - 1
        for place in range(tail[key] - 1, since[i] - 1, -1):
            slot = first + (place & mask)
            if codes[slot] >= 0:
                last[codes[slot]] = previous[slot]
    return 0


@routine
def link(keys, since, base, room, tail, codes, none, previous, last):  # type: ignore[no-untyped-def]
    """Say of the rows from a place of each key on where their values occurred before; ``none`` of rows without one."""
    for i in range(len(keys)):
        key = keys[i]
        first, mask = base[key], room[key] - 1
        for place in range(since[i], tail[key]):
            slot = first + (place & mask)
            code = codes[slot]
            previous[slot] = none
            if code >= 0:
                previous[slot] = last[code]
                last[code] = place
    return 0
