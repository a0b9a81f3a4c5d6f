"""Continuous queries in CQL's notation: ``select istream max(len) from calls [range 24 hours slide 1 minute]``.

Sessions are ``[range session 30 minutes]``, windows that grow ``[range cumulate 1 day step 1 hour]``.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from sash.algebra import Call
from sash.errors import SashError, meant
from sash.expressions.parsing import parse
from sash.sql import blocks
from sash.sql.named_functions import NAMES, OF_SPANS, REGISTERED
from sash.sql.parsed_arguments import ParsedArguments
from sash.sql.syntax import Span, aggregate_at
from sash.sql.tokens import STRING, Source, read
from sash.sql.vocabulary import call_of, known
from sash.windows.extents import Range, cumulate, session
from sash.windows.intervals import Interval

STREAMS = {"ISTREAM": "changes", "RSTREAM": "final"}
WINDOWS = ("RANGE", "ROWS", "PARTITION")


@dataclass(frozen=True)
class Continuous:
    """What ``sash.stream`` is asked for: aggregates by name, over the windows of a stream."""

    stream: str
    queries: dict[str, Call]
    range: Interval | int | Range
    slide: Interval | int | None = None
    key: tuple[str, ...] = ()
    condition: str | None = None
    emit: str = "final"
    span: tuple[str, str] | None = None  # the columns of starts and ends, where events last
    postpone: Interval | None = None
    longest: Interval | None = None

    def __str__(self) -> str:
        lines = [f"every window of {self._words(self.range)} of {self.stream}"]
        lines[0] += f", whose events last from {self.span[0]} to {self.span[1]}" if self.span else ""
        lines[0] += f", one each {self._words(self.slide)}" if self.slide is not None else ""
        lines[0] += f", for each {', '.join(self.key)}" if self.key else ""
        lines[0] += f", where {self.condition}" if self.condition else ""
        lines[0] += "; answers that change" if self.emit == "changes" else ""
        return "\n".join([*lines, *(f"  {name} = {call}" for name, call in self.queries.items())])

    @staticmethod
    def _words(size: Interval | int | Range | None) -> str:
        return f"{size:,} rows" if isinstance(size, int) else str(size)


def is_continuous(source: Source) -> bool:
    """Whether a query has a window of a stream, or asks for a stream."""
    return any(_opens(source, place) or _streams(source, place) for place in range(len(source.tokens)))


def _streams(source: Source, place: int) -> bool:
    """Whether a select asks for a stream; a column may have such a name."""
    word, following = source.word(place + 1), source.word(place + 2)
    return (
        source.word(place) == "SELECT"
        and word in (*STREAMS, "DSTREAM")
        and following not in (",", ".", "FROM", "AS", "")
    )


def continuous(source: Source, lo: int, hi: int) -> Continuous:
    """Read a continuous query."""
    if source.word(lo) != "SELECT":
        raise source.error("a continuous query is one SELECT", lo)
    emit, start = "final", lo
    if source.word(lo + 1) == "DSTREAM":
        raise source.error("DSTREAM, which gives what leaves the answer, is not supported; ISTREAM is", lo + 1)
    if source.word(lo + 1) in STREAMS:
        emit, start = STREAMS[source.word(lo + 1)], lo + 1
    block = blocks.block(source, start, hi)
    for word in ("HAVING", "WINDOW", "QUALIFY", "ORDER", "LIMIT"):
        if word in block.clauses:
            raise source.error(f"a continuous query has no {word}", block.clauses[word][0] - 1)
    if "FROM" not in block.clauses:
        raise source.error("a continuous query selects from a stream", hi - 1)
    first, end = block.clauses["FROM"]
    opened = next((place for place in range(first, end) if _opens(source, place)), None)
    if opened is None:
        sentence = "a stream is followed by its window, such as [range 24 hours slide 1 minute] or [rows 1000 slide 10]"
        raise source.error(sentence, first)
    stream = source.tokens[first].name
    if opened != first + 1 or source.after(opened) != end:
        raise source.error("a continuous query selects from one stream and its window, by its own name", first)
    stop = source.closing[opened]
    over = source.find(opened + 1, stop, "OVER")
    span, waits = _span(source, over, stop) if over < stop else (None, {})
    extent, slide, key = _window(source, opened + 1, over)
    groups = [source.cut(*each) for each in source.parts(*block.clauses["GROUP"])] if "GROUP" in block.clauses else []
    where = source.cut(*block.clauses["WHERE"]) if "WHERE" in block.clauses else None
    key = tuple(dict.fromkeys((*key, *groups)))
    queries = dict(_query(source, each, key) for each in block.items if source.cut(*each.span) not in key)
    if not queries:
        raise source.error("a continuous query needs an aggregate", start + 1)
    return Continuous(stream, queries, extent, slide, key, where, emit, span, **waits)


def _span(source: Source, lo: int, hi: int) -> tuple[tuple[str, str], dict[str, Any]]:
    """The columns of ``over (start, end)``, and ``postpone`` and ``longest`` behind it."""
    sentence = "OVER in the window of a stream names two columns, such as over (start, end)"
    if source.word(lo + 1) != "(":
        raise source.error(sentence, lo)
    parts = [source.cut(*each) for each in source.parts(lo + 2, source.closing[lo + 1])]
    if len(parts) != 2:
        raise source.error(sentence, lo)
    waits: dict[str, Any] = {}
    place = source.after(lo + 1)
    while place < hi:
        word = source.word(place).lower()
        if word not in ("postpone", "longest") or word in waits:
            raise source.error("behind over (start, end) come postpone and longest, each with an interval", place)
        stop = min(source.find(place + 1, hi, "POSTPONE"), source.find(place + 1, hi, "LONGEST"))
        waits[word] = _size(source, (place + 1, stop), by_rows=False)
        place = stop
    return (parts[0], parts[1]), waits


def _opens(source: Source, place: int) -> bool:
    """Whether a bracket at a place begins the window of a stream."""
    if source.word(place) != "[" or source.word(place + 1) not in WINDOWS:
        return False
    before = (source.word(place - 2), source.word(place - 3))  # a stream, or a stream with another name
    return source.tokens[place - 1].is_name and any(word in ("FROM", "JOIN", ",") for word in before)


def _window(source: Source, lo: int, hi: int) -> tuple[Interval | int | Range, Interval | int | None, tuple[str, ...]]:
    """How long a window is, how far apart, and for which keys."""
    key: tuple[str, ...] = ()
    if source.words(lo, "PARTITION", "BY"):
        end = source.find(lo, hi, "ROWS")
        key = tuple(source.cut(*each) for each in source.parts(lo + 2, end))
        lo = end
    if lo >= hi or source.word(lo) not in ("ROWS", "RANGE"):
        raise source.error("the window of a stream is by RANGE or by ROWS", min(lo, hi))
    by_rows = source.word(lo) == "ROWS"
    if not by_rows and (named := _named(source, lo + 1, hi)) is not None:
        return named, None, key
    middle = source.find(lo, hi, "SLIDE")
    slide = _slide(source, (middle + 1, hi), by_rows) if middle < hi else None
    return _size(source, (lo + 1, middle), by_rows), slide, key


def _named(source: Source, lo: int, hi: int) -> Range | None:
    """A range that is known by a word: sessions, and windows that grow by steps."""
    word = source.word(lo)
    if word not in ("SESSION", "CUMULATE"):
        return None
    slide = source.find(lo, hi, "SLIDE")
    if slide < hi:
        raise source.error(f"windows by {word} have no SLIDE", slide)
    stop = source.find(lo, hi, "STEP") if word == "CUMULATE" else hi
    if word == "CUMULATE" and stop == hi:
        raise source.error("CUMULATE has a step, such as [range cumulate 1 day step 1 hour]", lo)
    by_column = word == "SESSION" and lo + 1 < hi and source.tokens[lo + 1].is_name
    by_column = by_column and source.word(lo + 1) != "INTERVAL"
    size: Any = parse(source.cut(lo + 1, hi)) if by_column else _size(source, (lo + 1, stop), by_rows=False)
    step = None if word == "SESSION" else _size(source, (stop + 1, hi), by_rows=False)
    try:
        return session(size) if step is None else cumulate(size, step=step)
    except SashError as error:
        raise source.error(str(error), lo) from None


def _slide(source: Source, span: Span, by_rows: bool) -> Interval | int:
    """How far apart windows are: as windows are long, or by the other of rows and time, such as SLIDE 100 ROWS."""
    lo, hi = span
    if not by_rows and source.word(hi - 1) == "ROWS":
        return _size(source, (lo, hi - 1), by_rows=True)
    return _size(source, span, by_rows and hi - lo == 1)


def _size(source: Source, span: Span, by_rows: bool) -> Interval | int:
    lo, hi = span
    if by_rows:
        if hi - lo != 1 or not re.fullmatch(r"[1-9]\d*", source.cut(lo, hi)):
            raise source.error("a number of rows must be a whole number above zero", min(lo, hi))
        return int(source.cut(lo, hi))
    words = [token.value if token.kind == STRING else token.text for token in source.tokens[lo:hi]]
    try:
        size = Interval.parse(" ".join(words) or "nothing", "a window by RANGE")
    except SashError as error:
        raise source.error(str(error), min(lo, hi)) from None
    if not size or size.backward:
        raise source.error("a window must be longer than zero", lo)
    return size


def aggregate_of(text: str) -> Call:
    """The call that a text is, such as ``count(distinct user) filter (where price > 5)``.

    >>> aggregate_of("max(load)")
    max(load)
    """
    source = read(text)
    return _query(source, blocks.Item((0, len(source.tokens))), ())[1]


def _query(source: Source, item: blocks.Item, key: tuple[str, ...]) -> tuple[str, Call]:
    """The name of an aggregate, and its call."""
    lo, hi = item.span
    called = aggregate_at(source, lo, hi)
    if called is None or not known(called.name, spans=True):
        beside = f", or one of its keys, {', '.join(key)}" if key else ""
        names = [*NAMES, *OF_SPANS, *REGISTERED]
        unknown = f"there is no aggregate {called.name}{meant(called.name, names)}: " if called is not None else ""
        raise source.error(f"{unknown}a continuous query selects aggregates{beside}", lo)
    try:
        call = call_of(called, ParsedArguments(source), spans=True)
    except SashError as error:
        raise source.error(str(error), lo) from None
    return (source.tokens[item.alias].name if item.alias is not None else source.shown(lo, hi)), call
