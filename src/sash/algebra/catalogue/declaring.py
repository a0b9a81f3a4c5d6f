"""How a catalogue module declares what it has: a table from names to functions of parameters."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

from sash.algebra.aggregate import Aggregate
from sash.errors import SashError

Table = dict[str, Callable[..., Aggregate]]


def constants(*aggregates: Aggregate) -> Table:
    """Aggregates without parameters."""
    return {aggregate.name: lambda aggregate=aggregate: aggregate for aggregate in aggregates}


def alias(table: Table, **names: str) -> None:
    """Other names for what a table has: the new name on the left."""

    def renamed(new: str, make: Callable[..., Aggregate]) -> Callable[..., Aggregate]:
        return cache(lambda *parameters: make(*parameters).but(name=new))

    for new, old in names.items():
        table[new] = renamed(new, table[old])


def whole(name: str, value: object, *, least: int = 1, most: int | None = None) -> int:
    """Check a parameter that is a whole number."""
    number = value.__index__() if hasattr(value, "__index__") and not isinstance(value, bool) else None
    if number is None or number < least or (most is not None and number > most):
        upto = "" if most is None else f" and at most {most}"
        raise SashError(f"{name} must be a whole number, at least {least}{upto}, got {value!r}")
    return number
