"""Frames: which rows around the current one a window function sees, as ROWS, RANGE or GROUPS between two bounds."""

from __future__ import annotations

import math
import numbers
import operator
from dataclasses import dataclass, replace
from datetime import timedelta
from decimal import Decimal
from typing import Any

from sash import options
from sash.errors import SashError
from sash.expressions.columns import Column, Foreign, as_column
from sash.libraries import is_pyspark
from sash.windows.intervals import Interval

UNBOUNDED_PRECEDING, UNBOUNDED_FOLLOWING, CURRENT_ROW = -(2**63), 2**63 - 1, 0  # PySpark's numbers
EXCLUSIONS = ("current row", "group", "ties", "no others")
KINDS = ("rows", "range", "groups")
CLOSED = {"both": (True, True), "left": (True, False), "right": (False, True), "neither": (False, False)}


@dataclass(frozen=True, eq=False)
class Bound:
    """One side of a frame: ``form`` is unbounded, current row, offset or column; negative is preceding."""

    form: str
    offset: Any = None  # a number or an Interval; a Column where every row has its own

    @property
    def is_unbounded(self) -> bool:
        """Whether it reaches to the edge of the partition."""
        return self.form == "unbounded"

    @property
    def is_current_row(self) -> bool:
        """Whether it is the current row; its peers, for RANGE and GROUPS."""
        return self.form == "current row"

    @property
    def column(self) -> Any:
        """The Column of offsets where every row has its own, else None."""
        return self.offset if self.form == "column" else None

    @property
    def constant(self) -> Any:
        """Its offset where that is the same for every row: 0 for the current row, else None."""
        return 0 if self.is_current_row else self.offset if self.form == "offset" else None

    @property
    def key(self) -> tuple[Any, ...]:
        """What makes two bounds the same; hashable."""
        return self.form, self.offset.key if self.form == "column" else (type(self.offset), self.offset)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Bound) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def zoned(self, zone: str) -> Bound:
        """The same, of days and months of the clocks of a zone."""
        return replace(self, offset=replace(self.offset, zone=zone)) if isinstance(self.offset, Interval) else self

    def words(self, side: str) -> str:
        """As SQL has it, such as ``5 minutes preceding``."""
        if self.is_unbounded:
            return f"unbounded {'preceding' if side == 'start' else 'following'}"
        if self.is_current_row:
            return self.form
        if self.form == "column":
            return f"{self.offset} following"
        back = self.offset.backward if isinstance(self.offset, Interval) else self.offset < 0
        return f"{-self.offset} preceding" if back else f"{self.offset} following"


@dataclass(frozen=True)
class Frame:
    """ROWS, RANGE or GROUPS between two bounds, less what is excluded.

    ``closed`` says which bounds of a RANGE are in it: a side that is open leaves out the rows exactly there.

    >>> Frame("rows", as_bound(-2, "start", "rows"), CURRENT)
    rows between 2 preceding and current row
    """

    kind: str
    start: Bound
    end: Bound
    exclude: str = "no others"
    closed: str = "both"

    def __post_init__(self) -> None:
        if self.kind not in KINDS:
            raise SashError(f"the kind of a frame must be one of {', '.join(KINDS)}, got {self.kind!r}")
        if self.closed != "both" and self.kind != "range":
            raise SashError(
                f"closed is for rangeBetween: {self.kind} are counted, so move a bound of {self.kind}Between by 1"
            )
        start, end = self.start.constant, self.end.constant
        if start is not None and end is not None and _after(start, end):
            raise SashError(f"start must not be after end, got {start} and {end}")

    @property
    def has_offset(self) -> bool:
        """Whether a bound is an offset from the current row, its own for each row or not."""
        return any(bound.form in ("offset", "column") for bound in (self.start, self.end))

    def zoned(self, zone: str) -> Frame:
        """The same, of days and months of the clocks of a zone; other frames than by intervals of time are refused."""
        bounds = self.start, self.end
        by_time = [bound for bound in bounds if isinstance(bound.offset, Interval)]
        if self.kind != "range" or len(by_time) < sum(bound.form in ("offset", "column") for bound in bounds):
            raise SashError(f"zone is for rangeBetween with intervals such as '-1 day', got {self}")
        return replace(self, start=self.start.zoned(zone), end=self.end.zoned(zone))

    @property
    def has_columns(self) -> bool:
        """Whether a bound is each row's own."""
        return self.start.column is not None or self.end.column is not None

    @property
    def key(self) -> tuple[Any, ...]:
        """What makes two frames the same; hashable."""
        return self.kind, self.start.key, self.end.key, self.exclude, self.closed

    def __repr__(self) -> str:
        words = f"{self.kind} between {self.start.words('start')} and {self.end.words('end')}"
        words += "" if self.closed == "both" else f" closed {self.closed}"
        zones = {bound.offset.zone: None for bound in (self.start, self.end) if isinstance(bound.offset, Interval)}
        words += "".join(f" in {zone}" for zone in zones if zone)
        return words if self.exclude == "no others" else f"{words} exclude {self.exclude}"


UNBOUNDED, CURRENT = Bound("unbounded"), Bound("current row")
WHOLE_PARTITION = Frame("range", UNBOUNDED, UNBOUNDED)
UP_TO_PEERS = Frame("range", UNBOUNDED, CURRENT)  # SQL's frame where only an order is given


def as_bound(bound: Any, side: str, kind: str) -> Bound:
    """Read what a user gave as the start or the end of a frame."""
    if isinstance(bound, Bound):
        return bound
    if is_column(bound):
        return Bound("column", as_column(bound))
    method, offset = f"{kind}Between: {side}", _offset(bound)
    if isinstance(offset, int):
        if offset <= UNBOUNDED_PRECEDING + 1 or offset >= UNBOUNDED_FOLLOWING:
            if (offset < 0) != (side == "start"):
                raise SashError(f"{method} must not be unbounded {'following' if side == 'start' else 'preceding'}")
            return UNBOUNDED
    elif kind != "range":
        raise SashError(f"{method} must be a whole number or a column, got {_shown(bound)}")
    if isinstance(bound, str):
        offset = Interval.parse(bound, method)
    if isinstance(offset, Interval) and (offset.months or offset.days):
        offset = replace(offset, zone=offset.zone or options.zone)
    if offset is None or (isinstance(offset, Decimal) and not offset.is_finite()):
        raise SashError(
            f"{method} must be a number, a timedelta, an interval such as '-5 minutes' or a column, got {_shown(bound)}"
        )
    return Bound("offset", offset) if offset else CURRENT


def as_distance(argument: str, distance: Any) -> int | float | Decimal | Interval:
    """Read what a user gave as a distance in an order: a number or a span of time, above zero.

    >>> print(as_distance("gap", "30 minutes"), as_distance("gap", 2.5))
    30 minutes 2.5
    """
    offset = Interval.parse(distance, argument) if isinstance(distance, str) else _offset(distance)
    if offset is None or (isinstance(offset, float | Decimal) and not math.isfinite(offset)):
        takes = "a number, a timedelta, an interval such as '30 minutes' or a column"
        raise SashError(f"{argument} must be {takes}, got {_shown(distance)}")
    if min(offset.parts) < 0 or not offset if isinstance(offset, Interval) else offset <= 0:
        raise SashError(f"{argument} must be above zero, got {_shown(distance)}")
    return offset


def is_column(thing: Any) -> bool:
    """Whether it is a column expression, Sash's or PySpark's."""
    return isinstance(thing, Column | Foreign) or is_pyspark(thing, "Column")


def _offset(value: Any) -> int | float | Decimal | Interval | None:
    if isinstance(value, timedelta):
        return Interval.of(value)
    if isinstance(value, Interval | Decimal):
        return value
    if isinstance(value, bool) or not isinstance(value, numbers.Real):
        return None
    return operator.index(value) if isinstance(value, numbers.Integral) else float(value)


def _after(start: Any, end: Any) -> bool:
    if isinstance(start, Interval) or isinstance(end, Interval):
        start, end = start or Interval(), end or Interval()
        return isinstance(start, Interval) and isinstance(end, Interval) and start.surely_after(end)
    return bool(start > end)


def _shown(value: Any) -> str:
    return (
        repr(value) if isinstance(value, str | int | float | Decimal) else f"{value!r} of type {type(value).__name__}"
    )
