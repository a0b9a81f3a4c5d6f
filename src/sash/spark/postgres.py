"""Rows into PostgreSQL through Spark's JDBC: beside the table first, then into it in one transaction.

Spark commits each partition on its own, so that a failure would leave a part. Here all partitions go into a table
beside; then one statement, which PostgreSQL takes as one transaction, moves the rows. Spark has no way to send a
statement but the one that opens a session to read, which is what is used.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame

from sash.errors import SashError

DONE = "sash_batches"  # the table of batches that are in, of streams


def is_postgres(options: Mapping[str, Any]) -> bool:
    """Whether a database is one that takes what is done here."""
    return str(options.get("url", "")).lower().startswith("jdbc:postgresql:")


def with_driver(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of JDBC with PostgreSQL's driver named: Java does not look for one in jars that come with a session."""
    return {**({"driver": "org.postgresql.Driver"} if is_postgres(options) else {}), **options}


def write(
    frame: DataFrame,
    options: Mapping[str, Any],
    table: str | None,
    append: bool,
    batch: tuple[str, int] | None = None,
) -> None:
    """Put rows into a table, all or none; a batch of a stream, by its name and number, only once."""
    name = str(table or options.get("dbtable") or "")
    if not re.fullmatch(r'(?:\w+|"[^"]+")(?:\.(?:\w+|"[^"]+"))?', name):
        raise SashError(f"a jdbc sink needs a table, such as public.delays, got {name!r}")
    beside = f'{name[:-1]}__sash_new"' if name.endswith('"') else f"{name}__sash_new"
    plain = {key: value for key, value in with_driver(options).items() if key != "dbtable"}
    try:
        frame.write.format("jdbc").mode("overwrite").options(**plain).option("dbtable", beside).save()
    except Exception:
        _send(frame.sparkSession, plain, [f"DROP TABLE IF EXISTS {beside}"])
        raise
    columns = ", ".join('"' + each.replace('"', '""') + '"' for each in frame.columns)
    moved = [f"INSERT INTO {name} ({columns}) SELECT {columns} FROM {beside}"]
    if not append:
        moved.insert(0, f"DELETE FROM {name}")
    if batch is not None:
        moved.append(f"INSERT INTO {DONE} VALUES ($s${batch[0]}$s$, {batch[1]})")
    steps = [f"CREATE TABLE IF NOT EXISTS {name} (LIKE {beside})", *_once(moved, batch), f"DROP TABLE {beside}"]
    _send(frame.sparkSession, plain, steps)


def _send(spark: Any, options: Mapping[str, Any], steps: list[str]) -> None:
    """Have statements run, all of them or none."""
    reader = spark.read.format("jdbc").options(**options).option("query", "SELECT 1 AS done")
    reader.option("sessionInitStatement", f"DO $sash$ BEGIN {'; '.join(steps)}; END $sash$").load().collect()


def _once(steps: list[str], batch: tuple[str, int] | None) -> list[str]:
    """The steps, unless the batch is in already."""
    if batch is None:
        return steps
    known = f"SELECT FROM {DONE} WHERE query = $s${batch[0]}$s$ AND batch >= {batch[1]}"
    return [
        f"CREATE TABLE IF NOT EXISTS {DONE} (query text, batch bigint, PRIMARY KEY (query, batch))",
        f"IF NOT EXISTS ({known}) THEN {'; '.join(steps)}; END IF",
    ]
