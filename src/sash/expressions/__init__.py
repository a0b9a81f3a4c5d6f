"""Columns and predicates: what a user writes inside a call, ``sash.col("qty") > 0`` or ``"qty > 0"``.

``sash.expressions.evaluation`` computes them on Arrow; it is the part of this room that imports pyarrow.
"""

from sash.expressions.binding import bind, check_names
from sash.expressions.cases import when
from sash.expressions.columns import Column, Foreign, Order, as_column, col, lit
from sash.expressions.intervals import Months, interval
from sash.expressions.orders import as_order
from sash.expressions.parsing import as_predicate, parse

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
    "when",
]
