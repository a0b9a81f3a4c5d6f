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
from sash.spark import postgres, text_queries
from sash.spark.flowing import SHOWN, Batch, StreamSettings, opened, planned
from sash.spark.messages import MESSAGE, shaped
from sash.spark.writing import BATCH, Target, plain, save_relation

LATE = "late"  # the column that rows set aside are in


@dataclass(frozen=True)
class PartOfBatch:
    """A sink of the query, which takes its answers or what came too late, and what is done with these before."""

    name: str
    late: bool
    put: Callable[[Any, Batch], None]
    every: bool  # whether it takes batches without rows, too
    through: Callable[[DataFrame], DataFrame] | None = None


def start(
    frame: DataFrame,
    name: str,
    parts: Sequence[PartOfBatch],
    query: StreamSettings,
) -> Any:
    """A query whose batches go to all sinks."""
    show, session = (None, None) if is_remote(frame) else (query.show, frame.sparkSession)
    put = _put(tuple(parts), Batch(-1, query.checkpoint, show, session, shared=True))
    return opened(frame, name, query).foreachBatch(put).start()


def failed_sink(sentence: str, names: Sequence[str]) -> tuple[str | None, str]:
    """Which sink a failure of a batch is of, if it says so, and the rest of what it says.

    >>> failed_sink("sink boards_late: the disk is full", ["boards", "boards_late"])
    ('boards_late', 'the disk is full')
    """
    for name in names:
        if sentence.startswith(f"sink {name}: "):
            return name, sentence.removeprefix(f"sink {name}: ")
    return None, sentence


def _put(parts: tuple[PartOfBatch, ...], unnumbered: Batch) -> Any:
    splits = any(part.late for part in parts)

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
                if number > 0 and not some and not part.every:  # the first batch has the columns, whatever comes
                    continue
                try:
                    part.put(rows, replace(unnumbered, number=number))
                except Exception as error:
                    raise SashError(f"sink {part.name}: {text_queries.said(error) or error}") from error
        finally:
            batch.unpersist()

    return put


def _aside(batch: DataFrame) -> DataFrame:
    """Rows that were set aside, the reason first; behind them, what is known of messages that are no rows."""
    message = [f"{MESSAGE}.*"] if MESSAGE in batch.columns else []
    return batch.where(f"{LATE} is not null").select(f"{LATE}.reason", f"{LATE}.row.*", *message)


def nowhere(rows: Any, batch: Batch) -> None:
    """Throw the rows of a batch away."""


def onto_console(target: Target, rows: Any, batch: Batch) -> None:
    """Show the rows of a batch."""
    if batch.show is None:
        rows.show(SHOWN)
    else:
        batch.show(target.name, rows.limit(SHOWN + 1).toArrow())


class ViewOfBatches:
    """A view of all rows so far."""

    def __init__(self, name: str) -> None:
        self._name, self._tables = name, list[Any]()

    def __call__(self, rows: Any, batch: Batch) -> None:
        """Add the rows of a batch."""
        import pyarrow as pa

        self._tables.append(rows.toArrow())
        spark = batch.session or rows.sparkSession
        spark.createDataFrame(pa.concat_tables(self._tables)).createOrReplaceTempView(self._name)


def into_folder(target: Target, rows: Any, batch: Batch) -> None:
    """Put the rows of a batch into a folder of its own, which is replaced where it comes again."""
    writer = plain(rows, target, "overwrite").option("partitionOverwriteMode", "static")
    writer.save(f"{str(target.path).rstrip('/')}/{BATCH}={batch.number}")


def into_postgres(target: Target, rows: Any, batch: Batch) -> None:
    """Put the rows of a batch into a table of PostgreSQL, once."""
    known = None if batch.checkpoint is None else planned(rows.sparkSession, batch.checkpoint, batch.number)
    if known is not None and batch.shared:  # another sink of the query may write the same table
        known = replace(known, query=f"{known.query} {target.name}")
    postgres.write(rows, target.options, target.relation, append=True, batch=known)


def into_relation(target: Target, rows: Any, batch: Batch) -> None:
    """Append the rows of a batch to a table of another database."""
    save_relation(rows, target, "append")


def into_delta(target: Target, rows: Any, batch: Batch) -> None:
    """Append the rows of a batch, which Delta notes by its number."""
    application = f"{identity(rows.sparkSession, batch.checkpoint)} {target.name}"
    _add(plain(rows, target, "append").option("txnAppId", application).option("txnVersion", batch.number), target)


def into_topic(target: Target, rows: Any, batch: Batch) -> None:
    """Send the rows of a batch; again, where it comes again."""
    add(target, shaped(rows, target.key), batch)


def add(target: Target, rows: Any, batch: Batch) -> None:
    """Append the rows of a batch; again, where it comes again."""
    _add(plain(rows, target, "append"), target)


def _add(writer: Any, target: Target) -> None:
    if target.table is not None:
        writer.saveAsTable(target.table)
    else:
        writer.save(*([target.path] if target.path else []))


def identity(spark: Any, checkpoint: str | None) -> str:
    """What a query is known by: its checkpoint's own name; a new checkpoint begins anew with batch 0."""
    return str(spark.read.json(f"{checkpoint}/metadata").collect()[0]["id"])
