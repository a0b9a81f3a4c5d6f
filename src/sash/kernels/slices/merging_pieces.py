"""Sessions of pieces: pieces of a key, in the order of their first rows, joined where one begins before others end.

A piece is of rows that are of one session for sure, such as those of one cell; it lasts up to where these reach.

order   pieces sorted by key and first row
time    one step a piece
space   32 bytes a piece
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from sash.kernels.compiling import routine


class Joined(NamedTuple):
    """Which session each piece is of, and where each session begins and ends."""

    which: np.ndarray
    starts: np.ndarray
    ends: np.ndarray


@routine
def join_pieces(keys, first, reach, which, starts, ends):  # type: ignore[no-untyped-def]
    """Number the sessions of pieces, and say where each begins and ends; gives how many there are."""
    count = 0
    for i in range(len(keys)):
        if i == 0 or keys[i] != keys[i - 1] or first[i] >= ends[count - 1]:
            starts[count], ends[count] = first[i], reach[i]
            count += 1
        elif reach[i] > ends[count - 1]:
            ends[count - 1] = reach[i]
        which[i] = count - 1
    return count


def joined(keys: np.ndarray, first: np.ndarray, reach: np.ndarray) -> Joined:
    """The sessions of pieces.

    >>> joined(np.array([0, 0, 0, 1]), np.array([0, 5, 20, 20]), np.array([9, 7, 30, 30])).which.tolist()
    [0, 0, 1, 2]
    """
    which, starts, ends = (np.empty(len(keys), np.int64) for _ in range(3))
    count = join_pieces(keys, first, reach, which, starts, ends)
    return Joined(which, starts[:count], ends[:count])
