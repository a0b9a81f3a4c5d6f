"""One streaming query, several sinks: each batch is computed once and put into all of them, by its number.

A batch that fails on the way, or whose driver dies, comes again with the same number and the same rows. What is
written by number is then replaced, or known to be there: files, each batch in a folder of its own; PostgreSQL; Delta.
Other sinks have such a batch twice.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sash.errors import SashError
from sash.libraries import is_remote
from sash.spark import postgres, queries
from sash.spark.flowing import SHOWN, Show, planned, when
from sash.spark.messages import MESSAGE
from sash.spark.writing import BATCH, Target, plain, shaped

LATE = "late"  # the column that rows set aside are in


@dataclass(frozen=True)
class Part:
    """A sink of the query, which takes its answers or what came too late, and what is done with these before."""

    target: Target
    late: bool
    through: Callable[[DataFrame], DataFrame] | None = None


def start(
    frame: DataFrame,
    name: str,
    parts: Sequence[Part],
    checkpoint: str | None,
    trigger: str,
    updates: bool,
    show: Show | None = None,
) -> Any:
    """A query whose batches go to all sinks."""
    on_server = is_remote(frame)
    put = _put(
        tuple(parts),
        checkpoint,
        None if on_server else show,
        None if on_server else frame.sparkSession,  # a batch has a copy of it, with views of its own
    )
    writer: Any = frame.writeStream.queryName(name).outputMode("update" if updates else "append")
    writer = writer.option("checkpointLocation", checkpoint) if checkpoint else writer
    return writer.trigger(**when(trigger)).foreachBatch(put).start()


def failed_sink(sentence: str, names: Sequence[str]) -> tuple[str | None, str]:
    """Which sink a failure of a batch is of, if it says so, and the rest of what it says.

    >>> failed_sink("sink boards_late: the disk is full", ["boards", "boards_late"])
    ('boards_late', 'the disk is full')
    """
    for name in names:
        if sentence.startswith(f"sink {name}: "):
            return name, sentence.removeprefix(f"sink {name}: ")
    return None, sentence


def _put(parts: tuple[Part, ...], checkpoint: str | None, show: Show | None, spark: Any) -> Any:
    splits = any(part.late for part in parts)
    held: dict[str, list[Any]] = {}  # of sinks in memory

    def put(batch: DataFrame, number: int) -> None:
        batch = batch.persist()  # the state moves on once, whatever is read how often
        try:
            late = F.count(LATE) if splits else F.lit(0)
            counted = batch.agg(F.count(F.lit(1)).alias("all"), late.alias("late")).collect()[0]
            answers = batch.where(f"{LATE} is null").drop(LATE, MESSAGE) if splits else batch
            aside = _aside(batch) if splits else None
            for part in parts:
                rows: Any = aside if part.late else part.through(answers) if part.through else answers
                some = counted["late"] if part.late else counted["all"] - counted["late"]
                counts = part.target.kind == "jdbc" and postgres.is_postgres(part.target.options)  # every batch
                if number > 0 and not some and not counts:  # the first batch has the columns, whatever comes
                    continue
                try:
                    if part.target.kind == "memory":
                        held.setdefault(part.target.name, []).append(rows.toArrow())
                        _view(spark or rows.sparkSession, part.target.name, held[part.target.name])
                    else:
                        _write(rows, part.target, number, checkpoint, show)
                except Exception as error:
                    raise SashError(f"sink {part.target.name}: {queries.said(error) or error}") from error
        finally:
            batch.unpersist()

    return put


def _aside(batch: DataFrame) -> DataFrame:
    """Rows that were set aside, the reason first; behind them, what is known of messages that are no rows."""
    message = [f"{MESSAGE}.*"] if MESSAGE in batch.columns else []
    return batch.where(f"{LATE} is not null").select(f"{LATE}.reason", f"{LATE}.row.*", *message)


def _write(rows: Any, target: Target, number: int, checkpoint: str | None, show: Show | None) -> None:
    """Put the rows of a batch into a sink; again into the same place, where they come again."""
    if target.kind == "noop":
        return
    if target.kind == "console":
        if show is None:
            rows.show(SHOWN)
        else:
            show(target.name, rows.limit(SHOWN + 1).toArrow())
        return
    rows = shaped(rows, target)
    if target.kind == "jdbc" and postgres.is_postgres(target.options):
        known = None if checkpoint is None else planned(rows.sparkSession, checkpoint, number)
        if known is not None:  # another sink of the query may write the same table
            known = replace(known, query=f"{known.query} {target.name}")
        postgres.write(rows, target.options, target.relation, append=True, batch=known)
    elif target.by_files:
        writer = plain(rows, target, "overwrite").option("partitionOverwriteMode", "static")
        writer.save(f"{str(target.path).rstrip('/')}/{BATCH}={number}")
    else:
        writer = plain(rows, target, "append")
        if target.kind == "delta":
            application = f"{identity(rows.sparkSession, checkpoint)} {target.name}"
            writer = writer.option("txnAppId", application).option("txnVersion", number)
        if target.table is not None and target.kind != "jdbc":
            writer.saveAsTable(target.table)
        else:
            writer.save(*([target.path] if target.path else []))


def _view(spark: Any, name: str, tables: list[Any]) -> None:
    import pyarrow as pa

    spark.createDataFrame(pa.concat_tables(tables)).createOrReplaceTempView(name)


def identity(spark: Any, checkpoint: str | None) -> str:
    """What a query is known by: its checkpoint's own name; a new checkpoint begins anew with batch 0."""
    return str(spark.read.json(f"{checkpoint}/metadata").collect()[0]["id"])
