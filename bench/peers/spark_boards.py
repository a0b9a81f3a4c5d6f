"""Hot items and a fraud board on Structured Streaming, as micro-batches in steady state, beside Spark's ``window()``.

Hot items are Nexmark's query 5: bids of each auction in the last hour, each minute, and of these the most, which
``foreachBatch`` finds in both. The fraud board has the sum, the count, the different merchants and the median of each
card, each minute. Spark copies a payment into each window that it is in: 61 for the last minute and the last hour, and
11,581 with the last 24 hours and 7 days, so that only the former are asked of both, and all four of Sash alone. Answers
are compared over the windows that both have given.
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
from sash import functions as sf

TITLE = "Hot items and a fraud board on Structured Streaming"
QUICK = False
BATCHES = 9
MINUTE = 60 * 10**6  # microseconds
PER_BATCH = 10  # minutes of event time
START = 1_767_225_600_000_000
SHORT, LONG = {"1 minute": 1, "1 hour": 60}, {"1 minute": 1, "1 hour": 60, "24 hours": 1_440, "7 days": 10_080}


def events(count, keys, batches):
    """Events of keys, in order: bids of auctions, or payments by card."""
    random = np.random.default_rng(13)
    rows = count * batches
    at = START + np.arange(rows) * (PER_BATCH * MINUTE) // count
    columns = {"ts": pa.array(at, pa.timestamp("us", "UTC")), "key": random.integers(0, keys, rows)}
    return pa.table(
        columns | {"amount": random.lognormal(3, 1, rows).round(2), "merchant": random.integers(0, 5_000, rows)}
    )


def streamed(count, keys, batches):
    spark = session(spark__sql__shuffle__partitions="2", spark__sql__execution__arrow__maxRecordsPerBatch="100000")
    reader = spark.readStream.schema("ts timestamp, key bigint, amount double, merchant bigint")
    folder = stored(f"boards-{count}-{keys}-{batches}", partial(events, count, keys, batches), batches)
    return reader.option("maxFilesPerTrigger", 1).parquet(str(folder))


def bids_by_sash(frame):
    board = sash.stream(frame, time="ts", key="key", watermark="0 seconds")
    return [board.query("bids", sf.count(), range="1 hour", slide="1 minute").results()]


def bids_by_spark(frame):
    window = F.window("ts", "1 hour", "1 minute")
    counts = frame.withWatermark("ts", "0 seconds").groupBy(window, "key").agg(F.count("*").alias("bids"))
    return [counts.select("key", F.col("window.end").alias("window_end"), "bids")]


def hottest(batch):
    """The most bids of each window: by window, so that both can be compared."""
    most = batch.groupBy("window_end").agg(F.max(F.struct("bids", "key")).alias("most"))
    return [(row["window_end"], *row["most"]) for row in most.collect()]


def payments_by_sash(frame, ranges=SHORT):
    board = sash.stream(frame, time="ts", key="key", watermark="0 seconds")
    for length, minutes in ranges.items():
        calls = {"total": sf.sum("amount"), "n": sf.count(), "merchants": sf.count_distinct("merchant"),
                 "middle": sf.median("amount")}  # fmt: skip
        board = board.query({f"{name}_{minutes}": call for name, call in calls.items()}, range=length, slide="1 minute")
    return [board.results()]


def payments_by_spark(frame, ranges=SHORT):
    """One query for each range, all at once; distinct values are not counted in streams, but may be collected."""
    frames = []
    for length, minutes in ranges.items():
        calls = {"total": F.sum("amount"), "n": F.count("*"), "merchants": F.size(F.collect_set("merchant")),
                 "middle": F.median("amount")}  # fmt: skip
        columns = [call.alias(f"{name}_{minutes}") for name, call in calls.items()]
        groups = frame.withWatermark("ts", "0 seconds").groupBy(F.window("ts", length, "1 minute"), "key").agg(*columns)
        frames.append(groups.withColumn("window_end", F.col("window.end")).drop("window"))
    return frames


def summed(batch):
    """Sums over the keys of each window, so that both can be compared."""
    names = [name for name in batch.columns if name not in ("key", "window_end")]
    sums = batch.groupBy("window_end").agg(*(F.sum(name).alias(name) for name in names))
    return [(row["window_end"], name, row[name]) for row in sums.collect() for name in names if row[name] is not None]


def drained(frames, found):
    """How long each batch with rows took, in seconds, of queries that run at once, and what answers have."""
    folder, answers, running = tempfile.mkdtemp(dir=FOLDER), [], []
    for place, frame in enumerate(frames):
        writer = frame.writeStream.foreachBatch(lambda batch, _: answers.extend(found(batch)))
        writer = writer.outputMode("append").option("checkpointLocation", f"{folder}/{place}")
        running.append(writer.trigger(availableNow=True).start())
    for query in running:
        query.awaitTermination()
    shutil.rmtree(folder, ignore_errors=True)
    every = [[each.durationMs["triggerExecution"] / 1000 for each in query.recentProgress if each.numInputRows]
             for query in running]  # fmt: skip
    return [max(times) for times in zip(*every, strict=True)], answers


def agree(mine, theirs):
    """Raise unless answers to windows that both have are the same; the last ones depend on when a query stops."""
    known = {row[0] for row in mine} & {row[0] for row in theirs}
    one, other = (sorted(row for row in rows if row[0] in known) for rows in (mine, theirs))
    same = len(one) == len(other) and all(
        a[:-1] == b[:-1] and (a[-1] == b[-1] or np.isclose(a[-1], b[-1], rtol=1e-6))
        for a, b in zip(one, other, strict=True)
    )
    if len(known) < 10 or not same:
        raise AssertionError(f"Spark has other answers to {len(known)} windows: {other[:2]}, Sash {one[:2]}")


def run(bench):
    batches, share = bench.pick(BATCHES, 3), bench.pick(1, 50)
    cases = [
        ("hot items", 200_000, 10_000, bids_by_sash, bids_by_spark, hottest),
        ("fraud board, 1 minute and 1 hour", 20_000, 1_000, payments_by_sash, payments_by_spark, summed),
        ("fraud board, all four ranges", 20_000, 1_000, partial(payments_by_sash, ranges=LONG), None, summed),
    ]
    lines = []
    for name, count, keys, ours, theirs, found in cases:
        took, mine = drained(ours(streamed(count // share, keys, batches)), found)
        steady, other = median(took[len(took) // 3 :]), None
        if theirs is not None:
            took, given = drained(theirs(streamed(count // share, keys, batches)), found)
            agree(mine, given)
            other = median(took[len(took) // 3 :])
        label = f"{name}: {count // share:,} events a batch of {PER_BATCH} minutes, {keys:,} keys"
        bench.record(f"{label}, Sash", steady, "s")
        lines.append([label, steady, other, None if other is None else other / steady])
    bench.table("a micro-batch: seconds", ["", "Sash", "Spark", "Spark over Sash"], lines)
