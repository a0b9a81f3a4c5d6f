"""Columns and predicates: what a user writes inside a call, ``sash.col("qty") > 0`` or ``"qty > 0"``.

``sash.expressions.evaluation`` computes them on Arrow; it is the part of this room that imports pyarrow.
"""

from sash.expressions.columns import Column, Foreign, as_column, as_predicate, col, lit
from sash.expressions.intervals import Months, interval
from sash.expressions.naming import bind, check_names
from sash.expressions.orders import Order, as_order
from sash.expressions.parsing import parse

__all__ = [
    "Column",
    "Foreign",
    "Months",
    "Order",
    "as_column",
    "as_order",
    "as_predicate",
    "bind",
    "check_names",
    "col",
    "interval",
    "lit",
    "parse",
]
