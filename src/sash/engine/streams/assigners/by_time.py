"""Windows by event time, of whatever kind: positions are ticks, and windows end when the watermark passes.

They share slices, the watermark and the state, and so go together on a board.
"""

from __future__ import annotations

from abc import abstractmethod
from functools import cached_property, reduce
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pyarrow as pa

from sash.engine.streams.assigners.base import LEAST, MOST, Assigner, Ending, Numbered, Positions, SortedStore
from sash.engine.streams.restoring import whole_of
from sash.errors import SashError
from sash.kernels.slices.board_windows import GridArrays
from sash.kernels.slices.due import bounds_of
from sash.windows.grids import PER_MICROSECOND, Grid
from sash.windows.intervals import DAY, Interval


class Behind(NamedTuple):
    """Rows behind the watermark: their times and, of events that last, their last moments."""

    time: np.ndarray
    last: np.ndarray | None
    watermark: int
    since: int | None  # where the first window may begin, if that is not at the beginning of time
    rows: np.ndarray | None = None  # which rows of their batch they are, where that is known


class Missed(NamedTuple):
    """Of each row behind the watermark, whether a window that has ended would hold it, and whether an open one does.

    With them go the first and the last end of those windows that it missed.
    """

    missed: np.ndarray
    open: np.ndarray
    first: np.ndarray
    last: np.ndarray


class Arriving(NamedTuple):
    """Rows of a batch as they come, with the numbers of their keys, their times, and which have a place by these."""

    table: pa.Table
    codes: np.ndarray
    time: np.ndarray
    placed: np.ndarray


class Joining(NamedTuple):
    """Of each row of a batch, whether it is late for a window that it would join, and whether it can join any.

    None says that all can.
    """

    late: np.ndarray
    able: np.ndarray | None


class TimePositions(Positions):
    """Positions are ticks of event time, the same for all keys."""

    kind: ClassVar[str] = "time"
    assigners: tuple[EventTimeAssigner, ...]
    lateness = 0  # how long they stay after that

    @property
    def grids(self) -> GridArrays | None:
        """The windows of all extents as grids, where they are of one length each."""
        return self._grids

    @cached_property
    def _grids(self) -> GridArrays | None:
        grids = [each.grid for each in self.assigners]
        if not all(type(grid) is Grid for grid in grids):
            return None
        numbers = np.array([(grid.range, grid.slide, grid.origin) for grid in grids], np.int64)  # type: ignore[union-attr]
        return GridArrays(*np.ascontiguousarray(numbers.T))

    @property
    def bygone(self) -> int:
        """Windows that end up to here are of no use any more."""
        if not self.lateness or self.passed in (LEAST, MOST):
            return self.passed
        return max(self.passed - self.lateness, LEAST + 1)

    def number(self, codes: np.ndarray, keys: int, table: pa.Table, time: np.ndarray | None) -> Numbered:
        """The position of each row: its time."""
        assert time is not None
        return Numbered(time)

    def ended(self, spec: int, store: SortedStore, upto: int) -> tuple[np.ndarray, np.ndarray]:
        """Keys and ends of windows that hold a row and end after what has passed, up to the watermark."""
        return self.assigners[spec].ended(store, self.passed, upto)

    def counts(self, spec: int, store: SortedStore, upto: int, out: np.ndarray) -> None:
        """Add how many windows of each key have ended."""
        self.assigners[spec].counts(store, self.passed, upto, out)

    def ends_by(self, upto: int) -> bool:
        """Whether a window ends after what has passed, up to the watermark."""
        if self.passed == LEAST or upto == MOST:
            return True
        return any(each.ends_between(self.passed, upto) for each in self.assigners)

    def ending(self, spec: int, upto: int, most: int) -> Ending | None:
        """The windows that end after what has passed, up to the watermark: the same of all keys."""
        if self.passed == LEAST or upto == MOST:
            return None
        windows = self.assigners[spec].between(self.passed, upto, most)
        return None if windows is None else Ending(None, *windows)

    def cuts(self) -> tuple[None, np.ndarray]:
        """Where the first window begins that is still of use."""
        return None, np.array([self.opens()])

    def ends_at(self, spec: int, ends: np.ndarray) -> np.ndarray | None:
        """Whether a window ends at some positions."""
        return self.assigners[spec].ends_at(ends)

    def starts(self, spec: int, keys: np.ndarray, ends: np.ndarray, store: Any) -> np.ndarray:
        """Where windows begin."""
        return self.assigners[spec].starts(keys, ends, store)

    def bounds(
        self, spec: int, store: SortedStore, keys: np.ndarray, starts: np.ndarray, ends: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Where the cells or rows of each window begin and end in a store."""
        return self.assigners[spec].bounds(store, keys, starts, ends)

    def passes(self, upto: int) -> None:
        """All windows that end up to the watermark were answered."""
        self.passed = max(self.passed, upto)

    def needed(self, store: Any) -> np.ndarray:
        """Which rows or cells a window may still hold."""
        if self.grids is not None and self.bygone == MOST:
            return np.zeros(len(store.at), np.bool_)
        if self.grids is not None and self.bygone != LEAST:
            return np.asarray(store.at >= self.opens())
        return reduce(np.logical_or, (each.needed(store, self.bygone) for each in self.assigners))

    def waited_for(self, at: np.ndarray) -> np.ndarray:
        """At which positions a window may still hold a row, whatever its key."""
        return self.last_ends(at) > self.bygone

    def last_ends(self, at: np.ndarray) -> np.ndarray:
        """Where all windows have ended that hold some positions."""
        return reduce(np.maximum, (each.last_ends(at) for each in self.assigners))

    def forget_answered(self, cells: Any, buffer: Any) -> int:
        """Let go of what is of windows that have been answered, as far as later rows would join it."""
        if self.passed == LEAST or not self._merging:
            return 0
        return max(each.forget_answered(cells, buffer, self.bygone) for each in self._merging)

    @cached_property
    def _merging(self) -> list[EventTimeAssigner]:
        return [each for each in self.assigners if each.merges]

    def coarsen(self, cells: Any) -> None:
        """Make fewer cells, where those of one extent need no more."""
        if len(self.assigners) == 1:
            self.assigners[0].coarsen(cells)

    def reached_by(self, keys: np.ndarray) -> np.ndarray:
        """Where windows have ended that are of no use any more."""
        return np.full(len(keys), self.bygone)

    def opens(self) -> int | None:
        """Where the first window begins that is still of use, if any is not."""
        if self.passed in (LEAST, MOST):
            return None
        return min(each.opens(self.bygone) for each in self.assigners)

    def open_windows(self, store: SortedStore) -> int:
        """How many windows hold a row and have not ended, each key's on its own."""
        return sum(each.open_windows(store, self.passed) for each in self.assigners)

    def parts(self) -> dict[str, Any]:
        """All that must be kept to go on later."""
        parts: dict[str, Any] = {"passed": self.passed}
        for spec, each in enumerate(self.assigners):
            parts |= {f"{name} {spec}": part for name, part in each.parts().items()}
        return parts

    def by_key(self) -> set[str]:
        """Time is the same for all keys; what an assigner keeps is of each."""
        return set(self.parts()) - {"passed"}

    def restore(self, parts: dict[str, Any], keys: int) -> None:
        """Go on with what was kept."""
        self.passed = whole_of(parts, "passed")
        for spec, each in enumerate(self.assigners):
            end = f" {spec}"
            each.restore({name[: -len(end)]: part for name, part in parts.items() if name.endswith(end)}, keys)


class EventTimeAssigner(Assigner):
    """Windows by event time: what an operator asks of them, beside what a plan does.

    ``after`` and ``upto`` are times: windows that end up to the first have been answered, and those that end up to
    the second are asked for, ``LEAST`` and ``MOST`` being the beginning and the end of time. A ``store`` is of cells
    or of rows; ``at`` of a cell is where its slice begins. The three that have a default are for windows of which a
    store must be seen to know them:

    - of windows that **share slices** but not a length (such as those that grow by steps), ``starts`` says where
      each begins, and ``cuts`` which grid their slices need; a window is a run of slices, as everywhere;
    - of windows that **merge**, or are bounded by rows (such as sessions), ``ended`` and ``starts`` find windows in
      the store, ``bounds`` says which cells a window has where [start, end) does not, ``ends_at`` gives None,
      ``last_ends`` gives MOST, as only rows to come decide, and ``needed`` says which rows a window still waits for.
      ``cuts`` may be a grid that is as fine as rows of one cell must be near each other. A row that joins two windows
      needs nothing: they are found anew. What must be remembered of windows that were answered is kept by a copy
      (``opened``, ``parts``, ``restore``), or by the cells: ``own_partial`` and ``lift_own`` are what these have of
      the windows themselves, ``forget_answered`` takes out what rows to come must not join, ``holds`` says which
      buffered rows are left, ``joining`` which rows come too late, and ``coarsen`` what may be put together.
    """

    positions: ClassVar[type[Positions]] = TimePositions
    by_time: ClassVar[bool] = True

    def check(self) -> None:
        """Refuse a stream without event times."""
        if self.stream.settings.time is None:
            raise SashError(f"time must be given for windows by {self.kind}, such as {self.extent}; got None")
        super().check()

    @property
    @abstractmethod
    def lengths(self) -> tuple[Interval, ...]:
        """Intervals of which none is shorter than twice what lies between a row and a window's start or end."""

    @property
    def margin(self) -> int:
        """How far from a row a window that holds it may begin or end."""
        longest = max(each.months * 31 * DAY + each.days * DAY + each.microseconds for each in self.lengths)
        return 2 * longest * PER_MICROSECOND[self.stream.unit]

    @property
    def offset(self) -> int:
        """By how many ticks starts are moved."""
        return self.stream.ticks("offset", self.stream.settings.offset)

    @property
    def zone(self) -> str | None:
        """The time zone whose clocks say when days begin, where one was given."""
        return self.stream.settings.zone

    @property
    def end_type(self) -> pa.DataType:
        """Ends are times."""
        return self.stream.time_type

    @property
    def start_type(self) -> pa.DataType:
        """Starts are times."""
        return self.stream.time_type

    @abstractmethod
    def ended(self, store: SortedStore, after: int, upto: int) -> tuple[np.ndarray, np.ndarray]:
        """Keys and ends of the windows that hold a row, and end after one time and up to another, sorted."""

    @abstractmethod
    def counts(self, store: SortedStore, after: int, upto: int, out: np.ndarray) -> None:
        """Add to a number for each key of the store, in order, how many such windows it has."""

    @abstractmethod
    def open_windows(self, store: SortedStore, after: int) -> int:
        """How many windows of the store hold a row and end after a time."""

    @abstractmethod
    def ends_between(self, after: int, upto: int) -> bool:
        """Whether any window may end after one time and up to another."""

    def between(self, after: int, upto: int, most: int) -> tuple[np.ndarray, np.ndarray] | None:
        """Starts and ends of all windows that end after one time and up to another, by end.

        None where only rows say which there are, or where these are more than so many.
        """
        return None

    @abstractmethod
    def ends_at(self, ends: np.ndarray) -> np.ndarray | None:
        """Whether a window ends at some times, with rows or without; None where rows say it."""

    @abstractmethod
    def starts(self, keys: np.ndarray, ends: np.ndarray, store: Any) -> np.ndarray:
        """Where the windows of some keys begin that end at some times."""

    def bounds(
        self, store: SortedStore, keys: np.ndarray, starts: np.ndarray, ends: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Where the cells or rows of each window begin and end in a store; both only move forward."""
        return bounds_of(store.key, store.at, keys, starts, ends)

    @abstractmethod
    def last_ends(self, at: np.ndarray) -> np.ndarray:
        """Where all windows have ended that hold some positions; MOST where only rows to come decide that."""

    def needed(self, store: Any, passed: int) -> np.ndarray:
        """Which cells or rows a window may hold that ends after a time."""
        return self.last_ends(store.at) > passed

    def joining(self, cells: Any, rows: Arriving, watermark: int | None) -> Joining:
        """Which rows are of windows that have ended, with all that came by now; of windows that merge."""
        return Joining(np.zeros(len(rows.time), np.bool_), None)

    def forget_answered(self, cells: Any, buffer: Any, upto: int) -> int:
        """Let go of what is of windows that end up to a time, where rows may join these; gives how many rows it had."""
        return 0

    def coarsen(self, cells: Any) -> None:
        """Make fewer cells, where no other extent needs more."""
        return

    @abstractmethod
    def opens(self, passed: int) -> int:
        """Where the first window begins that ends after a time."""

    @abstractmethod
    def missed(self, rows: Behind) -> Missed:
        """What rows behind the watermark missed."""

    def parts(self) -> dict[str, Any]:
        """What a copy keeps between batches: arrays with a place for each key."""
        return {}

    def restore(self, parts: dict[str, Any], keys: int) -> None:
        """Go on with what was kept of so many keys."""
        return

    def length(self, ticks: int) -> str:
        """A time in words."""
        days, rest = divmod(ticks // PER_MICROSECOND[self.stream.unit], DAY)
        return str(Interval(0, days, rest))

    def cost(self, combines: float) -> str:
        """How many combines there are in words, given how many for each tick."""
        combines *= 10**6 * PER_MICROSECOND[self.stream.unit]
        return f"combines: {combines:.3g} a second for each key, and one for each event and partial"
