"""Micro-batches in steady state on Structured Streaming, as a user would run them: beside Spark's ``window()``.

Events from Parquet files, one a trigger and a minute of events in each, to Spark's noop sink; max and avg, two shuffle
partitions, RocksDB with changelog checkpointing. What counts is how long Spark says that a batch took: the median of
those after the first third. The first batch, which starts the query, is a column of its own.
"""

from __future__ import annotations

import os
import shutil
import tempfile
from functools import partial
from statistics import median

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F

import sash
from bench.harness.machine import core_seconds
from bench.peers._spark import FOLDER, session, stored
from sash import functions as sf

TITLE = "Micro-batches in steady state"
QUICK = False
BATCHES = 6
PAUSE = 0.05  # between two looks at a query, in seconds
MINUTE = 60 * 10**6  # microseconds of event time in a batch
CASES = [  # events a batch, keys, range and slide in seconds
    (100_000, 100, 60, 10),
    (200_000, 10_000, 60, 60),
    (1_000_000, 1_000, 300, 10),
    (200_000, 10_000, 600, 10),
]


def events(count, keys, batches):
    """So many events a batch, a little out of order within four seconds."""
    random = np.random.default_rng(11)
    rows = count * batches
    at = np.arange(rows) * MINUTE // count + random.integers(0, 4 * 10**6, rows)
    moments = pa.array(1_767_225_600_000_000 + at, pa.timestamp("us", "UTC"))
    return pa.table({"ts": moments, "key": random.integers(0, keys, rows), "value": random.random(rows)})


def streamed(count, keys, batches):
    spark = session(spark__sql__shuffle__partitions="2", spark__sql__execution__arrow__maxRecordsPerBatch="100000")
    reader = spark.readStream.schema("ts timestamp, key bigint, value double").option("maxFilesPerTrigger", 1)
    folder = stored(f"steady-{count}-{keys}-{batches}", partial(events, count, keys, batches), batches)
    return reader.parquet(str(folder))


def by_sash(frame, length, slide):
    board = sash.stream(frame, time="ts", key="key", watermark="10 seconds")
    calls = {"most": sf.max("value"), "mean": sf.avg("value")}
    return board.query(calls, range=f"{length} seconds", slide=f"{slide} seconds").results()


def by_spark(frame, length, slide):
    window = F.window("ts", f"{length} seconds", f"{slide} seconds")
    calls = F.max("value").alias("most"), F.avg("value").alias("mean")
    return frame.withWatermark("ts", "10 seconds").groupBy(window, "key").agg(*calls)


def durations(frame):
    """How long each batch with rows took, in seconds."""
    return costs(frame)[0]


def costs(frame):
    """The same, and the seconds of cores that one took of those after the first third, of the JVM and its workers."""
    folder = tempfile.mkdtemp(dir=FOLDER)
    writer = frame.writeStream.format("noop").outputMode("append").option("checkpointLocation", folder)
    query, cores = writer.trigger(availableNow=True).start(), {}
    while query.isActive:
        query.awaitTermination(PAUSE)
        if query.lastProgress:
            cores.setdefault(query.lastProgress.batchId, core_seconds(os.getpid()))
    shutil.rmtree(folder, ignore_errors=True)
    took = [each.durationMs["triggerExecution"] / 1000 for each in query.recentProgress if each.numInputRows]
    (first, begin), *_, (last, end) = (
        (number, at) for number, at in cores.items() if len(took) // 3 <= number < len(took)
    )
    return took, (end - begin) / (last - first)


def by_twenty(frame, length, slide):
    """Twenty queries of one board: five aggregates over four ranges, up to the one of the others."""
    board = sash.stream(frame, time="ts", key="key", watermark="10 seconds")
    for part in (1, 2, 3, 4):
        calls = {f"{name}{part}": getattr(sf, name)("value") for name in ("max", "min", "sum", "count", "avg")}
        board = board.query(calls, range=f"{length // part // slide * slide} seconds", slide=f"{slide} seconds")
    return board.results()


def run(bench):
    batches, share = bench.pick(BATCHES, 3), bench.pick(1, 100)
    firsts, cores = [], []
    for count, keys, length, slide in CASES:
        count //= share
        name = f"a micro-batch of {count:,} events, {keys:,} keys, {length} s every {slide} s"
        steady, worked = [], []
        for who, answer in (("Sash", by_sash), ("Spark", by_spark)):
            took, core = costs(answer(streamed(count, keys, batches), length, slide))
            worked.append(core)
            firsts.append([f"{who}: {name}", took[0]])
            steady.append(median(took[len(took) // 3 :]))
        bench.compared(name, steady[0], "Spark", steady[1])
        cores.append([name, *worked, worked[1] / worked[0]])
    bench.table("seconds of cores, of the JVM and its workers", ["", "Sash", "Spark", "Spark over Sash"], cores)
    count, keys, length, slide = CASES[-1]
    frame = streamed(count // share, keys, batches)
    took = {}
    for queries, answer in ((1, by_sash), (20, by_twenty)):
        each = durations(answer(frame, length, slide))
        took[queries] = median(each[len(each) // 3 :])
    head = ["events a batch", "1 query", "20 queries", "ratio"]
    name = f"{count // share:,} events, {keys:,} keys, up to {length} s every {slide} s"
    bench.table("queries of one board: seconds", head, [[name, took[1], took[20], took[20] / took[1]]])
    bench.table("the first batch of each query, in this order in one session: seconds", ["", "first batch"], firsts)
