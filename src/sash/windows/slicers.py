"""Slicers: where a stream is cut, so that every window of every query is a run of whole slices.

| slicer | cuts at | slices in a window | needs |
|---|---|---|---|
| panes | multiples of the greatest common divisor of all ranges and slides | range / divisor | fixed lengths |
| pairs | starts and ends of windows | up to 2 range / slide | |
| cutty | starts of windows; inside a slice, windows end with what it holds by then | range / slide + 1 | order |

Edges are computed as time goes, and never tabulated for more than a batch spans.
paper   flatfit-2017, 2.1 and 2.3
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from math import gcd

import numpy as np

from sash.errors import Refused
from sash.windows.grids import CalendarGrid, Grid, Progression


@dataclass(frozen=True)
class Edges:
    """Positions at which slices begin: the union of progressions, and of the edges of calendars."""

    progressions: tuple[Progression, ...]
    calendars: tuple[CalendarGrid, ...] = ()
    starts_only: bool = False  # of the calendars

    def how_many(self, lo: int, hi: int) -> int:
        """How many edges there are between two positions, at most."""
        return sum((hi - lo) // each.step + 2 for each in self.progressions) + sum(
            2 * ((hi - lo) // each.shortest) + 8 for each in self.calendars
        )

    def between(self, lo: int, hi: int) -> np.ndarray:
        """All edges from the last at or before ``lo`` up to ``hi``, in order."""
        parts = [each.between(lo, hi) for each in self.progressions]
        parts += [each.between(lo, hi, ends=not self.starts_only) for each in self.calendars]
        if len(parts) < 2:
            return parts[0] if parts else np.zeros(0, np.int64)
        edges = np.unique(np.concatenate(parts))
        return edges[max(int(np.searchsorted(edges, lo, "right")) - 1, 0) :]

    def within(self, low: np.ndarray, high: np.ndarray, most: int) -> np.ndarray:
        """All edges in some stretches, which are in order, and the last before each; none where there are too many."""
        firsts = [(low - each.phase) // each.step for each in self.progressions]
        counts = [(high - each.phase) // each.step - first + 1
                  for each, first in zip(self.progressions, firsts, strict=True)]  # fmt: skip
        if sum(float(count.sum(dtype=np.float64)) for count in counts) > most:
            return np.zeros(0, np.int64)
        parts = []
        for each, first, count in zip(self.progressions, firsts, counts, strict=True):
            places = np.arange(int(count.sum())) + np.repeat(first - (np.cumsum(count) - count), count)
            parts.append(places * each.step + each.phase)
        whole = int(low[0]), int(high[-1])
        parts += [each.between(*whole, ends=not self.starts_only) for each in self.calendars]
        return np.unique(np.concatenate(parts))

    def floor(self, at: np.ndarray) -> np.ndarray:
        """The last edge at or before each position."""
        floors = [at - (at - each.phase) % each.step for each in self.progressions]
        for each in self.calendars:
            table = each.between(int(at.min()), int(at.max()), ends=not self.starts_only)
            floors.append(table[np.maximum(np.searchsorted(table, at, "right") - 1, 0)])
        return np.maximum.reduce(floors)

    def ceiling(self, at: np.ndarray) -> np.ndarray:
        """The first edge behind each position.

        >>> edges_of([Grid(range=5, slide=2)], "pairs").ceiling(np.array([0, 1])).tolist()
        [1, 2]
        """
        ceilings = [at - (at - each.phase) % each.step + each.step for each in self.progressions]
        for each in self.calendars:
            beyond = min(int(at.max()) + 4 * each.shortest, 2**63 - 1)
            table = each.between(int(at.min()), beyond, ends=not self.starts_only)
            ceilings.append(table[np.searchsorted(table, at, "right")])
        return np.minimum.reduce(ceilings)


@dataclass(frozen=True)
class Slicer:
    """A way to cut a stream.

    ``why`` is the reason to take it, and ``cut`` gives the edges of grids and of calendars. One that needs rows
    ``in_order`` joins slices as time goes, which rows are first put into by its ``finer`` slicer. ``of_one`` cuts
    at the edges of one query alone.
    """

    name: str
    why: str
    cut: Callable[[Sequence[Grid], tuple[CalendarGrid, ...]], Edges]
    in_order: bool = False
    finer: str = ""
    of_one: str = ""


def _cut_panes(grids: Sequence[Grid], calendars: tuple[CalendarGrid, ...]) -> Edges:
    if calendars:
        raise Refused("panes needs windows of fixed length; months have none")
    origins = [grid.origin - grids[0].origin for grid in grids]
    step = gcd(*(grid.pane for grid in grids), *origins)
    return Edges((Progression(step, grids[0].origin % step),))


def _cut_pairs(grids: Sequence[Grid], calendars: tuple[CalendarGrid, ...]) -> Edges:
    return Edges(_fewest([each for grid in grids for each in grid.progressions[:2]]), calendars)


def _cut_cutty(grids: Sequence[Grid], calendars: tuple[CalendarGrid, ...]) -> Edges:
    starts = [each for grid in grids for each in grid.progressions[:1]]
    return Edges(_fewest(starts), calendars, starts_only=True)


PANES = Slicer("panes", "all windows begin and end at multiples of one length", _cut_panes, of_one="pairs")
PAIRS = Slicer("pairs", "cut where a window begins or ends", _cut_pairs)
CUTTY = Slicer("cutty", "rows come in order, so slices are only cut where a window begins", _cut_cutty,
               in_order=True, finer="pairs")  # fmt: skip
SLICERS = {each.name: each for each in (PANES, PAIRS, CUTTY)}


def edges_of(grids: Sequence[Grid | CalendarGrid], slicer: str) -> Edges:
    """Where a slicer cuts a stream for these windows.

    >>> edges_of([Grid(range=5, slide=2)], "pairs").between(0, 7).tolist()
    [0, 1, 2, 3, 4, 5, 6, 7]
    >>> edges_of([Grid(range=9, slide=6)], "pairs").between(0, 20).tolist()
    [0, 3, 6, 9, 12, 15, 18]
    >>> edges_of([Grid(range=9, slide=6)], "cutty").between(0, 20).tolist()
    [0, 6, 12, 18]
    """
    fixed = [grid for grid in grids if isinstance(grid, Grid)]
    calendars = tuple(grid for grid in grids if isinstance(grid, CalendarGrid))
    return SLICERS[slicer].cut(fixed, calendars)


def _fewest(progressions: list[Progression]) -> tuple[Progression, ...]:
    """Those whose positions are not all in another."""
    fewest: list[Progression] = []
    for each in sorted(set(progressions), key=lambda each: (each.step, each.phase)):
        if not any(other.covers(each) for other in fewest):
            fewest.append(each)
    return tuple(fewest)
