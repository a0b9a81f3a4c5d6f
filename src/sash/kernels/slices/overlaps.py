"""Overlaps: which spans each window holds, window by window.

Spans and windows are sorted by key; spans by their last moment, windows by their ends, and so by their starts. A
span overlaps a run of its key's windows, which a search finds.

order   spans of a window in the order in which they ended
time    two searches a span, and one step for each window that a span overlaps
space   8 bytes for each of these
paper   spanning-event-slicing-2021, 5.3.3: tuple buckets
"""

from __future__ import annotations

import numpy as np

from sash.kernels.compiling import routine


@routine
def find_windows(keys, first, last, window_key, starts, ends, begin, stop, sizes):  # type: ignore[no-untyped-def]
    """Find the windows that each span overlaps, and count the spans of each window."""
    windows, low, high = len(window_key), 0, 0
    for i in range(len(keys)):
        key = keys[i]
        if i == 0 or keys[i - 1] != key:
            low = high
            while low < windows and window_key[low] < key:
                low += 1
            high = low
            while high < windows and window_key[high] == key:
                high += 1
        left, right = low - 1, high  # the first window that ends after the span's first moment
        while right - left > 1:
            middle = (left + right) >> 1
            if ends[middle] > first[i]:
                right = middle
            else:
                left = middle
        begin[i] = right
        left, right = right - 1, high  # the first that starts after its last
        while right - left > 1:
            middle = (left + right) >> 1
            if starts[middle] > last[i]:
                right = middle
            else:
                left = middle
        stop[i] = right
        for window in range(begin[i], stop[i]):
            sizes[window] += 1
    return 0


@routine
def list_spans(begin, stop, low, high, places, spans):  # type: ignore[no-untyped-def]
    """List the spans of windows ``low`` to ``high``, each at the place that its window has come to."""
    for i in range(len(begin)):
        for window in range(max(begin[i], low), min(stop[i], high)):
            spans[places[window - low]] = i
            places[window - low] += 1
    return 0


class Overlaps:
    """The spans of each window of their key."""

    def __init__(
        self,
        keys: np.ndarray,
        first: np.ndarray,
        last: np.ndarray,
        window_key: np.ndarray,
        starts: np.ndarray,
        ends: np.ndarray,
    ) -> None:
        """Find out which windows each span overlaps."""
        self.begin, self.stop = np.empty(len(keys), np.int64), np.empty(len(keys), np.int64)
        sizes = np.zeros(len(window_key), np.int64)
        find_windows(keys, first, last, window_key, starts, ends, self.begin, self.stop, sizes)
        self.offsets = np.append(0, np.cumsum(sizes))

    def pieces(self, most: int) -> list[tuple[int, int]]:
        """Windows from one to another that hold about so many spans in all, or one window that holds more."""
        count, pieces, low = len(self.offsets) - 1, [], 0
        while low < count:
            high = int(np.searchsorted(self.offsets, self.offsets[low] + most, "right")) - 1
            pieces.append((low, max(high, low + 1)))
            low = pieces[-1][1]
        return pieces

    def spans(self, low: int, high: int) -> tuple[np.ndarray, np.ndarray]:
        """The spans of some windows, one window after the other, and where each begins and ends.

        >>> found = Overlaps(*map(np.array, ([0, 0], [1, 3], [4, 9], [0, 0, 0], [0, 2, 4], [2, 4, 6])))
        >>> found.spans(0, 3)
        (array([0, 0, 1, 0, 1]), array([0, 1, 3, 5]))
        """
        offsets = self.offsets[low : high + 1] - self.offsets[low]
        spans = np.empty(int(offsets[-1]), np.int64)
        list_spans(self.begin, self.stop, low, high, offsets[:-1].copy(), spans)
        return spans, offsets
