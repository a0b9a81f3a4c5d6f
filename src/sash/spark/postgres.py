"""Rows into PostgreSQL through Spark's JDBC: beside the table first, then into it in one transaction.

Spark commits each partition on its own, so that a failure would leave a part. Here all partitions go into a table
beside; then one statement, which PostgreSQL takes as one transaction, moves the rows. Spark has no way to send a
statement but the one that opens a session to read, which is what is used.
"""

from __future__ import annotations

import contextlib
import re
import uuid
from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame

from sash.errors import SashError

NAME = re.compile(r'(?:(\w+|"[^"]+")\.)?(?:\w+|"[^"]+")')
DONE = "sash_batches"  # the table, beside the one written, of the last batch of each stream that is in


def is_postgres(options: Mapping[str, Any]) -> bool:
    """Whether a database is one that takes what is done here."""
    return str(options.get("url", "")).lower().startswith("jdbc:postgresql:")


def with_driver(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of JDBC with PostgreSQL's driver named: Java does not look for one in jars that come with a session."""
    return {**({"driver": "org.postgresql.Driver"} if is_postgres(options) else {}), **options}


def exists(spark: Any, options: Mapping[str, Any], table: str) -> bool:
    """Whether there is a table."""
    plain = {key: value for key, value in with_driver(options).items() if key != "dbtable"}
    query = f"SELECT to_regclass($s${table}$s$) IS NOT NULL AS there"
    return bool(spark.read.format("jdbc").options(**plain).option("query", query).load().collect()[0]["there"])


def schema_of(table: str) -> str:
    """What stands before the names of tables beside this one, or a sentence where it is no name.

    >>> schema_of("public.delays"), schema_of("delays")
    ('public.', '')
    """
    found = NAME.fullmatch(table)
    if found is None:
        raise SashError(f"a jdbc sink needs a table, such as public.delays, got {table!r}")
    return f"{found[1]}." if found[1] else ""


def write(
    frame: DataFrame, options: Mapping[str, Any], table: str, append: bool, batch: tuple[str, int] | None = None
) -> None:
    """Put rows into a table, all or none; a batch of a stream, by its query and number, only once."""
    schema = schema_of(table)
    beside = f"{schema}sash_{uuid.uuid4().hex[:20]}"
    plain = {key: value for key, value in with_driver(options).items() if key != "dbtable"}
    columns = ", ".join('"' + each.replace('"', '""') + '"' for each in frame.columns)
    steps = [] if append else [f"DELETE FROM {table}"]
    steps.append(f"INSERT INTO {table} ({columns}) SELECT {columns} FROM {beside}")
    steps = steps if batch is None else _once(f"{schema}{DONE}", steps, *batch)
    try:
        frame.write.format("jdbc").mode("overwrite").options(**plain).option("dbtable", beside).save()
        _send(frame.sparkSession, plain, [f"CREATE TABLE IF NOT EXISTS {table} (LIKE {beside})", *steps])
    finally:
        with contextlib.suppress(Exception):  # what went wrong before is told
            _send(frame.sparkSession, plain, [f"DROP TABLE IF EXISTS {beside}"])


def _send(spark: Any, options: Mapping[str, Any], steps: list[str]) -> None:
    """Have statements run, all of them or none."""
    reader = spark.read.format("jdbc").options(**options).option("query", "SELECT 1 AS done")
    reader.option("sessionInitStatement", f"DO $sash$ BEGIN {'; '.join(steps)}; END $sash$").load().collect()


def _once(done: str, steps: list[str], query: str, number: int) -> list[str]:
    """The steps, unless the batch is in already."""
    known = f"SELECT FROM {done} WHERE query = $s${query}$s$ AND batch >= {number}"
    steps = [f"DELETE FROM {done} WHERE query = $s${query}$s$", *steps]
    steps.append(f"INSERT INTO {done} VALUES ($s${query}$s$, {number})")
    return [
        f"CREATE TABLE IF NOT EXISTS {done} (query text PRIMARY KEY, batch bigint)",
        f"IF NOT EXISTS ({known}) THEN {'; '.join(steps)}; END IF",
    ]
