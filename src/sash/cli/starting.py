"""A Spark session for the command line: quiet, on this machine unless SPARK_REMOTE or a master says otherwise."""

from __future__ import annotations

import os
from typing import Any

from sash.errors import SashError


def started(tables: list[str]) -> Any:
    """A session that knows these files by their names."""
    named = [_named(each) for each in tables]
    from sash.spark import queries

    spark = queries.quiet_session(os.cpu_count() or 1)
    for name, path in named:
        queries.file(spark, path).createOrReplaceTempView(name)
    return spark


def _named(table: str) -> tuple[str, str]:
    name, equals, path = table.partition("=")
    if not equals or not name.isidentifier() or not path:
        raise SashError(f"--table takes a name and a file, such as trades=trades.parquet, got {table!r}")
    return name, path
