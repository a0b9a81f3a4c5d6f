"""Continuous queries on Structured Streaming: events from Parquet files, two a trigger, to Spark's noop sink.

Both keep state in RocksDB with changelog checkpointing, have two shuffle partitions and 100,000 rows in an Arrow batch.
The whole run counts, with the start of the query. Windows are ten minutes long; what differs is how often one ends.
Spark copies an event into range over slide windows, so that where there are many it gets fewer events of the same
hours, and what all would take follows from two such shares. That both give the same is the matter of
``tests/spark/test_streaming.py``.
"""

from __future__ import annotations

import shutil
import tempfile
from functools import partial

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as F

import sash
from bench.peers._spark import FOLDER, session, stored
from sash import functions as sf

TITLE = "Continuous queries on Structured Streaming"
QUICK = False
KEYS, RANGE, HOURS = 100, 600, 3
AGGREGATES = ("max", "min", "sum", "count", "avg")
CASES = [(1, 1, 1), (60, 1, 1), (60, 20, 1), (600, 1, 32)]  # range over slide, queries, the share that Spark can take


def events(count):
    """A little out of order, over the same hours however many they are."""
    random = np.random.default_rng(7)
    at = np.arange(count) * (HOURS * 3600 * 10**6 // count) + random.integers(0, 4 * 10**6, count)
    moments = pa.array(1_767_225_600_000_000 + at, pa.timestamp("us", "UTC"))
    return pa.table({"ts": moments, "key": random.integers(0, KEYS, count), "value": random.random(count)})


def streamed(count):
    spark = session(spark__sql__shuffle__partitions="2", spark__sql__execution__arrow__maxRecordsPerBatch="100000")
    reader = spark.readStream.schema("ts timestamp, key bigint, value double").option("maxFilesPerTrigger", 2)
    return reader.parquet(str(stored(f"events-{count}", partial(events, count), files=8)))


def ranges(queries):
    """One range with one aggregate, or four with five each."""
    return [RANGE] if queries == 1 else [RANGE // part for part in (1, 2, 3, 4)]


def by_sash(count, ratio, queries):
    board = sash.stream(streamed(count), time="ts", key="key", watermark="10 seconds")
    for length in ranges(queries):
        calls = {f"{name}_{length}": getattr(sf, name)("value") for name in AGGREGATES[: 1 if queries == 1 else None]}
        slide = f"{RANGE * 1000 // ratio} milliseconds" if ratio > 1 else None
        board = board.query(calls, range=f"{length} seconds", slide=slide)
    drained(board.results())


def by_spark(count, ratio, queries):
    """One query for each range, all at once."""
    calls = [getattr(F, name)("value").alias(name) for name in AGGREGATES[: 1 if queries == 1 else None]]
    frames = []
    for length in ranges(queries):
        slide = RANGE * 1000 // ratio if ratio > 1 else length * 1000
        window = F.window("ts", f"{length} seconds", f"{slide} milliseconds")
        frames.append(streamed(count).withWatermark("ts", "10 seconds").groupBy(window, "key").agg(*calls))
    drained(*frames)


def drained(*frames):
    """Run queries at once until all files have been read."""
    folder = tempfile.mkdtemp(dir=FOLDER)
    running = []
    for place, frame in enumerate(frames):
        writer = frame.writeStream.format("noop").outputMode("append")
        writer = writer.option("checkpointLocation", f"{folder}/{place}")
        running.append(writer.trigger(availableNow=True).start())
    for query in running:
        query.awaitTermination()
    shutil.rmtree(folder, ignore_errors=True)


def run(bench):
    count = bench.pick(1_000_000, 32_000)
    for ratio, queries, fewer in CASES:
        many = f"{queries} quer{'y' if queries == 1 else 'ies'}"
        name = f"{many}, {KEYS} keys, range over slide {ratio}, {count:,} events"
        shares = tuple(partial(by_spark, count // part, ratio, queries) for part in (fewer, 2 * fewer))
        peer = shares if fewer > 1 else shares[0]
        bench.duel(name, partial(by_sash, count, ratio, queries), {"Spark": peer}, share=1 / fewer)
