"""What queries as text need of PySpark: a session, tables of other libraries, files, and why it refuses a query."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from pyspark.errors import AnalysisException, ParseException, PySparkException
from pyspark.sql import SparkSession

from sash.errors import SashError
from sash.libraries import is_pandas_on_spark, is_spark, library_of
from sash.spark import failures, local

FILE = re.compile(r"\.(parquet|csv|tsv|json|jsonl|ndjson|orc)(\.gz|\.bz2|\.zst)?/?$", re.IGNORECASE)


@dataclass(frozen=True)
class Refusal:
    """Why Spark does not accept a query, in one sentence, and the pieces of it that it names."""

    sentence: str
    pieces: tuple[str, ...]


def refusal(error: Exception) -> Refusal | None:
    """What an error of Spark says of a query, or None of other errors."""
    if isinstance(error, SashError) or not isinstance(error, AnalysisException | ParseException):
        return None
    sentence = re.split(r"\s*SQLSTATE: |\n|;\s*line \d", str(error).strip())[0]
    pieces = tuple(each.fragment() for each in error.getQueryContext() or ())
    return Refusal(re.sub(r"^\[[\w.]+\]\s*", "", sentence), tuple(filter(None, pieces)))


def said(error: Exception) -> str | None:
    """What an error of Spark, or of the Java behind it, says, in one sentence; None of other errors."""
    reason = refusal(error)
    if reason is not None:
        return reason.sentence
    if library_of(error) not in ("pyspark", "py4j", "grpc"):
        return None
    text = str(error).partition("=== Streaming Query ===")[0]
    ours = re.search(r"(?:SashError|Refused|Overflow): (.+)", text)
    if ours is not None:
        return ours[1]
    text = re.sub(r"^\[STREAM_FAILED\].*?terminated with exception: ", "", text.strip(), flags=re.DOTALL)
    lines = [line.strip() for line in text.splitlines() if line.strip()] or [type(error).__name__]
    causes = [line for line in lines if re.match(r"(?:: |Caused by: )?(?:[\w.$]+\.)?\w+(?:Exception|Error): .", line)]
    empty = lines[0].endswith(":") or lines[0].startswith("An error occurred")  # the cause is further down
    text = re.sub(r"^(?:: |Caused by: )", "", causes[-1] if empty and causes else lines[0])
    return re.sub(r"^(?:[a-z]\w*\.)+(\w+(?:Exception|Error): )", r"\1", re.sub(r"^\[[\w.]+\]\s*", "", text))


def place_in(error: Any, text: str) -> int | None:
    """Where in a text that was Spark's as it is an error is about, where the error tells."""
    syntax = re.search(r"\(line (\d+), pos (\d+)\)", str(error))
    if syntax is not None:
        lines = text.splitlines(keepends=True)
        return min(sum(map(len, lines[: int(syntax[1]) - 1])) + int(syntax[2]), len(text))
    try:
        pieces = [each.fragment() for each in error.getQueryContext() or ()]
    except Exception:  # not all errors have a context
        return None
    places = [text.find(piece) for piece in pieces if piece]
    return next((place for place in places if place >= 0), None)


def refused(sentence: str) -> SashError:
    """A Sash error that is also Spark's about a query."""
    return failures.error_of("SashError", sentence, AnalysisException)


def is_set(spark: Any, option: str) -> bool:
    """Whether an option of the session is true."""
    return str(spark.conf.get(option, "false")).lower() == "true"


def session(spark: Any, frames: Iterable[Any]) -> Any:
    """The session asked for, that of a frame, the active one, or a new one."""
    failures.install()
    if spark is not None:
        if not hasattr(spark, "sql") or not hasattr(spark, "createDataFrame"):
            raise SashError(f"spark must be a SparkSession, got {spark!r} of type {type(spark).__name__}")
        return spark
    for frame in frames:
        if hasattr(frame, "sparkSession"):
            return frame.sparkSession
    active = SparkSession.getActiveSession()
    if active is not None:
        return active
    return local.new_session({local.PROVIDER: local.ROCKSDB})


def file(spark: Any, path: str) -> Any:
    """The DataFrame of a file or a folder, by its ending; the first line of CSV has the names."""
    match = FILE.search(path)
    format = match[1].lower() if match else "parquet"
    try:
        if format in ("csv", "tsv"):
            return spark.read.csv(path, header=True, inferSchema=True, sep="\t" if format == "tsv" else ",")
        return getattr(spark.read, "json" if "json" in format else format)(path)
    except AnalysisException as error:
        reason = refusal(error)
        raise SashError(f"{path} cannot be read: {reason.sentence if reason else error}") from None


def as_frame(spark: Any, name: str, table: Any) -> Any:
    """A table that a query was given, as a Spark DataFrame."""
    type_ = type(table)
    if is_pandas_on_spark(table):
        return table.to_spark()
    if is_spark(table):
        return table
    arrow = _as_arrow(table, library_of(table), type_.__name__)
    if arrow is not None:
        try:
            return spark.createDataFrame(arrow)
        except (PySparkException, TypeError, ValueError) as error:
            raise SashError(f"{name} cannot be a table of Spark: {str(error).splitlines()[0]}") from None
    raise SashError(
        f"{name} must be a Spark DataFrame, a pyarrow Table, a pandas or a polars DataFrame, "
        f"got {table!r} of type {type_.__name__}"
    )


def _as_arrow(table: Any, library: str, type_name: str) -> Any:
    """A table of another library as Arrow has it, or None."""
    import pyarrow as pa

    if library == "pyarrow" and type_name in ("Table", "RecordBatch"):
        return table if type_name == "Table" else pa.Table.from_batches([table])
    if library == "polars" and type_name == "DataFrame":
        return table.to_arrow()
    return (
        pa.Table.from_pandas(table, preserve_index=False) if (library, type_name) == ("pandas", "DataFrame") else None
    )
