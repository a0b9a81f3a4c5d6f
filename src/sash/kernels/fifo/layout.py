"""What the window algorithms keep alike, so that any of them can be exported, restored and grown.

The first four marks say which rows are held and where a ring begins; an algorithm's own follow.
"""

from __future__ import annotations

from collections.abc import Callable

HEAD = 0  # the position of the oldest row held
TAIL = 1  # one after the position of the newest
FIRST = 2  # the slot of the ring where its oldest entry stands
HELD = 3  # how many entries of the ring are taken, from FIRST on
OWN = 4  # where an algorithm's own marks begin


def per_row(capacity: int) -> int:
    """One entry a row."""
    return capacity


def twice_per_row(capacity: int) -> int:
    """Two entries a row."""
    return 2 * capacity


RINGS = (per_row, twice_per_row)


def one(_: int) -> int:
    """A single entry."""
    return 1


def count(entries: int) -> Callable[[int], int]:
    """A fixed number of entries."""
    return lambda _: entries


def power_of_two(capacity: int) -> int:
    """The next power of two."""
    return 1 << max(capacity - 1, 0).bit_length()


def twice_a_power_of_two(capacity: int) -> int:
    """The nodes of a complete binary tree over that many leaves; the first is not used."""
    return 2 * power_of_two(capacity)
