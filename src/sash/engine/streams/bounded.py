"""A batch of rows that ends, in bounded memory: folded where it is, and answered some keys at a time."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import Any

import pyarrow as pa

from sash.engine.memory_need import give_back
from sash.engine.sizes import together
from sash.engine.spilling.apart import groups
from sash.engine.streams.cells import KEY
from sash.engine.streams.limits import Limits
from sash.engine.streams.operator import Operator
from sash.expressions.evaluation import evaluate


def fold(tables: Iterable[pa.Table], opened: Callable[[], Operator], limits: Limits) -> Iterator[pa.Table]:
    """The partials of rows, in one table or several; ``opened`` gives an operator that has none yet."""
    operator = opened()
    operator.unmoved()
    for table in together(tables, limits.batch, limits.rows):
        operator.push(table)
        operator.late()  # is of no use here
        if operator.size > limits.folded:
            yield operator.partials()
            operator = opened()
            operator.unmoved()
            give_back()
    yield operator.partials()


def answer_partials(
    tables: Iterable[pa.Table],
    opened: Callable[[], Operator],
    limits: Limits,
    take: Callable[[Operator, pa.Table], Any] = Operator.take,
) -> Iterator[pa.Table]:
    """The answers of all windows, given partials of whole keys; ``take`` has an operator take some."""
    scheme = opened().scheme

    def keys(table: pa.Table) -> list[pa.ChunkedArray]:
        return [table[name] for name in table.column_names if name.startswith(KEY)]

    for some in groups(tables, keys, scheme.key_names, limits.memory):
        operator = opened()
        operator.unmoved()
        for table in together(some, limits.batch):
            take(operator, table)
        yield from operator.closing(limits)
        give_back()


def answer_rows(
    tables: Iterable[pa.Table], opened: Callable[[], Operator], limits: Limits
) -> Iterator[tuple[pa.Table, pa.Table]]:
    """The same given rows of whole keys; with the answers, what was set aside since those before."""
    scheme = opened().scheme

    def keys(table: pa.Table) -> list[pa.Array]:
        return [evaluate(key, table) for key in scheme.settings.key]

    for some in groups(tables, keys, scheme.key_names, limits.memory):
        operator = opened()
        operator.unmoved()
        at_once = operator.emit == "updates"  # early answers are of all rows
        size, rows = (limits.memory, None) if at_once else (limits.batch, limits.rows)
        for table in together(some, size, rows):
            pushed = operator.push(table)
            if pushed.num_rows:
                yield pushed, operator.late()
        for answers in operator.closing(limits):
            yield answers, operator.late()
        yield operator.answer_schema.empty_table(), operator.late()
        give_back()
