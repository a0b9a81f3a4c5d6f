"""Inside a Spark task: its rows as one Arrow table, through the engine, back as they came."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from typing import Any

import pyarrow as pa

from sash import options
from sash.engine.evaluating import evaluate
from sash.engine.ranges import KeyOrder, reach
from sash.engine.ranges import together as reaching
from sash.engine.spilling import Ranges, scratch
from sash.engine.spilling import answers as spilling
from sash.errors import SashError, SashWarning, outside
from sash.version import VERSION
from sash.windows import WindowSpec
from sash.windows.over import Over


def beginning() -> Callable[[], None]:
    """What a task does first; made by the driver, whose version it knows."""
    return partial(begin, VERSION)


def begin(driver: str) -> None:
    """Prepare a task, given the driver's Sash: it has one core, since the others have tasks of their own."""
    if driver != VERSION:
        raise SashError(
            f"the driver and its workers must have one Sash, got {driver} on the driver and {VERSION} in a worker: "
            "install the same on both"
        )
    os.environ.setdefault("SASH_THREADS", "1")


def evaluation(
    columns: dict[str, Over],
    tie_breakers: tuple[Over, ...],
    names: list[str],
    answers: pa.Schema,
    together: tuple[str, ...],
    memory: int | None,
) -> Callable[[Any], Any]:
    """What an Arrow iterator UDF runs: columns of these names in, structs of answers out.

    ``together`` are the keys by which all rows of a partition are in the task; ``tie_breakers`` settles ties.
    """
    pieces, start = ranges(columns), beginning()

    def answered(table: pa.Table) -> pa.Table:
        out = evaluate(table, columns, arrival=False, tie_breakers=tie_breakers)
        return as_answers({name: out[name] for name in columns}, answers)

    def evaluated(batches: Iterator[Any]) -> Iterator[pa.Array]:
        start()
        yield from spilled(received(batches, names), answered, together, pieces, memory, len(columns))

    return batches_of(evaluated)


def ranges(columns: Mapping[str, Over]) -> Ranges | None:
    """How rows too many for memory can be cut, where one order and frames that end make that possible."""
    windows = [over.window for over in columns.values()]
    far = reaching([reach(over) for over in columns.values()])
    endless = any(side.everything or side.unknown for side in (far.before, far.after))
    if endless or len({(window.partition_key, window.order_key) for window in windows}) > 1 or not windows[0].order:
        return None
    keys = (*windows[0].partition, *(order.column for order in windows[0].order))
    return Ranges(tuple(key.path[0] for key in keys), KeyOrder.of(windows[0]), far)


def spilled(
    batches: Iterator[pa.RecordBatch],
    answered: Callable[[pa.Table], pa.Table],
    together: Sequence[str] | Mapping[str, str],
    pieces: Ranges | None,
    memory: int | None,
    expressions: int,
) -> Iterator[pa.Array]:
    """Answers as structs, in the order in which the rows came; through files where memory does not suffice."""
    budget = memory or options.budget()
    answers = spilling(batches, answered, together, budget=budget, pieces=pieces, bytes_per_row=scratch(expressions))
    try:
        for batch in answers:
            yield batch.to_struct_array()
    except SashError as error:
        if error.column is None:
            raise
        raise type(error)(f"{error.column}: {error}") from None


def batches_of(function: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """The function with the hints by which Spark tells that it takes and gives the batches of a task."""
    function.__annotations__ = {"batches": Iterator[tuple[pa.Array, ...]], "return": Iterator[pa.Array]}
    return function


def received(batches: Iterator[Any], names: list[str]) -> Iterator[pa.RecordBatch]:
    """The rows of a task, under the names by which expressions know their columns."""
    for batch in batches:
        yield pa.RecordBatch.from_arrays(list(batch) if isinstance(batch, tuple) else [batch], names)


def as_answers(columns: Mapping[str, Any], answers: pa.Schema) -> pa.Table:
    """The answers, of the types and under the names that Spark was told."""
    typed = zip(columns.values(), answers.types, strict=True)
    # a cast to the same type is refused where a NULL struct has fields that are not nullable
    cast = [column if column.type == dtype else column.cast(dtype) for column, dtype in typed]
    return pa.table(cast, answers.names)


def types_of(columns: dict[str, Over], schema: pa.Schema) -> dict[str, pa.DataType]:
    """The types of the answers, found by asking of no rows: which also finds what cannot be asked."""
    out = evaluate(schema.empty_table(), columns)
    types = {name: out.schema.field(name).type for name in columns}
    for name, dtype in types.items():
        if not getattr(columns[name].call.aggregate, "compiled", True):
            types[name] = dtype = tried_type(name, columns[name], schema)
        if pa.types.is_null(dtype):
            raise SashError(f"{name}: Spark must know the type of the answer; a column of nothing but NULL has none")
    return types


def tried_type(name: str, over: Over, schema: pa.Schema) -> pa.DataType:
    """The type that plain Python answers in, told by asking it of two rows that are made up; says that it is slow."""
    call = over.call
    warnings.warn(
        f"{call} runs as plain Python in the tasks of Spark, since compiled=False: microseconds for each combine",
        SashWarning,
        stacklevel=outside(),
    )
    if over.window.others is None:
        over = replace(over, call=replace(call, condition=None), window=WindowSpec())
    rows = pa.table([_made_up(field.type) for field in schema], schema=schema)
    try:
        return evaluate(rows, {name: over}).schema.field(name).type
    except Exception as error:
        said = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise SashError(
            f"{name}: {call.aggregate.name} must answer rows that are made up, such as 1 and 2, by which the type of "
            f"its answers is told; it raised {type(error).__name__}: {said}"
        ) from None


def _made_up(dtype: pa.DataType) -> pa.Array:
    """Two values of a type, or NULLs."""
    tries: tuple[list[Any], ...] = (
        [1, 2],
        [1.5, 2.5],
        ["a", "b"],
        [b"a", b"b"],
        [False, True],
        [date(2020, 1, 1), date(2020, 1, 2)],
        [datetime(2020, 1, 1), datetime(2020, 1, 2)],
        [Decimal(1), Decimal(2)],
        [[], []],
    )
    for values in tries:
        try:
            return pa.array(values, dtype)
        except (pa.ArrowException, TypeError, ValueError, AttributeError):
            continue
    return pa.nulls(2, dtype)


def answers_of(columns: Mapping[str, Over], types: Mapping[str, pa.DataType]) -> pa.Schema:
    """The fields that answers to these columns are given in: under names that need no care in Spark."""
    return pa.schema([(f"a{place}", types[name]) for place, name in enumerate(columns)])
