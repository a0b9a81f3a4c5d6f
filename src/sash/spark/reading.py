"""What a pipeline reads with Spark: files, tables, databases, topics; as a batch or as a stream."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from sash.errors import SashError
from sash.spark import postgres, text_queries

SCHEME = re.compile(r"[A-Za-z][\w+.-]+:")  # of a path elsewhere: s3a://…, dbfs:/…
PATIENCE = 10.0  # seconds to wait for a count that a finished job has brought


@dataclass(frozen=True)
class Origin:
    """Where rows come from."""

    format: str | None
    path: str | None
    table: str | None
    schema: str | None
    options: Mapping[str, Any]


def wanted(frame: DataFrame, where: str | None) -> DataFrame:
    """The rows that are wanted; its columns are looked at, so that what is wrong is found now."""
    frame = frame if where is None else frame.where(where)
    _ = frame.columns
    return frame


def load(spark: SparkSession, origin: Origin, streaming: bool, infers: bool = True) -> DataFrame:
    """The rows of a format; of a stream, with the columns of what is there already, where these must be inferred."""
    reader = _reader(spark, origin, streaming).format(origin.format)
    if origin.schema is not None:
        reader = reader.schema(origin.schema)
    elif streaming and origin.path is not None and infers:
        reader = reader.schema(_inferred(spark, origin))
    return reader.load(*([origin.path] if origin.path else []))


def table(spark: SparkSession, origin: Origin, streaming: bool) -> DataFrame:
    """The rows of a table of the catalogue."""
    reader = _reader(spark, origin, streaming)
    return (reader.format(origin.format) if origin.format else reader).table(origin.table)


def relation(spark: SparkSession, origin: Origin) -> DataFrame:
    """The rows of a table, or of a query, of a database."""
    options = {**origin.options, **({"dbtable": origin.table} if origin.table else {})}
    return spark.read.options(**postgres.with_driver(options)).format("jdbc").load()


def _reader(spark: SparkSession, origin: Origin, streaming: bool) -> Any:
    return (spark.readStream if streaming else spark.read).options(**origin.options)


def by_ending(path: str | None) -> str | None:
    """The format that the ending of a path tells, or None."""
    match = text_queries.FILE.search(path or "")
    if match is None:
        return None
    ending = match[1].lower()
    return "json" if "json" in ending else ending


def _inferred(spark: SparkSession, origin: Origin) -> Any:
    """The columns of the files that are there already, for a stream of those to come."""
    try:
        return spark.read.options(**origin.options).format(str(origin.format)).load(origin.path).schema
    except Exception as error:
        if text_queries.refusal(error) is None:
            raise
        raise SashError("a stream of files needs a schema, since there are none yet to take it from") from None


class Count:
    """How many rows went by, known once a job that read them has ended."""

    def __init__(self) -> None:
        self._observation = Observation()

    def of(self, frame: DataFrame) -> DataFrame:
        """The frame, its rows counted as they go by."""
        return frame.observe(self._observation, F.count(F.lit(1)).alias("rows"))

    def get(self) -> int | None:
        """The rows of the first job; None where Spark did not need them."""
        counts: list[int] = []
        waiting = threading.Thread(target=lambda: counts.append(self._observation.get["rows"]), daemon=True)
        waiting.start()  # Spark waits for ever for a count that no job brings
        waiting.join(PATIENCE)
        return counts[0] if counts else None
