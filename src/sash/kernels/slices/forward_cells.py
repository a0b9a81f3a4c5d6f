"""Cells that come into windows which only move forward: those that windows have not had before, of each key.

Windows come sorted by key and end, with the cells of each as slots of its key's segment (``segments``). A key has gone
up to a position: cells before it are in its windows already, or in none any more. What it has are rows by number, from
``head`` to ``tail``, whose positions are kept in a ring, so that a start that moves on finds what leaves.

order   first in, first out, for each key
time    a step for each cell that comes and leaves; log2 of those that come, to find the first
space   8 bytes a cell
"""

from __future__ import annotations

from sash.kernels.compiling import routine
from sash.kernels.slices.assigning import LEAST

KEYS, FRESH, CELLS, BACK = range(4)


@routine
def look_ahead(keys, starts, ends, lo, hi, base, slots, room, since, upto, runs, width, following, marks):  # type: ignore[no-untyped-def]
    """Find the runs of each key, the first cell that is new to it, and how many it needs room for, if more, or anew."""
    i, count, fresh, cells, back = 0, 0, 0, 0, 0
    while i < len(keys):
        key, begin = keys[i], i
        start, end, widest = starts[i], ends[i], 0
        while i < len(keys) and keys[i] == key:
            back += starts[i] < start or ends[i] < end
            start, end = starts[i], ends[i]
            widest = max(widest, hi[i] - lo[i])
            i += 1
        low, high = base[key] + lo[begin], base[key] + max(hi[i - 1], lo[begin])
        if upto[key] == LEAST or widest > room[key]:
            width[count] = max(widest, 1)
            fresh += 1
        else:
            width[count] = 0
            back += starts[begin] < since[key] or ends[begin] < upto[key]
            bottom, top, step = low, high, 1
            while top > low:
                probe = max(top - step, low)
                if slots[probe] < upto[key]:
                    bottom = probe + 1
                    break
                top, step = probe, 2 * step
            while bottom < top:
                middle = (bottom + top) >> 1
                if slots[middle] < upto[key]:
                    bottom = middle + 1
                else:
                    top = middle
            low = bottom
        runs[count], following[count] = begin, low - base[key]
        cells += high - low
        count += 1
    runs[count] = len(keys)
    marks[KEYS], marks[FRESH], marks[CELLS], marks[BACK] = count, fresh, cells, back
    return 0


@routine
def go_forward(  # type: ignore[no-untyped-def]
    keys, runs, following, starts, lo, hi, base, room, slots, live,
    own_base, own_room, head, tail, at, which, shifts, first_row, last_row,
):  # fmt: skip
    """List the leaves of cells that come, and the rows of each window; returns how many come."""
    count = 0
    for r in range(len(runs) - 1):
        key = keys[runs[r]]
        first, last, slot = head[key], tail[key], following[r]
        cells, leaves = base[key], 2 * base[key] + room[key]
        ring, mask = own_base[key], own_room[key] - 1
        shifts[r] = last - count
        for i in range(runs[r], runs[r + 1]):
            while first < last and at[ring + (first & mask)] < starts[i]:
                first += 1
            slot = max(slot, lo[i])
            while slot < hi[i]:
                if live[leaves + slot] != 0:
                    at[ring + (last & mask)] = slots[cells + slot]
                    which[count] = leaves + slot
                    count += 1
                    last += 1
                slot += 1
            first_row[i], last_row[i] = first, last
        head[key], tail[key] = first, last
    return count
