"""Machine instructions that Python has no word for: counts of bits, a hint to the cache, words that threads share.

Here they are plain Python, for kernels run as such; compiled they are single instructions.
"""

from __future__ import annotations

import time
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


def acquire(array: Any, index: int) -> int:
    """Read a 64-bit word that another thread writes, and see all that it wrote before."""
    return int(array[index])


def release(array: Any, index: int, word: int) -> None:
    """Write a 64-bit word for another thread, which then sees all that was written before."""
    array[index] = word


def claim(array: Any, index: int, before: int, after: int) -> bool:
    """Replace a 64-bit word if it is still what it was before; of several threads, one succeeds."""
    if array[index] != before:
        return False
    array[index] = after
    return True


def doze(microseconds: int) -> None:
    """Let the thread sleep for about so long."""
    time.sleep(microseconds * 1e-6)


INSTRUCTIONS = (popcount, trailing_zeros, leading_zeros, prefetch, acquire, release, claim, doze)
