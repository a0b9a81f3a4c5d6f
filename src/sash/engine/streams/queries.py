"""Queries of a stream, and what holds for all of them."""

from __future__ import annotations

from dataclasses import dataclass, field

from sash.algebra import Call
from sash.expressions.columns import Expression
from sash.windows.extents import Extent
from sash.windows.intervals import Interval

NO_TIME = Interval()
WINDOW_END, REVISION = "window_end", "revision"  # columns of answers


@dataclass(frozen=True)
class Query:
    """One query of a stream: its name, what it computes, of which windows, and the algorithm, if named."""

    name: str
    call: Call
    extent: Extent
    using: str | None = None
    height: int | None = None  # of several levels, where it is named
    was: str | None = None  # the name that kept state may know it by


@dataclass(frozen=True)
class Spans:
    """Events that last: where they start and end, how long windows wait for them, and how long they may be."""

    start: Expression
    end: Expression
    postpone: Interval | str | None = None
    longest: Interval | None = None
    pair: Expression | None = None  # ids, where starts and ends come in rows of their own


@dataclass(frozen=True)
class Settings:
    """What holds for a whole stream."""

    time: Expression | None = None
    key: tuple[Expression, ...] = ()
    watermark: Interval | None = None
    offset: Interval = NO_TIME
    slicer: str | None = None
    names: tuple[str | None, ...] = ()  # of keys that are not named by what they are made of
    grows: bool = False  # whether queries may be added to state that is kept, so that no partial is made of others
    spans: Spans | None = None  # time is then their end
    zone: str | None = field(default=None, repr=False)  # whose clocks say when days begin
    lateness: Interval | None = field(default=None, repr=False)  # how long windows stay after their answer
    ahead: Interval | None = field(default=None, repr=False)  # how far in the future times may be
    idle: Interval | None = field(default=None, repr=False)  # how long nothing comes until the clock goes on
    on_error: str = field(default="fail", repr=False)  # what is done with rows with which a function fails
    clock: Expression | None = field(default=None, repr=False)  # a column of what it showed; by itself where none is

    @property
    def own_columns(self) -> tuple[str, ...]:
        """The columns that all answers have, beside those of keys and queries."""
        return (WINDOW_END,) if self.lateness is None else (WINDOW_END, REVISION)

    @property
    def further(self) -> str:
        """In words, what ``repr`` leaves out as state was kept without it; none where nothing was given."""
        late = "" if self.lateness is None else f" late by {self.lateness}"
        return f" in {self.zone}{late}" if self.zone else late
