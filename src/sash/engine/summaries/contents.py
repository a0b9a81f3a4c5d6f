"""What the summary of rows elsewhere holds for an expression: a partial of them, how many they are, or a few of them.

A few rows suffice where every superset of them gives the same answer: the largest value, the first row, the n
smallest. Such rows join those of a piece as they are, whatever their types.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from sash.algebra import Aggregate, Call
from sash.algebra.window_function import VALUES, RankFunction
from sash.errors import SashError
from sash.windows import as_window
from sash.windows.over import Over
from sash.windows.window import WindowSpec

PARTIAL, COUNT, ROWS = "partial", "count", "rows"
MOST = 128  # rows of one interval that are kept for one expression


@dataclass(frozen=True)
class Few:
    """So many rows from one end: ``end`` is first, last, smallest or largest."""

    end: str
    count: int


def opened(columns: Mapping[str, Over]) -> tuple[dict[str, Over], WindowSpec]:
    """The expressions, checked, and the partition and order that they share."""
    checked = {name: replace(over, window=as_window(over.window).checked()) for name, over in columns.items()}
    windows = {(over.window.partition_key, over.window.order_key): over.window for over in checked.values()}
    if len(windows) > 1:
        raise SashError(f"columns cut into pieces together must have one partition and order, got {len(windows)}")
    return checked, next(iter(windows.values()), WindowSpec())


def summary_name(content: str, name: str) -> str:
    """Under which name the summaries of an expression are, which is called by a name."""
    return f"{content} {name}"


def is_summarised(over: Over) -> bool:
    """Whether an expression can be answered from the rows of a piece and a summary of the rows elsewhere.

    False, too, where frames are bounded on both sides, and need nothing from elsewhere.
    """
    return content_of(over) is not None


def may_split(columns: Mapping[str, Over]) -> bool:
    """Whether several tasks may summarise a part of the rows of an interval each, in any order.

    Rows that are equal in the window's order must then be told apart by what the expressions are computed of.
    """
    return all(_splits(over) for over in columns.values() if is_summarised(over))


def _splits(over: Over) -> bool:
    if as_window(over.window).partition:
        return False  # a task does not know which partition of an interval is its first
    return content_of(over) == ROWS or not sees_order(over)


def sees_order(over: Over) -> bool:
    """Whether the summary of an interval depends on the order of its rows, or on who is whose peer."""
    content, function = content_of(over), over.call.aggregate
    if content == COUNT:
        return bool(function.counts == VALUES)
    return content == ROWS or (content == PARTIAL and not function.commutative)


def content_of(over: Over) -> str | None:
    """What is summarised of rows elsewhere: their partial, number, or a few of them; None where that cannot be."""
    call, function = over.call, over.call.aggregate
    if isinstance(function, RankFunction):
        return None if call.order or (call.columns and function.ranks_values) else COUNT
    frame = as_window(over.window).frame
    if frame.has_columns or not (frame.start.is_unbounded or frame.end.is_unbounded):
        return None
    if few_of(call) is not None:
        return ROWS
    return PARTIAL if isinstance(function, Aggregate) and _has_partial(function, call.unique) else None


def _has_partial(function: Aggregate, distinct: bool) -> bool:
    """Whether the partial of some rows is a few numbers that mean the same in every task."""
    if function.returns != "value" or function.rows or not function.compiled:
        return False
    if distinct and not function.selective:
        return False
    return function.takes != "order"  # what is compared may be numbered in each task anew


def few_of(call: Call) -> Few | None:
    """The rows of an interval that alone can matter; None where that may be all of them."""
    few = _few(call)
    return few if few is not None and 1 <= few.count <= MOST else None


def _few(call: Call) -> Few | None:
    function: Any = call.aggregate
    if function.nth is not None:
        count, from_last = function.nth
        if count is None:
            return None
        return Few("last" if from_last else "first", count)
    if not isinstance(function, Aggregate):
        return None
    return None if function.few is None or (call.unique and not function.selective) else Few(*function.few)
