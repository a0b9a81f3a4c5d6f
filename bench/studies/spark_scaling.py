"""Window functions on Spark as rows grow: from Parquet files to Spark's noop sink, frames of 1,000 rows.

The files are of one size and more and more of them are read, so that a row costs the same to read.
"""

from __future__ import annotations

from functools import partial

from bench.harness import growth
from bench.peers._spark import consumed, session, stored
from bench.peers.spark import KEYS, SLIDING, asked, trades
from sash import functions as sf

TITLE = "Window functions on Spark by the number of rows"
QUICK = False
FILES = 32
CALLS = {"sliding max": sf.max("price"), "median": sf.median("price")}
BY = {f"{KEYS} keys": ["few"], "no PARTITION BY": []}


def run(bench):
    rows = bench.pick(2_000_000, 64_000)
    folder = stored(f"trades-{rows}-{FILES}", partial(trades, rows), FILES)
    paths = sorted(map(str, folder.glob("*.parquet")))
    files = {rows * count // FILES: paths[:count] for count in (4, 8, 16, 32)}
    costs = {}
    for by, keys in BY.items():
        for name, call in CALLS.items():
            costs[f"{name}, {by}"] = measured(bench, f"{name}, {by}", call, keys, files)
    lines = []
    for name, line in costs.items():
        bench.record(f"time of {name} by rows", growth(line), "exponent")
        lines.append([name, growth(line), *(took / size * 1e6 for size, took in line.items())])
    head = ["function", "exponent", *(f"{size:,} rows" for size in files)]
    bench.table("time grows as rows^exponent; microseconds a row", head, lines)
    shown = {name: {size: took / size * 1e6 for size, took in line.items()} for name, line in costs.items()}
    bench.lines(TITLE, {"frames of 1,000 rows": shown}, "rows", "microseconds a row")


def measured(bench, name, call, keys, files):
    """The seconds of a query by rows."""
    tasks = {
        size: lambda paths=paths: consumed(asked(call, SLIDING, keys, session().read.parquet(*paths)))
        for size, paths in files.items()
    }
    return {size: timing.median for size, timing in bench.measure(tasks, name).items()}
