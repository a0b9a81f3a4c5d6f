"""Sorted runs of the rows of each key, merged geometrically: the levels of a merge sort tree that grows at its end.

The words of rows lie in rings. Every 2^low places are sorted once they are full, and every 2^step such runs merged
into one of the next level, as in a log-structured merge tree: a row is moved once a level, however often windows
slide over it. A window is some whole runs, few of each level, and some rows at its ends that are in no whole run.

A run lies in its level where its rows lie in their ring; ``above`` is where the levels of a key begin. The longest are
half as long as the ring: a longer one would hardly ever be whole.

order   places; a word is whatever orders the values of rows
time    log rows for each that comes, amortised; log^2 rows for a window
space   8 bytes a slot and level
paper   framed-holistic-windows-2022, 6 (outlook); levels as in O'Neil et al., The log-structured merge-tree, 1996
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sash.kernels.compiling import routine

LISTS = 640  # runs of a window at most: 2 * (2^step - 1) a level
WORK = 4 * LISTS


@routine
def build_levels(keys, since, base, room, above, head, tail, words, levels, spare, low, step):  # type: ignore[no-untyped-def]
    """Sort and merge the runs of keys that are full, from a place of each on; returns how many words were moved."""
    moved = 0
    for i in range(len(keys)):
        key = keys[i]
        mask, log, under = room[key] - 1, low, base[key]
        here = above[key]
        while (2 << log) <= room[key]:
            size = 1 << log
            run = max(since[i] >> log, (head[key] + size - 1) >> log)
            while (run + 1) << log <= tail[key]:
                place = (run << log) & mask
                if log == low:
                    for k in range(size):
                        levels[here + place + k] = words[under + place + k]
                    sort_few(levels, here + place, size)
                    moved += size
                else:
                    merge_runs(levels, under + place, here + place, spare, size, step)
                    moved += size * step
                run += 1
            under, here, log = here, here + room[key], log + step
    return moved


@routine
def select_words(keys, lo, hi, wanted, pairs, base, room, above, words, levels, low, step,  # type: ignore[no-untyped-def]
                 start, stop, loose, work, first, second):  # fmt: skip
    """The k-th smallest word of windows, and where ``pairs`` says so the one after it."""
    for i in range(start, stop):
        k = wanted[i]
        if k < 0:
            continue
        few, lists = part(keys[i], lo[i], hi[i], base, room, above, words, low, step, loose, work)
        sort_few(loose, 0, few)
        # of list j: where what is left of it begins and ends, where it ends as a whole, and where the pivot is
        work[0], work[1], work[2] = 0, few, few
        rounds = 0
        while True:
            largest, most, total = 0, -1, 0
            for j in range(lists):
                size = work[4 * j + 1] - work[4 * j]
                total += size
                if size > most:
                    largest, most = j, size
            if rounds > 4 and rounds & 1:
                pick = work[4 * largest] + (most >> 1)
            else:  # about where it lies, if values are alike everywhere
                pick = work[4 * largest] + min(int(float(most) * float(k) / float(total)), most - 1)
            rounds += 1
            pivot = loose[pick] if largest == 0 else levels[pick]
            less = 0
            for j in range(lists):
                begin, end = work[4 * j], work[4 * j + 1]
                at = lower(loose, begin, end, pivot) if j == 0 else lower(levels, begin, end, pivot)
                work[4 * j + 3] = at
                less += at - begin
            if k < less:
                for j in range(lists):
                    work[4 * j + 1] = work[4 * j + 3]
                continue
            upto = less
            for j in range(lists):
                begin, end = work[4 * j + 3], work[4 * j + 1]
                at = upper(loose, begin, end, pivot) if j == 0 else upper(levels, begin, end, pivot)
                upto += at - begin
                work[4 * j] = at
            if k >= upto:
                k -= upto
                continue
            first[i] = pivot
            if pairs[i]:
                after, some = pivot, k + 1 < upto
                for j in range(lists):
                    at = work[4 * j]
                    if k + 1 >= upto and at < work[4 * j + 2]:
                        word = loose[at] if j == 0 else levels[at]
                        if not some or word < after:
                            after, some = word, True
                second[i] = after
            break
    return 0


@routine
def count_smaller(keys, lo, hi, threshold, base, room, above, words, levels, low, step,  # type: ignore[no-untyped-def]
                  start, stop, loose, work, out):  # fmt: skip
    """How many words of windows are below a threshold."""
    for i in range(start, stop):
        few, lists = part(keys[i], lo[i], hi[i], base, room, above, words, low, step, loose, work)
        count = 0
        for j in range(few):
            count += loose[j] < threshold[i]
        for j in range(1, lists):
            count += lower(levels, work[4 * j], work[4 * j + 1], threshold[i]) - work[4 * j]
        out[i] = count
    return 0


def part(key: Any, lo: Any, hi: Any, base: Any, room: Any, above: Any, words: Any, low: Any, step: Any,
         loose: Any, work: Any) -> Any:  # fmt: skip
    """The words of a window that are in no whole run of it, and its runs, from the second list on; how many of both."""
    place, few, lists, least, mask = lo, 0, 1, 1 << low, room[key] - 1
    while place < hi:
        if place & (least - 1) == 0 and place + least <= hi and 2 * least <= room[key]:
            size, at = least, above[key]
            while True:
                larger = size << step
                if place & (larger - 1) != 0 or place + larger > hi or 2 * larger > room[key]:
                    break
                size, at = larger, at + room[key]
            begin = at + (place & mask)
            work[4 * lists], work[4 * lists + 1], work[4 * lists + 2] = begin, begin + size, begin + size
            lists += 1
            place += size
        else:
            loose[few] = words[base[key] + (place & mask)]
            few += 1
            place += 1
    return few, lists


def sort_few(array: Any, begin: Any, count: Any) -> None:
    """Sort a few words, by insertion with halving gaps."""
    gap = 1
    while 3 * gap < count:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(begin + gap, begin + count):
            word, at = array[i], i
            while at >= begin + gap and array[at - gap] > word:
                array[at] = array[at - gap]
                at -= gap
            array[at] = word
        gap //= 3


def merge_runs(levels: Any, source: Any, target: Any, spare: Any, size: Any, step: Any) -> None:
    """Merge the 2^step runs of a level that are the next one's run, pair by pair."""
    width = size >> step
    for turn in range(step):
        into_target = (step - 1 - turn) & 1 == 0
        for at in range(0, size, 2 * width):
            if turn == 0 and into_target:
                merge_pair(levels, source + at, levels, target + at, width)
            elif turn == 0:
                merge_pair(levels, source + at, spare, at, width)
            elif into_target:
                merge_pair(spare, at, levels, target + at, width)
            else:
                merge_pair(levels, target + at, spare, at, width)
        width *= 2


def merge_pair(source: Any, begin: Any, target: Any, out: Any, width: Any) -> None:
    """Merge two sorted runs that are neighbours."""
    left, right, stop, end = begin, begin + width, begin + width, begin + 2 * width
    if source[stop - 1] <= source[stop]:
        for k in range(2 * width):
            target[out + k] = source[begin + k]
        return
    while left < stop and right < end:
        a, b = source[left], source[right]
        older = a <= b
        target[out] = a if older else b
        left += older
        right += not older
        out += 1
    while left < stop:
        target[out] = source[left]
        left, out = left + 1, out + 1
    while right < end:
        target[out] = source[right]
        right, out = right + 1, out + 1


def lower(array: Any, begin: Any, end: Any, word: Any) -> Any:
    """The first place of a sorted stretch that is not below a word."""
    count = end - begin
    while count > 0:
        half = count >> 1
        if array[np.uint64(begin + half)] < word:
            begin += half + 1
            count -= half + 1
        else:
            count = half
    return begin


def upper(array: Any, begin: Any, end: Any, word: Any) -> Any:
    """The first place of a sorted stretch that is above a word, which mostly is near its beginning."""
    gap = 1
    while begin < end and array[np.uint64(begin)] == word:
        if begin + gap < end and array[np.uint64(begin + gap)] == word:
            begin, gap = begin + gap, 2 * gap
        else:
            gap = 1
            begin += 1
    return begin
