"""Machine instructions that Python has no word for: counts of bits, and a hint to the cache.

Here they are plain Python, for kernels run as such; compiled they are single instructions.
"""

from __future__ import annotations

from typing import Any


def popcount(word: Any) -> int:
    """How many bits of an unsigned 64-bit word are set.

    >>> popcount(0b1011)
    3
    """
    return int(word).bit_count()


def trailing_zeros(word: Any) -> int:
    """The place of the lowest bit that is set; 64 where none is.

    >>> trailing_zeros(0b1000)
    3
    """
    word = int(word)
    return (word & -word).bit_length() - 1 if word else 64


def leading_zeros(word: Any) -> int:
    """How many bits above the highest set one an unsigned 64-bit word has.

    >>> leading_zeros(1)
    63
    """
    return 64 - int(word).bit_length()


def prefetch(array: Any, index: int) -> None:
    """Bring an entry of an array into the cache, since it will be read soon."""


INSTRUCTIONS = (popcount, trailing_zeros, leading_zeros, prefetch)
