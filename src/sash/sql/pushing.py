"""Conditions of a select on the PARTITION BY columns of the windowed query that it reads: they hold below it, too.

As Spark moves them below its own windows. The condition also stays where it is, so that one that is not put below
costs time and changes nothing. Only comparisons of such columns with constants are put there.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from sash.sql.atoms import CONSTANTS, TYPED
from sash.sql.blocks import SETS, Block, block, is_query, operands
from sash.sql.syntax import Span, Windowed
from sash.sql.tokens import STRING, SYMBOL, Source, read

# what a condition may be made of besides names and constants
WORDS = frozenset("AND OR NOT IN IS LIKE ILIKE BETWEEN DISTINCT FROM ESCAPE".split()) | CONSTANTS
JOINING = frozenset("NATURAL INNER CROSS LEFT RIGHT FULL OUTER SEMI ANTI JOIN".split())
BEFORE = ("FROM", "JOIN", ",")  # what a table is named behind
SYMBOLS = frozenset("( ) , = == <> != < > <= >= <=> - +".split())


@dataclass(frozen=True)
class KnownCondition:
    """A condition on the rows of a query: a piece of the text, and its columns there, by the spans of their names."""

    span: Span
    columns: Mapping[Span, str]

    def text(self, source: Source) -> str:
        """The condition in the query's own words."""
        lo, hi = self.span
        text, at = "", source.tokens[lo].start
        for (start, stop), column in sorted(self.columns.items()):
            text += source.text[at : source.tokens[start].start] + column
            at = source.tokens[stop - 1].end
        return f"({text}{source.text[at : source.tokens[hi - 1].end]})"


@dataclass(frozen=True)
class Read:
    """A table or query that a select reads: where it stands, and what it is called."""

    place: int
    alias: str | None
    alone: bool  # whether nothing else is read, so that a name without a table is of it
    whole: bool = True  # whether each row of the select has one of its rows, and not what an outer join fills in


def known_of_reads(
    source: Source, select: Block, above: Sequence[KnownCondition] = ()
) -> list[tuple[int, list[KnownCondition]]]:
    """The places of what a select reads, each with all that is known of the rows it takes from there.

    That is what its WHERE says, and what is known of its own rows, in terms of what it reads.
    """
    conjuncts = _conjuncts(source, *select.clauses.get("WHERE", (0, 0)))
    reads = []
    for read_from in _reads(source, select):
        if read_from.whole:
            known = [_condition(source, each, read_from) for each in conjuncts]
            passed = [each for each in above if all(_is_of(source, name, read_from) for name in each.columns.values())]
            reads.append((read_from.place, [*passed, *(each for each in known if each is not None)]))
    return reads


def _reads(source: Source, select: Block) -> list[Read]:
    """All that a select reads; nothing where its FROM is more than tables and queries that are joined."""
    place, hi = select.clauses.get("FROM", (0, 0))
    reads: list[Read] = []
    join: tuple[str, ...] = ()
    while place < hi:
        query = source.word(place) == "(" and is_query(source, place + 1)
        if not (source.tokens[place].is_name or query) or source.word(place) in (*JOINING, "LATERAL"):
            return []
        start, alias = place, None if query else source.folded(place)
        place = source.after(place)
        place += source.word(place) == "AS"
        if place < hi and source.tokens[place].is_name and source.word(place) not in (*JOINING, "ON", "USING"):
            place, alias = place + 1, source.folded(place)
        if {"RIGHT", "FULL"} & set(join):
            reads = [replace(each, whole=False) for each in reads]
        reads.append(Read(start, alias, not reads and place == hi, not {"LEFT", "FULL", "SEMI", "ANTI"} & set(join)))
        if source.word(place) in ("ON", "USING") and join:
            place += 1
            while place < hi and source.word(place) != "," and not _joins(source, place):
                place = source.after(place)
        if place == hi:
            return reads
        if source.word(place) == ",":
            join, place = (), place + 1
            continue
        join = _joins(source, place)
        if not join:
            return []
        place += len(join)
    return []


def _joins(source: Source, place: int) -> tuple[str, ...]:
    """The words of a join that stand at a place."""
    words: list[str] = []
    while source.word(place + len(words)) in JOINING:
        words.append(source.word(place + len(words)))
    return tuple(words) if words and words[-1] == "JOIN" and "NATURAL" not in words else ()


def _is_of(source: Source, column: str, read_from: Read) -> bool:
    """Whether a name is that of a column of it, perhaps with the table's; s.k may be a field of a struct."""
    tokens = read(column, source.exact, source.names_in_quotes).tokens
    if len(tokens) == 1:
        return read_from.alone
    return len(tokens) == 3 and source.fold(tokens[0].name) == read_from.alias


def known_of_named(source: Source, place: int, name: str) -> list[KnownCondition]:
    """What is known of the rows of a common table expression that is read in one place alone."""
    tokens = source.tokens
    mentions = [
        at
        for at, token in enumerate(tokens)
        if token.is_name and token.name.lower() == name.lower() and source.word(at + 1) != "."  # v.k is a column
    ]
    if len(mentions) != 2 or mentions[0] != place or source.word(mentions[1] - 1) not in BEFORE:
        return []
    opening = {closed: opened for opened, closed in source.closing.items()}
    lo = hi = mentions[1]
    while lo >= 0 and source.word(lo) not in ("SELECT", "(", "|>"):
        lo = opening.get(lo, lo) - 1
    while hi < len(tokens) and source.word(hi) not in (")", ";", "|>", *SETS):
        hi = source.after(hi)
    if lo < 0 or source.word(lo) != "SELECT":
        return []
    return dict(known_of_reads(source, block(source, lo, hi))).get(mentions[1], [])


def select_in(source: Source, opened: int) -> int | None:
    """The place of the one select that a bracket holds; None where it holds more than that."""
    lo, hi = opened + 1, source.closing[opened]
    alone = source.word(lo) == "SELECT" and len(operands(source, lo, hi)[0]) == 1 and source.find(lo, hi, "|>") == hi
    return lo if alone else None


def below(
    source: Source, select: Block, windows: Sequence[Windowed], above: Sequence[KnownCondition]
) -> list[KnownCondition]:
    """Those conditions on the rows of a select that are of whole partitions of all its windows, on what it reads."""
    tails = {words.split()[0].upper() for words, _ in select.tail}
    if not windows or {"GROUP", "HAVING"} & set(select.clauses) or tails & {"LIMIT", "OFFSET"}:
        return []
    keys = [{source.same(*each): each for each in window.partition} for window in windows]
    shared = {same: span for same, span in keys[0].items() if all(same in each for each in keys)}
    columns = _columns(source, select, shared)
    names = [{span: _name(source, column) for span, column in each.columns.items()} for each in above]
    return [
        KnownCondition(each.span, {span: columns[name] for span, name in named.items()})
        for each, named in zip(above, names, strict=True)
        if all(name in columns for name in named.values())
    ]


def _columns(source: Source, select: Block, keys: Mapping[tuple[str, ...], Span]) -> dict[str, str]:
    """The columns of a list that are keys of all windows: by their names there, what they are called below."""
    columns: dict[str, str] = {}
    others: set[str] = set()  # names that may mean something else
    reads = _reads(source, select)
    aliases = {source.folded(each.alias) for each in select.items if each.alias and source.same(*each.span) not in keys}
    keys = {same: (lo, hi) for same, (lo, hi) in keys.items() if source.folded(lo) not in aliases}  # not below it
    star = False
    for each in select.items:
        lo, hi = each.span
        star = star or source.word(lo) == "*"
        if hi - lo == 3 and source.word(hi - 1) == "*":  # s.* may be the fields of a struct, or of one of two tables
            star = star or (len(reads) == 1 and source.folded(lo) == reads[0].alias)
        last = source.tokens[hi - 1 if each.alias is None else each.alias]
        name = source.fold(last.name) if last.is_name else ""
        if name in columns or source.same(lo, hi) not in keys or not _is_column(source, lo, hi):
            others.add(name)
        else:
            columns[name] = source.cut(lo, hi)
    if star:  # of which a column may have the same name, and be the one that is meant
        others |= {name for name, column in columns.items() if _name(source, column) != name}
    for lo, hi in keys.values() if star else ():
        if hi - lo == 1 and _is_column(source, lo, hi):
            columns.setdefault(source.folded(lo), source.cut(lo, hi))
    return {name: column for name, column in columns.items() if name not in others}


def _is_column(source: Source, lo: int, hi: int) -> bool:
    """Whether a piece is the name of a column, perhaps with that of its table."""
    names = all(source.tokens[place].is_name for place in range(lo, hi, 2))
    return names and (hi - lo) % 2 == 1 and all(source.word(place) == "." for place in range(lo + 1, hi, 2))


def _name(source: Source, column: str) -> str:
    """The name of a column without that of its table, as names are compared."""
    return source.fold(read(column, source.exact, source.names_in_quotes).tokens[-1].name)


def _conjuncts(source: Source, lo: int, hi: int) -> list[Span]:
    """The conditions that AND joins; all of it is one where OR or CASE stands outside of brackets."""
    if lo >= hi:
        return []
    spans, start, place, between = [], lo, lo, 0
    while place < hi:
        word = source.word(place)
        if word in ("OR", "CASE"):
            return [(lo, hi)]
        if word == "AND" and not between:
            spans.append((start, place))
            start = place + 1
        between += (word == "BETWEEN") - (word == "AND" and between > 0)
        place = source.after(place)
    return [*spans, (start, hi)]


def _condition(source: Source, span: Span, read_from: Read) -> KnownCondition | None:
    """A condition on the rows of what is read; None where it is more than comparisons of columns and constants."""
    columns: dict[Span, str] = {}
    place, hi = span
    while place < hi:
        token, word = source.tokens[place], source.word(place)
        dotted = source.word(place + 1) == "."
        if word in TYPED and source.tokens[min(place + 1, hi - 1)].kind == STRING:
            place += 2
        elif (word in WORDS and not dotted) or (token.kind == SYMBOL and word in SYMBOLS):
            place += 1
        elif token.kind == SYMBOL or (token.is_name and source.word(place + 1) == "("):
            return None
        elif not token.is_name:
            place += 1
        elif not (_has_column(source, place, hi, read_from) if dotted else read_from.alone):
            return None
        else:
            columns[place, place + 1 + 2 * dotted] = source.tokens[place + 2 * dotted].text
            place += 1 + 2 * dotted
    return KnownCondition(span, columns) if columns else None


def _has_column(source: Source, place: int, hi: int, read_from: Read) -> bool:
    """Whether a name before a dot is that of a table or query, and the one behind it that of a column."""
    return source.folded(place) == read_from.alias and place + 3 <= hi and source.word(place + 3) != "."
