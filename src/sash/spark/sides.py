"""Inside a Spark task: rows of several tables, one below the other, told apart, and answered for the first of them."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.evaluating import evaluate
from sash.spark import worker
from sash.spark.worker import as_answers, batches_of, beginning, received, spilled
from sash.windows.over import Over

SIDE = "__sash_side"  # 0 in rows that ask, 1 in those of the first other table, and so on
KEY, AT = "__sash_key", "__sash_at"  # columns that all sides have


@dataclass(frozen=True)
class Sides:
    """The columns that a task receives: those of all sides, and those of one side alone, NULL in rows of another."""

    common: pa.Schema
    left: pa.Schema
    rights: tuple[pa.Schema, ...]

    @property
    def schemas(self) -> list[pa.Schema]:
        """The columns of each side alone."""
        return [self.left, *self.rights]

    @property
    def names(self) -> list[str]:
        """The columns as they are received: those of one side under names that no other side has."""
        own = [f"{side}.{name}" for side, schema in enumerate(self.schemas) for name in schema.names]
        return [SIDE, *self.common.names, *own]

    def empty(self) -> list[pa.Table]:
        """Tables without rows, to ask for types."""
        return [pa.schema([*self.common, *schema]).empty_table() for schema in self.schemas]

    def apart(self, table: pa.Table, side: np.ndarray) -> list[pa.Table]:
        """The rows of each side, with its own columns."""
        tables = []
        for number, schema in enumerate(self.schemas):
            wanted = [*self.common.names, *(f"{number}.{name}" for name in schema.names)]
            rows = table.select(wanted or [SIDE]).filter(pa.array(side == number))
            tables.append(rows.rename_columns([*self.common.names, *schema.names] if wanted else [SIDE]))
        return tables


def of_table(over: Over, table: Any) -> Over:
    """The expression over the rows of that table."""
    window = over.window
    return replace(over, window=replace(window, others=replace(window.others, table=table)))


def over_tables(columns: Mapping[str, Over], tables: list[pa.Table]) -> dict[str, Over]:
    """Expressions over tables that they have by number, with these tables."""
    return {name: of_table(over, tables[over.window.others.table]) for name, over in columns.items()}


def types_of(columns: Mapping[str, Over], sides: Sides) -> dict[str, pa.DataType]:
    """The types of the answers; raises what cannot be answered."""
    left, *rights = sides.empty()
    return worker.types_of(over_tables(columns, rights), left.schema)


def evaluation(
    columns: dict[str, Over], sides: Sides, answers: pa.Schema, keys: dict[str, str], memory: int | None
) -> Callable[[Any], Any]:
    """What an Arrow iterator UDF runs: rows of all sides in, structs of answers out, which are NULL but for the left.

    ``keys`` are the columns that are equal in the rows of a partition, and what messages call them.
    """
    start = beginning()

    def answered(table: pa.Table) -> pa.Table:
        side = table[SIDE].to_numpy()
        left, *rights = sides.apart(table, side)
        out = evaluate(left, over_tables(columns, rights), arrival=False)
        structs = as_answers({name: out[name] for name in columns}, answers)
        mine = side == 0
        if mine.all():
            return structs
        return structs.take(pa.array(np.cumsum(mine) - 1, mask=~mine))

    def evaluated(batches: Iterator[Any]) -> Iterator[pa.Array]:
        start()
        yield from spilled(received(batches, sides.names), answered, keys, None, memory, len(columns))

    return batches_of(evaluated)
