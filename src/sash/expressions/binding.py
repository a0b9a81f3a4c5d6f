"""Binding: what the names in an expression mean in a table."""

from __future__ import annotations

from collections.abc import Iterable

from sash.expressions.columns import Column, Foreign, Name
from sash.expressions.naming import resolve


def check_names(column: Column | Foreign, names: Iterable[str]) -> frozenset[str]:
    """The columns of the table that an expression needs; raises where it names one that is not there.

    >>> from sash.expressions import col
    >>> sorted(check_names(col("Qty") * col("price.net"), ["qty", "price", "side"]))
    ['price', 'qty']
    """
    known = list(names)
    return frozenset(resolve(path, known)[0] for path in column.paths)


def bind(column: Column, names: Iterable[str]) -> Column:
    """The same expression with each name spelled as in the table, so that its ``key`` is Spark SQL over that table.

    >>> from sash.expressions import col
    >>> bind(col("A.B") + col("c.d"), ["a.b", "c"])
    `a.b` + c.d
    """
    known = list(names)

    def spelled(node: Column) -> Column:
        if isinstance(node, Name):
            head, fields = resolve(node.path, known)
            return Name((head, *fields))
        return node.rebuilt(spelled)

    return spelled(column)
