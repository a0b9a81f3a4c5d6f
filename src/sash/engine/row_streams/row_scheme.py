"""What is asked of the rows of a stream, checked: by which time, how far frames reach, and what is kept of the past."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.columns_read import checked, expressions_of
from sash.engine.evaluating import evaluate
from sash.engine.ranges.reach import Reach, reach
from sash.engine.ranges.reach import together as reaching
from sash.engine.streams.queries import Settings
from sash.engine.streams.scheme import Scheme
from sash.engine.summaries.contents import COUNT, PARTIAL, ROWS, content_of
from sash.errors import SashError, column_named
from sash.expressions.binding import check_names
from sash.expressions.columns import Expression
from sash.kernels.sealing import making
from sash.windows.calendars import has_fixed_days
from sash.windows.grids import PER_MICROSECOND
from sash.windows.intervals import DAY, Interval
from sash.windows.over import Over
from sash.windows.range_keys import RangeKeys
from sash.windows.window import WindowSpec

FINAL, EARLY = "final", "early"
EMITS = (FINAL, EARLY)
FAR = 2**60  # ticks; frames reach less far than a quarter of it


@dataclass(frozen=True)
class WindowColumns:
    """The expressions over one partition and order, and what they need of rows that left their frames."""

    window: WindowSpec
    columns: Mapping[str, Over]

    @cached_property
    def reach(self) -> Reach:
        """How far their frames reach."""
        return reaching(reach(over) for over in self.columns.values())

    def of_content(self, content: str) -> tuple[str, ...]:
        """The names of those whose frames begin with the first row, and which need such a summary of it."""
        return tuple(name for name, over in self.columns.items()
                     if reach(over).before.everything and content_of(over) == content)  # fmt: skip

    @cached_property
    def partials(self) -> tuple[str, ...]:
        """The names of those that need a partial of all rows before."""
        return self.of_content(PARTIAL)

    @cached_property
    def counts(self) -> tuple[str, ...]:
        """The names of those that need to know how many rows there were."""
        return self.of_content(COUNT)

    @cached_property
    def few(self) -> tuple[str, ...]:
        """The names of those to which a few of all rows matter."""
        return self.of_content(ROWS)

    @property
    def has_past(self) -> bool:
        """Whether anything must be known of rows that no frame reaches by time."""
        before = self.reach.before
        return bool(before.everything or before.rows or before.groups)


@dataclass(frozen=True)
class RowScheme:
    """Window expressions over the rows of a stream; the first key of their order is the time."""

    schema: pa.Schema
    columns: Mapping[str, Over]
    watermark: Interval | None = None
    emit: str = FINAL

    def __post_init__(self) -> None:
        if self.emit not in EMITS:
            raise SashError(f"emit must be one of {', '.join(EMITS)} for the rows of a stream, got {self.emit!r}")
        if not self.columns:
            raise SashError("columns must have at least one window expression on a stream, got none")
        object.__setattr__(self, "columns", checked(self.columns, self.schema.names))
        for name, over in self.columns.items():
            with column_named(name):
                self._check(name, over)
        _ = self.stream.delay, self.answers

    def __reduce__(self) -> Any:
        """Pickle what was given: the rest is found again wherever it is needed."""
        return RowScheme, (self.schema, self.columns, self.watermark, self.emit)

    @cached_property
    def time(self) -> Expression:
        """The time of a row: what all windows are ordered by first."""
        name, over = next(iter(self.columns.items()))
        if not over.window.order:
            raise SashError(f"{name} must have a window with orderBy of the event time on a stream, got {over.window}")
        return over.window.order[0].column

    def _check(self, name: str, over: Over) -> None:
        """Refuse what no row of a stream can be answered with."""
        window, far = over.window, reach(over)
        if window.others is not None:
            raise SashError(f"{name}: Window.of takes frames whose rows are all there, got a stream to add columns to")
        first = window.order[0] if window.order else None
        if first is None or first.column.key != self.time.key or first.descending:
            got = f"got {first}" if first else "got none"
            raise SashError(f"{name}: orderBy must begin with the event time, ascending, on a stream, {got}; "
                            f"{self.time} is the time of the other columns")  # fmt: skip
        if far.after.everything:
            raise SashError(f"{name}: {over} needs all rows that follow, and a stream has no last one; "
                            "end the frame at the current row, or with rangeBetween some time after it")  # fmt: skip
        if far.after.rows or far.after.groups:
            raise SashError(f"{name}: {over} needs rows that follow by number, which may never come on a stream; "
                            "say how far the frame goes on with rangeBetween, in time")  # fmt: skip
        if far.before.unknown or far.after.unknown:
            raise SashError(f"{name}: bounds must be the same for all rows on a stream, which keeps what frames reach, "
                            f"got {window.frame}")  # fmt: skip
        if far.before.everything and content_of(over) is None:
            raise SashError(f"{name}: {over} needs all rows before, of which a stream keeps no more than partials; "
                            "let the frame begin with rangeBetween or rowsBetween at a distance")  # fmt: skip

    @cached_property
    def stream(self) -> Scheme:
        """The time, the key and the watermark, as a stream has them."""
        names = tuple(map(str, self.key))
        with column_named(next(iter(self.columns))):
            return Scheme(self.schema, Settings(self.time, self.key, self.watermark, names=names), ())

    @cached_property
    def key(self) -> tuple[Expression, ...]:
        """The columns that all windows are partitioned by: rows that differ in them never meet."""
        first, *others = (over.window.partition for over in self.columns.values())
        common = [{each.key for each in partition} for partition in others]
        return tuple(each for each in first if all(each.key in keys for keys in common))

    @cached_property
    def by_window(self) -> tuple[WindowColumns, ...]:
        """The expressions by the way in which their rows are sorted."""
        groups: dict[Any, dict[str, Over]] = {}
        for name, over in self.columns.items():
            groups.setdefault((over.window.partition_key, over.window.order_key), {})[name] = over
        return tuple(WindowColumns(next(iter(group.values())).window, group) for group in groups.values())

    @cached_property
    def needed(self) -> tuple[str, ...]:
        """The columns that are kept of a row that has left."""
        wanted: set[str] = set()
        for over in self.columns.values():
            for each in expressions_of(over):
                wanted |= check_names(each, self.schema.names)
        return tuple(name for name in self.schema.names if name in wanted)

    @cached_property
    def answers(self) -> pa.Schema:
        """The columns of rows that leave: those that came, with the answers."""
        empty = evaluate(self.schema.empty_table(), self.columns)
        return empty.schema

    @cached_property
    def meaning(self) -> tuple[Any, ...]:
        """What the state depends on: the columns asked for, and what their functions are."""
        functions = {name: over.call.aggregate for name, over in self.columns.items()}
        return tuple((name, str(over), getattr(functions[name], "origin", None) or making(functions[name]))
                     for name, over in self.columns.items())  # fmt: skip

    # Reach, in ticks

    @cached_property
    def _sides(self) -> tuple[tuple[Any, ...], tuple[Any, ...]]:
        far = reaching(each.reach for each in self.by_window)
        return far.before.ranges, far.after.ranges

    @property
    def follows(self) -> bool:
        """Whether rows wait for others that follow."""
        return bool(self._sides[1])

    @cached_property
    def before(self) -> int:
        """How far before a row a frame may begin, at most, where it begins at a distance in time."""
        return max(map(self._most, self._sides[0]), default=0)

    @cached_property
    def after(self) -> int:
        """How far after a row a frame may end, at most."""
        return max(map(self._most, self._sides[1]), default=0)

    @property
    def far(self) -> int:
        """How many ticks from 1970 a row may be at most: of nanoseconds, nearly all that there are."""
        return FAR if self.stream.unit == "us" else 2**63 - FAR

    def _most(self, offset: Any) -> int:
        """The ticks of an offset, or more: months and local days have no fixed length."""
        per, own_type = PER_MICROSECOND[self.stream.unit], self.stream.time_type
        if not isinstance(offset, Interval):  # days, of dates
            return int(abs(offset)) * DAY * per
        far = (abs(offset.months) * 31 + abs(offset.days)) * DAY + abs(offset.microseconds)
        local = bool(offset.months) or (bool(offset.days) and not has_fixed_days(offset.zone or own_type.tz))
        far = (far + 2 * DAY * local) * per
        if far >= FAR // 4:
            raise SashError(f"frames must be within reach of {own_type}, got one with {offset}")
        return far

    def ends(self, rows: pa.Table, time: np.ndarray) -> np.ndarray:
        """Up to which time the frames of rows reach."""
        ends = time
        for offset in self._sides[1]:
            keys = RangeKeys(pa.array(time).view(self.stream.time_type), False)
            if not isinstance(offset, Interval):
                offset = Interval(0, int(offset), 0)
            targets = keys.targets(offset, True, "a frame")
            ends = np.maximum(ends, targets.targets + targets.shift[0])
        return ends

    def horizon(self, watermark: int) -> int:
        """The time from which on rows may be in frames of rows that have not left."""
        return watermark - (0 if self.emit == EARLY else self.after) - self.before
