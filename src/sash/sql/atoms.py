"""What an expression around window calls is made of: the calls, and the pieces that Spark computes before them.

The operators between them stay text. A word that is taken for a column though it is none, or the other way round, is
something that Spark cannot resolve: a wrong guess is an error, never a wrong answer.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from sash.sql.blocks import UNITS, is_query
from sash.sql.syntax import OPERATORS, Called, Span, call_at, is_call
from sash.sql.tokens import NUMBER, STRING, Source

WORDS = OPERATORS | frozenset("ASC AT COLLATE DESC FALSE FIRST INTERVAL LAST NULLS OFFSET TRUE".split())
TYPED = frozenset("DATE TIMESTAMP TIMESTAMP_NTZ TIMESTAMP_LTZ TIME X".split())
CASTS = ("CAST", "TRY_CAST")

PIECE, CALL, OUTPUT = "piece", "call", "output"


@dataclass(frozen=True)
class Atom:
    """A part of an expression that is computed before it."""

    kind: str
    span: Span
    called: Called | None = None


def atoms(
    source: Source,
    lo: int,
    hi: int,
    outputs: Collection[str] = (),
    whole: Sequence[tuple[str, ...]] = (),
    aggregates: Callable[[str], bool] = lambda name: False,
) -> list[Atom]:
    """The parts of an expression, in order.

    Args:
        source: the query.
        lo: the first token of the expression.
        hi: the token after it.
        outputs: names, in lower case, that are not looked up in what is selected from.
        whole: expressions that are pieces as they are: those of GROUP BY.
        aggregates: whether a function aggregates, so that what it reads is looked up before.

    """
    found: list[Atom] = []
    _Scan(source, frozenset(outputs), whole, aggregates, found).expression(lo, hi, frozenset())
    return found


@dataclass
class _Scan:
    source: Source
    outputs: frozenset[str]
    whole: Sequence[tuple[str, ...]]
    aggregates: Callable[[str], bool]
    found: list[Atom]

    def expression(self, place: int, hi: int, bound: frozenset[str]) -> None:
        """Find the parts of an expression; ``bound`` are the arguments of the functions that it is inside of."""
        source = self.source
        bound |= _lambdas(source, place, hi)
        while place < hi:
            token, word = source.tokens[place], source.word(place)
            called = call_at(source, place, hi)
            if called is not None:
                self.found.append(Atom(CALL, called.span, called))
                place = called.span[1]
            elif end := self.grouped(place, hi):
                place = self.piece(place, end, hi)
            elif word == "(":
                if is_query(source, place + 1):
                    scalar = source.word(place - 1) != "IN"
                    place = self.piece(place, source.after(place), hi) if scalar else source.after(place)
                else:
                    place += 1
            elif word == "EXISTS" and source.word(place + 1) == "(":
                place = self.piece(place, source.after(place + 1), hi)
            elif word == "INTERVAL":
                place = _after_interval(source, place, hi)
            elif word == "::":
                place = _after_type(source, place + 1, hi)
            elif word in TYPED and place + 1 < hi and source.tokens[place + 1].kind == STRING:
                place += 2
            elif not token.is_name or word in WORDS:
                place += 1
            else:
                place = self.name(place, hi, bound)

    def grouped(self, place: int, hi: int) -> int:
        """Where an expression of GROUP BY that stands at a place ends; 0 where there is none."""
        for each in self.whole:
            end = place + len(each)
            if len(each) > 1 and end <= hi and self.source.same(place, end) == each:
                return end
        return 0

    def name(self, place: int, hi: int, bound: frozenset[str]) -> int:
        """A column or a function, and what belongs to it."""
        source, end = self.source, place + 1
        while end + 1 < hi and source.word(end) == "." and source.tokens[end + 1].is_name:
            end += 2
        first = source.tokens[place].name.lower()
        if end < hi and source.word(end) == "(" and is_call(source, end - 1, hi):
            after = _after_call(source, end, hi)
            name = source.tokens[end - 1].name
            if self.aggregates(name) or not self.mentions(end, after, bound):
                return self.piece(place, after, hi)
            if name.upper() in CASTS:
                self.expression(end + 1, source.find(end + 1, source.closing[end], "AS"), bound)
            elif name.upper() == "EXTRACT":
                self.expression(source.find(end + 1, source.closing[end], "FROM"), source.closing[end], bound)
            else:
                self.expression(end + 1, source.closing[end], bound)
            return after
        if first in bound:
            return end
        if end == place + 1 and first in self.outputs:
            self.found.append(Atom(OUTPUT, (place, end)))
            return end
        return self.piece(place, end, hi)

    def piece(self, place: int, end: int, hi: int) -> int:
        """Note what Spark computes first, with the fields and elements taken of it."""
        source = self.source
        while end < hi:
            if source.word(end) == "[" and not self.mentions(end, source.after(end), frozenset()):
                end = source.after(end)
            elif source.word(end) == "." and end + 1 < hi and source.tokens[end + 1].is_name:
                end += 2
            else:
                break
        self.found.append(Atom(PIECE, (place, end)))
        return end

    def mentions(self, lo: int, hi: int, bound: frozenset[str]) -> bool:
        """Whether a piece of the text has window calls in it, names of outputs or arguments of functions around it."""
        source = self.source
        for place in range(lo, hi):
            if call_at(source, place, hi) is not None:
                return True
            token = source.tokens[place]
            known = token.is_name and source.word(place - 1) != "." and source.word(place + 1) != "."
            if known and (token.name.lower() in self.outputs or token.name.lower() in bound):
                return True
        return False


def _lambdas(source: Source, lo: int, hi: int) -> frozenset[str]:
    """The arguments of functions such as ``(a, b) -> a + b``."""
    names: set[str] = set()
    for place in range(lo, hi):
        if source.word(place) == "->" and place > lo:
            start = place - 1
            if source.word(start) == ")":
                start = next(opened for opened, closed in source.closing.items() if closed == start)
            names |= {each.name.lower() for each in source.tokens[start:place] if each.is_name}
    return frozenset(names)


def _after_call(source: Source, opened: int, hi: int) -> int:
    """The place after a call, with WITHIN GROUP, FILTER and what it says of NULLs."""
    end = source.after(opened)
    while end < hi:
        word, following = source.word(end), source.word(end + 1)
        if word == "FILTER" and following == "(":
            end = source.after(end + 1)
        elif word == "WITHIN" and following == "GROUP":
            end = source.after(end + 2)
        elif word in ("IGNORE", "RESPECT") and following == "NULLS":
            end += 2
        else:
            break
    return min(end, hi)


def _after_interval(source: Source, place: int, hi: int) -> int:
    """The place after INTERVAL, its amount and its units; an amount in brackets is looked into."""
    place += 1
    place += source.word(place) in ("-", "+")
    if place < hi and source.tokens[place].kind in (STRING, NUMBER):
        place += 1
        while place < hi and source.word(place).removesuffix("S") in (*UNITS, "TO"):
            place += 1
            if place < hi and source.tokens[place].kind in (STRING, NUMBER):
                place += 1
    return min(place, hi)


def _after_type(source: Source, place: int, hi: int) -> int:
    """The place after the name of a type, with what it has in brackets."""
    place += 1
    if place < hi and source.word(place) == "(":
        return source.after(place)
    if place < hi and source.word(place) == "<":
        depth = 0
        while place < hi:
            depth += {"<": 1, ">": -1, ">>": -2}.get(source.word(place), 0)
            place += 1
            if depth <= 0:
                break
    return place
