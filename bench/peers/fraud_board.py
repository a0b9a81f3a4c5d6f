"""A fraud board: what each card did in the last minute, hour, 24 hours and 7 days, every second; two threads each.

The sum, the count, the different merchants and the median of the amounts. A week of payments is there (as a
``history=``), and then seconds come one by one; what counts is the time of a second. Polars is asked as an expert
would: rows in order of time in memory, each range a slice of them, found by binary search, and grouped by card, all
four at once.
"""

from __future__ import annotations

import os

os.environ |= {"SASH_THREADS": "2", "POLARS_MAX_THREADS": "2"}

from functools import partial
from itertools import pairwise

import numpy as np
import polars as pl
import pyarrow as pa

import sash
from sash import functions as sf

TITLE = "A fraud board: four ranges by card, every second"
SECOND = 10**6
WEEK = 7 * 86_400  # seconds
RANGES = {"1 minute": 60, "1 hour": 3_600, "24 hours": 86_400, "7 days": WEEK}
FEW = 5  # seconds that warm up


def payments(rows, cards, seconds):
    """Payments of a week and some seconds more, in order; cards have their favourite merchants."""
    random = np.random.default_rng(3)
    at = np.sort(random.integers(0, (WEEK + seconds) * SECOND, rows))
    card = random.integers(0, cards, rows)
    merchant = np.where(random.random(rows) < 0.7, card * 7 % 5_000 + random.integers(0, 5, rows),
                        random.integers(0, 5_000, rows))  # fmt: skip
    names = pa.array([f"merchant {k}" for k in range(5_005)])
    columns = {"ts": pa.array(at, pa.timestamp("us")), "card": card, "amount": random.lognormal(3, 1, rows).round(2)}
    return pa.table(columns | {"merchant": names.take(pa.array(merchant))})


def board(source, **more):
    """Four ranges of four functions; the columns of a range end with its length in seconds."""
    stream = sash.stream(source, time="ts", key="card", **more)
    for length, seconds in RANGES.items():
        calls = {"total": sf.sum("amount"), "count": sf.count(), "merchants": sf.count_distinct("merchant"),
                 "middle": sf.median("amount")}  # fmt: skip
        calls = {f"{name}_{seconds}": call for name, call in calls.items()}
        stream = stream.query(calls, range=length, slide="1 second")
    return stream


class Polars:
    """Rows in order in memory; a second is some rows more, and four groups."""

    def __init__(self, table):
        self.frame, self.at = pl.from_arrow(table), table["ts"].to_numpy().astype(np.int64)

    def answer(self, end):
        """What the windows hold that end at a time."""
        asked = []
        for seconds in RANGES.values():
            lo, hi = np.searchsorted(self.at, (end - seconds * SECOND, end))
            asked.append(self.frame[int(lo) : int(hi)].lazy().group_by("card").agg(
                pl.col("amount").sum().alias(f"total_{seconds}"), pl.len().alias(f"count_{seconds}"),
                pl.col("merchant").n_unique().alias(f"merchants_{seconds}"),
                pl.col("amount").median().alias(f"middle_{seconds}")))  # fmt: skip
        *few, every = pl.collect_all(asked)
        for each in few:
            every = every.join(each, on="card", how="left")
        return every


def sums(answers):
    """Sums that tell whether answers are the same; a card without a row in a window counts as zero there."""
    card = np.asarray(answers["card"], np.int64)
    found = [len(card)]
    for seconds in RANGES.values():
        for name in ("total", "count", "merchants", "middle"):
            values = np.nan_to_num(np.asarray(answers[f"{name}_{seconds}"], np.float64))
            found.append(round(float(np.dot(values, card % 1009)), 3))
    return found


def run(bench):
    rows = bench.pick(1_000_000, 50_000)
    seconds = bench.pick(20, 3)
    for cards in (100, 1_000, 10_000):
        table = payments(rows, cards, FEW + 8 * seconds)
        at = table["ts"].to_numpy().astype(np.int64)
        edges = np.searchsorted(at, (WEEK + np.arange(FEW + 8 * seconds + 1)) * SECOND)
        batches = [table.slice(lo, hi - lo) for lo, hi in pairwise(edges)]
        week = board(table.slice(0, int(edges[0]))).partials()
        operator = board(table.schema, watermark="0 seconds", history=week).open()
        peer = Polars(table)
        for place in range(FEW):
            mine = sums(pushed(operator, batches[place], WEEK + place + 1))
            theirs = sums(peer.answer((WEEK + place + 1) * SECOND))
            if not np.allclose(mine, theirs, rtol=1e-9):
                raise AssertionError(f"Polars has other answers at second {place}: {theirs}, Sash {mine}")
        name = f"{cards:,} cards, {rows:,} payments of a week, {seconds} seconds"
        clocks = {"Sash": Clock(seconds), "Polars": Clock(seconds)}
        mine = partial(
            clocks["Sash"].run, lambda place, to=operator, of=batches: pushed(to, of[place], WEEK + place + 1)
        )
        theirs = partial(clocks["Polars"].run, lambda place, of=peer: of.answer((WEEK + place + 1) * SECOND))
        bench.duel(name, mine, {"Polars, by hand": theirs})


class Clock:
    """Seconds that go on from round to round."""

    def __init__(self, seconds):
        self.seconds, self.place = seconds, FEW

    def run(self, answer):
        for _ in range(self.seconds):
            answer(self.place)
            self.place += 1


def pushed(operator, batch, second):
    """The answers at a second, by its rows and by the clock, as not each second has a row."""
    parts = [operator.push(batch), operator.advance(np.datetime64(second * SECOND, "us").astype(object))]
    return pa.concat_tables([part for part in parts if part.num_rows] or parts[:1])
