"""From the end of a window to its answer, end to end: Spark's rate source, 10,000 events a second, no pause between
batches; windows of one second every 200 milliseconds, a watermark of 100 milliseconds.

The source stamps events and gives those of whole seconds, so that a second passes before the last of them are seen; an
answer then waits for the batch behind the one that moved the watermark. Both are Spark's, whoever answers. A window's
latency is what the clock says when foreachBatch has its answers, less where the window ends.
"""

from __future__ import annotations

import shutil
import tempfile
import time

import numpy as np
from pyspark.sql import functions as F

import sash
from bench.peers._spark import FOLDER, session
from sash import functions as sf

TITLE = "Latency of windows on Structured Streaming"
QUICK = False
RATE, KEYS = 10_000, 100
WARM, SECONDS = 15, 40  # before windows count; while they do
LENGTH, SLIDE, DELAY = "1 second", "200 milliseconds", "100 milliseconds"


def events():
    spark = session(spark__sql__shuffle__partitions="2", spark__sql__execution__arrow__maxRecordsPerBatch="100000")
    rate = spark.readStream.format("rate").option("rowsPerSecond", RATE).option("numPartitions", 2).load()
    return rate.selectExpr("timestamp as ts", f"value % {KEYS} as key", "cast(value as double) as value")


def by_sash():
    board = sash.stream(events(), time="ts", key="key", watermark=DELAY)
    calls = {"most": sf.max("value"), "mean": sf.avg("value")}
    return board.query(calls, range=LENGTH, slide=SLIDE).results()


def by_spark():
    grouped = events().withWatermark("ts", DELAY).groupBy(F.window("ts", LENGTH, SLIDE), "key")
    answers = grouped.agg(F.max("value").alias("most"), F.avg("value").alias("mean"))
    return answers.select("key", F.col("window.end").alias("window_end"), "most", "mean")


def latencies(frame, warm, seconds):
    """The seconds from the end of each window to its answers, once the query is warm."""
    folder, given, began = tempfile.mkdtemp(dir=FOLDER), [], []

    def put(batch, number):
        answers = batch.select(F.unix_micros("window_end").alias("end")).toArrow()
        now = time.time()
        began.append(now)
        if now - began[0] > warm:
            given.extend(now - np.unique(answers["end"].to_numpy()) / 1e6)

    query = frame.writeStream.foreachBatch(put).option("checkpointLocation", folder).outputMode("append").start()
    while not began or time.time() - began[0] < warm + seconds or not given:
        query.awaitTermination(1)
    query.stop()
    shutil.rmtree(folder, ignore_errors=True)
    return given


def run(bench):
    lines = []
    for name, answer in (("Sash", by_sash), ("Spark", by_spark)):
        found = latencies(answer(), bench.pick(WARM, 4), bench.pick(SECONDS, 6))
        lines.append([name, len(found), *(float(np.percentile(found, percent)) for percent in (50, 99))])
    bench.table(
        f"{RATE:,} events a second, {KEYS} keys: seconds from the end of a window to its answer",
        ["", "windows", "p50", "p99"],
        lines,
    )
