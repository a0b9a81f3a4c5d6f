"""Frames and files that a query selects from by name."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from sash.spark.text_queries import FILE, file
from sash.sql.around import Scope, given
from sash.sql.texts import marked, quoted
from sash.sql.tokens import STRING, Source


@dataclass
class Given:
    """What a query was given: DataFrames by the names that texts mark them by, and these as tables."""

    spark: Any
    views: dict[str, Any] = field(default_factory=dict)
    scope: Scope = field(default_factory=Scope)
    frames: dict[str, Any] = field(default_factory=dict)  # by name, in lower case

    def named(self, source: Source, tables: dict[str, Any]) -> Source:
        """Take over tables, and files that the query names; the query comes back with names for both."""
        for name, frame in tables.items():
            self._add(name, frame)
        pieces = []
        for place, token in enumerate(source.tokens):
            end = token.end
            if token.kind == STRING and source.word(place - 1) in ("FROM", "JOIN") and FILE.search(token.value):
                name = self._read(token.value, {*map(str.lower, tables), *_tables(source)})
            elif token.word == "{" and source.word(place + 2) == "}" and source.tokens[place + 1].name in tables:
                name, end = source.tokens[place + 1].name, source.tokens[place + 2].end
            else:
                continue
            pieces.append((token.start, end, quoted(name)))
        return source.replaced(pieces)

    def frame(self, name: str) -> Any:
        """The table that was given under a name; None where none was."""
        return self.frames.get(name.lower())

    def _add(self, name: str, frame: Any) -> None:
        mark = f"given_{len(self.views)}"
        self.views[mark] = self.frames[name.lower()] = frame
        self.scope = Scope((*self.scope.tables, given(name, marked(mark))))

    def _read(self, path: str, taken: set[str]) -> str:
        """The name for a file: that of the file, unless the query has a table of that name."""
        name = PurePath(path.rstrip("/")).name.split(".")[0].strip("*") or "file"
        while name.lower() in taken or any(each.name == name for each in self.scope.tables):
            name += "_"
        self._add(name, file(self.spark, path))
        return name


def _tables(source: Source) -> set[str]:
    """The names, in lower case, that a query selects from, or gives in WITH."""
    places = range(1, len(source.tokens))
    names = [place for place in places if source.tokens[place].is_name and source.word(place - 1) in ("FROM", "JOIN")]
    names += [place for place in places if source.tokens[place].is_name and source.words(place + 1, "AS", "(")]
    return {source.tokens[place].name.lower() for place in names}
