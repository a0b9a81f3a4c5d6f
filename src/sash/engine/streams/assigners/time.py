"""Windows by time: of one length, one step apart."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

import numpy as np

from sash.engine.streams.assigners.base import LEAST, MOST, SortedStore
from sash.engine.streams.assigners.by_time import Behind, EventTimeAssigner, Missed
from sash.errors import SashError
from sash.kernels.slices.due import count_windows, count_windows_by_key, windows_of
from sash.windows.extents import TimeExtent
from sash.windows.grids import FARTHEST_DAY, PER_MICROSECOND, CalendarGrid, Grid
from sash.windows.intervals import DAY, Interval

FAR = 2**63 - 1


class TimeAssigner(EventTimeAssigner):
    """Windows on a grid of event time."""

    kind: ClassVar[str] = "time"
    holds_spans: ClassVar[bool] = True
    extent: TimeExtent

    @classmethod
    def takes(cls, extent: Any) -> bool:
        """Lengths of time without months."""
        return isinstance(extent, TimeExtent) and not extent.slide.months

    def check(self) -> None:
        """Refuse lengths that times do not reach."""
        super().check()
        _ = self.grid

    @cached_property
    def grid(self) -> Any:
        """The windows as a grid."""
        ticks, range, slide = self.stream.ticks, self.extent.range, self.extent.slide
        if self.zone is None:
            return Grid(ticks("range", range), ticks("slide", slide), self.offset)
        if slide.days and slide.microseconds:
            raise SashError(f"slide must be of whole days or of less than days in a zone, got {slide}")
        if slide.days:
            return CalendarGrid(range, 0, self.stream.unit, self.zone, self.offset, days=slide.days, local=True)
        if range.days:
            raise SashError(
                f"range of days needs a slide of days in a zone, where days differ, got {range} and {slide}; say the "
                "range in hours"
            )
        return Grid(ticks("range", range), ticks("slide", slide), self.offset)

    @property
    def margin(self) -> int:
        """How far from a row a window may begin or end; of days on clocks, windows are looked up near 1970 only."""
        if isinstance(self.grid, CalendarGrid) and self.grid.days:
            return max(super().margin, FAR - FARTHEST_DAY * DAY * PER_MICROSECOND[self.stream.unit])
        return super().margin

    @property
    def lengths(self) -> tuple[Interval, ...]:
        """Range and slide."""
        return self.extent.range, self.extent.slide

    def ended(self, store: SortedStore, after: int, upto: int) -> tuple[np.ndarray, np.ndarray]:
        """Keys and ends of windows that hold a row, and end after one time and up to another."""
        windows = windows_of(store.key, *ending_between(self.grid, store.at, after, upto))
        return windows.key, self.grid.ends(windows.number)

    def counts(self, store: SortedStore, after: int, upto: int, out: np.ndarray) -> None:
        """Add how many such windows each key has."""
        count_windows_by_key(store.key, *ending_between(self.grid, store.at, after, upto), out)

    def open_windows(self, store: SortedStore, after: int) -> int:
        """How many windows hold a row and end after a time."""
        return int(count_windows(store.key, *ending_between(self.grid, store.at, after, MOST)))

    def ends_between(self, after: int, upto: int) -> bool:
        """Whether any window ends after one time and up to another."""
        first, last = self.grid.ending(after, upto)
        return bool(first <= last)

    def between(self, after: int, upto: int, most: int) -> tuple[np.ndarray, np.ndarray] | None:
        """Starts and ends of all windows that end after one time and up to another."""
        first, last = map(int, self.grid.ending(after, upto))
        if last - first >= most:
            return None
        windows = np.arange(first, last + 1)
        return self.grid.starts(windows), self.grid.ends(windows)

    def ends_at(self, ends: np.ndarray) -> np.ndarray:
        """Whether a window ends at some times."""
        return self.grid.ends_at(ends)

    def starts(self, keys: np.ndarray, ends: np.ndarray, store: Any) -> np.ndarray:
        """Where windows begin."""
        return self.grid.starts_of(ends)

    def last_ends(self, at: np.ndarray) -> np.ndarray:
        """The ends of the last windows that hold some positions."""
        return self.grid.ends(self.grid.holding(at)[1])

    def opens(self, passed: int) -> int:
        """Where the first window begins that ends after a time."""
        return int(self.grid.starts(np.atleast_1d(self.grid.ending(passed, passed)[0]))[0])

    def missed(self, rows: Behind) -> Missed:
        """Of windows by number, those up to the last that has ended are missed."""
        grid = self.grid
        first, until = grid.holding(rows.time)
        if rows.last is not None:
            until = grid.holding(rows.last)[1]
        if rows.since is not None:
            first = np.maximum(first, grid.holding(np.array([rows.since - 1]))[1] + 1)
        shut = grid.ending(rows.watermark, rows.watermark)[1]
        some = first <= until
        return Missed(
            some & (first <= shut), some & (until > shut), grid.ends(first), grid.ends(np.minimum(until, shut))
        )


def ending_between(grid: Any, at: np.ndarray, after: Any, upto: Any) -> tuple[np.ndarray, np.ndarray]:
    """The first and the last window that holds each position and ends after one and up to another."""
    first, last = grid.holding(at)
    if np.ndim(after) or after > LEAST:
        first = np.maximum(first, grid.ending(after, after)[0])
    if np.ndim(upto) or upto < MOST:
        last = np.minimum(last, grid.ending(upto, upto)[1])
    return first, last
