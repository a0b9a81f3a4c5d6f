"""Answers from partials that were kept, as DataFrames: partials are moved by key, and windows answered there."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial, reduce
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_schema

from sash import options
from sash.engine.memory_need import within_memory
from sash.engine.streams.bounded import answer_partials
from sash.engine.streams.limits import Limits
from sash.engine.streams.operator import Operator
from sash.engine.streams.partial_reading import PartialReader, take_entry
from sash.errors import SashError
from sash.expressions.naming import quoted
from sash.libraries import is_spark
from sash.spark import failures
from sash.spark.by_value import shipped
from sash.spark.columns_read import arrow_types
from sash.spark.passing import as_schema, numbered, refuse_unknown
from sash.spark.task_names import board_task
from sash.spark.unpacking import record_batches
from sash.spark.worker import beginning


def frames_of_spark(partials: Any) -> list[DataFrame] | None:
    """The DataFrames that a user gave as partials, or None of other frames; both together are refused."""
    frames = list(partials) if isinstance(partials, list | tuple) else [partials]
    here = [is_spark(frame) for frame in frames]
    if not any(here):
        return None
    if not all(here):
        raise SashError("partials must be frames of one library, got DataFrames of Spark and others")
    if any(frame.isStreaming for frame in frames):
        raise SashError("partials must be batch DataFrames, got a streaming one")
    return frames


def answered(board: Any, frames: list[DataFrame], operator: Operator) -> DataFrame:
    """The results of a board, from DataFrames of partials; ``operator`` says what is asked, and has no rows."""
    failures.foresee(frames[0].sparkSession)
    answers = operator.answer_schema
    refuse_unknown(answers)
    scheme, slicer = operator.scheme, operator.slicer
    readers = [PartialReader(scheme, frame.columns) for frame in frames]
    names = readers[0].columns
    for reader in readers:
        if set(reader.columns) != set(names):
            raise SashError(f"partials must have the same columns in all DataFrames, got {', '.join(names)} in one and "
                            f"{', '.join(reader.columns)} in another")  # fmt: skip
    whole = reduce(DataFrame.unionByName, [frame.select(*map(F.col, map(quoted, names))) for frame in frames])
    schema = arrow_types(whole)
    keys = [F.col(quoted(name)) for name in scheme.key_names]
    placed = numbered(whole.repartition(*keys) if keys else whole.repartition(1), names)
    emit, starts, fill = operator.emit, operator.with_starts, operator.fill
    start, memory = beginning(), options.asked_memory()

    def work(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        start()
        limits, reader = Limits.of(memory or options.budget()), PartialReader(scheme, names)
        came = (reader.entry(as_schema(batch, schema)) for batch in batches)
        opened = partial(Operator, scheme, slicer, emit=emit, starts=starts, fill=fill)
        with within_memory(limits.memory, "the partials and answers of a task"):
            for table in answer_partials(came, opened, limits, take_entry):
                yield from record_batches(table, answers)

    return placed.mapInArrow(shipped(work, board_task(board)), from_arrow_schema(answers))
