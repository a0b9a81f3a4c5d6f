"""What a pipeline writes with Spark as a stream: one streaming query for each sink."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame

from sash.errors import SashError
from sash.libraries import is_remote
from sash.spark.postgres_books import Planned
from sash.spark.writing import Target
from sash.windows.extents import interval_of

NOW = "available now"
SHOWN = 50  # rows on a console
Show = Callable[[str, Any], None]


@dataclass(frozen=True)
class StreamSettings:
    """How a streaming query runs."""

    checkpoint: str | None
    trigger: str
    updates: bool = False  # whether answers are early ones
    show: Show | None = None


@dataclass(frozen=True)
class Batch:
    """What a sink is told of a batch beside its rows."""

    number: int
    checkpoint: str | None
    show: Show | None
    session: Any  # a batch has a copy of it, with views of its own; None on a Connect server
    shared: bool  # whether the query has several sinks


def start(frame: DataFrame, target: Target, query: StreamSettings) -> Any:
    """A query that writes answers as they come, by a sink of Spark's."""
    writer = opened(frame, target.name, query).format(target.format).options(**target.options)
    writer = writer.partitionBy(*target.partition_by) if target.partition_by else writer
    if target.table is not None:
        return writer.toTable(target.table)
    return writer.start(*([target.path] if target.path else []))


def start_each(frame: DataFrame, target: Target, query: StreamSettings, put: Callable[[DataFrame, Batch], None]) -> Any:
    """A query whose batches a function puts into the one sink."""
    checkpoint, show = query.checkpoint, None if is_remote(frame) else query.show

    def each(batch: DataFrame, number: int) -> None:
        put(batch, Batch(number, checkpoint, show, None, shared=False))

    return opened(frame, target.name, query).foreachBatch(each).start()


def opened(frame: DataFrame, name: str, query: StreamSettings) -> Any:
    """Spark's writer for a query."""
    writer: Any = frame.writeStream.queryName(name).outputMode("update" if query.updates else "append")
    writer = writer.trigger(**when(query.trigger))
    return writer.option("checkpointLocation", query.checkpoint) if query.checkpoint else writer


def when(trigger: str) -> dict[str, Any]:
    """What Spark takes for a trigger.

    >>> when("available now"), when("10 seconds")
    ({'availableNow': True}, {'processingTime': '10 seconds'})
    """
    if trigger == NOW:
        return {"availableNow": True}
    try:
        interval_of("trigger", trigger)
    except SashError as error:
        raise SashError(f'{error}; or "{NOW}"') from None
    return {"processingTime": trigger}


def planned(spark: Any, checkpoint: str, number: int) -> Planned:
    """A batch by what Spark notes of it before it runs it: when it was planned, and up to where each source is read.

    The same batch, run again, has the same note. One that is planned again, after an older checkpoint was restored,
    has another.
    """
    query = spark.read.json(f"{checkpoint}/metadata").collect()[0]["id"]  # a new checkpoint begins anew with batch 0
    note = spark.read.text(f"{checkpoint}/offsets/{number}", wholetext=True).collect()[0]["value"]
    return Planned(query, number, hashlib.sha256(note.encode()).hexdigest())
