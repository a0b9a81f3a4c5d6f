"""What an expression around window calls is made of: the calls, and the pieces that Spark computes before them.

The operators between them stay text. Computed columns have names that no query can spell, so that a word taken for a
column though it is none, or the other way round, is something that Spark cannot resolve: a wrong guess is an error,
never a wrong answer.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace

from sash.sql.blocks import UNITS, is_query, item
from sash.sql.syntax import Called, Span, call_at, is_call, said_after
from sash.sql.tokens import NUMBER, PARAMETER, STRING, SYMBOL, Source

# words that are no columns where an operand is expected, and leave one expected
RESERVED = frozenset(
    "ALL AND AS BETWEEN CASE DISTINCT DIV ELSE ESCAPE EXISTS FROM ILIKE IN INTERVAL IS LIKE NOT ON OR REGEXP RLIKE "
    "SELECT THEN WHEN WHERE".split()
)
CONSTANTS = frozenset("FALSE NULL TRUE UNKNOWN".split())
TYPED = frozenset("DATE TIMESTAMP TIMESTAMP_NTZ TIMESTAMP_LTZ TIME X".split())
CASTS = ("CAST", "TRY_CAST")
BY_UNIT = frozenset("TIMESTAMPDIFF TIMESTAMPADD DATEDIFF DATE_DIFF DATEADD DATE_ADD".split())
# what may stand beside an expression of GROUP BY without taking a part of it away
APART = frozenset("( ) , = == <> != < > <= >= <=> AND OR NOT CASE WHEN THEN ELSE END".split()) | {""}

GUARDS = frozenset("CASE IF IFF COALESCE NVL NVL2 IFNULL".split())

PIECE, CALL, OUTPUT = "piece", "call", "output"


@dataclass(frozen=True)
class Atom:
    """A part of an expression that is computed before it."""

    kind: str
    span: Span
    called: Called | None = None
    label: str | None = None  # the field of a struct that it is


@dataclass
class Around:
    """What names and expressions mean around window calls.

    Args:
        outputs: names that are not looked up in what is selected from.
        whole: expressions that are pieces as they are: those of GROUP BY.
        aggregates: whether a function aggregates, so that what it reads is looked up before.

    """

    outputs: Collection[str] = ()
    whole: Sequence[tuple[str, ...]] = ()
    aggregates: Callable[[str], bool] = field(default=lambda name: False)


def atoms(source: Source, lo: int, hi: int, around: Around | None = None) -> list[Atom]:
    """The parts of an expression, in order."""
    atoms_found: list[Atom] = []
    guarded = any(source.word(place) in GUARDS for place in range(lo, hi))
    _Scan(source, around or Around(), (lo, hi), guarded, atoms_found).expression(lo, hi, frozenset())
    return atoms_found


@dataclass
class _Scan:
    source: Source
    around: Around
    span: Span
    guarded: bool  # whether a part may be meant not to be computed for some rows, so that only columns are pieces
    atoms_found: list[Atom]

    def expression(self, place: int, hi: int, bound: frozenset[str]) -> None:
        """Find the parts of an expression; ``bound`` are the arguments of the functions that it is inside of."""
        source = self.source
        bound |= self.arguments(place, hi)
        operand = True  # whether one is expected
        while place < hi:
            token, word = source.tokens[place], source.word(place)
            called = call_at(source, place, hi)
            start = place
            if called is not None:
                self.atoms_found.append(Atom(CALL, called.span, called))
                place = called.span[1]
            elif end := self.grouped(place, hi):
                place = self.piece(place, end, hi)
            elif word == "(" or (word == "EXISTS" and source.word(place + 1) == "("):
                place = self.bracket(place, hi, bound)
            elif word == "[":
                self.expression(place + 1, source.closing[place], bound)
                place = source.after(place)
            elif word == "::":
                place = _after_type(source, place + 1, hi)
            elif (word == "." and place + 1 < hi) or word == "COLLATE":  # a field of what stands before
                place += 2
            elif word in ("ANY", "SOME") and source.word(place - 1) in ("LIKE", "ILIKE"):
                place += 1
                continue
            elif source.words(place, "AT", "TIME", "ZONE") and not operand:
                place, operand = place + 3, True
                continue
            elif not operand:
                place, operand = place + 1, word != "END" and word not in UNIT_WORDS
                continue
            elif word == "INTERVAL":
                place = _after_interval(source, place, hi)
                operand = place == start + 1
                continue
            elif word in TYPED and place + 1 < hi and source.tokens[place + 1].kind == STRING:
                place += 2
            elif word == "*" and source.word(place - 1) in ("(", ","):
                raise source.error("* cannot stand in an expression around a window call; name the columns", place)
            elif (word in RESERVED and source.word(place + 1) != ".") or (token.kind == SYMBOL and word not in ")"):
                place += 1
                continue
            elif word in CONSTANTS or token.kind in (STRING, NUMBER, PARAMETER) or word in ("END", ")"):
                place += 1
            elif token.is_name:
                place = self.name(place, hi, bound)
            else:
                place += 1
            operand = False

    def bracket(self, place: int, hi: int, bound: frozenset[str]) -> int:
        """What stands in brackets: a query, which is a piece but for those of IN, or an expression."""
        source = self.source
        opened = place + (source.word(place) == "EXISTS")
        if not is_query(source, opened + 1):
            for lo, end in source.parts(opened + 1, source.closing[opened]):
                self.expression(lo, end, bound)
            return source.after(opened)
        if source.word(place - 1) == "IN":
            return source.after(opened)
        return self.piece(place, source.after(opened), hi)

    def grouped(self, place: int, hi: int) -> int:
        """Where an expression of GROUP BY that stands at a place ends; 0 where there is none."""
        source = self.source
        if place > self.span[0] and source.word(place - 1) not in APART:
            return 0
        for each in self.around.whole:
            end = place + len(each)
            if len(each) < 2 or end > hi or source.same(place, end) != each or self.mentions(place, end, frozenset()):
                continue
            after = source.word(end) if end < self.span[1] else ""
            sums = after in ("+", "-") and not set(each) & {"AND", "OR", "NOT", "<", ">", "=", "||", "LIKE", "IN", "IS"}
            if after in APART or sums:
                return end
        return 0

    def name(self, place: int, hi: int, bound: frozenset[str]) -> int:
        """A column or a function, and what belongs to it."""
        source, end = self.source, place + 1
        while end + 1 < hi and source.word(end) == "." and source.tokens[end + 1].is_name:
            end += 2
        if source.word(end) == "." and source.word(end + 1) == "*":
            raise source.error("* cannot stand in an expression around a window call; name the columns", end + 1)
        if end < hi and source.word(end) in ("=>", "->"):  # the name of an argument
            return end
        first = source.folded(place)
        if end < hi and source.word(end) == "(" and is_call(source, end - 1, hi):
            return self.function(place, end, hi, bound)
        if first in bound:
            return end
        if first in self.around.outputs:
            self.atoms_found.append(Atom(OUTPUT, (place, place + 1)))
            return end
        return self.piece(place, end, hi)

    def function(self, place: int, opened: int, hi: int, bound: frozenset[str]) -> int:
        """A function whose name ends before a bracket: a piece, or where calls are inside, what is inside."""
        source, closed = self.source, self.source.closing[opened]
        after = min(said_after(source, opened, hi).after, hi)
        name = source.tokens[opened - 1].name
        if self.around.aggregates(name) or not (self.guarded or self.mentions(opened, after, bound)):
            return self.piece(place, after, hi)
        inside = opened + 1
        if name.upper() == "STRUCT":
            self.fields(inside, closed, bound)
            return after
        if name.upper() in CASTS:
            closed = source.find(inside, closed, "AS")
        elif name.upper() == "EXTRACT":
            inside = source.find(inside, closed, "FROM")
        elif name.upper() == "TRIM" and source.word(inside) in ("BOTH", "LEADING", "TRAILING"):
            inside += 1
        elif name.upper() in BY_UNIT and source.word(inside + 1) == ",":
            inside += 2
        bound |= self.arguments(inside, closed)
        for lo, end in source.parts(inside, closed):
            self.expression(lo, end, bound)
        return after

    def fields(self, inside: int, closed: int, bound: frozenset[str]) -> None:
        """What a struct is made of; fields keep the names that Spark gives them."""
        for number, (lo, end) in enumerate(self.source.parts(inside, closed), 1):
            if lo >= end:
                continue
            part, before = item(self.source, lo, end), len(self.atoms_found)
            self.expression(*part.span, bound)
            if part.alias is None and len(self.atoms_found) == before + 1 and self.atoms_found[-1].span == part.span:
                last = self.source.tokens[end - 1]
                column = self.atoms_found[-1].kind == PIECE and last.is_name
                self.atoms_found[-1] = replace(self.atoms_found[-1], label=last.name if column else f"col{number}")

    def piece(self, place: int, end: int, hi: int) -> int:
        """Note what Spark computes first, with the fields and elements taken of it."""
        source = self.source
        while end < hi:
            if source.word(end) == "[" and not self.guarded and not self.mentions(end, source.after(end), frozenset()):
                end = source.after(end)
            elif source.word(end) == "." and end + 1 < hi and source.tokens[end + 1].is_name:
                end += 2
            else:
                break
        self.atoms_found.append(Atom(PIECE, (place, end)))
        return end

    def mentions(self, lo: int, hi: int, bound: frozenset[str]) -> bool:
        """Whether a piece of the text has window calls in it, names of outputs or arguments of functions around it."""
        source = self.source
        for place in range(lo, hi):
            if call_at(source, place, hi) is not None:
                return True
            if source.tokens[place].is_name and source.word(place - 1) != ".":
                name = source.folded(place)
                if name in self.around.outputs or name in bound:
                    return True
        return False

    def arguments(self, lo: int, hi: int) -> frozenset[str]:
        """The arguments of functions such as ``(a, b) -> a + b`` that stand here, not in brackets."""
        source, names, place, opened = self.source, set(), lo, None
        while place < hi:
            if source.word(place) == "->":
                start = place - 1 if opened is None else opened
                names |= {source.folded(each) for each in range(start, place) if source.tokens[each].is_name}
            opened = place if source.word(place) == "(" else None
            place = source.after(place)
        return frozenset(names)


UNIT_WORDS = frozenset(word + plural for word in UNITS for plural in ("", "S"))


def _after_interval(source: Source, place: int, hi: int) -> int:
    """The place after INTERVAL, its amount and its units, where the amount is a constant."""
    place += 1
    signed = place + (source.word(place) in ("-", "+"))
    if signed < hi and source.tokens[signed].kind in (STRING, NUMBER):
        place = signed + 1
        while place < hi and (source.word(place) in UNIT_WORDS or source.word(place) == "TO"):
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
