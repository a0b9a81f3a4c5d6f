"""Frames over the rows of another table: which table, and what tells which of its rows a row may see."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from sash.errors import SashError
from sash.expressions.columns import Expression, as_column
from sash.libraries import library_of
from sash.windows.frame import is_column

LIBRARIES = ("pyarrow", "pandas", "polars", "pyspark")
ON_TAKES = "on must be a column's name, several in a list, or pairs such as {'left': 'right'}"
AT_TAKES = "at must be a column's name, or a pair such as ('ts', 'quoted_at') where names differ"


@dataclass(frozen=True, eq=False)
class Others:
    """The table whose rows are in the frames, and by which columns a row finds its own among them.

    ``on`` and ``at`` are columns of the row that asks; those of the table are the partition and the order of the
    window, in the same places.
    """

    table: Any
    on: tuple[Expression, ...]
    at: Expression | None

    @property
    def key(self) -> tuple[Any, ...]:
        """What makes two the same; hashable, and the table is the same object."""
        at = None if self.at is None else self.at.key
        return id(self.table), tuple(column.key for column in self.on), at

    def words(self, on: tuple[Expression, ...], at: Expression | None) -> str:
        """What is paired with what, given the columns of the table."""
        words = "rows of another table"
        if self.on:
            words += f" on {', '.join(map(pair_words, self.on, on))}"
        return words if self.at is None or at is None else f"{words} at {pair_words(self.at, at)}"


def pair_words(left: Expression, right: Expression) -> str:
    """The columns of both sides that are compared, in words."""
    return str(left) if left.key == right.key else f"{left} = {right}"


def pairs_of(on: Any) -> tuple[tuple[Expression, Expression], ...]:
    """The columns of both sides that must be equal.

    >>> pairs_of("plug"), pairs_of({"sym": "symbol"})
    (((plug, plug),), ((sym, symbol),))
    """
    if on is None:
        return ()
    if isinstance(on, str) or is_column(on):
        on = [on]
    if not isinstance(on, Mapping | list | tuple) or not on:
        raise SashError(f"{ON_TAKES}, got {on!r}")
    pairs = on.items() if isinstance(on, Mapping) else ((each, each) for each in on)
    return tuple((_column("on", left, ON_TAKES), _column("on", right, ON_TAKES)) for left, right in pairs)


def pair_of(at: Any) -> tuple[Expression, Expression] | None:
    """The columns of both sides by which frames reach back and forth.

    >>> pair_of("ts"), pair_of(("ts", "quoted_at"))
    ((ts, ts), (ts, quoted_at))
    """
    if at is None:
        return None
    sides = at if isinstance(at, tuple | list) else (at, at)
    if len(sides) != 2:
        raise SashError(f"{AT_TAKES}, got {at!r}")
    return _column("at", sides[0], AT_TAKES), _column("at", sides[1], AT_TAKES)


def checked_table(table: Any) -> Any:
    """The table, if it is of a library that has tables."""
    if library_of(table) not in LIBRARIES:
        raise SashError(
            "table must be a pyarrow Table, a pandas or polars DataFrame or a Spark DataFrame, "
            f"got {table!r} of type {type(table).__name__}"
        )
    return table


def _column(argument: str, column: Any, takes: str) -> Expression:
    if (isinstance(column, str) and column) or is_column(column):
        return as_column(column)
    raise SashError(f"{takes}, got {column!r} in {argument}")
