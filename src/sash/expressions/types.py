"""The names of Spark's types, in one spelling each."""

from __future__ import annotations

import re

from sash.errors import SashError

_SPELLINGS = {
    "boolean": "boolean",
    "tinyint": "tinyint",
    "byte": "tinyint",
    "smallint": "smallint",
    "short": "smallint",
    "int": "int",
    "integer": "int",
    "bigint": "bigint",
    "long": "bigint",
    "float": "float",
    "real": "float",
    "double": "double",
    "string": "string",
    "date": "date",
    "timestamp": "timestamp",
    "timestamp_ltz": "timestamp",
    "timestamp_ntz": "timestamp_ntz",
    "binary": "binary",
    "decimal": "decimal(10,0)",
    "dec": "decimal(10,0)",
    "numeric": "decimal(10,0)",
}


def type_name(text: str) -> str:
    """The usual name of a type that may be spelled in several ways.

    >>> type_name("LONG"), type_name("Decimal(10, 2)")
    ('bigint', 'decimal(10,2)')
    """
    bare = re.sub(r"\s+", "", text).lower() if isinstance(text, str) else ""
    if bare in _SPELLINGS:
        return _SPELLINGS[bare]
    found = re.fullmatch(r"(?:decimal|dec|numeric)\((\d+)(?:,(\d+))?\)", bare)
    if found and 1 <= int(found[1]) <= 38 and int(found[2] or 0) <= int(found[1]):
        return f"decimal({int(found[1])},{int(found[2] or 0)})"
    raise SashError(f"a type is one of {', '.join(sorted({*_SPELLINGS.values()}))} or decimal(p,s), got {text!r}")
