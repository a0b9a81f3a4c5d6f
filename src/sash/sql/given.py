"""Frames and files that a query selects from by name."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from sash.spark.queries import FILE, file
from sash.sql.scope import Scope, given
from sash.sql.texts import marked, quoted
from sash.sql.tokens import STRING, Source, read


@dataclass
class Given:
    """What a query was given: DataFrames by the names that texts mark them by, and these as tables."""

    spark: Any
    views: dict[str, Any] = field(default_factory=dict)
    scope: Scope = field(default_factory=Scope)

    def named(self, source: Source, tables: dict[str, Any]) -> Source:
        """Take over tables, and files that the query names; the query comes back with names for both."""
        for name, frame in tables.items():
            self._add(name, frame)
        text, at = "", 0
        for place, token in enumerate(source.tokens):
            end = token.end
            if token.kind == STRING and source.word(place - 1) in ("FROM", "JOIN", ",") and FILE.search(token.value):
                name = self._read(token.value, tables)
            elif token.word == "{" and source.word(place + 2) == "}" and source.tokens[place + 1].name in tables:
                name, end = source.tokens[place + 1].name, source.tokens[place + 2].end
            else:
                continue
            text += source.text[at : token.start] + quoted(name)
            at = end
        return read(text + source.text[at:]) if at else source

    def _add(self, name: str, frame: Any) -> None:
        mark = f"given_{len(self.views)}"
        self.views[mark] = frame
        self.scope = self.scope.plus([given(name, marked(mark))])

    def _read(self, path: str, tables: dict[str, Any]) -> str:
        """The name for a file: that of the file, unless it is taken."""
        name = PurePath(path.rstrip("/")).name.split(".")[0].strip("*") or "file"
        while name in tables:
            name += "_"
        tables[name] = frame = file(self.spark, path)
        self._add(name, frame)
        return name
