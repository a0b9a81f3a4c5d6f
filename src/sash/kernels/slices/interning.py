"""Interning: values, or texts, become numbers by a table of hashes that is kept, each the same number ever after.

order   as they come
needs   a table of a power of two of slots, more than there are values; -1 in slots that are free
time    about one step a value; of texts, one a byte
space   8 bytes a slot, 16 a value, and the bytes of texts
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sash.kernels.compiling import routine
from sash.kernels.slices.assigning import grown
from sash.kernels.slices.hashing import hash_bytes
from sash.kernels.sorting.occurrences import splitmix

FEW = 1 << 4  # values for which there is room at first


class PairNumbers:
    """Pairs of whole numbers, each with a number."""

    def __init__(self) -> None:
        self.count = 0
        self._first, self._second = np.zeros(FEW, np.int64), np.zeros(FEW, np.int64)
        self._table = np.full(4 * FEW, -1)

    def numbers(self, first: np.ndarray, second: np.ndarray, valid: np.ndarray) -> np.ndarray:
        """The number of each pair; -1 for those that are not valid."""
        if (room := self.count + len(first)) > len(self._first):
            self._first, self._second = grown(self._first, room), grown(self._second, room)
        if 2 * room > len(self._table):
            self._table = np.full(1 << (2 * room).bit_length(), -1)
            put_pairs(self._first, self._second, self.count, self._table)
        out = np.empty(len(first), np.int64)
        self.count = number_pairs(first, second, valid, self._table, self._first, self._second, self.count, out)
        return out

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return self._first.nbytes + self._second.nbytes + self._table.nbytes


class TextNumbers:
    """Texts, each with a number."""

    def __init__(self) -> None:
        self.count = 0
        self._ends, self._bytes, self._hashes = (
            np.zeros(FEW, np.int64),
            np.zeros(FEW, np.uint8),
            np.zeros(FEW, np.uint64),
        )
        self._table = np.full(4 * FEW, -1)

    def numbers(self, offsets: np.ndarray, data: np.ndarray, valid: np.ndarray) -> np.ndarray:
        """The number of each text, given where they end in some bytes; -1 for those that are not valid."""
        rows = len(offsets) - 1
        room = self.count + rows + 1
        if room > len(self._ends):
            self._ends, self._hashes = grown(self._ends, room), grown(self._hashes, room)
        if (used := int(self._ends[self.count] + offsets[-1] - offsets[0])) > len(self._bytes):
            self._bytes = grown(self._bytes, used)
        if 2 * room > len(self._table):
            self._table = np.full(1 << (2 * room).bit_length(), -1)
            put_hashes(self._hashes, self.count, self._table)
        out, hashes = np.empty(rows, np.int64), np.empty(rows, np.uint64)
        hash_bytes(offsets, data, hashes)
        self.count = number_texts(
            offsets, data, hashes, valid, self._table, self._ends, self._bytes, self._hashes, self.count, out
        )
        return out

    @property
    def size(self) -> int:
        """How many bytes it has."""
        return self._ends.nbytes + self._bytes.nbytes + self._hashes.nbytes + self._table.nbytes


@routine
def number_pairs(first, second, valid, table, known_first, known_second, count, out):  # type: ignore[no-untyped-def]
    """Number pairs as they come, those that are new behind the others; returns how many there are."""
    mask = np.uint64(len(table) - 1)
    for i in range(len(first)):
        out[i] = -1
        if valid[i]:
            slot = mixed(first[i], second[i]) & mask
            number = table[slot]
            while number >= 0 and (known_first[number] != first[i] or known_second[number] != second[i]):
                slot = (slot + np.uint64(1)) & mask
                number = table[slot]
            if number < 0:
                number = table[slot] = count
                known_first[count], known_second[count] = first[i], second[i]
                count += 1
            out[i] = number
    return count


@routine
def put_pairs(first, second, count, table):  # type: ignore[no-untyped-def]
    """Put pairs in a table that is larger."""
    mask = np.uint64(len(table) - 1)
    for number in range(count):
        slot = mixed(first[number], second[number]) & mask
        while table[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        table[slot] = number
    return 0


@routine
def number_texts(offsets, data, hashes, valid, table, ends, known, known_hashes, count, out):  # type: ignore[no-untyped-def]
    """Number texts as they come; text n is the bytes from ``ends[n]`` to the next end."""
    mask = np.uint64(len(table) - 1)
    for i in range(len(hashes)):
        out[i] = -1
        if valid[i]:
            begin, length, hashed = offsets[i], offsets[i + 1] - offsets[i], hashes[i]
            slot = hashed & mask
            number = table[slot]
            while number >= 0 and not (
                known_hashes[number] == hashed
                and same_bytes(data, begin, length, known, ends[number], ends[number + 1])
            ):
                slot = (slot + np.uint64(1)) & mask
                number = table[slot]
            if number < 0:
                number = table[slot] = count
                known_hashes[count], ends[count + 1] = hashed, ends[count] + length
                for k in range(length):
                    known[ends[count] + k] = data[begin + k]
                count += 1
            out[i] = number
    return count


@routine
def put_hashes(hashes, count, table):  # type: ignore[no-untyped-def]
    """Put texts in a table that is larger."""
    mask = np.uint64(len(table) - 1)
    for number in range(count):
        slot = hashes[number] & mask
        while table[slot] >= 0:
            slot = (slot + np.uint64(1)) & mask
        table[slot] = number
    return 0


def same_bytes(data: Any, begin: Any, length: Any, known: Any, start: Any, end: Any) -> Any:
    """Whether a text is one that is known."""
    if end - start != length:
        return False
    same = 0
    while same < length and data[begin + same] == known[start + same]:
        same += 1
    return same == length


def mixed(first: Any, second: Any) -> Any:
    """A hash of two whole numbers."""
    return splitmix(np.uint64(first) * np.uint64(0x9E3779B97F4A7C15) + np.uint64(second))
