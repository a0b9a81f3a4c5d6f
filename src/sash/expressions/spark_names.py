"""What Spark SQL calls things: its types, in one spelling each, and the scalar functions an expression may call."""

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
    match = re.fullmatch(r"(?:decimal|dec|numeric)\((\d+)(?:,(\d+))?\)", bare)
    if match and 1 <= int(match[1]) <= 38 and int(match[2] or 0) <= int(match[1]):
        return f"decimal({int(match[1])},{int(match[2] or 0)})"
    raise SashError(f"a type is one of {', '.join(sorted({*_SPELLINGS.values()}))} or decimal(p,s), got {text!r}")


MANY = 10_000

# name: the least and the most arguments
FUNCTIONS: dict[str, tuple[int, int]] = {
    "abs": (1, 1),
    "ceil": (1, 1),
    "coalesce": (1, MANY),
    "concat": (1, MANY),
    "date_trunc": (2, 2),
    "datediff": (2, 2),
    "day": (1, 1),
    "exp": (1, 1),
    "floor": (1, 1),
    "greatest": (2, MANY),
    "hour": (1, 1),
    "if": (3, 3),
    "isnan": (1, 1),
    "least": (2, MANY),
    "length": (1, 1),
    "ln": (1, 1),
    "log": (2, 2),
    "lower": (1, 1),
    "minute": (1, 1),
    "month": (1, 1),
    "nullif": (2, 2),
    "pow": (2, 2),
    "round": (1, 2),
    "second": (1, 1),
    "sign": (1, 1),
    "sqrt": (1, 1),
    "substring": (2, 3),
    "upper": (1, 1),
    "year": (1, 1),
}


def arity(name: str) -> tuple[int, int]:
    """How many arguments a function takes: at least, and at most."""
    return FUNCTIONS.get(name, (1, MANY))
