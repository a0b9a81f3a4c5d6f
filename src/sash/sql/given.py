"""Frames and files that a query selects from by name."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any

from sash.errors import SashError
from sash.sql.scope import Scope, given
from sash.sql.texts import marked, quoted
from sash.sql.tokens import STRING, Source, read

_FILE = re.compile(r"\.(parquet|csv|tsv|json|jsonl|ndjson|orc)(\.gz|\.bz2|\.zst)?/?$", re.IGNORECASE)


@dataclass
class Given:
    """What a query was given: DataFrames by the names that texts mark them by, and these as tables."""

    spark: Any
    views: dict[str, Any] = field(default_factory=dict)
    scope: Scope = field(default_factory=Scope)

    def named(self, source: Source, tables: dict[str, Any]) -> Source:
        """Take over tables, and files that the query names; the query comes back with names for both."""
        for name, frame in tables.items():
            self._add(name, frame)
        text, at = "", 0
        for place, token in enumerate(source.tokens):
            end = token.end
            if token.kind == STRING and source.word(place - 1) in ("FROM", "JOIN", ",") and _FILE.search(token.value):
                name = self._read(token.value, tables)
            elif token.word == "{" and source.word(place + 2) == "}" and source.tokens[place + 1].name in tables:
                name, end = source.tokens[place + 1].name, source.tokens[place + 2].end
            else:
                continue
            text += source.text[at : token.start] + quoted(name)
            at = end
        return read(text + source.text[at:]) if at else source

    def _add(self, name: str, frame: Any) -> None:
        mark = f"given_{len(self.views)}"
        self.views[mark] = frame
        self.scope = self.scope.plus([given(name, marked(mark))])

    def _read(self, path: str, tables: dict[str, Any]) -> str:
        """The name for a file: that of the file, unless it is taken."""
        name = PurePath(path.rstrip("/")).name.split(".")[0].strip("*") or "file"
        while name in tables:
            name += "_"
        tables[name] = frame = file(self.spark, path)
        self._add(name, frame)
        return name


def file(spark: Any, path: str) -> Any:
    """The DataFrame of a file or a folder, by its ending."""
    from pyspark.errors import AnalysisException

    found = _FILE.search(path)
    kind = found[1].lower() if found else "parquet"
    try:
        if kind in ("csv", "tsv"):
            separator = "\t" if kind == "tsv" else ","
            return spark.read.csv(path, header=True, inferSchema=True, sep=separator)
        return getattr(spark.read, "json" if "json" in kind else kind)(path)
    except AnalysisException as error:
        reason = re.split(r"\s*SQLSTATE: |\n", str(error))[0]
        raise SashError(f"{path} cannot be read: {reason}") from None


def as_frame(spark: Any, name: str, frame: Any) -> Any:
    """A table that was given, as a Spark DataFrame."""
    kind = type(frame)
    library = kind.__module__.partition(".")[0]
    if kind.__module__.startswith("pyspark.pandas"):
        return frame.to_spark()
    if library == "pyspark" and kind.__name__ == "DataFrame":
        return frame
    if library in ("pyarrow", "pandas", "polars") and kind.__name__ in ("Table", "RecordBatch", "DataFrame"):
        if library == "pyarrow" and kind.__name__ == "RecordBatch":
            import pyarrow as pa

            frame = pa.Table.from_batches([frame])
        return spark.createDataFrame(frame.to_arrow() if library == "polars" else frame)
    raise SashError(
        f"{name} must be a Spark DataFrame, a pyarrow Table, a pandas or a polars DataFrame, "
        f"got {frame!r} of type {kind.__name__}"
    )
