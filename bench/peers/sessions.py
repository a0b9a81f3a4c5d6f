"""Sessions of keys, from table to table, two threads each: rows of a key that are less than a gap apart.

Neither Polars nor DuckDB has sessions: both are asked as an expert would, by the times between the rows of a key and
a running sum over where these reach the gap.
"""

from __future__ import annotations

import os

os.environ |= {"SASH_THREADS": "2", "POLARS_MAX_THREADS": "2"}

import numpy as np
import polars as pl
import pyarrow as pa

import sash
from bench.peers._duckdb import Duck
from sash import functions as sf

TITLE = "Sessions, in process"
GAP = 5  # minutes
MINUTE = 60_000_000  # microseconds
BURST = 20  # rows

BY_HAND = f"""
    with marked as (select *, coalesce(ts - lag(ts) over w >= interval {GAP} minutes, true)::int as fresh
                    from events window w as (partition by key order by ts)),
         numbered as (select *, sum(fresh) over (partition by key order by ts rows unbounded preceding) as session
                      from marked)
    select max(ts) + interval {GAP} minutes as window_end, count(*) as n, max(value) as peak
    from numbered group by key, session order by window_end"""


def run(bench):
    rows = bench.pick(1_000_000, 50_000)
    for keys in (1, 100, 10_000):
        random = np.random.default_rng(0)
        bursts = np.arange(rows) // (BURST * keys)  # of twenty minutes, once an hour, with some rows of each key
        at = np.sort(bursts * 60 * MINUTE + random.integers(0, 20 * MINUTE, rows))
        data = pa.table({"ts": pa.array(at, pa.timestamp("us")), "key": random.integers(0, keys, rows),
                         "value": random.normal(size=rows)})  # fmt: skip
        asked = sash.stream(data, time="ts", key="key")
        asked = asked.query({"n": sf.count(), "peak": sf.max("value")}, range=sash.session(f"{GAP} minutes"))
        tasks = {"Polars, by hand": polars_task(data), "DuckDB, by hand": duckdb_task(data)}
        mine = sums(asked.results())
        for peer, task in tasks.items():
            theirs = sums(task())
            if mine != theirs:
                raise AssertionError(f"{peer} has other sessions: {theirs}, Sash {mine}")
        bench.duel(f"count and max, {keys:,} keys, {rows:,} events, {mine[0]:,} sessions", asked.results, tasks)


def polars_task(data):
    frame, gap = pl.from_arrow(data).lazy(), pl.duration(minutes=GAP)

    def task():
        fresh = (pl.col("ts").diff().over("key") >= gap).fill_null(value=True)
        numbered = frame.sort("key", "ts").with_columns(session=fresh.cum_sum().over("key"))
        sessions = numbered.group_by("key", "session").agg(
            window_end=pl.col("ts").max() + gap, n=pl.len(), peak=pl.col("value").max()
        )
        return sessions.sort("window_end").collect()

    return task


def duckdb_task(data):
    duck = Duck("events", data)
    return lambda: duck.answer(BY_HAND)


def sums(answers):
    """How many sessions there are, and sums that tell whether they are the same."""
    ends = np.asarray(answers["window_end"]).astype("datetime64[us]").astype(np.int64)
    counts, peaks = np.asarray(answers["n"], np.int64), np.asarray(answers["peak"])
    weights = ends // 1000 % 1009
    return len(ends), int(np.dot(counts, weights)), round(float(np.sort(peaks).sum()), 6)
