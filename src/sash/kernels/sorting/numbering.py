"""Numbering: words numbered in the order they first occur, by a hash table that grows with what is distinct.

The hash is mixed with a number that every process draws anew, so that keys cannot be chosen to collide.

needs   uint64 words; only equality counts
time    about one look into the table a row, none where the word before is the same
space   32 bytes a distinct word, and 8 a row for the answer
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np

from sash.kernels.compiling import routine
from sash.kernels.sorting.occurrences import splitmix

SEED = np.frombuffer(os.urandom(8), np.uint64)
FIRST = 1 << 10  # entries of the first table
DONE, COUNT = range(2)


@routine
def number(words: Any, seed: Any, table: Any, numbers: Any, firsts: Any, marks: Any) -> int:
    """Number words from where it stopped; stops again when the table, of numbers or -1, is half full."""
    mask, count, room = np.uint64(len(table) - 1), marks[COUNT], len(table) >> 1
    last, known = np.uint64(0), np.int64(-1)
    for i in range(marks[DONE], len(words)):
        word = words[np.uint64(i)]
        if known < 0 or word != last:
            slot = splitmix(word ^ seed[0]) & mask
            while table[slot] >= 0 and words[np.uint64(firsts[np.uint64(table[slot])])] != word:
                slot = (slot + np.uint64(1)) & mask
            if table[slot] < 0:
                if count == room:
                    marks[DONE], marks[COUNT] = i, count
                    return 1
                table[slot] = count
                firsts[count] = i
                count += 1
            last, known = word, np.int64(table[slot])
        numbers[np.uint64(i)] = known
    marks[DONE], marks[COUNT] = len(words), count
    return 0


@routine
def refill(words: Any, seed: Any, table: Any, firsts: Any, count: int) -> int:
    """Put the words numbered so far into a new table."""
    mask = np.uint64(len(table) - 1)
    for k in range(count):
        slot = splitmix(words[np.uint64(firsts[k])] ^ seed[0]) & mask
        while table[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        table[slot] = k
    return 0


def numbered(words: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The number of each word, and the row at which each number first occurs.

    >>> numbers, firsts = numbered(np.array([7, 7, 3, 7, 9], np.uint64))
    >>> numbers.tolist(), firsts.tolist()
    ([0, 0, 1, 0, 2], [0, 2, 4])
    """
    table = np.full(FIRST, -1, np.int64)
    numbers, marks = np.empty(len(words), np.int64), np.zeros(2, np.int64)
    firsts = np.empty(len(table) // 2, np.int64)
    while number(words, SEED, table, numbers, firsts, marks):
        table = np.full(4 * len(table), -1, np.int64)
        firsts = np.append(firsts, np.empty(len(table) // 2 - len(firsts), np.int64))
        refill(words, SEED, table, firsts, int(marks[COUNT]))
    return numbers, firsts[: int(marks[COUNT])].copy()
