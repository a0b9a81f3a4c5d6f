"""The scalar functions that an expression may call, by their names in Spark SQL."""

from __future__ import annotations

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
