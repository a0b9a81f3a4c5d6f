"""What every family of functions starts from: an expression on sorted rows, its tasks, and how to run them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.algebra import Call
from sash.engine.elsewhere import Elsewhere
from sash.engine.placing import Answer
from sash.engine.sorted_partitions import SortedPartitions
from sash.engine.sorted_rows import Selection
from sash.errors import SashError
from sash.expressions.columns import Expression, Order, as_column
from sash.expressions.orders import as_order
from sash.expressions.parsing import as_predicate
from sash.kernels.algorithm import Occurrences
from sash.kernels.sorting import distinct_codes
from sash.planner import Choice, Task
from sash.windows.bounds import Bounds
from sash.windows.over import Over

MOST = np.iinfo(np.int64).max


@dataclass(frozen=True)
class Evaluation:
    """The operations an expression comes down to, and how it is answered by the algorithms chosen for them."""

    tasks: tuple[Task, ...]
    answer: Callable[[Sequence[Choice]], Answer]
    bounds: Bounds


@dataclass(frozen=True)
class Question:
    """An expression on sorted rows; where these are those of a piece, with what it is told of rows elsewhere."""

    rows: SortedPartitions
    over: Over
    elsewhere: Elsewhere | None = None

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

    def selection(self, *known: Expression) -> Selection:
        """The rows the filter lets through that have no NULL in some columns."""
        condition = None if self.call.condition is None else as_predicate(self.call.condition)
        return self.rows.remaining(condition, known)

    def whole_numbers(self, column: Expression, what: str, least: int | None = None) -> tuple[np.ndarray, np.ndarray]:
        """Each row's own whole number, by position, and whether it is not NULL."""
        array = self.rows.of_asker(column)
        if pa.types.is_null(array.type):
            array = array.cast(pa.int64())
        if not pa.types.is_integer(array.type):
            raise SashError(f"{what} must be a whole number, got a column of type {array.type}")
        known = array.is_valid().to_numpy(zero_copy_only=False)
        if pa.types.is_uint64(array.type):
            array = pc.min_element_wise(array, pa.scalar(MOST, pa.uint64()))
        numbers = array.cast(pa.int64()).fill_null(1).to_numpy()
        if least is not None and len(numbers) and numbers.min() < least:
            raise SashError(f"{what} must be at least {least} in every row, got {numbers.min()}")
        askers, length = self.rows.askers, self.rows.rows if self.rows.askers is None else len(self.rows.askers)
        if len(numbers) == 1:
            return np.full(length, numbers[0]), np.full(length, known[0])
        return (numbers, known) if askers is None else (numbers[askers], known[askers])

    def task(self, operation: str, bounds: Bounds, **facts: Any) -> Task:
        """An operation over these frames."""
        return Task(operation, len(bounds), bounds.length, bounds.shape, bounds.holes, bounds.widest, **facts)

    def refuse_another_order(self) -> None:
        """Refuse an order by anything but the function's column, where equal values must be equal in it, too."""
        if any(order.column.key != self.columns[0].key for order in self.orders):
            what = "distinct" if self.call.unique else self.function.name
            raise SashError(
                f"{self.call}: with {what} the order must be of {self.columns[0]} itself, got {self.orders[0]}"
            )


def occurring(question: Question, columns: tuple[Expression, ...], selection: Selection) -> Occurrences:
    """The values of some columns, by the indices at which each occurs."""
    rows = question.rows
    return Occurrences(
        *rows.occurrences(columns, selection),
        lambda: distinct_codes(selection.only(rows.identity(columns)), selection.segments),
    )
