"""What every family of functions starts from: an expression on sorted rows, its tasks, and how to run them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sash.algebra import Call, Over
from sash.engine.placing import Answer
from sash.engine.sorted_rows import Kept
from sash.engine.specification import Specification
from sash.errors import SashError
from sash.expressions.columns import Expression, Order, as_column
from sash.expressions.orders import as_order
from sash.expressions.parsing import as_predicate
from sash.planner import Task
from sash.windows.bounds import ARBITRARY, Bounds


@dataclass(frozen=True)
class Asked:
    """The questions an expression comes down to, and how they are answered by the algorithms chosen."""

    tasks: tuple[Task, ...]
    answer: Callable[[Sequence[str]], Answer]
    bounds: Bounds


FOR_ANY_FRAMES = ("swept_bitset", "range_tree", "range_mode", "blocks", "swept_segment_tree")


def as_named(bounds: Bounds, name: str) -> Bounds:
    """Bounds of a shape that makes a kernel take the algorithm named, where it has one for any frames."""
    return replace(bounds, shape=ARBITRARY) if name in FOR_ANY_FRAMES else bounds


@dataclass(frozen=True)
class Question:
    """An expression on sorted rows."""

    rows: Specification
    over: Over

    @property
    def call(self) -> Call:
        """The function and its arguments."""
        return self.over.call

    @property
    def function(self) -> Any:
        """The aggregate or window function."""
        return self.over.call.aggregate

    @property
    def columns(self) -> tuple[Expression, ...]:
        """The arguments as expressions."""
        return tuple(as_column(column) for column in self.call.columns)

    @property
    def orders(self) -> tuple[Order, ...]:
        """The function's own order."""
        return tuple(as_order(order) for order in self.call.order)

    def kept(self, *known: Expression) -> Kept:
        """The rows the filter lets through that have no NULL in some columns."""
        condition = None if self.call.condition is None else as_predicate(self.call.condition)
        return self.rows.remaining(condition, known)

    def task(self, question: str, bounds: Bounds, **facts: Any) -> Task:
        """A task over these frames."""
        return Task(question, len(bounds), bounds.length, bounds.shape, bounds.holes, bounds.widest, **facts)

    def refuse_another_order(self) -> None:
        """Refuse an order by anything but the function's column, where equal values must be equal in it, too."""
        if any(order.column.key != self.columns[0].key for order in self.orders):
            what = "distinct" if self.call.unique else self.function.name
            raise SashError(
                f"{self.call}: with {what} the order must be of {self.columns[0]} itself, got {self.orders[0]}"
            )
