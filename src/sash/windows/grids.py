"""Where the windows of a stream begin and end: window k is [start of k, its start plus the range).

Positions are whole numbers: ticks of time since 1970, or the number of a row in its key. A grid of one step is
arithmetic; one of months, or of days where clocks say when these begin, is looked up on the calendar of a time zone.
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
LONGEST_MONTH, SHORTEST_MONTH = 31 * DAY, 28 * DAY
SHORTEST_DAY = 20 * 60 * 60 * 10**6  # on clocks, of which some changed by hours
MONDAY = -3  # the day, since 1970, with which weeks begin
FARTHEST_DAY = 8_000 * 366  # since 1970, either way, of windows that are looked up by days
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
class CumulativeGrid:
    """Windows of one start that grow by steps until they are of a size, when the next begin; known by their ends.

    >>> grid = CumulativeGrid(size=6, step=2)
    >>> [part.tolist() for part in grid.holding(np.array([3]))], grid.starts_of(np.array([4, 6, 8])).tolist()
    ([[1], [2]], [0, 0, 6])
    """

    size: int
    step: int
    origin: int = 0

    def holding(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The first and the last window that hold each position."""
        moved = at - self.origin
        return moved // self.step, (moved // self.size + 1) * (self.size // self.step) - 1

    def ending(self, after: Any, upto: Any) -> tuple[Any, Any]:
        """The first window that ends after some positions, and the last that ends by others."""
        return (after - self.origin) // self.step, (upto - self.origin) // self.step - 1

    def starts(self, windows: np.ndarray) -> np.ndarray:
        """Where windows start."""
        return self.starts_of(self.ends(windows))

    def ends(self, windows: np.ndarray) -> np.ndarray:
        """Where windows end."""
        return self.origin + (windows + 1) * self.step

    def starts_of(self, ends: np.ndarray) -> np.ndarray:
        """Where the windows start that end at some positions."""
        moved = ends - 1 - self.origin
        return ends - 1 - moved % self.size

    def ends_at(self, positions: np.ndarray) -> np.ndarray:
        """Whether a window ends at each position."""
        return (positions - self.origin) % self.step == 0


@dataclass(frozen=True)
class CalendarGrid:
    """Windows that start every so many months or days, at midnight in a time zone, moved by an offset.

    Window 0 starts on the first of January 1970 or, of weeks, on the Monday before. A range of months ends at a start
    of a month, too; one of days lasts as long as it says or, of a ``local`` grid, as clocks say. A local offset is
    of clocks, too: with six hours, days start when clocks show six.
    """

    range: Interval
    months: int
    unit: str = "us"
    zone: str | None = None
    offset: int = 0  # ticks
    days: int = 0  # between starts, in the place of months
    local: bool = False
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
        return self._at(self._day(windows))

    def ends(self, windows: np.ndarray) -> np.ndarray:
        """Where windows end."""
        if self.range.months:
            return self._at(self._day(windows, self.range.months))
        if self.local:
            rest = self.range.microseconds * PER_MICROSECOND[self.unit]
            return self._at(self._day(windows) + self.range.days) + rest
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
    def shortest(self) -> int:
        """The least that is between two starts, in ticks."""
        return (self.months * SHORTEST_MONTH or self.days * SHORTEST_DAY) * PER_MICROSECOND[self.unit]

    @property
    def _length(self) -> int:
        return (self.range.days * DAY + self.range.microseconds) * PER_MICROSECOND[self.unit]

    def _windows(self, at: np.ndarray) -> tuple[int, np.ndarray, np.ndarray]:
        """The number of a window, and the starts and ends of that and the following: all that hold some positions."""
        lo, hi = (int(at.min()), int(at.max())) if len(at) else (0, 0)
        reach = self.range.months * LONGEST_MONTH * PER_MICROSECOND[self.unit] + self._length + abs(self.offset)
        if self.months:
            least, most = REACH[self.unit]
            first = max(self._since(lo - reach, "M"), least) // self.months - 2
            last = min(self._since(hi + abs(self.offset), "M"), most) // self.months + 2
        else:  # clocks are less than two days from UTC
            first = max(self._since(lo - reach, "D") - 2, -FARTHEST_DAY) // self.days - 2
            last = min(self._since(hi + abs(self.offset), "D") + 2, FARTHEST_DAY) // self.days + 2
        key = (first, last)
        windows_known = self._made.get(key)
        if windows_known is None:  # threads may both make it
            windows = np.arange(first, last + 1, dtype=np.int64)
            windows_known = (first, self.starts(windows), self.ends(windows))
            self._made.clear()
            self._made[key] = windows_known
        return windows_known

    def _since(self, tick: int, unit: str) -> int:
        """The month or the day of a tick, since 1970."""
        microseconds = max(min(tick // PER_MICROSECOND[self.unit], 9 * 10**18), -9 * 10**18)
        return int(np.int64(microseconds).astype("M8[us]").astype(f"M8[{unit}]").astype(np.int64))

    def _day(self, windows: np.ndarray, more: int = 0) -> np.ndarray:
        """The days, since 1970, on which windows start, or so many months later."""
        windows = np.asarray(windows, np.int64)
        if not self.months:
            return windows * self.days + (0 if self.days % 7 else MONDAY)
        return (windows * self.months + more).astype("M8[M]").astype("M8[D]").astype(np.int64)

    def _at(self, days: np.ndarray) -> np.ndarray:
        """Where days begin in the zone, with the offset."""
        clock = days * (DAY * PER_MICROSECOND[self.unit])
        if self.local:
            return _on_clocks(clock + self.offset, self.unit, self.zone)
        return _on_clocks(clock, self.unit, self.zone) + self.offset


@dataclass(frozen=True)
class CumulativeCalendarGrid(CalendarGrid):
    """Windows that start every so many days on the clocks of a zone, and grow by steps until the next start.

    Steps are days on these clocks, or times that pass: a day of 25 hours has 25 steps of an hour. A last step that is
    not whole ends with the day.
    """

    step: Interval = field(default=Interval(), kw_only=True)

    def holding(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The first and the last window that hold each position."""
        ends, numbers, _ = self._steps(at)
        place = np.searchsorted(ends, at, "right")
        period = numbers[place] // self._most
        return numbers[place], numbers[np.searchsorted(numbers, (period + 1) * self._most) - 1]

    def ending(self, after: Any, upto: Any) -> tuple[Any, Any]:
        """The first window that ends after some positions, and the last that ends by others."""
        both = np.concatenate([np.atleast_1d(after), np.atleast_1d(upto)])
        ends, numbers, _ = self._steps(both)
        first = numbers[np.minimum(np.searchsorted(ends, after, "right"), len(ends) - 1)]
        return first, numbers[np.minimum(np.searchsorted(ends, upto, "right"), len(ends) - 1)] - 1

    def starts(self, windows: np.ndarray) -> np.ndarray:
        """Where windows start."""
        return super().starts(np.asarray(windows) // self._most)

    def ends(self, windows: np.ndarray) -> np.ndarray:
        """Where windows end."""
        period, step = np.divmod(np.asarray(windows, np.int64), self._most)
        return np.minimum(self._after(period, step + 1), super().starts(period + 1))

    def starts_of(self, ends: np.ndarray) -> np.ndarray:
        """Where the windows start that end at some positions."""
        if not len(ends):
            return ends
        known, _, starts = self._steps(ends)
        return starts[np.searchsorted(known, ends)]

    def ends_at(self, positions: np.ndarray) -> np.ndarray:
        """Whether a window ends at each position."""
        if not len(positions):
            return np.zeros(0, np.bool_)
        ends, _, _ = self._steps(positions)
        return ends[np.searchsorted(ends, positions)] == positions

    def between(self, lo: int, hi: int, *, ends: bool = True) -> np.ndarray:
        """Starts and ends, from the last at or before ``lo`` up to ``hi``."""
        edges, _, _ = self._steps(np.array([lo, hi]))
        return edges[max(np.searchsorted(edges, lo, "right") - 1, 0) : np.searchsorted(edges, hi, "right")]

    @property
    def shortest(self) -> int:
        """The least that is between two steps, in ticks; of those that the day ends there is one each."""
        step = self.step.days * SHORTEST_DAY + self.step.microseconds
        return max(step // 2, 1) * PER_MICROSECOND[self.unit]

    @property
    def _most(self) -> int:
        """How many steps there are for each start, at most: a day has up to 28 hours."""
        step = self.step.days * DAY + self.step.microseconds
        return -(-self.days * (DAY + DAY // 6) // step) + 1

    def _after(self, period: np.ndarray, steps: np.ndarray) -> np.ndarray:
        """Where so many steps after the starts are."""
        if self.step.days:
            return self._at(self._day(period) + steps * self.step.days)
        return super().starts(period) + steps * (self.step.microseconds * PER_MICROSECOND[self.unit])

    def _steps(self, at: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """All ends from before some positions until beyond them, with the numbers of windows and their starts."""
        lo, hi = (int(at.min()), int(at.max())) if len(at) else (0, 0)
        first = max(self._since(lo - abs(self.offset), "D") - 2, -FARTHEST_DAY) // self.days - 2
        last = min(self._since(hi + abs(self.offset), "D") + 2, FARTHEST_DAY) // self.days + 2
        key = (first, last)
        ends_of_steps = self._made.get(key)
        if ends_of_steps is None:
            period = np.arange(first, last + 1, dtype=np.int64)
            start, stop = super().starts(period), super().starts(period + 1)
            steps = np.arange(self._most, dtype=np.int64)
            ends = np.minimum(self._after(np.repeat(period, len(steps)), np.tile(steps + 1, len(period))),
                              np.repeat(stop, len(steps)))  # fmt: skip
            new = np.append(True, ends[1:] != ends[:-1])
            numbers = (period[:, None] * self._most + steps).reshape(-1)
            ends_of_steps = (ends[new], numbers[new], np.repeat(start, len(steps))[new])
            self._made.clear()
            self._made[key] = ends_of_steps
        return ends_of_steps


def _on_clocks(clock: np.ndarray, unit: str, zone: str | None) -> np.ndarray:
    """The ticks at which clocks in a zone show some times: where they show it twice the first, where never the next."""
    if not zone or (has_fixed_days(zone) and zone[0] not in "+-"):
        return clock
    import pyarrow as pa
    import pyarrow.compute as pc

    naive = pa.array(clock).view(pa.timestamp(unit))
    zoned = pc.assume_timezone(naive, zone, ambiguous="earliest", nonexistent="latest")
    return zoned.view(pa.int64()).to_numpy()
