"""Rows that are equal in the order of their window: whether it matters which comes first, and an order for them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa
from pyarrow import types

from sash.engine.columns_read import tie_breakers_of
from sash.engine.sorted_partitions import SortedPartitions
from sash.expressions.columns import Expression, Literal, Name
from sash.windows.over import Over


def break_ties(rows: SortedPartitions, columns: Mapping[str, Over], tie_breakers: Iterable[Over] = ()) -> None:
    """Put rows that are equal in the window's order in the order of what the expressions are computed of.

    Where it matters: answers then do not depend on the order in which the rows came. ``tie_breakers`` are expressions
    that are answered elsewhere, and count as well where they have the same partition and order.
    """
    mine = {_sorting(over) for over in columns.values()}
    overs = (*columns.values(), *(over for over in tie_breakers if _sorting(over) in mine))
    breakers = {each.key: each for over in overs for each in tie_breakers_of(over)}
    used = sorted((each for each in breakers.values() if not isinstance(each, Literal)), key=_text)
    if used and any(depends_on_ties(over, rows) for over in columns.values()):
        rows.break_ties(used)


def _sorting(over: Over) -> Any:
    return over.window.partition_key, over.window.order_key


def _text(expression: Expression) -> str:
    """What an expression is sorted by: a worker of Spark knows it as a column that is named like it."""
    return expression.path[0] if isinstance(expression, Name) and len(expression.path) == 1 else str(expression)


def depends_on_ties(over: Over, rows: SortedPartitions) -> bool:
    """Whether an answer may change where rows that are equal in the order of the window change places.

    Floats that are equal need not be the same, and their sums are rounded.
    """
    if not over.call.aggregate.exact or over.window.frame.kind == "rows":
        return True
    return any(_has_floats(rows.source(each).type) for each in tie_breakers_of(over))


def _has_floats(dtype: pa.DataType) -> bool:
    if types.is_dictionary(dtype):
        return _has_floats(dtype.value_type)
    if isinstance(dtype, pa.BaseExtensionType):
        return _has_floats(dtype.storage_type)
    return types.is_floating(dtype) or any(_has_floats(dtype.field(i).type) for i in range(dtype.num_fields))
