"""Rewriting: every select with window calls becomes one of columns that Sash has computed; the rest stays as it is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from sash.errors import SashError
from sash.sql import blocks, dispatch, pushing
from sash.sql.around import NamedQuery, Scope, Session
from sash.sql.correlated import Correlated
from sash.sql.selecting import Selecting, Unanswered
from sash.sql.spelling import spelled_out
from sash.sql.syntax import Called, Span, Windowed
from sash.sql.tokens import Source
from sash.sql.windows import definitions, resolved

DEEPEST = 60  # levels of queries
Windows = Mapping[Span, Windowed]


@dataclass
class Rewriting:
    """One query on its way."""

    source: Source
    session: Session
    depth: int = 0
    known: dict[int, str] = field(default_factory=dict)  # queries in brackets, by their place
    around: dict[int, Mapping[str, Windowed]] = field(default_factory=dict)  # their windows, of a select around them
    named: Mapping[str, Windowed] = field(default_factory=dict)  # those of the query that is being read
    # what is known of the rows of selects
    conditions: dict[int, list[pushing.KnownCondition]] = field(default_factory=dict)

    def top(self, lo: int, hi: int, scope: Scope) -> str:
        """The whole query, with the tables that it was given."""
        return scope.before(self.query(lo, hi, scope))

    def query(self, lo: int, hi: int, scope: Scope) -> str:
        """A query: common table expressions, selects joined by UNION and such, an order."""
        source = self.source
        named: list[NamedQuery] = []
        recursive = False
        if source.word(lo) == "WITH":
            named, recursive, lo = self.with_clause(lo, hi, scope)
        inner = scope.inside(named, recursive)
        pipe = source.find(lo, hi, "|>")
        rest = source.text[source.tokens[pipe - 1].end : source.tokens[hi - 1].end] if pipe < hi else ""
        hi = pipe
        spans, end = blocks.operands(source, lo, hi)
        text, at = "", None
        for start, stop in spans:
            text += source.text[at : source.tokens[start].start] if at is not None and start < hi else ""
            if start >= stop:
                raise source.error("a select is missing here", min(start, len(source.tokens) - 1))
            text += self.operand(start, stop, inner)
            at = source.tokens[stop - 1].end
        if end < hi:
            text += source.text[at : source.tokens[end].start] + self.left_to_spark(end, hi, inner)
        text += rest
        if not named:
            return text
        return f"{'WITH RECURSIVE' if recursive else 'WITH'} {', '.join(each.text for each in named)} {text}"

    def operand(self, lo: int, hi: int, scope: Scope) -> str:
        """One of what UNION and such join; after WITH it may be an INSERT."""
        source = self.source
        if source.word(lo) == "SELECT":
            return self.select(lo, hi, scope)
        start = source.find(lo, hi, "SELECT") if source.word(lo) == "INSERT" else hi
        if start == hi:
            return self.left_to_spark(lo, hi, scope)
        return source.text[source.tokens[lo].start : source.tokens[start].start] + self.select(start, hi, scope)

    def with_clause(self, lo: int, hi: int, scope: Scope) -> tuple[list[NamedQuery], bool, int]:
        """The common table expressions of a query, and where it goes on."""
        source, place = self.source, lo + 1
        recursive = source.word(place) == "RECURSIVE"
        place += recursive
        named: list[NamedQuery] = []
        while True:
            start = place
            opened = source.find(place, hi, "AS", "(") + 1
            if place >= hi or not source.tokens[place].is_name or opened >= hi:
                raise source.error("WITH takes queries such as t AS (SELECT …)", min(place, len(source.tokens) - 1))
            closed = source.closing[opened]
            self.around[opened] = self.named
            self.note(opened, [] if recursive else pushing.known_of_named(source, place, source.tokens[place].name))
            body = self.nested(opened, scope.inside(named, recursive))
            head = source.text[source.tokens[start].start : source.tokens[opened].end]
            named.append(NamedQuery(source.tokens[start].name, f"{head}{body})"))
            place = closed + 1
            if source.word(place) != ",":
                return named, recursive, place
            place += 1

    def left_to_spark(self, lo: int, hi: int, scope: Scope) -> str:
        """A piece of the text as it is, but for the queries in it."""
        source = self.source
        if lo >= hi:
            return ""
        text, at = "", source.tokens[lo].start
        for opened in blocks.queries(source, lo, hi):
            text += source.text[at : source.tokens[opened].end] + self.nested(opened, scope)
            at = source.tokens[source.closing[opened]].start
        return text + source.text[at : source.tokens[hi - 1].end]

    def nested(self, opened: int, scope: Scope) -> str:
        """The query in brackets, rewritten once however often it is asked for."""
        if opened not in self.known:
            if self.depth == DEEPEST:
                raise self.source.error(f"a query may have {DEEPEST} levels of queries, this is one more", opened)
            self.depth += 1
            named, self.named = self.named, self.around.get(opened, {})
            try:
                self.known[opened] = self.query(opened + 1, self.source.closing[opened], scope)
            finally:
                self.depth -= 1
                self.named = named
        return self.known[opened]

    def gap(self, at: int, end: int, lo: int, hi: int, scope: Scope) -> str:
        """What stands between two parts of the piece from ``lo`` to ``hi``, with the space around it."""
        tokens, text = self.source.tokens, self.source.text
        left = text[tokens[at - 1].end : tokens[at].start] if lo < at < hi else ""
        if at == end:
            return left
        right = text[tokens[end - 1].end : tokens[end].start] if end < hi else ""
        return left + self.left_to_spark(at, end, scope) + right

    def select(self, lo: int, hi: int, scope: Scope) -> str:
        """A select: as it is, or of columns that Sash has computed."""
        source = self.source
        block = blocks.block(source, lo, hi)
        named = definitions(source, *block.windows) if block.windows else self.named
        for opened in blocks.queries(source, *block.clauses.get("FROM", (0, 0))):
            self.around[opened] = named  # a derived table without WINDOW has the windows of its select, as in Spark
        places = [each.span for each in block.items] + ([block.qualify] if block.qualify else [])
        calls = [each for span in (*places, *(span for _, span in block.tail)) for each in blocks.calls(source, *span)]
        for word in ("FROM", "WHERE", "GROUP", "HAVING"):
            for called in blocks.calls(source, *block.clauses.get(word, (0, 0))):
                clause = f"{word} BY" if word == "GROUP" else word
                sentence = f"a window call cannot stand in {clause}; use QUALIFY, or a subquery"
                raise source.error(sentence, called.span[0])
        windows = {called.span: resolved(source, called.window, named) for called in calls}
        below = pushing.below(source, block, list(windows.values()), self.conditions.get(lo, []))
        for place, conditions in pushing.known_of_reads(source, block, below):
            self.note(place, conditions)
        block.below = tuple(each.text(source) for each in below)
        ours = [
            called
            for called in calls
            if dispatch.is_ours(source, called, windows[called.span], self.session.has_function)
        ]
        if not ours:
            by_columns = None if calls else Correlated(self, block, scope).text()
            return by_columns or self.as_it_is(block, scope, windows, calls)
        try:
            return self.by_sash(block, scope, windows, ours)
        except Unanswered:
            by_spark = self.by_spark(block, scope, windows, calls)  # of types that Sash has not
            if by_spark:
                return by_spark
            raise
        except SashError:
            raise
        except Exception as error:
            shown = self.session.failure(error, source, (lo, hi))
            if shown is None:
                raise
            if self.depth and not any(dispatch.only_ours(each, windows[each.span]) for each in calls):
                return self.as_it_is(block, scope, windows, calls)  # it may read columns of a query around it
            raise shown from None

    def as_it_is(self, block: blocks.Block, scope: Scope, windows: Windows, calls: list[Called]) -> str:
        """The select as the user wrote it; windows of a select around it, which may be gone, are written out."""
        around = calls if self.named and not block.windows else []
        return spelled_out(self, block.span, around, windows, scope)

    def note(self, opened: int, conditions: list[pushing.KnownCondition]) -> None:
        """Note what is known of the rows of the query in a bracket, if it is one select."""
        place = pushing.select_in(self.source, opened) if opened in self.source.closing else None
        if place is not None and conditions:
            self.conditions[place] = conditions

    def by_sash(self, block: blocks.Block, scope: Scope, windows: Windows, ours: list[Called]) -> str:
        """The select with these calls answered by Sash."""
        return Selecting(self, block, scope, windows, {called.span for called in ours}).text()

    def by_spark(self, block: blocks.Block, scope: Scope, windows: Windows, calls: list[Called]) -> str:
        """The select with all its calls left to Spark, where each may be and Spark takes them; else nothing."""
        if not all(dispatch.is_plain(self.source, each, windows[each.span]) for each in calls):
            return ""
        try:
            return self.by_sash(block, scope, windows, [])
        except Exception as error:
            if not isinstance(error, SashError) and self.session.failure(error, self.source, block.span) is None:
                raise
        return ""
