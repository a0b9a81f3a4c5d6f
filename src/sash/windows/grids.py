"""Where the windows of a stream begin and end: window k is [start of k, its start plus the range).

Positions are whole numbers: ticks of time since 1970, or the number of a row in its key. A grid of one step is
arithmetic; one of months is looked up on the calendar of a time zone.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from math import gcd
from typing import Any

import numpy as np

from sash.windows.calendars import has_fixed_days
from sash.windows.intervals import DAY, Interval

PER_MICROSECOND = {"us": 1, "ns": 1000}
LONGEST_MONTH = 31 * DAY
REACH = {"us": (-12 * 280_000, 12 * 280_000), "ns": (-12 * 280, 12 * 280)}  # months since 1970 that ticks count to


@dataclass(frozen=True)
class Progression:
    """The positions ``phase + k * step``."""

    step: int
    phase: int

    def covers(self, other: Progression) -> bool:
        """Whether all positions of another are among these."""
        return other.step % self.step == 0 and (other.phase - self.phase) % self.step == 0

    def between(self, lo: int, hi: int) -> np.ndarray:
        """The positions from the last one at or before ``lo`` on, up to ``hi``."""
        first = (lo - self.phase) // self.step
        last = (hi - self.phase) // self.step
        return self.phase + self.step * np.arange(first, last + 1, dtype=np.int64)


@dataclass(frozen=True)
class Grid:
    """Windows of one length, one step apart.

    >>> grid = Grid(range=5, slide=2)
    >>> [part.tolist() for part in grid.holding(np.array([4]))]
    [[0], [2]]
    """

    range: int
    slide: int
    origin: int = 0

    def holding(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The first and the last window that hold each position; the first is behind the last where none does."""
        moved = at - self.origin
        return (moved - self.range) // self.slide + 1, moved // self.slide

    def ending(self, after: Any, upto: Any) -> tuple[Any, Any]:
        """The first window that ends after some positions, and the last that ends by others."""
        moved = self.origin + self.range
        return (after - moved) // self.slide + 1, (upto - moved) // self.slide

    def starts(self, windows: np.ndarray) -> np.ndarray:
        """Where windows start."""
        return self.origin + self.slide * windows

    def ends(self, windows: np.ndarray) -> np.ndarray:
        """Where windows end."""
        return self.starts(windows) + self.range

    def starts_of(self, ends: np.ndarray) -> np.ndarray:
        """Where the windows start that end at some positions."""
        return ends - self.range

    def ends_at(self, positions: np.ndarray) -> np.ndarray:
        """Whether a window ends at each position."""
        return (positions - self.origin - self.range) % self.slide == 0

    @cached_property
    def progressions(self) -> tuple[Progression, Progression]:
        """All starts, and all ends."""
        origin = self.origin % self.slide
        return Progression(self.slide, origin), Progression(self.slide, (origin + self.range) % self.slide)

    @property
    def pane(self) -> int:
        """The largest length that divides both range and slide."""
        return gcd(self.range, self.slide)


@dataclass(frozen=True)
class CalendarGrid:
    """Windows that start every so many months, at midnight of the first in a time zone, moved by an offset.

    Window 0 starts in January 1970. A range of months ends at a start of a month, too; one of days lasts as long
    as it says.
    """

    range: Interval
    months: int
    unit: str = "us"
    zone: str | None = None
    offset: int = 0  # ticks
    _made: dict[Any, Any] = field(default_factory=dict, init=False, repr=False, compare=False)

    def holding(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The first and the last window that hold each position."""
        first, starts, ends = self._windows(at)
        return first + np.searchsorted(ends, at, "right"), first + np.searchsorted(starts, at, "right") - 1

    def ending(self, after: Any, upto: Any) -> tuple[Any, Any]:
        """The first window that ends after some positions, and the last that ends by others."""
        both = np.concatenate([np.atleast_1d(after), np.atleast_1d(upto)])
        first, _, ends = self._windows(both)
        return first + np.searchsorted(ends, after, "right"), first + np.searchsorted(ends, upto, "right") - 1

    def starts(self, windows: np.ndarray) -> np.ndarray:
        """Where windows start."""
        return self._moved(windows * self.months)

    def ends(self, windows: np.ndarray) -> np.ndarray:
        """Where windows end."""
        if self.range.months:
            return self._moved(windows * self.months + self.range.months)
        return self.starts(windows) + self._length

    def starts_of(self, ends: np.ndarray) -> np.ndarray:
        """Where the windows start that end at some positions."""
        _, starts, known = self._windows(ends)
        return starts[np.searchsorted(known, ends)] if len(ends) else ends

    def ends_at(self, positions: np.ndarray) -> np.ndarray:
        """Whether a window ends at each position."""
        _, _, ends = self._windows(positions)
        places = np.minimum(np.searchsorted(ends, positions), len(ends) - 1)
        return ends[places] == positions if len(positions) else np.zeros(0, np.bool_)

    def between(self, lo: int, hi: int, *, ends: bool = True) -> np.ndarray:
        """Starts, and ends if asked, from the last at or before ``lo`` up to ``hi``."""
        _, starts, stops = self._windows(np.array([lo, hi]))
        edges = np.unique(np.concatenate([starts, stops])) if ends else starts
        return edges[max(np.searchsorted(edges, lo, "right") - 1, 0) : np.searchsorted(edges, hi, "right")]

    @property
    def _length(self) -> int:
        return (self.range.days * DAY + self.range.microseconds) * PER_MICROSECOND[self.unit]

    def _windows(self, at: np.ndarray) -> tuple[int, np.ndarray, np.ndarray]:
        """The number of a window, and the starts and ends of that and the following: all that hold some positions."""
        lo, hi = (int(at.min()), int(at.max())) if len(at) else (0, 0)
        reach = self.range.months * LONGEST_MONTH * PER_MICROSECOND[self.unit] + self._length + abs(self.offset)
        least, most = REACH[self.unit]
        first = max(self._month(lo - reach), least) // self.months - 2
        last = min(self._month(hi + abs(self.offset)), most) // self.months + 2
        key = (first, last)
        found = self._made.get(key)
        if found is None:  # threads may both make it
            windows = np.arange(first, last + 1, dtype=np.int64)
            found = (first, self.starts(windows), self.ends(windows))
            self._made.clear()
            self._made[key] = found
        return found

    def _month(self, tick: int) -> int:
        microseconds = max(min(tick // PER_MICROSECOND[self.unit], 9 * 10**18), -9 * 10**18)
        return int(np.int64(microseconds).astype("M8[us]").astype("M8[M]").astype(np.int64))

    def _moved(self, months: np.ndarray) -> np.ndarray:
        """Starts of months since 1970 in the zone, with the offset."""
        months = np.asarray(months, np.int64)
        days = months.astype("M8[M]").astype("M8[D]").astype(np.int64)
        clock = days * (DAY * PER_MICROSECOND[self.unit])
        return _on_clocks(clock, self.unit, self.zone) + self.offset


def _on_clocks(clock: np.ndarray, unit: str, zone: str | None) -> np.ndarray:
    """The ticks at which clocks in a zone show some times: where they show it twice the first, where never the next."""
    if not zone or (has_fixed_days(zone) and zone[0] not in "+-"):
        return clock
    import pyarrow as pa
    import pyarrow.compute as pc

    naive = pa.array(clock).view(pa.timestamp(unit))
    zoned = pc.assume_timezone(naive, zone, ambiguous="earliest", nonexistent="latest")
    return zoned.view(pa.int64()).to_numpy()
