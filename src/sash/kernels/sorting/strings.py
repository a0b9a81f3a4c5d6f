"""Strings of bytes as numbers in the same order.

A word holds seven bytes of a string and how many there were, so that equal words of ended strings are equal
strings. Strings of up to seven bytes are their word. Others are sorted by their first words after what all of
them begin with; those that tie by the next, for some rounds, and what still ties then as the caller likes.

needs   offsets into bytes, as Arrow has them
time    a sort of one word a row, and for each further seven bytes of those that tie
space   56 bytes a row at most, the sort included
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from sash.kernels.compiling import prefetch, routine
from sash.kernels.sorting.radix import argsort
from sash.kernels.threads import shares, together
from sash.windows.bounds import positions

BYTES = 7  # of a string in a word
AHEAD = 16  # rows whose ranks are on their way to the cache
ROUNDS = 6  # of words that are looked at before the caller is asked


def string_words(offsets: np.ndarray, data: np.ndarray) -> np.ndarray:
    """The first word of each string: all there is of strings of up to seven bytes.

    >>> string_words(np.array([0, 2, 3, 3]), np.frombuffer(b"abc", np.uint8)).argsort().tolist()
    [2, 0, 1]
    """
    return _words_at(offsets, data, np.arange(len(offsets) - 1, dtype=positions(len(offsets))), 0)


def string_ranks(offsets: np.ndarray, data: np.ndarray, ranks_of: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
    """How many strings are less than each; ``ranks_of`` gives any ranks for some rows, by whole strings.

    >>> string_ranks(np.array([0, 2, 3, 5]), np.frombuffer(b"abcab", np.uint8), np.argsort).tolist()
    [0, 2, 0]
    """
    rows = np.arange(len(offsets) - 1, dtype=positions(len(offsets)))
    ranks = np.zeros(len(rows), np.uint64)
    depth = _common(offsets, data)
    for turn in range(ROUNDS):
        if not len(rows):
            break
        rows = _refined(rows, _words_at(offsets, data, rows, depth + turn * BYTES), ranks)
    if len(rows):
        _refined(rows, ranks_of(rows).astype(np.uint64) << np.uint64(8), ranks)  # a length of 0: these have ended
    return ranks


def _words_at(offsets: np.ndarray, data: np.ndarray, rows: np.ndarray, depth: int) -> np.ndarray:
    words = np.empty(len(rows), np.uint64)
    together([partial(_read, offsets, data, rows, depth, a, b, words) for a, b in shares(len(rows))])
    return words


def _refined(rows: np.ndarray, words: np.ndarray, ranks: np.ndarray) -> np.ndarray:
    """Rank rows of equal rank by a word more; returns those that still tie and have not ended."""
    old = ranks[rows]
    order = argsort([old, words])
    rows, rest = rows[order], np.empty_like(rows)
    return rest[: _rank(rows, words[order], old[order], ranks, rest)]


@routine
def _common(offsets: Any, data: Any) -> int:
    """Count the bytes that all strings begin with."""
    if len(offsets) < 2:
        return 0
    begin, same = offsets[0], offsets[1] - offsets[0]
    for row in range(1, len(offsets) - 1):
        start = offsets[row]
        same = min(same, offsets[row + 1] - start)
        for i in range(same):
            if data[np.uint64(start + i)] != data[np.uint64(begin + i)]:
                same = i
                break
        if same == 0:
            break
    return same


@routine
def _read(offsets: Any, data: Any, rows: Any, depth: int, first: int, last: int, words: Any) -> int:
    """Make a word of the bytes of each string from ``depth`` on."""
    for i in range(first, last):
        row = np.uint64(rows[np.uint64(i)])
        start, stop = offsets[row] + depth, offsets[row + np.uint64(1)]
        word = np.uint64(0)
        for at in range(start, min(start + BYTES, stop)):
            word = (word << np.uint64(8)) | np.uint64(data[np.uint64(at)])
        missing = max(0, start + BYTES - stop)
        word = word << np.uint64(8 * missing) << np.uint64(8)  # at once, by 64 for a string that has ended: undefined
        words[np.uint64(i)] = word | np.uint64(min(stop - start, BYTES + 1))
    return 0


@routine
def _rank(rows: Any, words: Any, old: Any, ranks: Any, rest: Any) -> int:
    """Move each run of equal words up in the ranks by the rows before it that had the same rank."""
    remaining, begin, group, total = 0, 0, 0, len(rows)
    while begin < total:
        rank, word = old[begin], words[begin]
        if rank != old[group]:
            group = begin
        end = begin + 1
        while end < total and words[np.uint64(end)] == word and old[np.uint64(end)] == rank:
            end += 1
        ties = end - begin > 1 and word & np.uint64(0xFF) > np.uint64(BYTES)
        for i in range(begin, end):
            prefetch(ranks, rows[np.uint64(min(i + AHEAD, total - 1))])
            row = rows[np.uint64(i)]
            ranks[row] = rank + np.uint64(begin - group)
            if ties:
                rest[np.uint64(remaining)] = row
                remaining += 1
        begin = end
    return remaining
