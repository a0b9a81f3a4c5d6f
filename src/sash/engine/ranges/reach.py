"""How far the frames of window expressions reach around each row: the rows that a piece needs beside its own."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from sash.algebra.window_function import Interpolation, SessionFunction, ShiftFunction
from sash.windows import as_window
from sash.windows.frame import Bound, Frame
from sash.windows.intervals import Interval
from sash.windows.over import Over

FAR = 2**62  # more rows than there are
LONGEST = 3e38  # beyond this a short float is infinite, and infinity less infinity, NaN, is on the other side of all


@dataclass(frozen=True)
class Side:
    """How far frames reach to one side of the current row; all that it names hold at once.

    ``everything`` is to the edge of the partition, and the other fields say then how far away a row must be to lie
    in the frame of the current row for sure: with a frame up to 5 preceding, 5 rows before it. ``unknown`` is a
    bound that is each row's own. ``ranges`` are offsets of the order key as in the frame, negative for preceding.
    Rows equal in the order are always together, so reaching them is reaching nothing.
    """

    everything: bool = False
    unknown: bool = False
    rows: int = 0
    groups: int = 0
    ranges: tuple[Any, ...] = ()

    def __bool__(self) -> bool:
        return self != Side()

    @property
    def has_halo(self) -> bool:
        """Whether rows beside its own are needed as rows."""
        return bool(self.rows or self.groups or self.ranges)

    def __or__(self, other: Side) -> Side:
        return Side(
            self.everything or other.everything,
            self.unknown or other.unknown,
            max(self.rows, other.rows),
            max(self.groups, other.groups),
            tuple(dict.fromkeys(self.ranges + other.ranges)),
        )


@dataclass(frozen=True)
class Reach:
    """How far frames reach before and after the current row."""

    before: Side = Side()
    after: Side = Side()

    def __or__(self, other: Reach) -> Reach:
        return Reach(self.before | other.before, self.after | other.after)


def reach(over: Over) -> Reach:
    """How far one window expression reaches.

    Ranks without an order of their own are of the whole partition, whatever the frame: rank, dense_rank and
    row_number need all that is before the row, the others all. So are lead and lag, which need as many rows as
    their offset says; where they pass over NULLs or over rows that a filter drops, all to their side. A session may
    begin with any row.

    >>> from sash import Window, functions as sf
    >>> found = reach(sf.sum("x").over(Window.orderBy("t").rowsBetween(-2, 5)))
    >>> found == Reach(Side(rows=2), Side(rows=5))
    True
    """
    call, frame = over.call, as_window(over.window).frame
    if call.aggregate.framed or call.order:
        return _of_frame(frame)
    if isinstance(call.aggregate, ShiftFunction):
        return _of_shift(call)
    if isinstance(call.aggregate, SessionFunction | Interpolation):  # in a descending order, those after it
        return Reach(Side(everything=True), Side(everything=True))
    return Reach(Side(everything=True), Side(everything=call.aggregate.lower is not None))  # which needs the size


def together(reaches: Iterable[Reach]) -> Reach:
    """How far several expressions over one order reach: the farthest of each kind to each side."""
    whole = Reach()
    for each in reaches:
        whole |= each
    return whole


def _of_shift(call: Any) -> Reach:
    ahead = call.aggregate.offset
    if ahead is None:  # each row has its own
        return Reach(Side(unknown=True), Side(unknown=True))
    if not ahead:
        return Reach()
    skips = call.nulls == "ignore" or call.condition is not None
    side = Side(everything=True) if skips else Side(rows=min(abs(ahead), FAR))
    return Reach(after=side) if ahead > 0 else Reach(before=side)


def _of_frame(frame: Frame) -> Reach:
    start, end = frame.start, frame.end
    before, after = _side(frame.kind, start, before=True), _side(frame.kind, end, before=False)
    if start.is_unbounded:  # rows nearer than a preceding end are not in the frame
        before |= _side(frame.kind, end, before=True) if not end.is_unbounded else Side()
    if end.is_unbounded:
        after |= _side(frame.kind, start, before=False) if not start.is_unbounded else Side()
    return Reach(before, after)


def _side(kind: str, bound: Bound, before: bool) -> Side:
    """How far a bound is to one side."""
    if bound.is_unbounded:
        return Side(everything=True)
    if bound.column is not None:
        return Side(unknown=True)
    offset = bound.constant
    if isinstance(offset, Interval):  # one of mixed signs may point either way
        away = -offset if before else offset
        return Side() if away.backward else Side(ranges=(offset,))
    if kind == "range" and not abs(offset) <= LONGEST:
        return Side(unknown=True)
    if (offset >= 0) if before else (offset <= 0):
        return Side()
    if kind == "range":
        return Side(ranges=(offset,))
    return Side(rows=min(abs(offset), FAR)) if kind == "rows" else Side(groups=min(abs(offset), FAR))
