"""Windows: partitions, an order and a frame, written as in PySpark."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from sash.algebra import Call
from sash.errors import SashError, column_named
from sash.expressions.columns import Column, Foreign, Order, as_column
from sash.expressions.orders import as_order, asc
from sash.windows.frame import (
    CLOSED,
    CURRENT_ROW,
    EXCLUSIONS,
    UNBOUNDED_FOLLOWING,
    UNBOUNDED_PRECEDING,
    UP_TO_PEERS,
    WHOLE_PARTITION,
    Frame,
    as_bound,
    is_column,
)
from sash.windows.others import Others, checked_table, pair_of, pairs_of
from sash.windows.over import Over


@dataclass(frozen=True, eq=False, repr=False)
class WindowSpec:
    """A window; every method returns a new one. Start with ``Window``."""

    partition: tuple[Column | Foreign, ...] = ()
    order: tuple[Order, ...] = ()
    given: Frame | None = None  # the frame, where one was given
    exclusion: str = "no others"
    sides: str = "both"  # which bounds of a range are in it
    clocks: str | None = None  # the zone whose clocks say how long days and months of a range are
    others: Others | None = None  # of whose rows the frames are, where they are not the table's own

    is_sash_window = True

    def partitionBy(self, *cols: Any) -> WindowSpec:
        """Give each combination of these columns a partition of its own; replaces the partitions before."""
        if self.others:
            raise SashError("partitionBy does not go with Window.of, whose on= says which rows a row may see")
        return replace(self, partition=_each(cols, _partition_column))

    def orderBy(self, *cols: Any) -> WindowSpec:
        """Order the rows of a partition: "ts", "price desc nulls last", or sf.desc of a column; replaces the order."""
        order = _each(cols, as_order)
        if self.others:  # among rows of one time
            order = (*self._checked_at("orderBy").order[:1], *order)
        return replace(self, order=order)._agreeing()

    def rowsBetween(self, start: Any, end: Any) -> WindowSpec:
        """Take so many rows before or after the current one; negative is before."""
        return self._between("rows", start, end)

    def rangeBetween(self, start: Any, end: Any) -> WindowSpec:
        """Take the rows whose order key is within these distances: numbers, timedeltas or "-5 minutes"."""
        return self._between("range", start, end)

    def groupsBetween(self, start: Any, end: Any) -> WindowSpec:
        """Take so many groups of peers, rows equal in the order, before or after the current row's."""
        return self._between("groups", start, end)

    def exclude(self, rows: str) -> WindowSpec:
        """Leave out of the frame the "current row", its "group" of peers, its "ties", or "no others"."""
        if self.others:
            raise SashError("exclude does not go with Window.of: a row is not among the rows of the other table")
        if not isinstance(rows, str) or (wanted := " ".join(rows.lower().split())) not in EXCLUSIONS:
            raise SashError(f"exclude takes one of {', '.join(map(repr, EXCLUSIONS))}, got {rows!r}")
        return replace(self, exclusion=wanted)

    def closed(self, sides: str) -> WindowSpec:
        """Say which bounds of a range are in it: "both", its "left" (start) alone, its "right" (end), or "neither".

        >>> Window.orderBy("ts").rangeBetween("-1 hour", 0).closed("left").frame
        range between 1 hour preceding and current row closed left
        """
        if not isinstance(sides, str) or sides not in CLOSED:
            raise SashError(f"closed takes one of {', '.join(map(repr, CLOSED))}, got {sides!r}")
        return replace(self, sides=sides)._agreeing()

    def zone(self, name: str) -> WindowSpec:
        """Let days and months of a range be those of a zone's clocks: 23 or 25 hours where these change.

        Without it they are those of ``sash.options.zone``, or of the zone that the order key has; times without one
        are taken to be in UTC.

        >>> Window.orderBy("ts").rangeBetween("-1 day", 0).zone("Europe/Berlin").frame
        range between 1 day preceding and current row in Europe/Berlin
        """
        if not isinstance(name, str) or not name:
            raise SashError(f"zone must be a time zone such as 'Europe/Berlin', got {name!r}")
        from sash.windows.calendars import check_zone  # which needs pyarrow

        with column_named("zone"):
            check_zone(name)
        return replace(self, clocks=name)._agreeing()

    def answer(self, call: Call, using: str | None = None, min_samples: int | None = None) -> Over:
        """A function over this window; ``call.over(window)`` says it the other way round."""
        if call.waits_for_time:
            if not self.order:
                raise SashError(f"{call} looks at the time of rows: it needs an orderBy whose first key is the time")
            call = call.by_time(self.order[0].column)
        return Over(call, self, using, min_samples)

    @property
    def frame(self) -> Frame:
        """The frame; where none was given, the whole partition, or with an order everything up to the row's peers."""
        frame = self.given or (UP_TO_PEERS if self.order else WHOLE_PARTITION)
        frame = replace(frame, exclude=self.exclusion, closed=self.sides)
        return frame.zoned(self.clocks) if self.clocks and self.given else frame

    def checked(self) -> WindowSpec:
        """Refuse a frame that its order does not carry; returns the window."""
        if self.sides != "both" and not self.order:
            raise SashError(f"closed needs an orderBy to tell which rows lie at a bound, got {self!r}")
        if self.given and not self.order:
            if self.given.kind == "groups":
                raise SashError(f"groupsBetween needs an orderBy to tell what a group is, got {self!r}")
            if self.given.kind == "range" and self.given.has_offset:
                raise SashError(f"rangeBetween with an offset needs an orderBy of exactly one key, got {self!r}")
        return self._agreeing()

    @property
    def partition_key(self) -> tuple[Any, ...]:
        """What makes two windows have the same partitions; hashable."""
        columns = tuple(column.key for column in self.partition)
        return (self.others.key, *columns) if self.others else columns

    @property
    def order_key(self) -> tuple[Any, ...]:
        """What makes two windows have the same order; hashable."""
        return tuple(order.key for order in self.order)

    @property
    def key(self) -> tuple[Any, ...]:
        """What makes two windows the same; hashable."""
        return self.partition_key, self.order_key, self.frame.key

    def __eq__(self, other: object) -> bool:
        return isinstance(other, WindowSpec) and self.key == other.key

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        order = self.order
        if self.others:
            words = [self.others.words(self.partition, order[0].column if order else None)]
            order = order[1:]
        else:
            words = [f"partition by {', '.join(map(repr, self.partition))}"] if self.partition else []
        if order:
            words.append(f"order by {', '.join(map(_order_words, order))}")
        if self.given or self.exclusion != "no others" or self.sides != "both":
            words.append(repr(self.frame))
        return " ".join(words) or "all rows"

    def _between(self, kind: str, start: Any, end: Any) -> WindowSpec:
        frame = Frame(kind, as_bound(start, "start", kind), as_bound(end, "end", kind))
        if self.others and kind == "groups":
            raise SashError("groupsBetween does not go with Window.of, which takes rangeBetween and rowsBetween")
        if self.others and not (frame.start.is_unbounded and frame.end.is_unbounded):
            self._checked_at(f"{kind}Between")
        return replace(self, given=frame)._agreeing()

    def _agreeing(self) -> WindowSpec:
        """Refuse a range over several order keys, and sides of what is no range, as soon as both are known."""
        if self.given:
            given = replace(self.given, closed=self.sides)
            _ = given.zoned(self.clocks) if self.clocks else given
        several = len(self.order) > 1 and not self.others  # whose frames are by the first key, what follows breaks ties
        if self.given and self.given.kind == "range" and self.given.has_offset and several:
            raise SashError(f"rangeBetween with an offset needs exactly one order key, got {len(self.order)}")
        return self

    def _checked_at(self, method: str) -> WindowSpec:
        if not self.order:
            raise SashError(
                f"{method} needs Window.of(table, on=..., at=...): at says what the bounds are counted from"
            )
        return self


class Window:
    """Where a window begins.

    >>> Window.orderBy("ts").rangeBetween("-5 minutes", Window.currentRow).frame
    range between 5 minutes preceding and current row
    """

    is_sash_window = True
    unboundedPreceding: int = UNBOUNDED_PRECEDING
    unboundedFollowing: int = UNBOUNDED_FOLLOWING
    currentRow: int = CURRENT_ROW

    @staticmethod
    def partitionBy(*cols: Any) -> WindowSpec:
        """Give each combination of these columns a partition of its own."""
        return WindowSpec().partitionBy(*cols)

    @staticmethod
    def orderBy(*cols: Any) -> WindowSpec:
        """Order the rows: "ts", "price desc nulls last", or sf.desc of a column."""
        return WindowSpec().orderBy(*cols)

    @staticmethod
    def rowsBetween(start: Any, end: Any) -> WindowSpec:
        """Take so many rows before or after the current one; negative is before."""
        return WindowSpec().rowsBetween(start, end)

    @staticmethod
    def rangeBetween(start: Any, end: Any) -> WindowSpec:
        """Take the rows whose order key is within these distances."""
        return WindowSpec().rangeBetween(start, end)

    @staticmethod
    def groupsBetween(start: Any, end: Any) -> WindowSpec:
        """Take so many groups of peers before or after the current row's."""
        return WindowSpec().groupsBetween(start, end)

    @staticmethod
    def of(table: Any, on: Any = None, at: Any = None) -> WindowSpec:
        """Frames over the rows of another table: those equal in ``on``, around each row's ``at``.

        Args:
            table: where the rows of the frames are from: a frame of any kind; beside a Spark DataFrame, one of Spark.
            on: what is equal on both sides: a name, a list of names, or ``{"left": "right"}``; without it, all rows.
            at: a time or a number by which frames reach back and forth: a name, or a pair of names.

        >>> import pyarrow as pa
        >>> from sash import functions as sf, withColumns
        >>> labels = pa.table({"user": ["a", "b", "a"], "day": [5, 5, 9]})
        >>> events = pa.table({"user": ["a", "a", "b", "a"], "day": [1, 4, 5, 8], "spent": [5, 7, 2, 1]})
        >>> past = Window.of(events, on="user", at="day").rangeBetween(-7, -1)
        >>> withColumns(labels, {"spent": sf.sum("spent").over(past)})["spent"].to_pylist()
        [12, None, 8]

        """
        pairs, ats = pairs_of(on), pair_of(at)
        return WindowSpec(
            partition=tuple(right for _, right in pairs),
            order=() if ats is None else (asc(ats[1]),),
            others=Others(checked_table(table), tuple(left for left, _ in pairs), None if ats is None else ats[0]),
        )

    @staticmethod
    def exclude(rows: str) -> WindowSpec:
        """Leave the "current row", its "group", its "ties" or "no others" out of the frame."""
        return WindowSpec().exclude(rows)

    @staticmethod
    def closed(sides: str) -> WindowSpec:
        """Say which bounds of a range are in it: "both", "left", "right" or "neither"."""
        return WindowSpec().closed(sides)

    @staticmethod
    def zone(name: str) -> WindowSpec:
        """Let days and months of a range be those of a zone's clocks."""
        return WindowSpec().zone(name)

    @staticmethod
    def answer(call: Call, using: str | None = None, min_samples: int | None = None) -> Over:
        """A function over all rows."""
        return WindowSpec().answer(call, using, min_samples)


def as_window(thing: Any) -> WindowSpec:
    """Take a window of ours, or say what to write instead.

    >>> as_window(Window)
    all rows
    """
    if isinstance(thing, WindowSpec):
        return thing
    if thing is Window:
        return WindowSpec()
    its_type = thing if isinstance(thing, type) else type(thing)
    if its_type.__module__.split(".")[0] == "pyspark":
        raise SashError(
            f"over takes a window made with `from sash import Window`, got a PySpark {its_type.__name__}; "
            "build it the same way with sash's Window, which has partitionBy, orderBy, rowsBetween and rangeBetween"
        )
    raise SashError(
        f"over takes a window made with `from sash import Window`, got {thing!r} of type {its_type.__name__}"
    )


def _each(cols: tuple[Any, ...], convert: Callable[[Any], Any]) -> tuple[Any, ...]:
    """Columns one by one; a list of them may stand for all, as in PySpark."""
    return tuple(map(convert, cols[0] if len(cols) == 1 and isinstance(cols[0], list | tuple) else cols))


def _partition_column(col: Any) -> Column | Foreign:
    if not isinstance(col, str) and not is_column(col):
        raise SashError(f"partitionBy takes column names and columns, got {col!r} of type {type(col).__name__}")
    return as_column(col)


def _order_words(order: Order) -> str:
    """An order with only what is not the default."""
    way = " desc" if order.descending else ""
    place = "" if order.nulls_first != order.descending else f" nulls {'first' if order.nulls_first else 'last'}"
    return f"{order.column!r}{way}{place}"
