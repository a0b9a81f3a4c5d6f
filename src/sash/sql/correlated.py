"""Aggregates over the rows of another table around each row, as SQL has them: correlated and lateral queries.

``(select median(q.bid) from quotes q where q.sym = t.sym and q.ts between t.ts - interval 10 seconds and t.ts)`` in a
select list, and ``left join lateral (select …) x on true``, become columns of the table on the left: ``Window.of``.
Those of one table, with the same keys and the same time, share their work. What has another shape is left to Spark.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from sash.errors import SashError
from sash.expressions.columns import Name
from sash.spark.hidden import UNSPELLABLE
from sash.sql.arguments import Reading
from sash.sql.around import Scope, WholeQuery
from sash.sql.blocks import Block, Item, block, operands, queries
from sash.sql.correlation import Correlation, NotOfShape, TableRead, conjuncts, correlation, is_true, table_read
from sash.sql.inner import Inner
from sash.sql.syntax import Span, is_call, said_after
from sash.sql.syntax import aggregate_at as call_alone
from sash.sql.texts import quoted
from sash.sql.vocabulary import call_of, known, never_null
from sash.windows import Window
from sash.windows.over import Over

# words before a query in brackets that is one value
BEFORE = frozenset(
    "( , + - * / % = < > <= >= <> != || SELECT THEN ELSE WHEN AND OR NOT BETWEEN DISTINCT CASE DIV".split()
)
KEPT = frozenset("RIGHT FULL SEMI ANTI VIEW PIVOT UNPIVOT TABLESAMPLE MATCH_RECOGNIZE".split())


@dataclass
class OtherTable:
    """Another table, read once by all that ask of it with the same conditions, keys and time."""

    inner: Inner
    reading: Reading
    body: str
    calls: dict[str, tuple[Any, Correlation]] = field(default_factory=dict)  # by their columns beside the left table


class Correlated:
    """A select with such queries, on its way."""

    def __init__(self, query: WholeQuery, select: Block, scope: Scope) -> None:
        self.query, self.block, self.scope = query, select, scope
        self.source, self.session = query.source, query.session
        self.tables: dict[Any, OtherTable] = {}
        self.names: dict[Any, str] = {}  # of the columns of calls, by what these are
        self.pieces: list[tuple[Span, str]] = []  # of the text, and what stands there instead
        self.asked: set[int] = set()  # items with something that is computed

    def text(self) -> str | None:
        """The select that takes the place of the user's; None where nothing in it has the shape."""
        if "FROM" not in self.block.clauses or {"GROUP", "HAVING"} & set(self.block.clauses):
            return None
        lo, hi = self.block.clauses["FROM"]
        left = table_read(self.source, lo, hi)
        laterals = [place for place in range(lo, hi) if self.source.word(place) == "LATERAL"]
        scalars = [
            (k, opened) for k, each in enumerate(self.block.items) for opened in selects(self.source, *each.span)
        ]
        rest = {self.source.word(place) for place in range(left.end, hi)} if left is not None else set()
        if left is None or not (laterals or scalars) or KEPT & rest:
            return None
        try:
            return self.rewritten(left, laterals, scalars)
        except NotOfShape:
            return None
        except Exception as error:
            if not isinstance(error, SashError) and self.session.failure(error, self.source, self.block.span) is None:
                raise
            return None  # Spark knows what is wrong with it, or answers it

    def rewritten(self, left: TableRead, laterals: list[int], scalars: list[tuple[int, int]]) -> str | None:
        """The same, of what is read first."""
        read = self.query.left_to_spark(*left.span, self.scope)
        columns = self.columns_of(f"SELECT * FROM {read}")
        for item, opened in scalars:
            if self.source.word(opened - 1) in BEFORE:
                self.of_shape((opened, self.source.after(opened)), left, columns, item)
        for place in laterals:
            self.lateral(place, left, columns)
        if not self.names:
            return None
        for each in self.block.items:
            if self.star(*each.span) is None:
                self.check_whole_rows(each.span, left, columns)
        alone = left.end == self.block.clauses["FROM"][1]  # its conditions go below the columns that are computed
        where = self.block.clauses.get("WHERE")
        condition = f" WHERE {self.query.left_to_spark(*where, self.scope)}" if where and alone else ""
        frame = self.session.frame(self.scope.before(f"SELECT * FROM {read}{condition}"))
        if getattr(frame, "isStreaming", False):
            raise NotOfShape
        mark = self.session.computed(frame, self.overs(), [])
        end = where[1] if where and alone else left.end
        self.pieces.append(((left.span[0], end), f"{mark} AS {quoted(left.alias)}"))
        self.listed(left)
        return self.replaced()

    # What has the shape

    def of_shape(self, span: Span, left: TableRead, columns: Mapping[str, str], item: int) -> None:
        """Note what stands for a query in brackets, if it has the shape."""
        select = self.select_in(span[0])
        if select is None or len(select.items) != 1:
            return
        try:
            self.pieces.append((span, f"({self.valued(select, select.items[0], left, columns)})"))
            self.asked.add(item)
        except NotOfShape:
            return

    def lateral(self, place: int, left: TableRead, columns: Mapping[str, str]) -> None:
        """The same of a lateral query."""
        source, opened = self.source, place + 1
        select = self.select_in(opened) if source.word(opened) == "(" else None
        after = source.after(opened)
        after += source.word(after) == "AS"
        begin = place
        while source.word(begin - 1) in ("JOIN", "LEFT", "OUTER", "INNER", "CROSS", ","):
            begin -= 1
        end = after + 1
        named = after < len(source.tokens) and source.tokens[after].is_name
        if select is None or not named or begin == place or source.word(end) == "(":
            return
        if source.word(end) == "ON":
            end = next((at for at in range(end + 1, self.block.clauses["FROM"][1]) if source.word(at) in (
                "JOIN", "LEFT", "INNER", "CROSS", ",")), self.block.clauses["FROM"][1])  # fmt: skip
            if not is_true(source, (after + 2, end)):
                return
        try:
            values = [
                f"{self.valued(select, each, left, columns)} AS {source.tokens[each.alias].text}"
                for each in select.items
                if each.alias is not None
            ]
        except NotOfShape:
            return
        if len(values) == len(select.items):
            alias = source.tokens[after].text
            self.pieces.append(((begin, end), f"CROSS JOIN LATERAL (SELECT {', '.join(values)}) AS {alias}"))

    def select_in(self, opened: int) -> Block | None:
        """The select of aggregates that a bracket holds, if it is one."""
        lo, hi = opened + 1, self.source.closing[opened]
        if self.source.word(lo) != "SELECT" or len(operands(self.source, lo, hi)[0]) > 1:
            return None
        select = block(self.source, lo, hi)
        plain = not (select.distinct or select.windows or select.qualify or select.tail)
        return select if plain and set(select.clauses) == {"FROM", "WHERE"} else None

    def valued(self, select: Block, item: Item, left: TableRead, columns: Mapping[str, str]) -> str:
        """An expression of aggregates, with columns of the left table in their places."""
        source, scope = self.source, self.scope
        right = table_read(source, *select.clauses["FROM"])
        if right is None or right.end != select.clauses["FROM"][1] or right.alias == left.alias:
            raise NotOfShape
        read = self.query.left_to_spark(*right.span, scope)
        theirs = self.columns_of(f"SELECT * FROM {read}")
        asked = correlation(source, conjuncts(source, *select.clauses["WHERE"]), (left, columns), (right, theirs))
        asked.check_own(source, item.span, calls_alone(source, *item.span))
        key = source.same(*right.span), asked.key(source)
        if key not in self.tables:
            conditions = [self.query.left_to_spark(*each, scope) for each in asked.conditions]
            where = f" WHERE {' AND '.join(f'({each})' for each in conditions)}" if conditions else ""
            inner = Inner(self.query, scope)
            reading = Reading(source, self.session, inner)
            self.tables[key] = OtherTable(inner, reading, f"FROM {read}{where}")
        return self.called(self.tables[key], asked, key, item, left)

    def called(self, table: OtherTable, asked: Correlation, key: Any, item: Item, left: TableRead) -> str:
        """The text of an expression; its calls are noted."""
        source, text, (lo, hi) = self.source, "", item.span
        at = lo
        for span in calls_alone(source, lo, hi):
            called = call_alone(source, *span)
            assert called is not None
            call = call_of(called, table.reading)
            frame = asked.frame(source, table.reading)
            same = key, source.same(*span), frame
            if same not in self.names:
                name = self.names[same] = f"{source.shown(*span)[:60]}{UNSPELLABLE}{len(self.names) + 1}"
                table.calls[name] = call, asked
            column = f"{quoted(left.alias)}.{quoted(self.names[same])}"
            text += self.query.gap(at, span[0], lo, hi, self.scope)
            text += f"COALESCE({column}, 0)" if never_null(call) else column
            at = span[1]
        if at == lo:
            raise NotOfShape
        return text + self.query.gap(at, hi, lo, hi, self.scope)

    # What is computed

    def overs(self) -> dict[str, Over]:
        """The columns of the left table."""
        columns: dict[str, Over] = {}
        for table in self.tables.values():
            keys: dict[str, str] = {}
            at: tuple[Name, Name] | None = None
            for _, asked in table.calls.values():
                keys = {ours: table.inner.column(*span) for ours, span in asked.on.items()}
                at = Name((asked.at,)), Name((table.inner.column(*asked.time),))
            frame = self.session.other(table.inner.frame("", table.body, grouped=False))
            window = Window.of(frame, on={Name((ours,)): Name((theirs,)) for ours, theirs in keys.items()}, at=at)
            for name, (call, asked) in table.calls.items():
                start, end, closed = asked.frame(self.source, table.reading)
                columns[name] = call.over(window.rangeBetween(start, end).closed(closed))
        return columns

    # The text

    def columns_of(self, text: str) -> dict[str, str]:
        """The names of what is read, by what is the same for all their spellings."""
        names = list(self.session.frame(self.scope.before(text)).columns)
        columns = {self.source.fold(name): name for name in names}
        if len(columns) < len(names):
            raise NotOfShape
        return columns

    def listed(self, left: TableRead) -> None:
        """Have columns that are computed hidden where all are selected, and those without a name called as by Spark."""
        source, hidden = self.source, ", ".join(map(quoted, self.names.values()))
        names = self.session.columns(self.scope.before(self.query.left_to_spark(*self.block.span, self.scope)))
        items = self.block.items
        stars = [self.star(*each.span) for each in items]
        for number, (each, star) in enumerate(zip(items, stars, strict=True)):
            lo, hi = each.span
            if star is not None:
                if star == lo or source.folded(lo) == left.alias:
                    if hi != star + 1:
                        raise NotOfShape
                    self.pieces.append(((star, hi), f"* EXCEPT ({hidden})"))
                continue
            if number in self.asked and each.alias is None:
                before, after = (any(at is not None for at in some) for some in (stars[:number], stars[number:]))
                known = names is not None and not (before and after) and len(names) >= len(items)
                name = names[number - len(items) * before] if names is not None and known else source.shown(lo, hi)
                self.pieces.append(((hi, hi), f" AS {quoted(name)}"))

    def star(self, lo: int, hi: int) -> int | None:
        """The place of the star of an item that is all columns, or all of a table."""
        at = lo + 2 * (self.source.word(lo + 1) == ".")
        return at if at < hi and self.source.word(at) == "*" else None

    def check_whole_rows(self, span: Span, left: TableRead, columns: Mapping[str, str]) -> None:
        """Refuse rows as values, such as struct(*): columns that are computed would be in them."""
        source, (lo, hi) = self.source, span
        inside = {place for opened in selects(source, lo, hi) for place in range(opened, source.after(opened))}
        for place in range(lo, hi):
            word, before, after = (source.word(place + step) for step in (0, -1, 1))
            star = word == "*" and before in ("(", ",", ".", "DISTINCT", "ALL")
            count = before == "(" and after == ")" and source.word(place - 2) == "COUNT"
            name = source.tokens[place].is_name and source.folded(place) == left.alias not in columns
            whole = (star and not count) or (name and "." not in (before, after))
            if whole and place not in inside:
                raise NotOfShape

    def replaced(self) -> str:
        """The text of the select with its pieces."""
        lo, hi = self.block.span
        text, at, tokens = "", lo, self.source.tokens
        for (start, end), piece in sorted(self.pieces, key=lambda each: each[0]):
            text += self.kept(at, start)
            between = self.source.text[tokens[start - 1].end : tokens[start].start]
            text += f"{piece}{between}" if start == end else f"{between}{piece}"
            at = end
            if at < hi and start < end:
                text += self.source.text[tokens[at - 1].end : tokens[at].start]
        return text + self.kept(at, hi)

    def kept(self, lo: int, hi: int) -> str:
        """A piece of the text as it is, but for the queries in it; it may end inside of brackets."""
        source, text = self.source, ""
        if all(source.closing[opened] < hi for opened in queries(source, lo, hi)):
            return self.query.left_to_spark(lo, hi, self.scope)
        at = source.tokens[lo].start
        for opened in selects(source, lo, hi):
            text += source.text[at : source.tokens[opened].start]
            text += self.query.left_to_spark(opened, source.after(opened), self.scope)
            at = source.tokens[source.closing[opened]].end
        return text + source.text[at : source.tokens[hi - 1].end]


def calls_alone(source: Any, lo: int, hi: int) -> list[Span]:
    """The calls of functions that Sash has over windows, in an expression without any windows."""
    found, place = [], lo
    while place < hi:
        if is_call(source, place, hi) and known(source.tokens[place].name):
            end = said_after(source, place + 1, hi).after
            found.append((place, end))
            place = end
        else:
            place += 1
    return found


def selects(source: Any, lo: int, hi: int) -> list[int]:
    """The places of brackets that hold a select, the outermost ones only."""
    found, place = [], lo
    while place < hi:
        if source.word(place) == "(" and source.word(place + 1) == "SELECT":
            found.append(place)
            place = source.after(place)
        else:
            place += 1
    return found
