"""What a query may select from besides the catalogue: its WITH clauses, and the frames it was given."""

from __future__ import annotations

import re
from dataclasses import dataclass

from sash.sql.texts import quoted

_NAMES = re.compile(r"`((?:[^`]|``)*)`|\w+")


@dataclass(frozen=True)
class Named:
    """A common table expression: ``text`` is the whole of it, ready to stand after WITH."""

    name: str
    text: str


@dataclass(frozen=True)
class Scope:
    """Common table expressions, each of which may use those before it."""

    tables: tuple[Named, ...] = ()
    recursive: bool = False

    def plus(self, tables: list[Named], recursive: bool = False) -> Scope:
        """With more of them."""
        return Scope((*self.tables, *tables), self.recursive or recursive)

    def before(self, text: str) -> str:
        """A query with those in front that it needs."""
        wanted, needed = _mentioned(text), []
        for place in reversed(range(len(self.tables))):
            table = self.tables[place]
            if table.name.lower() in wanted:
                needed.append(table.text)
                wanted = (wanted if self.recursive else wanted - {table.name.lower()}) | _mentioned(table.text)
        return f"{self.words}{', '.join(reversed(needed))} {text}" if needed else text

    @property
    def words(self) -> str:
        """What begins the clause."""
        return "WITH RECURSIVE " if self.recursive else "WITH "


def given(name: str, mark: str) -> Named:
    """A frame that the user named."""
    return Named(name, f"{quoted(name)} AS (SELECT * FROM {mark})")


def _mentioned(text: str) -> set[str]:
    """The names in a text, in lower case."""
    return {(found[1] or found[0]).replace("``", "`").lower() for found in _NAMES.finditer(text)}
