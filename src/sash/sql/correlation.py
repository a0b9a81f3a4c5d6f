"""What a query asks of the rows around it: which keys are equal, and how far in time the rows of its table may be."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sash.sql.blocks import queries
from sash.sql.syntax import Span, places_outside
from sash.sql.tokens import Source
from sash.windows import Window
from sash.windows.intervals import Interval

LATER = {">": ("start", False), ">=": ("start", True), "<": ("end", False), "<=": ("end", True)}
TURNED = {">": "<", ">=": "<=", "<": ">", "<=": ">=", "=": "="}
COMPARED = frozenset("= == <=> <> != < > <= >=".split())
# what may follow the table that is read first
FOLLOWS = frozenset(", JOIN LEFT INNER CROSS".split())


class NotOfShape(Exception):
    """A query has another shape: Spark answers it."""


@dataclass(frozen=True)
class TableRead:
    """A table, or a query in brackets, that a select reads."""

    span: Span
    alias: str  # in lower case, where that makes no difference
    end: int  # the place after it


def table_read(source: Source, lo: int, hi: int) -> TableRead | None:
    """What a FROM reads first."""
    place = lo
    if source.word(lo) == "(":
        place, alias = source.after(lo), ""
    elif source.tokens[lo].is_name and source.word(lo) != "LATERAL":
        while source.word(place + 1) == "." and place + 2 < hi:
            place += 2
        alias, place = source.folded(place), place + 1
    else:
        return None
    named = place < hi and source.word(place) == "AS"
    place += named
    if place < hi and source.tokens[place].is_name and source.word(place) not in FOLLOWS:
        alias, place = source.folded(place), place + 1
    if not alias or not (place == hi or source.word(place) in FOLLOWS):
        return None
    return TableRead((lo, place), alias, place)


def is_true(source: Source, span: Span) -> bool:
    """Whether a condition always holds."""
    return source.same(*span) in (("TRUE",), ("(", "TRUE", ")"), ("1", "=", "1"))


def conjuncts(source: Source, lo: int, hi: int) -> list[Span]:
    """What must all hold, by AND."""
    while source.word(lo) == "(" and source.after(lo) == hi:
        lo, hi = lo + 1, hi - 1
    parts: list[Span] = []
    start, place, between = lo, lo, False
    while place < hi:
        word = source.word(place)
        if word in ("OR", "CASE"):
            return [(lo, hi)]
        if word == "BETWEEN":
            between = True
        elif word == "AND" and between:
            between = False
        elif word == "AND":
            parts.append((start, place))
            start = place + 1
        place = source.after(place)
    return [*parts, (start, hi)] if not parts else [each for part in [*parts, (start, hi)]
                                                    for each in conjuncts(source, *part)]  # fmt: skip


@dataclass
class Correlation:
    """What a query asks: pairs of keys, a time on both sides, and conditions on its own rows."""

    left: tuple[TableRead, Mapping[str, str]]
    right: tuple[TableRead, Mapping[str, str]]
    on: dict[str, Span] = field(default_factory=dict)  # columns of the left table, and what they are equal to
    at: str = ""  # the time of the left table
    time: Span = (0, 0)  # and that of the other one
    bounds: dict[str, tuple[Span | None, bool, bool]] = field(default_factory=dict)  # how far, whether back, whether in
    conditions: list[Span] = field(default_factory=list)

    def key(self, source: Source) -> Any:
        """What is the same for queries that share their work."""
        pairs = tuple((ours, source.same(*span)) for ours, span in sorted(self.on.items()))
        return pairs, self.at, source.same(*self.time), tuple(source.same(*each) for each in self.conditions)

    def frame(self, source: Source, reading: Any) -> tuple[Any, Any, str]:
        """Where frames start and end, and which sides are in them."""
        start = self._offset("start", source, reading)
        end = self._offset("end", source, reading)
        sides = tuple(self.bounds.get(side, (None, False, True))[2] for side in ("start", "end"))
        closed = {(True, True): "both", (True, False): "left", (False, True): "right", (False, False): "neither"}
        return start, end, closed[sides]  # type: ignore[index]

    def _offset(self, side: str, source: Source, reading: Any) -> Any:
        if side not in self.bounds:
            return Window.unboundedPreceding if side == "start" else Window.unboundedFollowing
        span, back, _ = self.bounds[side]
        if span is None:
            return Window.currentRow
        offset = reading.offset(span, "range")
        if not isinstance(offset, Interval | int | float) and offset is None:
            raise NotOfShape
        return -offset if back else offset

    def side_of(self, source: Source, span: Span) -> str | None:
        """Whether a piece reads the left table or the other one, by its names; neither, or None where both."""
        sides, place = set(), span[0]
        while place < span[1]:
            token = source.tokens[place]
            if not token.is_name:
                place += 1
                continue
            name, dotted = source.folded(place), source.word(place + 1) == "."
            if dotted and name in (self.left[0].alias, self.right[0].alias):
                sides.add("left" if name == self.left[0].alias else "right")
                place += 3
                continue
            if source.word(place + 1) != "(":
                sides |= {"right"} if name in self.right[1] else {"left"} if name in self.left[1] else set()
            place += 1
        return None if len(sides) > 1 else next(iter(sides), "")

    def column(self, source: Source, span: Span, side: str) -> str | None:
        """The column of a side that a piece names, if it is nothing else."""
        lo, hi = span
        table, columns = self.left if side == "left" else self.right
        if hi - lo not in (1, 3) or not source.tokens[lo].is_name or self.side_of(source, span) != side:
            return None
        if hi - lo == 3 and (source.word(lo + 1) != "." or source.folded(lo) != table.alias):
            return None
        return columns.get(source.folded(hi - 1))

    def check_own(self, source: Source, span: Span, calls: list[Span]) -> None:
        """Refuse an expression that has more than constants beside its calls, or calls that read the left table."""
        place, (_, hi) = span[0], span
        if queries(source, *span):
            raise NotOfShape
        for lo, end in [*calls, (hi, hi)]:
            if place < lo and self.side_of(source, (place, lo)) != "":
                raise NotOfShape
            if lo < end and self.side_of(source, (lo, end)) not in ("", "right"):
                raise NotOfShape
            place = end


def correlation(
    source: Source,
    parts: list[Span],
    left: tuple[TableRead, Mapping[str, str]],
    right: tuple[TableRead, Mapping[str, str]],
) -> Correlation:
    """What conditions ask, if they have the shape: at least a pair of keys that are equal, and a bound in time."""
    asked = Correlation(left, right)
    for lo, hi in parts:
        if lo >= hi or queries(source, lo, hi):
            raise NotOfShape
        side = asked.side_of(source, (lo, hi))
        if side == "right":
            asked.conditions.append((lo, hi))
        elif side is not None or not _paired(source, asked, lo, hi):
            raise NotOfShape
    if not asked.on or not asked.bounds:
        raise NotOfShape
    return asked


def _paired(source: Source, asked: Correlation, lo: int, hi: int) -> bool:
    """Note a condition that compares both sides."""
    between = source.find(lo, hi, "BETWEEN")
    if between < hi:
        middle = source.find(between, hi, "AND")
        return (
            source.word(between - 1) != "NOT"
            and _bounded(source, asked, (lo, between), (between + 1, middle), ">=")
            and _bounded(source, asked, (lo, between), (middle + 1, hi), "<=")
        )
    places = [place for place in places_outside(source, lo, hi) if source.word(place) in COMPARED]
    if len(places) != 1:
        return False
    (place,) = places
    word = "=" if source.word(place) == "==" else source.word(place)
    first, second = (lo, place), (place + 1, hi)
    if asked.side_of(source, first) != "right":
        first, second, word = second, first, TURNED.get(word, "")
    if word == "=":
        theirs, ours = asked.column(source, first, "right"), asked.column(source, second, "left")
        if theirs is None or ours is None or ours in asked.on:
            return False
        asked.on[ours] = first
        return True
    return word in LATER and _bounded(source, asked, first, second, word)


def _bounded(source: Source, asked: Correlation, time: Span, bound: Span, word: str) -> bool:
    """Note a bound of the time of the other table: that of the left one, and so far from it."""
    side, included = LATER[word]
    if asked.column(source, time, "right") is None or side in asked.bounds:
        return False
    lo, hi = bound
    while source.word(lo) == "(" and source.after(lo) == hi:
        lo, hi = lo + 1, hi - 1
    signs = [place for place in places_outside(source, lo, hi) if source.word(place) in ("+", "-") and place > lo]
    stop = signs[0] if signs else hi
    at = asked.column(source, (lo, stop), "left")
    if at is None or len(signs) > 1 or (asked.at and (at, source.same(*time)) != (asked.at, source.same(*asked.time))):
        return False
    if signs and asked.side_of(source, (stop + 1, hi)) != "":
        return False
    asked.at, asked.time = at, time
    asked.bounds[side] = (stop + 1, hi) if signs else None, source.word(stop) == "-", included
    return True
