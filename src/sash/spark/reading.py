"""What a pipeline reads with Spark: files, tables, databases, topics; as a batch or as a stream."""

from __future__ import annotations

import re
import threading
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import DataFrame, Observation, SparkSession
from pyspark.sql import functions as F

from sash.errors import SashError
from sash.spark import messages, postgres, queries

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
    where: str | None


def read(spark: SparkSession, origin: Origin, streaming: bool, name: str = "") -> tuple[DataFrame, DataFrame | None]:
    """The rows of an origin, and the messages that are no rows, if it has messages.

    Its columns are looked at, so that what is wrong is found now.
    """
    frame, malformed = _read(spark, origin, streaming), None
    if origin.format == "kafka" and origin.schema is not None:
        frame, malformed = messages.parsed(frame, origin.schema, name)
    frame = frame if origin.where is None else frame.where(origin.where)
    _ = frame.columns
    return frame, malformed


def _read(spark: SparkSession, origin: Origin, streaming: bool) -> DataFrame:
    kind = origin.format or by_ending(origin.path)
    reader: Any = (spark.readStream if streaming else spark.read).options(**origin.options)
    if origin.table is not None and kind != "jdbc":
        return reader.table(origin.table) if kind is None else reader.format(kind).table(origin.table)
    if kind == "jdbc":
        if streaming:
            raise SashError("jdbc cannot be read as a stream; say static = true to read it once, as a table")
        reader = reader.option("dbtable", origin.table) if origin.table else reader
        return reader.options(**postgres.with_driver(origin.options)).format("jdbc").load()
    kind = kind or "parquet"
    if kind in ("csv", "tsv"):
        first_line = {"header": True, "enforceSchema": False}  # whose names are those of the schema, or it is an error
        origin = replace(origin, options={**first_line, "sep": "\t" if kind == "tsv" else ",", **origin.options})
        reader, kind = reader.options(**origin.options), "csv"
    if origin.schema is not None and kind != "kafka":
        reader = reader.schema(origin.schema)
    elif streaming and origin.path is not None and kind not in ("delta", "iceberg"):
        reader = reader.schema(_inferred(spark, origin, kind))
    elif kind == "csv":
        reader = reader.option("inferSchema", origin.options.get("inferSchema", True))
    return reader.format(kind).load(*([origin.path] if origin.path else []))


def by_ending(path: str | None) -> str | None:
    """The format that the ending of a path tells, or None."""
    found = queries.FILE.search(path or "")
    if found is None:
        return None
    kind = found[1].lower()
    return "json" if "json" in kind else kind


def _inferred(spark: SparkSession, origin: Origin, kind: str) -> Any:
    """The columns of the files that are there already, for a stream of those to come."""
    options = {"inferSchema": True, **origin.options} if kind == "csv" else origin.options
    try:
        return spark.read.options(**options).format(kind).load(origin.path).schema
    except Exception as error:
        if queries.refusal(error) is None:
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
        found: list[int] = []
        waiting = threading.Thread(target=lambda: found.append(self._observation.get["rows"]), daemon=True)
        waiting.start()  # Spark waits for ever for a count that no job brings
        waiting.join(PATIENCE)
        return found[0] if found else None
