"""One call of a sliding window: its aggregate made optional, and the columns that this lifts.

Every row holds a place, also one that a NULL or a filter keeps from being counted: it may leave, and it may be
updated to one that counts. So a partial says whether any row below it counts.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from sash.algebra import Aggregate, Call
from sash.engine.answering.asking import Question
from sash.engine.answering.folds import counted, read
from sash.engine.answering.lifted import Lifted, lifted
from sash.engine.limbs import limbs
from sash.engine.placing import placed
from sash.engine.sorted_partitions import SortedPartitions
from sash.engine.sorted_rows import Selection
from sash.errors import Refused
from sash.kernels.answers import Answered
from sash.kernels.compiling import specialise
from sash.kernels.compiling.accessors import define
from sash.kernels.fifo.flatfat_window import FlatFat
from sash.kernels.inputs import Inputs
from sash.kernels.operations.merging import joining
from sash.windows.over import Over


class Fold:
    """A call, the tree of its partials, and its columns as the tree takes them."""

    def __init__(self, call: Call, empty: SortedPartitions) -> None:
        self.call = call
        self.question = Question(empty, Over(call, None))
        self.limbs = _ranked(self.question)
        self.selection, self.lifted = self._counted(self.question)
        self.compiled = self.lifted.aggregate.compiled
        self.by_row = self.lifted.aggregate.returns == "row"
        self.dtypes = tuple(column.dtype for column in self.lifted.columns)
        self.optional = optional(Inputs(self.lifted.aggregate, self.dtypes))
        self.tree = self.planted()

    def planted(self) -> FlatFat:
        """An empty tree."""
        return FlatFat(self.optional, *self.dtypes, np.bool_)

    def columns(self, rows: SortedPartitions) -> tuple[np.ndarray, ...]:
        """What is lifted of each row, zeros where it is not counted; and whether it is."""
        selection, lifted = self._counted(Question(rows, self.question.over))
        counts = np.ones(rows.rows, np.bool_) if selection.mask is None else selection.mask
        whole = []
        for column in lifted.columns:
            whole.append(np.zeros(rows.rows, column.dtype))
            whole[-1][counts] = column
        return (*whole, counts)

    def read(self, answered: Answered) -> Any:
        """The answer as a Python value."""
        return placed(self.question.rows, read(self.question, self.lifted, self.selection, answered))[0].as_py()

    def _counted(self, question: Question) -> tuple[Selection, Lifted]:
        if self.limbs:
            return self._by_limbs(question)
        if self.call.nulls == "ignore" and not self.call.aggregate.inputs:  # first and last
            selection = question.selection(question.columns[0])
            return selection, lifted(question, (), selection)
        return counted(question)

    def _by_limbs(self, question: Question) -> tuple[Selection, Lifted]:
        """Values that NumPy cannot compare, as whole numbers that it can: the answer is the row that has it."""
        function, column = self.call.aggregate, question.columns[-1]
        array = question.rows.column(column)
        wide = None if function.for_type is None else function.for_type(array.type)
        if wide is None or wide.takes != "limbs":
            raise Refused(f"{self.call} in a sliding window takes a column of numbers or times, got {array.type}")
        selection = question.selection(column)
        return selection, Lifted(
            wide.but(compiled=function.compiled), tuple(map(selection.only, limbs(array, function.name)))
        )


def _ranked(question: Question) -> bool:
    """Whether a batch would number the values by their order among themselves, which says nothing of other batches."""
    inputs = question.columns[-question.function.inputs :] if question.function.takes == "order" else ()
    dtypes = [question.rows.source(column).type for column in inputs]
    return any(
        not pa.types.is_primitive(dtype) or pa.types.is_interval(dtype) or dtype == pa.uint64() for dtype in dtypes
    )


def optional(inputs: Inputs) -> Aggregate:
    """The aggregate of rows that count or do not: ``lift`` gets that last, and is not asked for those that do not."""
    aggregate = inputs.aggregate
    combine, lower = aggregate.combine, aggregate.lower
    parameters = ["row"] * aggregate.rows + [f"x{k}" for k in range(aggregate.inputs)]
    lift_counted = define(
        f"lift_counted({', '.join([*parameters, 'counts'])})",
        f"return (True, lift({', '.join(parameters)})) if counts else (False, nothing)",
        lift=aggregate.lift,
        nothing=_nothing(inputs),
    )

    def combine_counted(a: Any, b: Any) -> Any:
        if a[0] and b[0]:
            return (True, combine(a[1], b[1]))
        return a if a[0] else b

    return aggregate.but(
        lift=lift_counted,
        combine=combine_counted,
        lower=lambda s: lower(s[1]) if s[0] else None,
        identity=None,
        inverse=None,
        combine_without_nan=None,
        typed=None,
    )


def _nothing(inputs: Inputs) -> Any:
    """What stands where no partial is: zeros of its very types, or None in plain Python."""
    if not inputs.aggregate.compiled:
        return None
    kernel = specialise(joining, inputs.aggregate, inputs.dtypes)
    names = kernel.state.names
    return _zeros(kernel.shape, iter([kernel.state] if names is None else [kernel.state[name] for name in names]))


def _zeros(shape: Any, dtypes: Iterator[np.dtype]) -> Any:
    return next(dtypes).type(0) if shape is None else tuple(_zeros(part, dtypes) for part in shape)
