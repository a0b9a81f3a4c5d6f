"""Segments: where the cells of each key lie, sorted by position, with room for more behind them.

All keys share one arena of slots. A key has a segment of it: ``base`` is where it begins, ``room`` how many slots it
has (a power of two), and its cells are at ``base + head`` to ``base + tail``. Cells leave in front and mostly come
behind; one that comes between others moves those behind it. Cells that came are sorted by key and position, too, and
each but once: a run of them is of one key.

order   any; positions are searched from the newest cell backwards
time    log2 of the distance from the newest cell for each that comes; a step for each cell that moves
space   16 bytes a slot and 32 a key
"""

from __future__ import annotations

from sash.kernels.compiling import routine

RUNS, FRESH, FULL, CHANGED = range(4)


@routine
def look_up(keys, at, base, room, head, tail, slots, place, hit, runs, marks):  # type: ignore[no-untyped-def]
    """Find the place of each cell that came, and whether there is one at its position; count what that asks for."""
    i, count, fresh, full, changed = 0, 0, 0, 0, 0
    while i < len(keys):
        key = keys[i]
        low, stop = base[key] + head[key], base[key] + tail[key]
        runs[count] = i
        new, moved = 0, 0
        while i < len(keys) and keys[i] == key:
            position, high, step = at[i], stop, 1
            bottom = low
            while high > low:
                probe = max(high - step, low)
                if slots[probe] < position:
                    bottom = probe + 1
                    break
                high, step = probe, 2 * step
            while bottom < high:
                middle = (bottom + high) >> 1
                if slots[middle] < position:
                    bottom = middle + 1
                else:
                    high = middle
            low = bottom
            place[i] = low - base[key]
            hit[i] = low < stop and slots[low] == position
            if hit[i] == 0:
                if new == 0:
                    moved = stop - low
                new += 1
            i += 1
        changed += moved + i - runs[count]
        full += tail[key] + new > room[key]
        fresh += new
        count += 1
    runs[count] = len(keys)
    marks[RUNS], marks[FRESH], marks[FULL], marks[CHANGED] = count, fresh, full, changed
    return 0


@routine
def take_places(keys, at, place, hit, runs, count, base, tail, slots):  # type: ignore[no-untyped-def]
    """Move the positions of cells that are behind new ones, and write those of the new."""
    for r in range(count):
        key = keys[runs[r]]
        shift, upto = 0, tail[key]
        for i in range(runs[r], runs[r + 1]):
            shift += hit[i] == 0
        tail[key] += shift
        i = runs[r + 1] - 1
        while shift > 0:
            if hit[i] == 0:
                for slot in range(base[key] + upto - 1, base[key] + place[i] - 1, -1):
                    slots[slot + shift] = slots[slot]
                upto = place[i]
                shift -= 1
                slots[base[key] + upto + shift] = at[i]
            i -= 1
    return 0


@routine
def find_ranges(keys, starts, ends, base, head, tail, slots, lo, hi):  # type: ignore[no-untyped-def]
    """Find the cells of windows, counted from the base of their keys; returns how many have one."""
    count = 0
    for i in range(len(keys)):
        key = keys[i]
        first, stop = base[key] + head[key], base[key] + tail[key]
        bottom, high, step = first, stop, 1
        while high > first:
            probe = max(high - step, first)
            if slots[probe] < ends[i]:
                bottom = probe + 1
                break
            high, step = probe, 2 * step
        while bottom < high:
            middle = (bottom + high) >> 1
            if slots[middle] < ends[i]:
                bottom = middle + 1
            else:
                high = middle
        hi[i] = bottom - base[key]
        bottom, high = first, bottom
        while bottom < high:
            middle = (bottom + high) >> 1
            if slots[middle] < starts[i]:
                bottom = middle + 1
            else:
                high = middle
        lo[i] = bottom - base[key]
        count += lo[i] < hi[i]
    return count


@routine
def let_go(keys, cuts, base, head, tail, slots):  # type: ignore[no-untyped-def]
    """Let go of the cells of keys before a position, each its own, or one for all; returns how many these are."""
    count = 0
    for i in range(len(keys)):
        key, cut = keys[i], cuts[i if len(cuts) > 1 else 0]
        first, stop = head[key], tail[key]
        while first < stop and slots[base[key] + first] < cut:
            first += 1
        count += first - head[key]
        if first == stop:
            first = tail[key] = 0
        head[key] = first
    return count
