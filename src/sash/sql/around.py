"""What is around a select: what it may select from besides the catalogue, the whole query, and Spark."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from sash.sql.texts import quoted
from sash.sql.tokens import Source
from sash.windows.over import Over

_NAMES = re.compile(r"`((?:[^`]|``)*)`|\w+")


@dataclass(frozen=True)
class NamedQuery:
    """A common table expression: ``text`` is the whole of it, ready to stand after WITH."""

    name: str
    text: str


@dataclass(frozen=True)
class Scope:
    """The common table expressions of a WITH clause, each of which may use those before it, and the scope around."""

    tables: tuple[NamedQuery, ...] = ()
    recursive: bool = False
    around: Scope | None = None

    def inside(self, tables: Sequence[NamedQuery], recursive: bool = False) -> Scope:
        """The scope of a query that has these in its own WITH clause."""
        return Scope(tuple(tables), recursive, self) if tables else self

    def before(self, text: str) -> str:
        """A query with those in front that it needs, those of each clause around those of the next."""
        wanted, needed = _mentioned(text), []
        for table in reversed(self.tables):
            if table.name.lower() in wanted:
                needed.append(table.text)
                wanted |= _mentioned(table.text)
        if needed:
            text = f"{'WITH RECURSIVE' if self.recursive else 'WITH'} {', '.join(reversed(needed))} ({text})"
        return self.around.before(text) if self.around is not None else text


class Session(Protocol):
    """Spark, as far as rewriting needs it."""

    def frame(self, text: str) -> Any:
        """The DataFrame of a query; Spark looks at it, but does not run it."""

    def columns(self, text: str) -> list[str] | None:
        """The names of the columns of a query; None where Spark does not accept it."""

    def value(self, text: str) -> Any:
        """What an expression without columns is."""

    def has_function(self, name: str) -> bool:
        """Whether Spark has a function of this name."""

    def computed(self, frame: Any, columns: dict[str, Over], by_spark: list[str]) -> str:
        """What stands in a text for a frame with these columns."""

    def other(self, frame: Any) -> Any:
        """A frame as the table of ``Window.of``."""

    def failure(self, error: Exception, source: Source, span: tuple[int, int]) -> Exception | None:
        """What Spark does not accept, shown where the user wrote it; None of other errors."""


class WholeQuery(Protocol):
    """The whole query, as far as one of its selects needs it."""

    source: Source
    session: Session

    def left_to_spark(self, lo: int, hi: int, scope: Scope) -> str:
        """A piece of the text as it is, but for the queries in it."""

    def gap(self, at: int, end: int, lo: int, hi: int, scope: Scope) -> str:
        """What stands between two parts of the piece from ``lo`` to ``hi``, with the space around it."""


def given(name: str, mark: str) -> NamedQuery:
    """A frame that the user named."""
    return NamedQuery(name, f"{quoted(name)} AS (SELECT * FROM {mark})")


def _mentioned(text: str) -> set[str]:
    """The names in a text, in lower case."""
    return {(match[1] or match[0]).replace("``", "`").lower() for match in _NAMES.finditer(text)}
