"""Many partitions of ten rows against one partition of all rows: frames of ten rows, whole queries, two threads."""

from __future__ import annotations

import os

os.environ["SASH_THREADS"] = "2"

from functools import partial

import numpy as np
import pyarrow as pa

import sash
from sash import Window
from sash import functions as sf

TITLE = "Many partitions against one"
CALLS = {
    "sum": sf.sum("user"),
    "max": sf.max("price"),
    "median": sf.median("price"),
    "count distinct": sf.count_distinct("user"),
    "rank": sf.rank().order_by("price"),
}


def tables(rows):
    """The same rows as one partition and as partitions of ten."""
    random = np.random.default_rng(0)
    data = {"id": np.arange(rows), "price": random.normal(size=rows), "user": random.integers(0, 1000, rows)}
    keys = {"one": np.zeros(rows, np.int64), "many": np.arange(rows) // 10}
    return {name: pa.table({"key": key, **data}) for name, key in keys.items()}


def run(bench):
    rows, lines = bench.pick(4_000_000, 50_000), []
    data, window = tables(rows), Window.partitionBy("key").orderBy("id").rowsBetween(-9, 0)
    for name, call in CALLS.items():
        answer = {"answer": call.over(window)}
        tasks = {count: partial(sash.withColumns, given, answer) for count, given in data.items()}
        one, many = (timing.median for timing in bench.measure(tasks, name).values())
        lines.append([name, one / rows * 1e9, many / rows * 1e9, many / one])
    head = ["function", "one partition", f"{rows // 10:,} partitions", "many over one"]
    bench.table(f"{rows:,} rows, frames of ten: nanoseconds a row", head, lines)
