"""The query for what window calls read: the expressions beside them, and their arguments, each once."""

from __future__ import annotations

import re
from typing import Any

from sash.errors import SashError
from sash.spark.hidden import UNSPELLABLE
from sash.sql.around import Scope, WholeQuery
from sash.sql.texts import quoted
from sash.sql.vocabulary import known

RANDOM = frozenset("RAND RANDN RANDOM RANDSTR UNIFORM UUID SHUFFLE MONOTONICALLY_INCREASING_ID".split())
LONGEST = 80  # characters of a name
_CALLED = re.compile(r"(\w+)\s*\(")


class Inner:
    """The columns of the query, in order; those of the user's list come first, so that GROUP BY 1 means the same."""

    def __init__(self, query: WholeQuery, scope: Scope) -> None:
        self.query, self.source, self.scope = query, query.source, scope
        self.taken: dict[str, int] = {}  # how many columns have a name, in lower case
        self.known: dict[tuple[str, ...], str] = {}
        self.items: dict[int, tuple[str, list[str], list[str] | None]] = {}  # text, names, and what they are shown as
        self.extras: list[tuple[str, str]] = []
        self.texts: dict[str, str] = {}
        self.placeholders: set[int] = set()
        self.outputs: list[str] = []
        self.everything: list[tuple[str, str]] | None = None  # all that is selected from: names here, types

    def unused(self, words: str) -> str:
        """A name like these words that no other column has, and that no query can spell."""
        words = words if len(words) <= LONGEST else words[: LONGEST - 1] + "…"
        number = self.taken[words.lower()] = self.taken.get(words.lower(), 0) + 1
        return f"{words}{UNSPELLABLE}{number if number > 1 else ''}"

    def star(self, place: int, lo: int, hi: int, body: str) -> int:
        """All columns, or all of a table; what they are called is asked of Spark."""
        text = self.query.left_to_spark(lo, hi, self.scope)
        columns = self.query.session.frame(self.scope.before(f"SELECT {text} {body}")).columns
        names = [self.unused(each) for each in columns]
        folded = [self.source.fold(each) for each in columns]
        if hi - lo == 1:  # a name alone means the column here
            for name, inside in zip(folded, names, strict=True):
                if folded.count(name) == 1:
                    self.known.setdefault(("name", name), inside)
        self.outputs += columns
        self.items[place] = text, names, list(columns)
        return place

    def item(self, place: int, lo: int, hi: int, alias: str) -> int:
        """An expression of the user's list."""
        name = self.unused(self.source.shown(lo, hi))
        self.items[place] = self.query.left_to_spark(lo, hi, self.scope) + alias, [name], None
        if not self._is_random(lo, hi):
            self.known.setdefault(self._same(lo, hi), name)
        return place

    def windowed(self, place: int) -> None:
        """Keep the place of an expression that is computed later."""
        self.placeholders.add(place)

    def column(self, lo: int, hi: int) -> str:
        """The name of the column that an expression is here."""
        same = self._same(lo, hi)
        if same in self.known and not self._is_random(lo, hi):
            return self.known[same]
        name = self.text(self.query.left_to_spark(lo, hi, self.scope), self.source.shown(lo, hi))
        self.known[same] = name
        return name

    def text(self, text: str, words: str) -> str:
        """The name of the column that a text is here."""
        name = self.unused(words)
        self.extras.append((text, name))
        return name

    def derived(self, text: str, words: str) -> str:
        """As ``text``, once for each text."""
        if text not in self.texts:
            self.texts[text] = self.text(text, words)
        return self.texts[text]

    def all_columns(self, body: str) -> list[tuple[str, str]]:
        """The names here, and the types, of all columns that are selected from."""
        if self.everything is None:
            types = self.query.session.frame(self.scope.before(f"SELECT * {body}")).dtypes
            self.everything = [(self.unused(name), dtype) for name, dtype in types]
        return self.everything

    def aggregated(self, text: str) -> bool:
        """Whether an expression aggregates the rows of a group, or reads none of them."""
        return any(known(name) for name in _CALLED.findall(text)) or not re.search(r"[^\W\d]", text)

    def frame(self, head: str, body: str, grouped: bool, all_groups: bool = False) -> Any:
        """The DataFrame of the query, each column under its name here."""
        texts, names, shown = [], [], []
        for place in sorted({*self.items, *self.placeholders}):
            if place in self.items:
                text, inside, _ = self.items[place]
                texts.append(text)
                names += inside
                shown.append((place, len(names) - len(inside)))
            elif grouped:  # it has a number that GROUP BY may use
                texts.append("NULL")
                names.append(self.unused("NULL"))
        if all_groups and any(not self.aggregated(text) for text, _ in self.extras):
            raise SashError("GROUP BY ALL does not tell what window calls read from what is listed; name the groups")
        texts += [f"{text} AS {quoted(name)}" for text, name in self.extras]
        names += [name for _, name in self.extras]
        if self.everything is not None:
            texts.append("*")
            names += [name for name, _ in self.everything]
        if not texts:
            texts, names = ["TRUE"], [self.unused("row")]
        text = f"SELECT {head}{' ' * bool(head)}{', '.join(texts)} {body}"
        frame = self.query.session.frame(self.scope.before(text))
        columns = frame.columns
        if len(columns) != len(names):
            raise SashError(
                "an expression that gives several columns cannot stand beside a window call; use a subquery"
            )
        for place, start in shown:
            text, inside, outputs = self.items[place]
            self.items[place] = text, inside, outputs or [columns[start]]
        return frame.toDF(*names)

    def listed(self, shown: str | int) -> list[str]:
        """What stands in the list of the last select for an item of the user's."""
        if isinstance(shown, str):
            return [shown]
        _, names, outputs = self.items[shown]
        return [f"{quoted(name)} AS {quoted(out)}" for name, out in zip(names, outputs or names, strict=True)]

    def _same(self, lo: int, hi: int) -> tuple[str, ...]:
        """What makes two expressions one; a name in backticks is the name."""
        if hi - lo == 1 and self.source.tokens[lo].is_name:
            return "name", self.source.folded(lo)
        return self.source.same(lo, hi)

    def _is_random(self, lo: int, hi: int) -> bool:
        return any(self.source.word(place) in RANDOM for place in range(lo, hi))
