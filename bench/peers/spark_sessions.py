"""Sessions on Structured Streaming in steady state, as a user would run them: beside Spark's ``session_window()``.

Events from Parquet files, one a trigger and ten minutes of events in each, to Spark's noop sink; count, max and avg of
sessions of one minute, two shuffle partitions, RocksDB with changelog checkpointing. Keys are busy for some minutes,
and then quiet for more than a gap, so that in each batch sessions end, go on and begin. What counts is how long Spark
says that a batch took, as in ``peers.spark_steady``. Before that, both write what they answer, and that is compared.
"""

from __future__ import annotations

import shutil
import tempfile
from functools import partial
from statistics import median

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F

import sash
from bench.peers._spark import FOLDER, session, stored
from bench.peers.spark_steady import durations
from sash import functions as sf

TITLE = "Sessions in steady state"
QUICK = False
BATCHES = 9
SPAN = 600 * 10**6  # microseconds of event time in a batch
BUSY = 300 * 10**6  # of these, how long a key has events
GAP = "1 minute"
CASES = [(200_000, 100), (200_000, 10_000), (1_000_000, 10_000)]  # events a batch, keys


def visits(count, keys, batches):
    """So many events a batch, each key's in five of ten minutes or so, a little out of order within four seconds.

    No two of a key are exactly a gap apart, which Spark takes for one session, and Sash for two.
    """
    random = np.random.default_rng(13)
    rows = count * batches
    at = np.arange(rows) * SPAN // count
    key = random.integers(0, keys, rows)
    at = at // SPAN * SPAN + at % BUSY
    at += (key * 2_654_435_761 + at // SPAN * 40_503) % 997 * BUSY // 997 + random.integers(0, 10**6, rows)
    order = np.argsort(at + random.integers(0, 4 * 10**6, rows), kind="stable")
    moments = pa.array(1_767_225_600_000_000 + at[order], pa.timestamp("us", "UTC"))
    return pa.table({"ts": moments, "key": key[order], "value": random.random(rows)})


def streamed(count, keys, batches):
    spark = session(spark__sql__shuffle__partitions="2", spark__sql__execution__arrow__maxRecordsPerBatch="100000")
    reader = spark.readStream.schema("ts timestamp, key bigint, value double").option("maxFilesPerTrigger", 1)
    return reader.parquet(
        str(stored(f"visits-{count}-{keys}-{batches}", partial(visits, count, keys, batches), batches))
    )


def by_sash(frame):
    board = sash.stream(frame, time="ts", key="key", watermark="10 seconds")
    calls = {"n": sf.count(), "most": sf.max("value"), "mean": sf.avg("value")}
    return board.query(calls, range=sash.session(GAP)).results()


def by_spark(frame):
    calls = F.count("*").alias("n"), F.max("value").alias("most"), F.avg("value").alias("mean")
    sessions = frame.withWatermark("ts", "10 seconds").groupBy(F.session_window("ts", GAP), "key").agg(*calls)
    return sessions.select("key", F.col("session_window.end").alias("window_end"), "n", "most", "mean")


def answers(frame, until):
    """What a query writes of sessions that end by a time that both have passed, in an order."""
    folder = tempfile.mkdtemp(dir=FOLDER)
    writer = frame.writeStream.format("parquet").outputMode("append").option("checkpointLocation", f"{folder}/c")
    writer.option("path", f"{folder}/out").trigger(availableNow=True).start().awaitTermination()
    rows = session().read.parquet(f"{folder}/out").select("key", "window_end", "n", "most", "mean").toPandas()
    shutil.rmtree(folder, ignore_errors=True)
    rows = rows[rows["window_end"].astype("datetime64[us]").astype("int64") <= until]
    return rows.sort_values(["key", "window_end"], ignore_index=True)


def compare(count, keys, batches):
    """Refuse to time answers that differ."""
    until = 1_767_225_600_000_000 + (batches - 1) * SPAN
    mine, theirs = (answers(answer(streamed(count, keys, batches)), until) for answer in (by_sash, by_spark))
    exact = ["key", "window_end", "n", "most"]
    if (
        not len(mine)
        or not mine[exact].equals(theirs[exact])
        or not np.allclose(mine["mean"], theirs["mean"], rtol=1e-12)
    ):
        raise AssertionError(f"Spark has other sessions: {len(theirs)}, Sash {len(mine)}")
    return len(mine)


def run(bench):
    batches, share = bench.pick(BATCHES, 3), bench.pick(1, 100)
    lines = []
    for count, keys in CASES:
        count //= share
        ended = compare(count, keys, batches)
        firsts, steady = [], []
        for answer in (by_sash, by_spark):
            took = durations(answer(streamed(count, keys, batches)))
            firsts.append(took[0])
            steady.append(median(took[len(took) // 3 :]))
        name = f"{count:,} events, {keys:,} keys, {ended // max(batches - 1, 1):,} sessions"
        lines.append([name, *steady, steady[1] / steady[0], *firsts])
    bench.table(
        "a micro-batch: seconds",
        ["events a batch", "Sash", "Spark", "Spark over Sash", "first batch, Sash", "Spark"],
        lines,
    )
