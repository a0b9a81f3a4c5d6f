"""Windows that hold rows: which windows of a grid have a row of a key, and which rows they have.

Rows, or cells, are sorted by key and position. Each lies in a run of windows; as positions grow, so do the runs,
so that their union is found in one pass.

time    one step a row and window
space   24 bytes a window
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sash.kernels.compiling import routine


@routine
def count_windows(keys, first, last):  # type: ignore[no-untyped-def]
    """How many windows of all keys hold a row."""
    count, key, done = 0, -1, 0
    for i in range(len(keys)):
        begin = first[i]
        if keys[i] != key:
            key, done = keys[i], begin - 1
        begin = max(begin, done + 1)
        if last[i] >= begin:
            count += last[i] - begin + 1
            done = last[i]
    return count


@routine
def count_windows_by_key(keys, first, last, out):  # type: ignore[no-untyped-def]
    """How many windows of each key hold a row; one number for each key, as they come."""
    place, key, done = -1, -1, 0
    for i in range(len(keys)):
        begin = first[i]
        if keys[i] != key:
            key, done = keys[i], begin - 1
            place += 1
        begin = max(begin, done + 1)
        if last[i] >= begin:
            out[place] += last[i] - begin + 1
            done = last[i]
    return place + 1


@routine
def list_windows(keys, first, last, out_key, out_window):  # type: ignore[no-untyped-def]
    """List the windows of each key that hold a row."""
    count, key, done = 0, -1, 0
    for i in range(len(keys)):
        begin = first[i]
        if keys[i] != key:
            key, done = keys[i], begin - 1
        begin = max(begin, done + 1)
        for window in range(begin, last[i] + 1):
            out_key[count], out_window[count] = key, window
            count += 1
            done = window
    return count


@routine
def find_bounds(keys, at, window_keys, starts, ends, lo, hi):  # type: ignore[no-untyped-def]
    """Find the rows of each window, which are sorted by key and end, and by start, too."""
    rows, first, stop = len(keys), 0, 0
    for i in range(len(window_keys)):
        key, start, end = window_keys[i], starts[i], ends[i]
        while first < rows and (keys[first] < key or (keys[first] == key and at[first] < start)):
            first += 1
        stop = max(stop, first)
        while stop < rows and (keys[stop] < key or (keys[stop] == key and at[stop] < end)):
            stop += 1
        lo[i], hi[i] = first, stop
    return 0


class Windows(NamedTuple):
    """Windows of keys, by number."""

    key: np.ndarray
    number: np.ndarray


def windows_of(keys: np.ndarray, first: np.ndarray, last: np.ndarray) -> Windows:
    """The windows that hold a row, sorted by key and number; rows say which windows hold them.

    >>> windows_of(np.array([0, 0, 1]), np.array([3, 4, 0]), np.array([4, 6, -1])).number.tolist()
    [3, 4, 5, 6]
    """
    count = count_windows(keys, first, last)
    out = Windows(np.empty(count, np.int64), np.empty(count, np.int64))
    list_windows(keys, first, last, *out)
    return out


def bounds_of(
    keys: np.ndarray, at: np.ndarray, window_keys: np.ndarray, starts: np.ndarray, ends: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Where the rows of each window begin and end among the sorted rows."""
    lo, hi = np.empty(len(window_keys), np.int64), np.empty(len(window_keys), np.int64)
    find_bounds(keys, at, window_keys, starts, ends, lo, hi)
    return lo, hi
