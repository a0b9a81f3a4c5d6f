"""What every family of functions starts from: an expression on sorted rows, its tasks, and how to run them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sash.algebra import Call, Over
from sash.engine.placing import Answer
from sash.engine.sorted_rows import Kept
from sash.engine.specification import Specification
from sash.expressions.columns import Expression, as_column, as_predicate
from sash.expressions.orders import Order, as_order
from sash.planner import Task
from sash.windows.bounds import ARBITRARY, CONSTANT, Bounds


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

    def _widest(self, bounds: Bounds) -> int:
        if bounds.shape == CONSTANT:
            return max(min(bounds.before + bounds.after + 1, bounds.length), 0)
        return int(self.rows.sizes(bounds).max(initial=0))

    def task(self, question: str, bounds: Bounds, **facts: Any) -> Task:
        """A task over these frames."""
        widest = self.rows.once(("widest", id(bounds)), lambda: self._widest(bounds))
        return Task(question, len(bounds), bounds.length, bounds.shape, bounds.holes, widest, **facts)
