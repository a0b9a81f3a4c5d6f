"""One select with window calls: a query for what the calls read, the columns Sash computes, and the select of these.

The first query has the FROM, WHERE, GROUP BY and HAVING of the user, and selects the expressions that stand in no
window call as they are, and what the calls read. The select that takes its place has the names, the DISTINCT, the
QUALIFY and the ORDER BY of the user.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import Any

from sash.errors import SashError
from sash.sql import atoms, unnamed, unordered
from sash.sql.arguments import Reading
from sash.sql.around import Scope, WholeQuery
from sash.sql.blocks import Block, Item, calls
from sash.sql.dispatch import only_ours
from sash.sql.inner import Inner
from sash.sql.spelling import spelled, spelled_out
from sash.sql.syntax import Called, Span, Windowed, ordered
from sash.sql.texts import quoted
from sash.sql.tokens import Source
from sash.sql.vocabulary import call_of, known, never_null
from sash.sql.windows import window_of
from sash.windows.over import Over

LONGEST = 1 << 20  # characters of an expression
_HINT = re.compile(r"/\*\+.*?\*/", re.DOTALL)


class Unanswered(SashError):
    """Columns of a call are of types that Sash does not answer it for."""


class Selecting:
    """The select on its way; ``ours`` are the calls that Sash answers."""

    def __init__(
        self, query: WholeQuery, block: Block, scope: Scope, windows: Mapping[Span, Windowed], ours: set[Span]
    ) -> None:
        self.query, self.block, self.scope, self.windows, self.ours = query, block, scope, windows, ours
        self.source, self.session = query.source, query.session
        self.body = self.body_with(block.below)
        self.inner = Inner(query, scope)
        self.reading = Reading(self.source, self.session, self.inner)
        self.over: dict[str, Over] = {}
        self.names: dict[tuple[str, ...], str] = {}  # of the calls already read
        self.places: dict[str, int] = {}  # of the calls, by their names
        self.by_spark: list[str] = []
        self.aliases: dict[str, str] = {}  # of windowed items, and their texts
        self.later: list[bool] = []  # which items may be computed from window calls
        groups = self.source.parts(*block.clauses["GROUP"]) if "GROUP" in block.clauses else []
        self.grouped = [self.source.same(*each) for each in groups]

    def text(self) -> str:
        """The select that takes the place of the user's."""
        shown = self.items()
        self.check_groups()
        condition = self.condition()
        tail = [f" {words} {self.sorted(words, *span)}" for words, span in self.block.tail]
        frame = self.inner.frame(self.head(), self.body, bool(self.grouped), self.grouped == [("ALL",)])
        mark = self.computed_frame(frame)
        items = ", ".join(part for each in shown for part in self.inner.listed(each))
        return f"SELECT {'DISTINCT ' * self.block.distinct}{items} FROM {mark}{condition}{''.join(tail)}"

    def body_with(self, conditions: tuple[str, ...]) -> str:
        """What stands from FROM to HAVING, with conditions besides those of the user; there are no groups then."""
        lo, hi = self.block.body
        start, end = self.block.clauses.get("WHERE", (hi, hi))
        if not conditions:
            return self.query.left_to_spark(lo, hi, self.scope)
        read = self.query.left_to_spark(lo, start - 1 if "WHERE" in self.block.clauses else hi, self.scope)
        own = [f"({self.query.left_to_spark(start, end, self.scope)})"] if "WHERE" in self.block.clauses else []
        return f"{read} WHERE {' AND '.join([*own, *conditions])}"

    def computed_frame(self, frame: Any) -> str:
        """What stands for the frame with the columns of the calls; what is wrong with one is shown there."""
        try:
            return self.session.computed(frame, self.over, self.by_spark)
        except SashError as error:
            place = self.places.get(error.column or "", self.block.span[0])
            raise Unanswered(str(self.source.error(_in_sql(str(error)), place))) from None

    def head(self) -> str:
        """The hints of the select."""
        lo, hi = self.block.head
        between = self.source.text[self.source.tokens[lo].end : self.source.tokens[hi].start]
        return " ".join(_HINT.findall(between))

    @cached_property
    def columns(self) -> frozenset[str]:
        """The names of what is selected from."""
        lo, hi = self.block.body
        clause = self.block.clauses.get("GROUP") or self.block.clauses.get("HAVING")
        end = clause[0] - (2 if "GROUP" in self.block.clauses else 1) if clause else hi
        body = self.query.left_to_spark(lo, end, self.scope)
        names = self.session.frame(self.scope.before(f"SELECT * {body}")).columns
        return frozenset(map(self.source.fold, names))

    def items(self) -> list[str | int]:
        """What stands for each expression of the list; those beside the window calls first, for calls to use."""
        names = [self.alias(each) for each in self.block.items]
        called = [bool(calls(self.source, *each.span)) for each in self.block.items]
        windowed: set[str | None] = set()
        for name, has, each in zip(names, called, self.block.items, strict=True):
            self.later.append(has or bool(windowed & self.mentioned(*each.span)))
            windowed |= {name} if self.later[-1] else set()
        items = {}
        for place in sorted(range(len(names)), key=lambda place: self.later[place]):
            items[place] = self.item(place, self.block.items[place])
        return [items[place] for place in range(len(names))]

    @cached_property
    def listed(self) -> dict[tuple[str, ...], str]:
        """What the list has, by what it is made of: the names it has there."""
        listed = {}
        for place, each in enumerate(self.block.items):
            lo, hi = each.span
            if each.alias is not None:
                listed[self.source.same(lo, hi)] = self.source.tokens[each.alias].text
            elif self.source.tokens[hi - 1].is_name and not calls(self.source, lo, hi):
                listed[self.source.same(lo, hi)] = quoted(self.source.tokens[hi - 1].name)
            else:
                listed[self.source.same(lo, hi)] = quoted(self.spark_names.get(place) or self.source.shown(lo, hi))
        return listed

    @cached_property
    def spark_names(self) -> dict[int, str]:
        """What Spark calls windowed expressions without an alias, by their places in the list."""
        items = []
        for place, item in enumerate(self.block.items):
            called = calls(self.source, *item.span)
            by_spark = not any(only_ours(each, self.windows[each.span]) for each in called)
            text = spelled_out(self.query, item.span, called, self.windows, self.scope) if by_spark else "NULL"
            alias = "" if item.alias is None else f" AS {self.source.tokens[item.alias].text}"
            width = len(self.inner.items[place][1]) if place in self.inner.items else 1
            items.append(unnamed.Listed(text + alias, width, by_spark and not alias and self.later[place]))
        return unnamed.names(
            items, lambda listed: self.session.columns(self.scope.before(f"SELECT {listed} {self.body}"))
        )

    def alias(self, item: Item) -> str | None:
        """The name an expression is given."""
        return None if item.alias is None else self.source.folded(item.alias)

    def mentioned(self, lo: int, hi: int) -> set[str]:
        """The names in a piece of the text."""
        tokens = self.source.tokens
        names = [place for place in range(lo, hi) if tokens[place].is_name and self.source.word(place - 1) != "."]
        return {self.source.folded(place) for place in names}

    def item(self, place: int, item: Item) -> str | int:
        """What stands for an expression of the list: its text, or its place in the inner query."""
        lo, hi = item.span
        if _is_star(self.source, lo, hi):
            return self.inner.star(place, lo, hi, self.body)
        parts = self.parts(lo, hi, self.visible(lo, hi))
        if all(each.kind == atoms.PIECE for each in parts):
            alias = f" AS {self.source.tokens[item.alias].text}" if item.alias is not None else ""
            return self.inner.item(place, lo, hi, alias)
        self.inner.windowed(place)
        text = self.outer(lo, hi, parts, item)
        if len(text) > LONGEST:
            raise self.source.error("this is too long with the expressions that its names stand for", lo)
        if item.alias is None:
            return f"{text} AS {quoted(self.spark_names.get(place) or self.source.shown(lo, hi))}"
        alias_text = self.source.tokens[item.alias].text
        self.aliases[str(self.alias(item))] = f"({text})"
        return f"{text} AS {alias_text}"

    def check_groups(self) -> None:
        """Refuse GROUP BY 2 where the second expression of the list is a window call."""
        for span in self.source.parts(*self.block.clauses["GROUP"]) if self.grouped else []:
            number = self.source.cut(*span)
            if number.isdigit() and int(number) - 1 in self.inner.placeholders:
                raise self.source.error("a window call cannot stand in GROUP BY", span[0])

    def condition(self) -> str:
        """QUALIFY, as the WHERE of the columns that are computed."""
        if self.block.qualify is None:
            return ""
        lo, hi = self.block.qualify
        if lo >= hi:
            raise self.source.error("QUALIFY takes a condition", lo - 1)
        return f" WHERE {self.outer(lo, hi, self.parts(lo, hi, self.visible(lo, hi)))}"

    def sorted(self, words: str, lo: int, hi: int) -> str:
        """What ORDER BY, LIMIT and such say; names of what is listed are those, as in Spark."""
        if words.split()[0].upper() in ("LIMIT", "OFFSET"):
            return self.query.left_to_spark(lo, hi, self.scope)
        source = self.source
        outputs = {source.fold(each) for each in self.inner.outputs} | set(self.aliases)
        for item in self.block.items:
            if item.alias is not None:
                outputs.add(source.folded(item.alias))
            elif item.span[1] - item.span[0] == 1 and source.tokens[item.span[0]].is_name:
                outputs.add(source.folded(item.span[0]))
        text, at = "", lo
        for key in ordered(source, lo, hi):
            start, end = key.span
            text += self.query.gap(at, start, lo, hi, self.scope)
            text += self.outer(start, end, self.parts(start, end, self.sortable(start, end, outputs)), output=True)
            at = end
        return text + self.query.gap(at, hi, lo, hi, self.scope)

    def sortable(self, lo: int, hi: int, outputs: set[str]) -> set[str]:
        """Those names of what is listed that are no tables here: of t.x, t is one."""
        source = self.source
        tables = self.mentioned(*self.block.clauses["FROM"]) if "FROM" in self.block.clauses else set()
        dotted = {source.folded(place) for place in range(lo, hi) if source.word(place + 1) == "."}
        return outputs - (dotted & tables)

    def visible(self, lo: int, hi: int) -> set[str]:
        """The aliases of windowed expressions that a piece of the text means."""
        used = self.mentioned(lo, hi) & set(self.aliases)
        return used - self.columns if used else set()

    def parts(self, lo: int, hi: int, outputs: set[str]) -> list[atoms.Atom]:
        """What an expression is made of."""
        return atoms.atoms(self.source, lo, hi, atoms.Around(outputs, self.grouped, known))

    def outer(self, lo: int, hi: int, parts: list[atoms.Atom], item: Item | None = None, output: bool = False) -> str:
        """An expression with columns in the places of its parts."""
        source, text, at = self.source, "", lo
        for part in parts:
            start, end = part.span
            text += self.query.gap(at, start, lo, hi, self.scope)
            if output and self.block.distinct and source.same(start, end) in self.listed:
                text += self.listed[source.same(start, end)]
            elif part.called is not None:
                alone = item is not None and part.span == item.span
                name = self.computed(part.called, item if alone else None)
                filled = item is not None and name in self.over and never_null(self.over[name].call)
                text += f"COALESCE({quoted(name)}, 0)" if filled else quoted(name)
            elif part.kind == atoms.OUTPUT:
                text += source.cut(start, end) if output else self.aliases[source.folded(start)]
            else:
                text += quoted(self.inner.column(start, end))
            text += f" AS {quoted(part.label)}" if part.label is not None else ""
            at = end
        return text + self.query.gap(at, hi, lo, hi, self.scope)

    def computed(self, called: Called, item: Item | None) -> str:
        """The name of the column that a call is."""
        same = self.source.same(*called.span)
        if same in self.names:
            return self.names[same]
        words = self.source.shown(*called.span)
        if called.span not in self.ours:
            self.by_spark.append(words)
            self.names[same] = self.inner.text(
                spelled(self.query, called, self.windows[called.span], self.scope), words
            )
            return self.names[same]
        alias = self.source.tokens[item.alias].name if item is not None and item.alias is not None else words
        name = self.names[same] = self.inner.unused(alias)
        self.places[name] = called.span[0]
        try:
            over = call_of(called, self.reading).over(window_of(self.source, self.windows[called.span], self.reading))
            self.over[name] = self.in_some_order(over, words) if over.follows_rows else over
        except SashError as error:
            if "\nline " in str(error):
                raise
            raise self.source.error(str(error), called.span[0]) from None
        return name

    def in_some_order(self, over: Over, words: str) -> Over:
        """A call that needs an order of the rows, where the query says none."""
        groups = self.source.parts(*self.block.clauses["GROUP"]) if self.grouped else []
        body = self.body if "FROM" in self.block.clauses else None
        return unordered.in_order(over, words, unordered.keys(self.inner, body, groups))


def _in_sql(sentence: str) -> str:
    """A sentence of the Python side in the words of SQL."""
    for python, words in (("rowsBetween: ", "ROWS: "), ("rangeBetween: ", "RANGE: "), ("groupsBetween: ", "GROUPS: ")):
        sentence = sentence.replace(python, words)
    return sentence.replace("an orderBy", "an ORDER BY").replace("needs order_by", "needs an ORDER BY in the call")


def _is_star(source: Source, lo: int, hi: int) -> bool:
    """Whether an item is *, t.* or such, perhaps with EXCEPT."""
    while lo + 1 < hi and source.tokens[lo].is_name and source.word(lo + 1) == ".":
        lo += 2
    return source.word(lo) == "*"
