"""Continuous queries on Structured Streaming against Spark's ``window()``: ``make bench-spark-streams``.

Events from Parquet files, as many files a trigger as cores, to Spark's noop sink, until the files are read
(``availableNow``), in one session with two cores and two shuffle partitions. Both keep state in RocksDB with changelog
checkpointing, which is Spark's best. Sash and Spark take turns, after one run each to warm up. Windows are ten minutes
long; what differs is how often one ends. Spark copies an event into range / slide windows: where that would take
longer than the limit, it is given fewer events of the same stretch of time, as its line says, and its ratio, marked ~,
is of the time an event. The whole run is one figure; the other is a batch of a quarter of the events, once the query
runs: the median of those after the first. A run that takes three minutes is stopped.

``SASH_BENCH_EVENTS=100000`` tries it out; ``SASH_BENCH_LIMIT`` is in seconds, ``SASH_BENCH_REPEAT`` is how many times.
``python -m bench.spark_streams keys=100 ratios=1,60`` measures a part.
"""

from __future__ import annotations

import os
import shutil
import statistics
import sys
import tempfile
import time
from functools import cache
from pathlib import Path

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import sash
from bench.timing import machine, table
from sash import functions as sf
from sash.spark.java import ensure_java

EVENTS = int(os.environ.get("SASH_BENCH_EVENTS", 1_000_000))
LIMIT = float(os.environ.get("SASH_BENCH_LIMIT", 60))  # seconds that a run of Spark's own may take
STOP = 180  # seconds after which one is stopped
REPEAT = int(os.environ.get("SASH_BENCH_REPEAT", 3))
FOLDER = Path(__file__).parent.parent / "out" / "spark_streams"
CORES, FILES = 2, 8
HOURS = 3  # of event time
RANGE = 600  # seconds
KEYS, RATIOS = (100, 100_000), (1, 60, 600, 3600)
STORE = "spark.sql.streaming.stateStore"
NAMES = ("max", "min", "sum", "count", "avg")


@cache
def session():
    """Two cores, 6 GB, and Spark's best store of state."""
    ensure_java()
    conf = {
        "spark.master": f"local[{CORES}]",
        "spark.driver.memory": "6g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": str(CORES),
        "spark.local.dir": str(FOLDER / "scratch"),
        "spark.sql.warehouse.dir": str(FOLDER / "warehouse"),
        "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
        f"{STORE}.providerClass": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
        f"{STORE}.rocksdb.changelogCheckpointing.enabled": "true",
    }
    spark = SparkSession.builder.config(map=conf).getOrCreate()
    spark.sparkContext.setLogLevel("OFF")
    return spark


def events(count, keys):
    """A streaming DataFrame of so many events, a little out of order, over the same hours however many they are."""
    folder = FOLDER / f"{count}-{keys}"
    if not folder.exists():
        random = np.random.default_rng(7)
        time_of = np.arange(count) * (HOURS * 3600 * 10**6 // count) + random.integers(0, 4 * 10**6, count)
        columns = {
            "ts": pa.array(1_767_225_600_000_000 + time_of, pa.timestamp("us", "UTC")),
            "key": pa.array(random.integers(0, keys, count)),
            "value": pa.array(random.random(count)),
        }
        whole = pa.table(columns)
        folder.mkdir(parents=True)
        for place in range(FILES):
            part = whole.slice(place * count // FILES, (place + 1) * count // FILES - place * count // FILES)
            path = folder / f"{place:03}.parquet"
            pq.write_table(part, path)
            os.utime(path, (10**9 + place, 10**9 + place))  # Spark reads the older ones first
    reader = session().readStream.schema("ts timestamp, key bigint, value double")
    return reader.option("maxFilesPerTrigger", CORES).parquet(str(folder))


def ranges(queries):
    """The ranges of the windows: one, or four with five aggregates each."""
    return [RANGE] if queries == 1 else [RANGE // part for part in (1, 2, 3, 4)]


def by_sash(count, keys, ratio, queries):
    """The streaming DataFrame of Sash's answers."""
    board = sash.stream(events(count, keys), time="ts", key="key", watermark="10 seconds")
    names = NAMES[: 1 if queries == 1 else None]
    for length in ranges(queries):
        calls = {f"{name}_{length}": getattr(sf, name)("value") for name in names}
        slide = f"{RANGE * 1000 // ratio} milliseconds"
        board = board.query(calls, range=f"{length} seconds", slide=slide if ratio > 1 else None)
    return [board.results()]


def by_spark(count, keys, ratio, queries):
    """The streaming DataFrames of Spark's answers, one for each range."""
    names = NAMES[: 1 if queries == 1 else None]
    found = []
    for length in ranges(queries):
        slide = RANGE * 1000 // ratio if ratio > 1 else length * 1000
        window = F.window("ts", f"{length} seconds", f"{slide} milliseconds")
        calls = [getattr(F, name)("value").alias(name) for name in names]
        found.append(events(count, keys).withWatermark("ts", "10 seconds").groupBy(window, "key").agg(*calls))
    return found


def took(frames):
    """The seconds until all files have been read, and those of a batch after the first, one query after the other."""
    total = steady = 0.0
    stopped = False
    for frame in frames:
        checkpoint = tempfile.mkdtemp(dir=FOLDER)
        start = time.perf_counter()
        writer = frame.writeStream.format("noop").outputMode("append").option("checkpointLocation", checkpoint)
        query = writer.trigger(availableNow=True).start()
        stopped = stopped or not query.awaitTermination(STOP)
        query.stop()
        total += time.perf_counter() - start
        batches = [each.durationMs["triggerExecution"] for each in query.recentProgress if each.numInputRows]
        steady += statistics.median(batches[1:] or [0]) / 1000
        shutil.rmtree(checkpoint, ignore_errors=True)
    return np.array([total, steady, stopped])


def enough(keys, ratio, queries):
    """How many events Spark's own can be given within the limit."""
    count = EVENTS
    while count > EVENTS // 64:
        copies = count * ratio * (1 if queries == 1 else 25 / 12)
        if copies / 2.5e6 < LIMIT:  # copies a second that Spark makes here
            break
        count //= 2
    return count


def measured(keys, ratio, queries):
    """One line of the table."""
    fewer = enough(keys, ratio, queries)
    mine, theirs = [], []
    for turn in range(REPEAT + 1):
        mine.append(took(by_sash(EVENTS, keys, ratio, queries)))
        if turn == 0 or (not theirs[0][2] and (len(theirs) < 2 or theirs[-1][0] < LIMIT / 3)):
            theirs.append(took(by_spark(fewer, keys, ratio, queries)))
    own, spark = np.median(mine[1:], axis=0), np.median(theirs[1:] or theirs, axis=0)
    mark = "" if fewer == EVENTS else "~"
    times = [f"{mark}{each:.1f}" for each in spark[:2] * EVENTS / fewer / own[:2]]
    line = [f"{keys:,}", f"{ratio:,}", str(queries), f"{own[0]:.1f} s"]
    if spark[2]:
        return [*line, f"stopped, with {fewer:,}", f"> {times[0].lstrip('~')}", f"{own[1] * 1000:,.0f} ms", "", ""]
    return [*line, f"{spark[0]:.1f} s" + (f" of {fewer:,}" if mark else ""), times[0],
            f"{own[1] * 1000:,.0f} ms", f"{spark[1] * 1000:,.0f} ms", times[1]]  # fmt: skip


def main():
    """All that is asked for on the command line."""
    asked = dict(part.split("=") for part in sys.argv[1:])
    pick = lambda name, all_: [int(each) for each in asked[name].split(",")] if name in asked else all_  # noqa: E731
    print(machine())
    lines = []
    for keys in pick("keys", KEYS):
        for queries in pick("queries", (1, 20)):
            for ratio in pick("ratios", RATIOS):
                lines.append(measured(keys, ratio, queries))
                print(*lines[-1], sep=" | ", flush=True)
    head = [
        "keys",
        "range/slide",
        "queries",
        "Sash",
        "Spark",
        "times faster",
        "a batch, Sash",
        "a batch, Spark",
        "times",
    ]
    table(f"{EVENTS:,} events, windows of ten minutes", head, lines)


if __name__ == "__main__":
    main()
