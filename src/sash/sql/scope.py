"""What a query may select from besides the catalogue: its WITH clauses, and the frames it was given."""

from __future__ import annotations

import re
from collections.abc import Sequence
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
    """The common table expressions of a WITH clause, each of which may use those before it, and the scope around."""

    tables: tuple[Named, ...] = ()
    recursive: bool = False
    around: Scope | None = None

    def inside(self, tables: Sequence[Named], recursive: bool = False) -> Scope:
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


def given(name: str, mark: str) -> Named:
    """A frame that the user named."""
    return Named(name, f"{quoted(name)} AS (SELECT * FROM {mark})")


def _mentioned(text: str) -> set[str]:
    """The names in a text, in lower case."""
    return {(found[1] or found[0]).replace("``", "`").lower() for found in _NAMES.finditer(text)}
