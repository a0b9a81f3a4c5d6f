"""Statements: the query in CREATE VIEW, INSERT and such, and its parameters."""

from __future__ import annotations

import re
import warnings
from dataclasses import dataclass
from typing import Any

from sash.errors import SashError, SashWarning, outside
from sash.sql.blocks import is_query
from sash.sql.syntax import Span
from sash.sql.tokens import PARAMETER, Source

# what a query must hold to be of any concern to Sash: window calls, files, windows of streams
_CONCERNS = re.compile(r"\bover\b|\b(from|join)\s*['\"]|\b[ird]stream\b|\[\s*(range|rows|partition)\b", re.IGNORECASE)
# or a query in brackets that compares what it reads with the row around it
_AROUND = re.compile(r"\(\s*select\b[^;]*?\bwhere\b[^;]*?(\bbetween\b|[<>])", re.IGNORECASE)


@dataclass(frozen=True)
class CreatedView:
    """What CREATE VIEW says before its query."""

    name: str
    columns: tuple[str, ...]
    replace: bool
    temporary: bool
    everywhere: bool
    unless: bool  # IF NOT EXISTS
    schema: str | None = None


@dataclass(frozen=True)
class Statement:
    """A statement around a query."""

    source: Source
    query: Span
    view: CreatedView | None = None

    def before(self, text: str) -> str:
        """The statement with a text in the place of its query."""
        lo = self.query[0]
        return self.source.text[: self.source.tokens[lo].start] + text


def concerns(query: str) -> bool:
    """Whether there may be something in a query that Spark does not do."""
    return _CONCERNS.search(query) is not None


def looks_around(query: str) -> bool:
    """Whether there may be something that Spark does, and Sash does for less."""
    return _AROUND.search(query) is not None


def statement(source: Source) -> Statement:
    """Where the query of a statement is; semicolons at its end are left out."""
    end = len(source.tokens)
    while end and source.word(end - 1) == ";":
        end -= 1
    if not end:
        raise SashError("query must not be empty")
    extra = source.find(0, end, ";")
    if extra < end:
        raise source.error("sash.sql takes one statement at a time", extra)
    place = 0
    while place < end and not _begins(source, place):
        place = source.after(place)
    if place >= end:
        place = 0
    return Statement(source, (place, end), _view(source, place) if source.word(0) == "CREATE" else None)


def _begins(source: Source, place: int) -> bool:
    word = source.word(place)
    if word == "(":
        return is_query(source, place + 1) and source.word(place - 1) not in ("IN", "EXISTS")
    return word in ("SELECT", "WITH") or (word == "FROM" and place == 0)


def _view(source: Source, end: int) -> CreatedView | None:
    """The view that is created, if it is one."""
    words = [source.word(place) for place in range(end)]
    if "VIEW" not in words[:6]:
        return None
    at = words.index("VIEW")
    options = words[1:at]
    unless = words[at + 1 : at + 4] == ["IF", "NOT", "EXISTS"]
    place = at + 1 + 3 * unless
    if place >= end or not source.tokens[place].is_name:
        return None
    parts = [source.tokens[place].name]
    while source.word(place + 1) == "." and place + 2 < end:
        parts.append(source.tokens[place + 2].name)
        place += 2
    columns: tuple[str, ...] = ()
    if source.word(place + 1) == "(":
        spans = source.parts(place + 2, source.closing[place + 1])
        columns = tuple(source.tokens[lo].name for lo, hi in spans if lo < hi)
    schema = ".".join(parts[:-1]) or None
    temporary = bool({"TEMP", "TEMPORARY"} & set(options))
    return CreatedView(parts[-1], columns, "REPLACE" in options, temporary, "GLOBAL" in options, unless, schema)


def check_keeps(source: Source) -> None:
    """Refuse a statement that keeps the text of its query, which would name what is gone afterwards."""
    word, following = source.word(0), source.word(1)
    if word in ("CACHE", "ALTER") or (word == "CREATE" and "FUNCTION" in [following, *map(source.word, range(2, 6))]):
        raise source.error(
            f"{word} {following} cannot keep a query with columns that Sash computes; "
            "make a CREATE TEMPORARY VIEW of it first",
            0,
        )


def make_view(spark: Any, view: CreatedView, frame: Any) -> Any:
    """Create a view of a frame; what comes back is empty, as from Spark."""
    if view.columns:
        if len(view.columns) != len(frame.columns):
            got, named = len(frame.columns), len(view.columns)
            raise SashError(f"the view {view.name} names {named} columns, its query gives {got}")
        frame = frame.toDF(*view.columns)
    if view.schema is not None:
        raise SashError(f"the view {view.name} has columns that Sash computes, so that it is in no schema")
    if not view.temporary:
        warnings.warn(
            f"the view {view.name} has columns that Sash computes, so that it lives as long as the session; "
            "write CREATE TEMPORARY VIEW",
            SashWarning,
            stacklevel=outside(),
        )
    exists = any(each.name.lower() == view.name.lower() and each.isTemporary for each in spark.catalog.listTables())
    if not (view.unless and exists):
        scope = "Global" if view.everywhere else ""
        getattr(frame, f"create{'OrReplace' if view.replace else ''}{scope}TempView")(view.name)
    return spark.createDataFrame([], "`empty` INT").drop("empty")


def named_parameters(source: Source, args: Any) -> tuple[Source, Any]:
    """The query with names for its ``?``, since pieces of it are moved, and the arguments by these names."""
    places = [place for place, token in enumerate(source.tokens) if token.kind == PARAMETER and token.text == "?"]
    if not places or not isinstance(args, list | tuple):
        return source, args
    if len(places) != len(args):
        raise SashError(f"args has {len(args)} values, the query {len(places)} parameters")
    tokens = [source.tokens[place] for place in places]
    names = [(token.start, token.end, f":sash_{number}") for number, token in enumerate(tokens)]
    return source.replaced(names), {f"sash_{number}": value for number, value in enumerate(args)}
