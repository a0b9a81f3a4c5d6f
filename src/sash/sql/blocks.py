"""The parts of a query: what stands in WITH, which selects it is made of, and the clauses of each."""

from __future__ import annotations

from dataclasses import dataclass, field

from sash.sql.syntax import Called, Span, call_at
from sash.sql.tokens import NUMBER, QUOTED, STRING, SYMBOL, WORD, Source

QUERY = ("SELECT", "WITH", "VALUES", "FROM", "TABLE")
SETS = ("UNION", "INTERSECT", "EXCEPT", "MINUS")
SORTS = ("ORDER", "SORT", "CLUSTER", "DISTRIBUTE")
# words that end no operand, so that no alias follows them
NO_OPERAND = frozenset(
    "ALL AND AS ASC BETWEEN BY CASE COLLATE DESC DISTINCT DIV ELSE ESCAPE FROM ILIKE IN INTERVAL IS LIKE NOT ON OR "
    "OVER REGEXP RLIKE THEN TO WHEN".split()
)
NO_ALIAS = frozenset("END FALSE NULL NULLS TRUE UNKNOWN".split())
UNITS = frozenset("YEAR MONTH WEEK DAY HOUR MINUTE SECOND MILLISECOND MICROSECOND QUARTER".split())


@dataclass(frozen=True)
class Item:
    """One of what a SELECT lists: the expression, and the place of its alias."""

    span: Span
    alias: int | None = None


@dataclass
class Block:
    """A SELECT and its clauses, as pieces of the text; ``body`` is from FROM to HAVING."""

    span: Span
    head: Span  # hints, DISTINCT
    distinct: bool
    items: list[Item]
    body: Span
    windows: Span | None = None
    qualify: Span | None = None
    tail: list[tuple[str, Span]] = field(default_factory=list)  # ORDER BY, LIMIT and such: what stands after the words
    clauses: dict[str, Span] = field(default_factory=dict)
    below: tuple[str, ...] = ()  # conditions on what it reads that a select around it has


def is_query(source: Source, place: int) -> bool:
    """Whether a bracket at a place holds a query."""
    while source.word(place) == "(":
        place += 1
    return source.word(place) in QUERY and source.word(place + 1) not in ("(", ")", ",", ".")


def queries(source: Source, lo: int, hi: int) -> list[int]:
    """The places of brackets that hold queries, the outermost ones only."""
    places, place = [], lo
    while place < hi:
        if source.word(place) == "(" and is_query(source, place + 1):
            places.append(place)
            place = source.after(place)
        else:
            place += 1
    return places


def calls(source: Source, lo: int, hi: int) -> list[Called]:
    """The window calls of a piece, but for those of queries in it."""
    windowed_calls, place = [], lo
    while place < hi:
        called = call_at(source, place, hi)
        if called is not None:
            nested = calls(source, place + 1, called.span[1])
            if nested:
                raise source.error("a window call cannot be inside another one; use a subquery", nested[0].span[0])
            windowed_calls.append(called)
            place = called.span[1]
        elif source.word(place) == "(" and is_query(source, place + 1):
            place = source.after(place)
        else:
            place += 1
    return windowed_calls


def operands(source: Source, lo: int, hi: int) -> tuple[list[Span], int]:
    """The selects that UNION and its kin join, and where the ORDER BY or LIMIT of all of them begins."""
    spans, start, place = [], lo, lo
    while place < hi:
        if source.word(place) in SETS and source.word(place - 1) != "*" and place > lo:
            spans.append((start, place))
            start = place + 1 + (source.word(place + 1) in ("ALL", "DISTINCT"))
            place = start
        else:
            place = source.after(place)
    if not spans:
        return [(lo, hi)], hi
    end = start
    while end < hi and not _begins_tail(source, end, start):
        end = source.after(end)
    return [*spans, (start, end)], end


def clauses(source: Source, lo: int, hi: int) -> list[tuple[str, int, int]]:
    """The clauses of a select: the first word of each, its place, and the place after the words that begin it."""
    clauses_of = [("SELECT", lo, lo + 1)]
    place = lo + 1
    while place < hi:
        called = call_at(source, place, hi)
        if called is not None:
            place = called.span[1]
            continue
        word, following = source.word(place), source.word(place + 1)
        if word in ("WHERE", "HAVING") or (word == "FROM" and source.word(place - 1) != "DISTINCT"):
            clauses_of.append((word, place, place + 1))
        elif word == "GROUP" and following == "BY":
            clauses_of.append((word, place, place + 2))
        elif word == "WINDOW" and place + 2 < hi and source.tokens[place + 1].is_name and source.word(place + 2) == "(":
            raise source.error("WINDOW takes definitions such as w AS (ORDER BY x)", place + 2)
        elif word == "WINDOW" and source.word(place + 2) == "AS" and source.tokens[place + 1].is_name:
            clauses_of.append((word, place, place + 1))
        elif (word == "QUALIFY" and len(clauses_of) > 1) or _begins_tail(source, place, lo):
            clauses_of.append((word, place, place + 1 + (word in SORTS)))
        place = source.after(place)
    return clauses_of


def _begins_tail(source: Source, place: int, lo: int) -> bool:
    """Whether ORDER BY, LIMIT or such begins at a place."""
    word, following = source.word(place), source.word(place + 1)
    if word in SORTS:
        return following == "BY"
    if word not in ("LIMIT", "OFFSET") or place == lo or place + 1 >= len(source.tokens):
        return False
    before, after = source.tokens[place - 1], source.tokens[place + 1]
    operand = before.kind == SYMBOL and before.word not in (")", "]", "*")  # expected here, so that it is a column
    operand = operand or before.word in (NO_OPERAND - {"ASC", "DESC"}) | {"SELECT", "WHERE", "HAVING", "QUALIFY"}
    return not operand and (after.kind != SYMBOL or after.word in ("(", "-", "+", ":"))


def block(source: Source, lo: int, hi: int) -> Block:
    """The parts of the select that begins at a place."""
    parts = clauses(source, lo, hi)
    ends = [place for _, place, _ in parts[1:]] + [hi]
    start, list_end = lo + 1, ends[0]
    distinct = source.word(start) == "DISTINCT"
    start += source.word(start) in ("DISTINCT", "ALL")
    spans = source.parts(start, list_end)
    if len(spans) > 1 and spans[-1][0] >= spans[-1][1]:  # the papers' trailing comma
        spans.pop()
    for first, stop in spans:
        if first >= stop:
            raise source.error("an expression is missing in the list of SELECT", min(first, len(source.tokens) - 1))
    whole = Block((lo, hi), (lo, start), distinct, [item(source, *each) for each in spans], (list_end, list_end))
    for (word, place, after), end in zip(parts[1:], ends[1:], strict=True):
        if word in whole.clauses:
            raise source.error(f"a select has one {word}", place)
        whole.clauses[word] = (after, end)
        if word in ("FROM", "WHERE", "GROUP", "HAVING"):
            if whole.body[1] != place:
                raise source.error(f"{word} is out of place here", place)
            whole.body = (whole.body[0], end)
        elif word == "WINDOW":
            whole.windows = (after, end)
        elif word == "QUALIFY":
            whole.qualify = (after, end)
        else:
            whole.tail.append((source.cut(place, after), (after, end)))
    return whole


def item(source: Source, lo: int, hi: int) -> Item:
    """An expression of a SELECT and its alias; the word AS may be missing."""
    last = source.tokens[hi - 1]
    if hi - lo > 2 and source.word(hi - 2) == "AS" and last.is_name:
        return Item((lo, hi - 2), hi - 1)
    if hi - lo < 2 or not last.is_name or last.word in NO_ALIAS or _in_call(source, lo, hi):
        return Item((lo, hi))
    before = source.tokens[hi - 2]
    ends = before.kind in (QUOTED, STRING, NUMBER) or before.word in (")", "]")
    ends = ends or (before.kind == WORD and before.word not in NO_OPERAND)
    unit = last.word.removesuffix("S") in UNITS and source.word(hi - 3) in ("INTERVAL", "-", "TO")
    return Item((lo, hi - 1), hi - 1) if ends and not unit else Item((lo, hi))


def _in_call(source: Source, lo: int, hi: int) -> bool:
    """Whether the last token belongs to a window call, as the name of its window does."""
    return any(called.span[1] == hi for called in calls(source, lo, hi))
