"""What a pipeline writes with Spark as a stream: one streaming query for each sink."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from typing import Any

from pyspark.sql import DataFrame

from sash.errors import SashError
from sash.spark import postgres
from sash.spark.postgres_books import Planned
from sash.spark.writing import Target, shaped
from sash.windows.extents import interval_of

NOW = "available now"
SHOWN = 50  # rows on a console
Show = Callable[[str, Any], None]


def start(
    frame: DataFrame, target: Target, checkpoint: str | None, trigger: str, updates: bool, show: Show | None = None
) -> Any:
    """A query that writes answers as they come."""
    writer: Any = shaped(frame, target).writeStream.queryName(target.name)
    writer = writer.outputMode("update" if updates else "append").trigger(**when(trigger))
    writer = writer.option("checkpointLocation", checkpoint) if checkpoint else writer
    if target.kind == "jdbc":
        return writer.foreachBatch(_into_database(target, checkpoint)).start()
    on_server = type(frame).__module__.startswith("pyspark.sql.connect")  # where this process cannot be reached
    if target.kind == "console" and show is not None and not on_server:
        return writer.foreachBatch(lambda batch, number: show(target.name, batch.limit(SHOWN + 1).toArrow())).start()
    writer = writer.format(target.kind).options(**target.defaults)
    writer = writer.partitionBy(*target.partition_by) if target.partition_by else writer
    if target.table is not None:
        return writer.toTable(target.table)
    return writer.start(*([target.path] if target.path else []))


def check(target: Target, trigger: str, updates: bool) -> None:
    """Refuse what a stream could not write."""
    when(trigger)
    if updates and target.path is not None and target.kind != "delta":
        raise SashError(f"files keep what is written, got {target.kind} for early answers; use emit = 'final'")


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


def _into_database(target: Target, checkpoint: str | None) -> Callable[[DataFrame, int], None]:
    def put(batch: DataFrame, number: int) -> None:
        if postgres.is_postgres(target.options):
            known = None if checkpoint is None else planned(batch.sparkSession, checkpoint, number)
            postgres.write(batch, target.options, target.relation, append=True, batch=known)
            return
        batch.write.format("jdbc").mode("append").options(**target.options).option("dbtable", target.relation).save()

    return put
