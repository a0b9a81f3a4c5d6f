"""One select with window calls: a query for what the calls read, the columns Sash computes, and the select of these.

The first query has the FROM, WHERE, GROUP BY and HAVING of the user, and selects the expressions that stand in no
window call as they are, and what the calls read. The select that takes its place has the names, the DISTINCT, the
QUALIFY and the ORDER BY of the user.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING

from sash.algebra import Over
from sash.errors import SashError
from sash.sql import atoms
from sash.sql.blocks import Block, Item, calls
from sash.sql.inner import Inner
from sash.sql.reading import Reading
from sash.sql.registry import REGISTERED
from sash.sql.scope import Scope
from sash.sql.syntax import Called, Span, Windowed
from sash.sql.texts import quoted
from sash.sql.vocabulary import call_of, known
from sash.sql.windows import window_of

if TYPE_CHECKING:
    from sash.sql.rewriting import Rewriting

_HINT = re.compile(r"/\*\+.*?\*/", re.DOTALL)


class Selecting:
    """The select on its way; ``ours`` are the calls that Sash answers."""

    def __init__(
        self, query: Rewriting, block: Block, scope: Scope, windows: Mapping[Span, Windowed], ours: set[Span]
    ) -> None:
        self.query, self.block, self.scope, self.windows, self.ours = query, block, scope, windows, ours
        self.source, self.session = query.source, query.session
        self.body = query.kept(*block.body, scope)
        self.inner = Inner(query, scope)
        self.reading = Reading(self.source, self.session, self.inner)
        self.over: dict[str, Over] = {}
        self.names: dict[tuple[str, ...], str] = {}  # of the calls already read
        self.by_spark: list[str] = []
        self.aliases: dict[str, str] = {}  # of windowed items, in lower case, and their texts
        groups = self.source.parts(*block.clauses["GROUP"]) if "GROUP" in block.clauses else []
        self.grouped = [self.source.same(*each) for each in groups]

    def text(self) -> str:
        """The select that takes the place of the user's."""
        shown = self.items()
        condition = self.condition()
        tail = [f" {words} {self.sorted(words, *span)}" for words, span in self.block.tail]
        frame = self.inner.frame(self.head(), self.body, bool(self.grouped))
        mark = self.session.computed(frame, self.over, self.by_spark)
        items = ", ".join(part for each in shown for part in self.inner.listed(each))
        return f"SELECT {'DISTINCT ' * self.block.distinct}{items} FROM {mark}{condition}{''.join(tail)}"

    def head(self) -> str:
        """The hints of the select."""
        lo, hi = self.block.head
        between = self.source.text[self.source.tokens[lo].end : self.source.tokens[hi].start]
        return " ".join(_HINT.findall(between))

    @cached_property
    def columns(self) -> frozenset[str]:
        """The names of what is selected from, in lower case."""
        lo, hi = self.block.body
        clause = self.block.clauses.get("GROUP") or self.block.clauses.get("HAVING")
        end = clause[0] - (2 if "GROUP" in self.block.clauses else 1) if clause else hi
        body = self.query.kept(lo, end, self.scope)
        return frozenset(name.lower() for name in self.session.frame(self.scope.before(f"SELECT * {body}")).columns)

    def items(self) -> list[str | int]:
        """What stands for each expression of the list; those beside the window calls first, for calls to use."""
        names = [self.alias(each) for each in self.block.items]
        called = [bool(calls(self.source, *each.span)) for each in self.block.items]
        windowed: set[str | None] = set()
        later = []
        for name, has, each in zip(names, called, self.block.items, strict=True):
            later.append(has or bool(windowed & self.mentioned(*each.span)))
            windowed |= {name} if later[-1] else set()
        found = {}
        for place in sorted(range(len(names)), key=lambda place: later[place]):
            found[place] = self.item(place, self.block.items[place])
        return [found[place] for place in range(len(names))]

    def alias(self, item: Item) -> str | None:
        """The name an expression is given, in lower case."""
        return None if item.alias is None else self.source.tokens[item.alias].name.lower()

    def mentioned(self, lo: int, hi: int) -> set[str]:
        """The names in a piece of the text, in lower case."""
        tokens = self.source.tokens
        names = [place for place in range(lo, hi) if tokens[place].is_name and self.source.word(place - 1) != "."]
        return {tokens[place].name.lower() for place in names}

    def item(self, place: int, item: Item) -> str | int:
        """What stands for an expression of the list: its text, or its place in the inner query."""
        lo, hi = item.span
        if self.source.word(hi - 1) == "*" or self.source.words(lo, "*"):
            return self.inner.star(place, lo, hi, self.body)
        parts = self.parts(lo, hi, self.visible(lo, hi))
        if all(each.kind == atoms.PIECE for each in parts):
            alias = f" AS {self.source.tokens[item.alias].text}" if item.alias is not None else ""
            return self.inner.item(place, lo, hi, alias)
        self.inner.windowed(place)
        text = self.outer(lo, hi, parts, item)
        if item.alias is None:
            return f"{text} AS {quoted(self.source.shown(lo, hi))}"
        alias_text = self.source.tokens[item.alias].text
        self.aliases[str(self.alias(item))] = f"({text})"
        return f"{text} AS {alias_text}"

    def condition(self) -> str:
        """QUALIFY, as the WHERE of the columns that are computed."""
        if self.block.qualify is None:
            return ""
        lo, hi = self.block.qualify
        return f" WHERE {self.outer(lo, hi, self.parts(lo, hi, self.visible(lo, hi)))}"

    def sorted(self, words: str, lo: int, hi: int) -> str:
        """What ORDER BY, LIMIT and such say; names of what is listed are those, as in Spark."""
        if words.split()[0].upper() in ("LIMIT", "OFFSET"):
            return self.query.kept(lo, hi, self.scope)
        outputs = {each.lower() for each in self.inner.outputs} | set(self.aliases)
        for item in self.block.items:
            if item.alias is not None:
                outputs.add(self.source.tokens[item.alias].name.lower())
            elif item.span[1] - item.span[0] == 1 and self.source.tokens[item.span[0]].is_name:
                outputs.add(self.source.tokens[item.span[0]].name.lower())
        return self.outer(lo, hi, self.parts(lo, hi, outputs), output=True)

    def visible(self, lo: int, hi: int) -> set[str]:
        """The aliases of windowed expressions that a piece of the text means."""
        used = self.mentioned(lo, hi) & set(self.aliases)
        return used - self.columns if used else set()

    def parts(self, lo: int, hi: int, outputs: set[str]) -> list[atoms.Atom]:
        """What an expression is made of."""
        return atoms.atoms(self.source, lo, hi, outputs, self.grouped, _aggregates)

    def outer(self, lo: int, hi: int, parts: list[atoms.Atom], item: Item | None = None, output: bool = False) -> str:
        """An expression with columns in the places of its parts."""
        source, text, at = self.source, "", lo
        for part in parts:
            start, end = part.span
            text += self.query.gap(at, start, lo, hi, self.scope)
            if part.called is not None:
                alone = item is not None and part.span == item.span
                text += quoted(self.computed(part.called, item if alone else None))
            elif part.kind == atoms.OUTPUT:
                text += source.cut(start, end) if output else self.aliases[source.tokens[start].name.lower()]
            else:
                text += quoted(self.inner.column(start, end))
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
            self.names[same] = self.inner.text(self.spelled(called), words)
            return self.names[same]
        alias = self.source.tokens[item.alias].name if item is not None and item.alias is not None else words
        name = self.names[same] = self.inner.unused(alias)
        try:
            self.over[name] = call_of(called, self.reading).over(
                window_of(self.source, self.windows[called.span], self.reading)
            )
        except SashError as error:
            if "\nline " in str(error):
                raise
            raise self.source.error(str(error), called.span[0]) from None
        return name

    def spelled(self, called: Called) -> str:
        """A call of Spark's, with what the name of its window stands for."""
        window, source = self.windows[called.span], self.source
        start = called.span[0]
        words = []
        if window.partition:
            words.append("PARTITION BY " + ", ".join(self.query.kept(*each, self.scope) for each in window.partition))
        if window.order:
            lo, hi = window.order[0].span[0], window.order[-1].span[1]
            while source.word(hi) in ("ASC", "DESC", "NULLS", "FIRST", "LAST"):
                hi += 1
            words.append("ORDER BY " + self.query.kept(lo, hi, self.scope))
        if window.frame is not None:
            lo = hi = window.frame.place
            while hi < len(source.tokens) and source.word(hi) != ")":
                hi = source.after(hi)
            words.append(self.query.kept(lo, hi, self.scope))
        return f"{self.query.kept(start, called.over, self.scope)} OVER ({' '.join(words)})"


def _aggregates(name: str) -> bool:
    return known(name) or name.lower() in REGISTERED
