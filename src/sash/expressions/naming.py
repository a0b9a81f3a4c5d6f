"""Names: which column of a table a name means."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache

from sash.errors import SashError

_PART = re.compile(r"`((?:[^`]|``)*)`(?=\.|$)|([^`.]*)(?=\.|$)")
_SHOWN = 30

# Spark, or sqlglot, reads these as something else where a column could stand
_KEYWORDS = re.compile(
    r"""
    all|and|anti|any|array|as|asc|between|both|by|case|cast|char|collate|column|constraint|create|cross|cube|
    current|current_date|current_time|current_timestamp|current_user|date|day|desc|distinct|div|drop|else|end|
    escape|except|exists|extract|false|fetch|filter|float|for|foreign|from|full|function|global|grant|group|
    grouping|having|hour|if|ilike|in|inner|insert|int|intersect|interval|into|is|join|lateral|leading|left|like|
    limit|map|minus|minute|month|natural|not|null|nulls|of|offset|on|only|or|order|outer|over|overlaps|partition|
    percent|pivot|primary|qualify|range|references|regexp|right|rlike|rollup|row|rows|second|select|semi|
    session_user|set|some|sort|struct|table|tablesample|then|time|timestamp|timestamp_ltz|timestamp_ntz|to|trailing|
    true|try_cast|union|unique|unknown|unnest|update|user|using|values|week|when|where|window|with|within|year
    """,
    re.IGNORECASE | re.VERBOSE,
)


def parts(text: str) -> tuple[str, ...]:
    """A name split at its dots; within backticks a dot is a letter.

    >>> parts("a.b"), parts("`a.b`.c")
    (('a', 'b'), ('a.b', 'c'))
    """
    names, at = [], 0
    while True:
        piece = _PART.match(text, at)
        if piece is None:
            raise SashError(f"a backtick in the column name {text!r} has no partner")
        names.append(piece[2] if piece[1] is None else piece[1].replace("``", "`"))
        if piece.end() == len(text):
            return tuple(names)
        at = piece.end() + 1


@lru_cache
def quoted(part: str) -> str:
    """One part of a name as Spark SQL writes it: in backticks unless it is a plain word."""
    plain = re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", part) and not _KEYWORDS.fullmatch(part)
    return part if plain else "`" + part.replace("`", "``") + "`"


def resolve(path: tuple[str, ...], names: Sequence[str]) -> tuple[str, tuple[str, ...]]:
    """The column that a path means, and the fields to follow inside it.

    >>> resolve(("a", "b"), ["a", "x"]), resolve(("a", "b"), ["a.b"]), resolve(("Price",), ["price"])
    (('a', ('b',)), ('a.b', ()), ('price', ()))
    >>> resolve(("`a.b`",), ["a.b"])
    ('a.b', ())
    """
    whole = ".".join(path)
    for alike in (str, str.lower):
        for head, fields in ((whole, ()), (path[0], path[1:])):
            matching = [name for name in names if alike(name) == alike(head)]
            if len(matching) > 1:
                raise SashError(f"the column {head!r} is ambiguous; there are {', '.join(matching)}")
            if matching:
                return matching[0], fields
    if len(path) == 1 and len(whole) > 2 and whole[0] == whole[-1] == "`":  # as PySpark quotes a name
        return resolve(parts(whole), names)
    shown = ", ".join(names[:_SHOWN]) + (f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else "")
    inside = len(path) == 1 and whole.partition(".")[0] in names
    hint = f"; sash.col({whole!r}) is a field of a struct" if inside else ""
    raise SashError(f"there is no column {whole!r}" + (f"; there are {shown}" if names else "") + hint)
