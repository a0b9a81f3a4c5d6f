"""How long the windows of a stream are, and how far apart: by time, by count, by delta, punctuation or session."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from sash.errors import SashError
from sash.expressions.columns import Expression, Foreign, as_column
from sash.expressions.parsing import as_predicate
from sash.windows.intervals import DAY, Interval

TAKES = (
    "an interval such as '15 minutes', a number of rows, sash.cumulate(size, step), sash.session(gap), "
    "sash.delta(column, size) or sash.punctuation(condition)"
)


class Extent:
    """What windows a query asks for, once ``range=`` and ``slide=`` are read; ``str`` says it in words."""

    @property
    def key(self) -> Any:
        """What is equal where extents are the same."""
        return self


class Range(ABC):
    """What ``range=`` takes beside intervals and numbers of rows; a further kind of windows is a further subclass."""

    @abstractmethod
    def extent(self, slide: Any) -> Extent:
        """The extent with a slide, or, where that is None, without one."""


@dataclass(frozen=True, eq=False)
class Delta(Range):
    """A distance in a column that only grows, such as an odometer."""

    column: Expression
    size: float

    def extent(self, slide: Any) -> Extent:
        """Windows of this size."""
        return _by_delta(self, slide)

    def __repr__(self) -> str:
        return f"delta({self.column}, {self.size})"


@dataclass(frozen=True, eq=False)
class Punctuation(Range):
    """The rows that end a window."""

    condition: Expression

    def extent(self, slide: Any) -> Extent:
        """Windows that tumble."""
        if slide is not None:
            raise SashError(f"slide cannot be given with punctuation, whose windows tumble, got {slide!r}")
        return PunctuationExtent(self.condition)

    def __repr__(self) -> str:
        return f"punctuation({self.condition})"


@dataclass(frozen=True)
class Cumulate(Range):
    """Windows that grow by steps until they are of a size."""

    size: Interval
    step: Interval

    def extent(self, slide: Any) -> Extent:
        """Windows that begin anew after each size."""
        if slide is not None:
            raise SashError(f"slide cannot be given with cumulate, whose windows follow its step, got {slide!r}")
        return CumulativeExtent(self.size, self.step)

    def __repr__(self) -> str:
        return f"cumulate({self.size}, step={self.step})"


@dataclass(frozen=True, eq=False)
class Session(Range):
    """Rows that are less than a gap apart: an interval, or a column with the gap of each row."""

    gap: Interval | None
    column: Expression | None = None

    def extent(self, slide: Any) -> Extent:
        """Windows that rows bound."""
        if slide is not None:
            raise SashError(f"slide cannot be given with session, whose windows are where rows are, got {slide!r}")
        return SessionExtent(self.gap) if self.gap is not None else OwnSessionExtent(self.column)  # type: ignore[arg-type]

    def __repr__(self) -> str:
        return f"session({self.column if self.gap is None else self.gap})"


def session(gap: Any) -> Session:
    """Windows of rows that are less than a gap apart; each ends a gap behind its last row.

    The gap is an interval, or a column with the gap of each row: a row then lasts from its time until its gap later,
    and rows that overlap are of one session. A number of rows or of anything else is no gap.

    >>> session("30 minutes"), session(as_column("gap"))
    (session(30 minutes), session(gap))
    >>> import pyarrow as pa
    >>> from datetime import datetime
    >>> from sash import functions as sf
    >>> from sash.streams import stream
    >>> clicks = pa.table({"ts": [datetime(2026, 1, 1, 8, m) for m in (0, 10, 45, 50)]})
    >>> board = stream(clicks, time="ts").query("clicks", sf.count(), range=session("30 minutes"))
    >>> [(str(row["window_end"].time()), row["clicks"]) for row in board.results().to_pylist()]
    [('08:40:00', 2), ('09:20:00', 2)]
    """
    if isinstance(gap, (str, Interval, timedelta)):
        length = _interval("gap of session", gap)
        if length.months:
            raise SashError(f"gap of session must be in weeks, days or less, got {length}")
        return Session(length)
    try:
        column = as_column(gap)
    except SashError:
        column = None
    if column is None or not (column.paths or isinstance(column, Foreign)):
        raise SashError(f"gap of session must be an interval such as '30 minutes', or a column such as "
                        f"sash.col('gap'), got {gap!r}")  # fmt: skip
    return Session(None, column)


def cumulate(size: Any, *, step: Any) -> Cumulate:
    """Windows that grow by steps until they are of a size: the day so far, every hour.

    The size is a multiple of the step.

    >>> cumulate("1 day", step="1 hour")
    cumulate(1 day, step=1 hour)
    >>> import pyarrow as pa
    >>> from datetime import datetime
    >>> from sash import functions as sf
    >>> from sash.streams import stream
    >>> sales = pa.table({"ts": [datetime(2026, 1, 1, h) for h in (0, 2)], "amount": [5, 7]})
    >>> board = stream(sales, time="ts").query("so_far", sf.sum("amount"), range=cumulate("4 hours", step="1 hour"))
    >>> board.results()["so_far"].to_pylist()
    [5, 5, 12, 12]
    """
    whole, part = _interval("size of cumulate", size), _interval("step of cumulate", step)
    for name, each in (("size", whole), ("step", part)):
        if each.months:
            raise SashError(f"{name} of cumulate must be in weeks, days or less, got {each}")
    if microseconds("size", whole) % microseconds("step", part):
        raise SashError(f"step of cumulate must divide its size, {whole}, got {part}")
    return Cumulate(whole, part)


def delta(column: Any, size: float) -> Delta:
    """A window, or a slide, by how far a column has moved.

    A window of ``sash.delta("odometer", 100.0)`` at a row holds the rows of its key whose odometer is at most
    100 below that row's.

    >>> delta("odometer", 100.0)
    delta(odometer, 100.0)
    """
    if isinstance(size, bool) or not isinstance(size, (int, float)) or not math.isfinite(size) or size <= 0:
        raise SashError(f"size of a delta must be a number above zero, got {size!r}")
    return Delta(as_column(column), size)


def punctuation(condition: Any) -> Punctuation:
    """Windows that end with each row where a condition holds; the next one begins behind it.

    >>> punctuation("is_end")
    punctuation(is_end)
    """
    return Punctuation(as_predicate(condition))


@dataclass(frozen=True)
class TimeExtent(Extent):
    """Windows by event time."""

    range: Interval
    slide: Interval

    def __str__(self) -> str:
        return f"range {self.range}, slide {self.slide}"


@dataclass(frozen=True)
class CumulativeExtent(Extent):
    """Windows of one start that grow by steps until they are of a size."""

    size: Interval
    step: Interval

    def __str__(self) -> str:
        return f"cumulative up to {self.size}, step {self.step}"


@dataclass(frozen=True)
class SessionExtent(Extent):
    """Rows that are less than a gap apart."""

    gap: Interval

    def __str__(self) -> str:
        return f"sessions of {self.gap}"


@dataclass(frozen=True, eq=False)
class OwnSessionExtent(Extent):
    """Rows of which each lasts for a gap of its own."""

    column: Expression

    @property
    def key(self) -> Any:
        """The column."""
        return "session", self.column.key

    def __str__(self) -> str:
        return f"sessions of {self.column}"


@dataclass(frozen=True)
class CountExtent(Extent):
    """The last so many rows of a key, every so many rows."""

    range: int
    slide: int

    def __str__(self) -> str:
        return f"range {self.range:,} rows, slide {self.slide:,} rows"


@dataclass(frozen=True)
class RowsByTimeExtent(Extent):
    """The last so many rows of a key, at steps of time."""

    rows: int
    slide: Interval

    def __str__(self) -> str:
        return f"range {self.rows:,} rows, slide {self.slide}"


@dataclass(frozen=True)
class TimeByRowsExtent(Extent):
    """The last so much time of a key, at every so many rows."""

    range: Interval
    rows: int

    def __str__(self) -> str:
        return f"range {self.range}, slide {self.rows:,} row{'s' * (self.rows != 1)}"


@dataclass(frozen=True, eq=False)
class DeltaExtent(Extent):
    """The rows of a key that are not far behind, at every so many rows, or where a column has moved so far."""

    column: Expression
    range: float
    slide: float | None = None  # by how much the column has moved
    rows: int = 1  # or by how many rows

    @property
    def key(self) -> Any:
        """Column, range and slide."""
        return self.column.key, self.range, self.slide, self.rows

    def __str__(self) -> str:
        slide = f"{self.rows:,} row{'s' * (self.rows != 1)}" if self.slide is None else f"{self.slide} of {self.column}"
        return f"range {self.range} of {self.column}, slide {slide}"


@dataclass(frozen=True, eq=False)
class PunctuationExtent(Extent):
    """The rows of a key up to and with the next that ends a window."""

    condition: Expression

    @property
    def key(self) -> Any:
        """The condition."""
        return self.condition.key

    def __str__(self) -> str:
        return f"up to each row where {self.condition}"


def extent_of(range: Any, slide: Any = None) -> Extent:
    """What ``range=`` and ``slide=`` say; without a slide, windows tumble.

    >>> print(extent_of("1 hour", "5 minutes"))
    range 1 hour, slide 5 minutes
    >>> print(extent_of(1000))
    range 1,000 rows, slide 1,000 rows
    """
    if isinstance(range, Range):
        return range.extent(slide)
    if _is_count(range):
        if isinstance(slide, (str, timedelta, Interval)):
            return RowsByTimeExtent(_count("range", range), _interval("slide", slide))
        if slide is not None and not _is_count(slide):
            raise SashError(f"slide must be a number of rows or an interval, got {slide!r}")
        return CountExtent(_count("range", range), _count("slide", range if slide is None else slide))
    length = _interval("range", range)
    if _is_count(slide):
        return TimeByRowsExtent(length, _count("slide", slide))
    step = length if slide is None else _interval("slide", slide)
    if length.months and not step.months:
        raise SashError(
            f"range of months needs a slide of months, whose windows end at different times, got {length} and {step}; "
            "say the range in days"
        )
    return TimeExtent(length, step)


def _by_delta(range: Delta, slide: Any) -> DeltaExtent:
    if slide is None:
        return DeltaExtent(range.column, range.size)
    if isinstance(slide, Delta):
        if slide.column.key != range.column.key:
            raise SashError(f"slide must be a delta of {range.column} like the range, got {slide}")
        return DeltaExtent(range.column, range.size, slide=slide.size)
    if _is_count(slide):
        return DeltaExtent(range.column, range.size, rows=_count("slide", slide))
    raise SashError(f"slide must be sash.delta({str(range.column)!r}, size) or a number of rows, got {slide!r}")


def _is_count(size: Any) -> bool:
    return not isinstance(size, bool) and (isinstance(size, int) or hasattr(size, "__index__"))


def _count(argument: str, size: Any) -> int:
    if int(size) < 1:
        raise SashError(f"{argument} must be at least one row, got {size!r}")
    if int(size) >= 2**62:
        raise SashError(f"{argument} must be fewer than 2^62 rows, got {size!r}")
    return int(size)


def _interval(argument: str, size: Any) -> Interval:
    interval = interval_of(argument, size)
    if not interval or interval.backward:
        raise SashError(f"{argument} must be longer than zero, got {size!r}")
    if any(part < 0 for part in interval.parts):
        raise SashError(f"{argument} must not have a part below zero, got {size!r}")
    if interval.months and (interval.days or interval.microseconds):
        raise SashError(f"{argument} must be of months and years alone, or of none, got {size!r}")
    return interval


def interval_of(argument: str, size: Any) -> Interval:
    """A span of time given as text, as a timedelta or as an interval."""
    if isinstance(size, Interval):
        return size
    if isinstance(size, timedelta):
        return Interval.of(size)
    if isinstance(size, str):
        return Interval.parse(size, argument)
    takes = TAKES if argument == "range" else "an interval such as '15 minutes'"
    takes += ", like the range" if argument == "slide" else ""
    raise SashError(f"{argument} must be {takes}, got {size!r}")


def microseconds(argument: str, interval: Interval) -> int:
    """How long an interval without months is: a day is 24 hours, as in Spark's window()."""
    if interval.months:
        raise SashError(f"{argument} must have a fixed length, got {interval}; say it in days")
    return interval.days * DAY + interval.microseconds
