"""The same on Spark, from Parquet files: beside a range join with aggregation, on what that finishes in ten minutes."""

from __future__ import annotations

import threading
from functools import partial

import sash
from bench.harness import Stopped
from bench.peers._other_tables_cases import BACK, RANGE_JOIN, asked, events, labels, window
from bench.peers._spark import consumed, session, stored

TITLE = "Frames over another table, on Spark"
QUICK = False
LIMIT = 200.0  # seconds of Spark's join


def run(bench):
    spark = session(spark__sql__shuffle__partitions="4")
    for share in bench.pick((10, 1), (1000,)):
        counts = {"labels": 2_000_000 // share, "events": 10_000_000 // share}
        for name, make in (("labels", labels), ("events", events)):
            folder = stored(f"other-{name}-{counts[name]}", partial(make, counts[name]), 4)
            spark.read.parquet(str(folder)).createOrReplaceTempView(name)
        for name, seconds in BACK.items():
            task = f"count, sum, distinct, median of {name}, {counts['labels']:,} rows and {counts['events']:,}"
            bench.duel(task, partial(by_sash, spark, seconds), {"Spark, range join": partial(joined, spark, seconds)})


def by_sash(spark, seconds):
    consumed(sash.withColumns(spark.table("labels"), asked(window(spark.table("events"), seconds))))


def joined(spark, seconds):
    """Spark's join and aggregation; ``Stopped`` where it takes longer than the limit."""
    over = threading.Event()

    def stop():
        over.set()
        spark.sparkContext.cancelAllJobs()

    timer = threading.Timer(LIMIT, stop)
    timer.start()
    try:
        consumed(spark.sql(RANGE_JOIN.format(seconds)))
    except Exception:
        if over.is_set():
            raise Stopped(LIMIT) from None
        raise
    finally:
        timer.cancel()
