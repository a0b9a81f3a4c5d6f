"""Keys in as few 64-bit words as hold them, since a sort costs by the digit.

Each key loses its minimum and the low bits that all rows share; what is left of all keys is written one
after the other, the first key in the highest bits of the first word.

needs   uint64 keys of equal length
time    two passes over each key
space   8 bytes a row and word; nothing for a single key
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from sash.kernels.compiling import routine
from sash.kernels.threads import shares, together

FIELDS = 3  # parts of a key at most, each of which costs a pass


@dataclass(frozen=True)
class Word:
    """A column of numbers: as many ``bits`` of (values - least) from ``shift`` on.

    Words that are not packed yet may have more bits above, which packing leaves out.
    """

    values: np.ndarray
    bits: int
    least: int = 0
    shift: int = 0

    @property
    def place(self) -> np.ndarray:
        """The subtrahend and the shift, as a routine takes them."""
        return np.array([self.least, self.shift], np.uint64)


@dataclass(frozen=True)
class WordRange:
    """The least key, the greatest, and the bits in which any two differ."""

    least: int
    greatest: int
    varying: int

    @property
    def shared(self) -> int:
        """How many low bits are the same in all keys; none where there is but one."""
        return (self.varying & -self.varying).bit_length() - 1 if self.varying else 0

    @property
    def bits(self) -> int:
        """How many bits a key needs without the least one and the low bits that all share."""
        return ((self.greatest - self.least) >> self.shared).bit_length()


@routine
def _measure(key: Any, start: int, stop: int, extremes: Any) -> int:
    """Find the least key, the greatest, and the bits in which any two differ."""
    first = key[start]
    least, greatest, varying = first, first, np.uint64(0)
    for i in range(start, stop):
        value = key[np.uint64(i)]
        least = min(least, value)
        greatest = max(greatest, value)
        varying |= value ^ first
    extremes[0], extremes[1], extremes[2], extremes[3] = least, greatest, varying, first
    return 0


@routine
def _put(key: Any, place: Any, down: int, mask: Any, up: int, start: int, stop: int, word: Any) -> int:
    """Write some bits of each key into a word."""
    least, low, high, few = place[0], place[1] + np.uint64(down), np.uint64(up), mask[0]
    for i in range(start, stop):
        row = np.uint64(i)
        word[row] |= (((key[row] - least) >> low) & few) << high
    return 0


def measured(key: np.ndarray) -> WordRange:
    """The range of a key."""
    if not len(key):
        return WordRange(0, 0, 0)
    parts = shares(len(key), 1 << 18)
    parts_measured = np.zeros((len(parts), 4), np.uint64)
    together([partial(_measure, key, a, b, parts_measured[p]) for p, (a, b) in enumerate(parts)])
    varying = np.bitwise_or.reduce(parts_measured[:, 2]) | np.bitwise_or.reduce(
        parts_measured[:, 3] ^ parts_measured[0, 3]
    )
    return WordRange(int(parts_measured[:, 0].min()), int(parts_measured[:, 1].max()), int(varying))


def packed(keys: Sequence[np.ndarray]) -> list[Word]:
    """All keys in as few words as hold them; every word but the last is full."""
    ranges = [measured(key) for key in keys]
    beside = (len(keys[0]) - 1).bit_length()  # the number of a row, which the sort wants in the same word
    if sum(measure.bits for measure in ranges) + beside <= 64:
        parts = [
            Word(key, measure.bits, measure.least, measure.shared) for key, measure in zip(keys, ranges, strict=True)
        ]
    else:
        parts = [field for key, measure in zip(keys, ranges, strict=True) for field in _fields(key, measure)]
    parts = [part for part in parts if part.bits]
    if len(parts) < 2:
        return parts
    words: list[Word] = []
    left, free = sum(part.bits for part in parts), 0
    for part in parts:
        todo = part.bits
        while todo:
            if not free:
                free = min(left, 64)
                words.append(Word(np.zeros(len(part.values), np.uint64), free))
            bits = min(todo, free)
            todo, free, left = todo - bits, free - bits, left - bits
            _write(part, todo, bits, free, words[-1].values)
    return words


def _fields(key: np.ndarray, measure: WordRange) -> list[Word]:
    """A key without the bits in its midst that all rows share, where there are some: one outlier makes many."""
    fields, stop = [], measure.varying.bit_length()
    while stop:
        start = (~measure.varying & ((1 << stop) - 1)).bit_length()
        fields.append(Word(key, stop - start, 0, start))
        stop = (measure.varying & ((1 << start) - 1)).bit_length()
    if len(fields) > FIELDS or sum(field.bits for field in fields) >= measure.bits:
        return [Word(key, measure.bits, measure.least, measure.shared)]
    return fields


def _write(part: Word, down: int, bits: int, up: int, word: np.ndarray) -> None:
    mask = np.array([(1 << bits) - 1], np.uint64)
    rows = shares(len(word), 1 << 18)
    together([partial(_put, part.values, part.place, down, mask, up, a, b, word) for a, b in rows])
