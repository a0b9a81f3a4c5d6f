"""Nexmark's query 5, hot items: the auctions with the most bids of the last hour, each minute; two threads each.

From table to table, and as a stream of one minute at a time. Polars' ``group_by_dynamic`` has no window of an auction
that begins before its first bid, and so does not answer this. By hand, the count of each auction and minute is put
into the sixty windows that it is in; for the stream, the counts of the last sixty minutes are kept.
"""

from __future__ import annotations

import os

os.environ |= {"SASH_THREADS": "2", "POLARS_MAX_THREADS": "2"}

from collections import deque
from functools import partial
from itertools import pairwise

import numpy as np
import polars as pl
import pyarrow as pa

import sash
from sash import functions as sf

TITLE = "Nexmark query 5: hot items"
MINUTE, HOUR = 60 * 10**6, 60  # microseconds, and minutes
HOURS = 6


def bids(rows, auctions):
    """Bids in order; most are on few auctions, which are others as time goes, as in Nexmark's generator."""
    random = np.random.default_rng(5)
    at = np.sort(random.integers(0, HOURS * 60 * MINUTE, rows))
    newest = at * auctions // (HOURS * 60 * MINUTE)
    hot = newest - newest % 100
    any_of_late = np.maximum(newest - random.geometric(100 / auctions, rows), 0)
    auction = np.where(random.random(rows) < 0.5, hot, any_of_late)
    return pa.table({"ts": pa.array(at, pa.timestamp("us")), "auction": auction, "price": random.random(rows)})


def counts(source, **settings):
    board = sash.stream(source, time="ts", key="auction", **settings)
    return board.query("bids", sf.count(), range="1 hour", slide="1 minute")


def hottest(answers):
    """The auctions with the most bids of each window; answers are sorted by the ends of windows."""
    ends, count = (answers[name].to_numpy() for name in ("window_end", "bids"))
    heads = np.flatnonzero(np.append(True, ends[1:] != ends[:-1]))
    most = np.repeat(np.maximum.reduceat(count, heads), np.diff(np.append(heads, len(ends))))
    return answers.filter(pa.array(count == most)).select(["window_end", "auction", "bids"])


def by_sash(table):
    return hottest(counts(table).results())


def pushed_to_sash(batches):
    operator = counts(batches[0].schema, watermark="0 seconds").open()
    answers = [operator.push(batch) for batch in batches]
    return pa.concat_tables([hottest(each) for each in (*answers, operator.close()) if each.num_rows])


def by_polars(frame):
    """A count for each auction and minute, in each of the sixty windows that it is in."""
    minutes = frame.group_by("auction", pl.col("ts").dt.truncate("1m")).agg(n=pl.len())
    copies = minutes.lazy().join(pl.LazyFrame({"later": np.arange(1, HOUR + 1)}), how="cross")
    ends = copies.with_columns(window_end=pl.col("ts") + pl.duration(minutes=pl.col("later")))
    return _hottest(ends.group_by("window_end", "auction").agg(bids=pl.col("n").sum())).collect()


def _hottest(every):
    most = every.filter(pl.col("bids") == pl.col("bids").max().over("window_end"))
    return most.select("window_end", "auction", "bids")


def pushed_to_polars(frames, first):
    """The counts of the last sixty minutes, which are joined each minute, until nothing is left of them."""
    held, answers = deque(maxlen=HOUR), []
    none = frames[0].clear().group_by("auction").agg(n=pl.len())
    for place in range(len(frames) + HOUR - 1):
        held.append(frames[place].group_by("auction").agg(n=pl.len()) if place < len(frames) else none)
        every = pl.concat(held).group_by("auction").agg(bids=pl.col("n").sum())
        most = every.filter(pl.col("bids") == pl.col("bids").max())
        answers.append(most.with_columns(window_end=pl.lit(first + np.timedelta64((place + 1) * MINUTE, "us"))))
    return pl.concat(answers)


def sums(answers):
    """How many answers there are, and sums that tell whether they are the same."""
    ends = np.asarray(answers["window_end"]).astype("datetime64[us]").astype(np.int64) // MINUTE
    auction, count = np.asarray(answers["auction"], np.int64), np.asarray(answers["bids"], np.int64)
    return len(ends), int(np.dot(ends % 1009, auction)), int(np.dot(ends % 997, count))


def run(bench):
    rows = bench.pick(2_000_000, 40_000)
    for auctions in (1_000, 100_000):
        table = bids(rows, auctions)
        frame, at = pl.from_arrow(table), table["ts"].to_numpy().astype(np.int64)
        edges = np.searchsorted(at, np.arange(HOURS * 60 + 1) * MINUTE)
        batches = [table.slice(lo, hi - lo) for lo, hi in pairwise(edges)]
        frames, first = [pl.from_arrow(batch) for batch in batches], np.datetime64(0, "us")
        whole = {"Polars, minutes by hand": partial(by_polars, frame)}
        minutes = {"Polars, last hour by hand": partial(pushed_to_polars, frames, first)}
        mine = sums(by_sash(table))
        for peer, task in {"Sash, pushed": partial(pushed_to_sash, batches), **whole, **minutes}.items():
            if (theirs := sums(task())) != mine:
                raise AssertionError(f"{peer} has other hot items: {theirs}, Sash {mine}")
        name = f"hot items, {auctions:,} auctions, {rows:,} bids"
        bench.duel(f"{name}, at once", partial(by_sash, table), whole)
        bench.duel(f"{name}, a minute a push", partial(pushed_to_sash, batches), minutes)
