"""Lists of event numbers in one pool of links, which are used again when a list has been read.

A list is known by its head and tail, -1 where it is empty. Links that were let go are a list of their own; those
from ``FRESH`` on have never been used. A kernel that runs out of links stops, and is called again with more.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sash.kernels.spans.rings import CLOCK

LINKS = 1 << 10  # of a pool, to begin with
FREE, FRESH, LEFT = 1, 2, 3  # of the marks: the first link let go, the first not used yet, how many there are of both


def append(links: Any, events: Any, marks: Any, heads: Any, tails: Any, place: int, event: int) -> None:
    """Add an event to the list of a place; a link must be left."""
    link = marks[FREE]
    if link >= 0:
        marks[FREE] = links[link]
    else:
        link = marks[FRESH]
        marks[FRESH] += 1
    marks[LEFT] -= 1
    events[link], links[link] = event, -1
    if heads[place] < 0:
        heads[place] = link
    else:
        links[tails[place]] = link
    tails[place] = link


def let_go(links: Any, marks: Any, heads: Any, tails: Any, place: int, length: int) -> None:
    """Empty the list of a place, which has so many links."""
    if heads[place] >= 0:
        links[tails[place]] = marks[FREE]
        marks[FREE] = heads[place]
        marks[LEFT] += length
        heads[place] = -1


def pool(size: int, places: int, marks: int) -> tuple[list[np.ndarray], list[np.ndarray], np.ndarray]:
    """Links and events of a pool of this size; the heads and tails of as many empty lists; marks, the clock at -1."""
    cursors = np.zeros(marks, np.int64)
    cursors[CLOCK], cursors[FREE], cursors[LEFT] = -1, -1, size
    return [np.empty(size, np.int64) for _ in range(2)], [np.full(places, -1) for _ in range(2)], cursors


def larger(arrays: list[np.ndarray], marks: np.ndarray, least: int) -> list[np.ndarray]:
    """The same pool with twice the links, or more where at least so many are needed."""
    more = max(len(arrays[0]), least)
    marks[LEFT] += more
    return [np.concatenate([array, np.empty(more, np.int64)]) for array in arrays]
