"""Events that last, on Spark: calls by antenna in windows of ten minutes every ten seconds.

Against a join with a generated table of windows, and against windows exploded from each call, which is what an expert
writes.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pyarrow as pa

import sash
from bench.peers._spark import consumed, session, stored
from sash import functions as sf

TITLE = "Events that last, on Spark"
QUICK = False
JOINED = """
    with numbers as (
        select explode(sequence(
            floor(unix_seconds(min(start)) / 10) - 60, ceil(unix_seconds(max(end)) / 10))) as n from calls),
    windows as (select timestamp_seconds(n * 10) as lo, timestamp_seconds(n * 10 + 600) as hi from numbers)
    select antenna, hi as window_end, count(*) as busy, sum(bytes) as bytes
    from calls join windows on start < hi and end > lo group by antenna, hi"""
EXPLODED = """
    with placed as (
        select antenna, bytes, explode(sequence(
            floor(unix_seconds(start) / 10) - 59, ceil(unix_micros(end) / 1e7) - 1)) as n from calls)
    select antenna, timestamp_seconds(n * 10 + 600) as window_end, count(*) as busy, sum(bytes) as bytes
    from placed group by antenna, n"""


def calls(count):
    """Of two minutes on average, over three hours, by the end."""
    random, moment = np.random.default_rng(4), pa.timestamp("us", "UTC")
    ends = 1_767_225_600_000_000 + np.sort(random.integers(0, 3 * 3600 * 10**6, count))
    lengths = random.exponential(120e6, count).astype(np.int64)
    moments = {"start": pa.array(ends - lengths, moment), "end": pa.array(ends, moment)}
    return pa.table(moments | {"antenna": random.integers(0, 100, count), "bytes": random.random(count)})


def run(bench):
    count = bench.pick(1_000_000, 20_000)
    spark = session()
    frame = spark.read.parquet(str(stored(f"calls-{count}", partial(calls, count), files=4)))
    frame.createOrReplaceTempView("calls")
    board = sash.stream(frame, span=("start", "end"), key="antenna")
    board = board.query({"busy": sf.count(), "bytes": sf.sum("bytes")}, range="10 minutes", slide="10 seconds")
    peers = {"Spark, join": JOINED, "Spark, exploded": EXPLODED}
    sums = {tuple(each.selectExpr("count(*)", "sum(busy)", "round(sum(bytes))").first())
            for each in (board.results(), *map(spark.sql, peers.values()))}  # fmt: skip
    if len(sums) > 1:
        raise AssertionError(f"other answers: {sums}")
    tasks = {peer: lambda query=query: consumed(spark.sql(query)) for peer, query in peers.items()}
    bench.duel(f"count and sum of {count:,} calls, range over slide 60", lambda: consumed(board.results()), tasks)
