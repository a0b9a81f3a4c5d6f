"""Rows into PostgreSQL through Spark's JDBC: beside the table first, then into it in one transaction, once.

Spark commits each partition on its own, so that a failure would leave a part. Here all partitions go into a table
beside; then one statement, which PostgreSQL takes as one transaction, moves the rows. Spark has no way to send a
statement but the one that opens a session to read, which is what is used.

Spark tries tasks again, and may run one twice at a time, also when the first attempt has done its work and only the
answer was lost. So each attempt must be harmless after any other: a row beside has the number of its partition, and
of each partition the rows of one transaction count; and a write has a token, which the transaction that moves its
rows marks as committed, so that no other does it again.
"""

from __future__ import annotations

import contextlib
import json
import re
import uuid
from collections.abc import Mapping
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F

from sash.errors import SashError
from sash.spark import processes
from sash.spark.postgres_books import NAME, Books, Planned, text

# What would end transactions at other moments than those here, or would not be done.
REFUSED = {
    "fetchsize": "a sink fetches nothing; Spark would leave transactions open for it, and not tell when they fail",
    "truncate": "rows are replaced in one transaction with the new ones",
    "cascadetruncate": "rows are replaced in one transaction with the new ones",
    "createtableoptions": "the table keeps its definition: make it yourself before the first run",
    "tablecomment": "the table keeps its definition: make it yourself before the first run",
    "sessioninitstatement": "Spark runs it for reads only; set what it sets for the database's user",
    "query": "a sink has a table",
    "preparequery": "a sink has a table",
    "autosave": "each partition is one transaction, without points to go back to",
}
# Spark's own, of writing or reading, which do not go along with the statements sent here.
OF_WRITING = {"batchsize", "createtablecolumntypes", "isolationlevel", "numpartitions", "querytimeout"}
OF_READING = {"partitioncolumn", "lowerbound", "upperbound", "customschema", "hint"}
URL = "jdbc:postgresql:"  # what a place begins with
DONE = "SELECT 1 AS done"
TOKEN = re.compile(r"[0-9a-f]{32}")


class Unknown(SashError):
    """Nobody can say now whether rows are in."""


def is_postgres(options: Mapping[str, Any]) -> bool:
    """Whether a database is one that takes what is done here."""
    return str(options.get("url", "")).lower().startswith(URL)


def with_driver(options: Mapping[str, Any]) -> dict[str, Any]:
    """Options of JDBC with PostgreSQL's driver named: Java does not look for one in jars that come with a session."""
    return {**({"driver": "org.postgresql.Driver"} if is_postgres(options) else {}), **options}


def check(options: Mapping[str, Any], table: str) -> None:
    """Refuse a sink without a table, or with an option by which rows could be lost or come twice."""
    if NAME.fullmatch(table) is None:
        raise SashError(f"a jdbc sink needs a table, such as public.delays, got {table!r}")
    if not is_postgres(options):
        return
    for name, value in options.items():
        reason = REFUSED.get(name.lower())
        if reason is not None:
            raise SashError(f"a PostgreSQL sink does not take the option {name}: {reason}")
        if name.lower() == "isolationlevel" and str(value).upper() == "NONE":
            raise SashError(f"a PostgreSQL sink does not take {name} = {value}: each partition is one transaction")
    if re.search(r"[?&]autosave=", str(options.get("url", "")), re.IGNORECASE):
        raise SashError(f"a PostgreSQL sink does not take autosave in its url: {REFUSED['autosave']}")


def exists(spark: Any, options: Mapping[str, Any], table: str) -> bool:
    """Whether there is a table."""
    return bool(_asked(spark, options, f"SELECT to_regclass({text(table)}) IS NOT NULL AS there")["there"])


def write(frame: DataFrame, options: Mapping[str, Any], table: str, append: bool, batch: Planned | None = None) -> None:
    """Put rows into a table, all or none, and once; a batch of a stream also when it comes again.

    Raises:
        SashError: a batch of a stream has the number of one that is in, and is another one; or the database cannot
            be reached any more, so that it is not known whether the rows are in.

    """
    check(options, table)
    spark, books = frame.sparkSession, Books(table, uuid.uuid4().hex, batch)
    _asked(spark, options, DONE, books.begin(processes.place(), processes.own()))
    try:
        known = _asked(spark, options, books.known())
        _sweep(spark, options, books, json.loads(known["writes"]))
        if not books.is_in(json.loads(known["commits"])):
            _stage(frame, options, books)
            _commit(spark, options, books, frame.columns, append)
    except Unknown:
        raise  # the books tell, later
    except BaseException:
        _end(spark, options, books)
        raise
    _end(spark, options, books)


def _end(spark: Any, options: Mapping[str, Any], books: Books) -> None:
    """Remove what is beside; where that fails, the next write does it."""
    with contextlib.suppress(Exception):
        _asked(spark, options, DONE, books.end())


def _stage(frame: DataFrame, options: Mapping[str, Any], books: Books) -> None:
    """Put rows into the table beside, with the numbers of their partitions."""
    numbered = frame.withColumn(books.partition, F.spark_partition_id())
    own_options = {
        key: value for key, value in with_driver(options).items() if key.lower() not in {"dbtable", *OF_READING}
    }
    numbered.write.format("jdbc").mode("append").options(**own_options).option("dbtable", books.staging).save()


def _commit(spark: Any, options: Mapping[str, Any], books: Books, columns: list[str], append: bool) -> None:
    """Move the rows; where an error hides whether that was done, see to it that it is known."""
    try:
        state = _asked(spark, options, books.state(), books.commit(columns, append))["state"]
    except BaseException as error:
        try:
            state = _asked(spark, options, books.state(), books.abandon())["state"]
        except Exception:
            raise Unknown(
                f"the connection was lost as rows went into {books.table}, and cannot be had again: they are in it if "
                f"{books.writes} says that {books.token} is committed, and can still come in until the database has "
                "ended that connection"
            ) from error
        if state != "committed" or not isinstance(error, Exception):
            raise
    if state != "committed":
        raise SashError(
            f"the rows for {books.table} are not in it: what was beside ({books.staging}) was taken for left behind, "
            "and removed; write them again"
        )


def _sweep(spark: Any, options: Mapping[str, Any], books: Books, writes: list[dict[str, Any]]) -> None:
    """Remove what writes that were killed have left beside; never what belongs to one that goes on."""
    here = processes.place()
    dead = [
        each["token"]
        for each in writes
        if each["token"] != books.token and TOKEN.fullmatch(each["token"]) and is_dead(each, here)
    ]
    if dead:
        with contextlib.suppress(Exception):  # the next write tries again
            _asked(spark, options, DONE, books.sweep(dead))


def is_dead(write: Mapping[str, Any], here: str) -> bool:
    """Whether nobody goes on with a write: as its process tells where it is of this place; else, as its age does."""
    if write["ended"]:
        return True
    if here and write["place"] == here and processes.FORM.fullmatch(write["process"]):
        return not processes.lives(write["process"])
    return bool(write["old"])


def _asked(spark: Any, options: Mapping[str, Any], query: str, first: str | None = None) -> Any:
    """The one row of a query; before it, a statement, which may be run more than once.

    Options of Spark's do not go along. With a fetch size, which Spark 4.3 has by default, it would commit only when
    it closes the connection, and not tell when that fails.
    """
    ours = {"dbtable", *REFUSED, *OF_WRITING, *OF_READING}
    own_options = {key: value for key, value in with_driver(options).items() if key.lower() not in ours}
    reader = spark.read.format("jdbc").options(**own_options).option("fetchsize", 0).option("query", query)
    reader = reader if first is None else reader.option("sessionInitStatement", first)
    return (reader.load().collect() or [{"state": None}])[0]
