"""The columns of a stream as its settings read them: keys by name, and times in ticks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import pyarrow as pa

from sash.algebra.catalogue.spans import SHARE, SPENT
from sash.engine.streams.keys import check_key
from sash.engine.streams.queries import Settings
from sash.errors import SashError, column_named
from sash.expressions.binding import bind, check_names
from sash.expressions.columns import Column, Expression, Foreign
from sash.expressions.evaluation import infer
from sash.windows.extents import microseconds
from sash.windows.grids import PER_MICROSECOND
from sash.windows.intervals import Interval

FIRST = "__sash_first"  # the column of first moments in rows of spans on their way


@dataclass(frozen=True)
class TimedStream:
    """A stream without its queries."""

    schema: pa.Schema
    settings: Settings

    def check_columns(self) -> None:
        """Refuse settings that do not go with the columns."""
        names, spans = self.schema.names, self.settings.spans
        if spans is not None and (own := [name for name in names if name in (FIRST, SHARE, SPENT)]):
            raise SashError(f"a stream of spans cannot have a column {own[0]}, which Sash adds itself; rename it")
        named = [("time" if spans is None else "span", self.settings.time)]
        named += [] if spans is None else [("span", spans.start), ("pair", spans.pair)]
        for argument, each in (*named, *(("key", key) for key in self.settings.key)):
            if each is not None:
                with column_named(argument):
                    check_names(each, names)
        for name, key in zip(self.key_names, self.settings.key, strict=True):
            check_key(name, infer(key, self.schema))
        if self.settings.time is not None:
            _ = self.unit
        if spans is not None and self._moments(spans.start, "span") != self.time_type:
            raise SashError(f"span must be two columns of one type, got {spans.start} of type "
                            f"{infer(spans.start, self.schema)} and {spans.end} of type "
                            f"{infer(spans.end, self.schema)}; cast one to the other's")  # fmt: skip

    @property
    def spans(self) -> bool:
        """Whether events last."""
        return self.settings.spans is not None

    @cached_property
    def postpone(self) -> int:
        """How long after their ends windows wait, as far as that is fixed."""
        interval = self.settings.spans.postpone if self.settings.spans else None
        return self.ticks("postpone", interval) if isinstance(interval, Interval) else 0

    @cached_property
    def longest(self) -> int | None:
        """How long a span may be."""
        interval = self.settings.spans.longest if self.settings.spans else None
        return None if interval is None else self.ticks("longest", interval)

    @cached_property
    def key_names(self) -> tuple[str, ...]:
        """The names of the key's columns in the answers."""
        named = self.settings.names or (None,) * len(self.settings.key)
        names = tuple(name or _named(key, self.schema.names)
                      for name, key in zip(named, self.settings.key, strict=True))  # fmt: skip
        if len(set(names)) < len(names):
            raise SashError(f"key must name different columns, got {', '.join(names)}")
        for name in self.settings.own_columns:
            if name in names:
                raise SashError(f"key must not be named {name}, as a column of the answers is; rename the column")
        return names

    @cached_property
    def key_types(self) -> tuple[pa.DataType, ...]:
        """The types of the key's columns."""
        return tuple(infer(key, self.schema) for key in self.settings.key)

    @cached_property
    def time_type(self) -> pa.DataType:
        """The type of event times as answers show them: a timestamp of microseconds, or of nanoseconds."""
        if self.settings.time is None:
            return pa.timestamp("us")
        return self._moments(self.settings.time, "span" if self.spans else "time")

    def _moments(self, column: Expression, argument: str) -> pa.DataType:
        dtype = infer(column, self.schema)
        if pa.types.is_date(dtype):
            return pa.timestamp("us")
        if not pa.types.is_timestamp(dtype):
            what = "two columns" if self.spans else "a column"
            raise SashError(f"{argument} must be {what} of timestamps or dates, got {column} of type {dtype}")
        return pa.timestamp("ns" if dtype.unit == "ns" else "us", dtype.tz)

    @property
    def unit(self) -> str:
        """The unit of event times."""
        return str(self.time_type.unit)

    def ticks(self, argument: str, interval: Interval) -> int:
        """How many units of event time an interval is."""
        ticks = microseconds(argument, interval) * PER_MICROSECOND[self.unit]
        if abs(ticks) >= 2**60:
            raise SashError(f"{argument} must be within reach of {self.time_type}, got {interval}")
        return ticks

    @cached_property
    def lateness(self) -> int:
        """How long windows stay after their answer."""
        return 0 if self.settings.lateness is None else self.ticks("lateness", self.settings.lateness)

    @cached_property
    def ahead(self) -> int:
        """How far in the future times may be, where that matters."""
        return 0 if self.settings.ahead is None else self.ticks("ahead", self.settings.ahead)

    @cached_property
    def idle(self) -> int | None:
        """How long nothing comes until the clock moves the watermark; None where it does not."""
        return None if self.settings.idle is None else self.ticks("idle", self.settings.idle)

    @cached_property
    def delay(self) -> int | None:
        """How far the watermark is behind the latest event; None where it is not moved by events."""
        return None if self.settings.watermark is None else self.ticks("watermark", self.settings.watermark)


def _named(key: Expression, names: Sequence[str]) -> str:
    if isinstance(key, Foreign):
        raise SashError(f"key must be a name or an expression made with sash.col, got {key}")
    assert isinstance(key, Column)
    bound = bind(key, names)
    paths = getattr(bound, "path", None)
    return paths[-1] if paths else str(bound)
