"""Rolling aggregates of doubles: arrays in, arrays out, one thread each, which is all that the peers have.

All answer the first rows, too, from as many as there are. numbagg has neither maximum nor median. bottleneck, numbagg
and pandas add what enters and subtract what leaves, for means and standard deviations.
"""

from __future__ import annotations

import os

os.environ["SASH_THREADS"] = "1"
os.environ["POLARS_MAX_THREADS"] = "1"

from functools import partial

import bottleneck
import numbagg
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

import sash
from sash import Window
from sash import functions as sf
from sash.engine import slide

TITLE = "Rolling max, mean, standard deviation and median"
TASKS = {  # Sash, Polars, pandas, bottleneck, numbagg
    "max": (sf.max("x"), "rolling_max", "max", bottleneck.move_max, None),
    "mean": (sf.avg("x"), "rolling_mean", "mean", bottleneck.move_mean, numbagg.move_mean),
    "stddev": (sf.stddev("x"), "rolling_std", "std", partial(bottleneck.move_std, ddof=1), numbagg.move_std),
    "median": (sf.median("x"), "rolling_median", "median", bottleneck.move_median, None),
}


def run(bench):
    for name in TASKS:
        for size in (1_000, bench.pick(100_000, 10_000)):
            duel(bench, name, size, bench.pick(2_000_000 if name == "median" else 10_000_000, 100_000))


def duel(bench, name, size, rows):
    """One aggregate over windows of one size."""
    values = np.random.default_rng(0).normal(size=rows)
    call, polars, pandas, bottle, numba = TASKS[name]
    data, series, column = pa.table({"n": np.arange(rows), "x": values}), pl.Series(values), pd.Series(values)
    framed = {"answer": call.over(Window.orderBy("n").rowsBetween(1 - size, 0))}
    peers = {
        "Polars": lambda: getattr(series, polars)(size, min_samples=1),
        "pandas": lambda: getattr(column.rolling(size, min_periods=1), pandas)(),
        "bottleneck": lambda: bottle(values, size, min_count=1),
    }
    if numba:
        peers["numbagg"] = lambda: numba(values, window=size, min_count=1)
    ours = (lambda: sash.withColumns(data, framed)) if name == "median" else lambda: slide(call, values, size=size)
    check(name, ours(), {peer: run() for peer, run in peers.items()})
    bench.duel(f"rolling {name}, {rows:,} rows, window of {size:,}", ours, peers)


def check(name, mine, theirs):
    """Raise unless all give the same."""
    mine = mine["answer"].to_numpy() if name == "median" else mine.values
    for peer, other in theirs.items():
        if not np.allclose(mine[1:], np.asarray(other)[1:]):  # of one row, a sample has no deviation
            raise AssertionError(f"{peer} has another {name}")
