"""Window functions over frames against DuckDB and Polars: ``make bench-frames``, or ``python -m bench.frames PART…``.

Ratios within one run, two threads each unless said, whole queries: Sash from an Arrow table to an Arrow table,
DuckDB from its own table to an Arrow table, sorts included. Medians of three runs after one to warm up; a query of
DuckDB that takes longer than its limit is stopped, and its ratio is a lower bound.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time

os.environ.setdefault("POLARS_MAX_THREADS", "2")

import duckdb
import numpy as np
import pyarrow as pa

import sash
from bench.timing import machine, seconds, table
from sash import Window
from sash import functions as sf

ROWS = int(os.environ.get("SASH_BENCH_ROWS", 5_000_000))
LIMIT = float(os.environ.get("SASH_BENCH_LIMIT", 60))  # seconds a query of DuckDB may take
SIZES = (10, 1_000, 100_000, None)
THREADS = 2


def trades(rows=None):
    """Rows in order, a price, a user among many, and what makes frames go back and forth."""
    rows, random = rows or ROWS, np.random.default_rng(0)
    price = random.lognormal(3, 1, rows).round(2)
    return pa.table(
        {
            "id": np.arange(rows),
            "price": price,
            "user": random.integers(0, max(rows // 50, 1), rows),
            "qty": random.integers(-5, 100, rows),
            "jump": (price * 100).astype(np.int64) * 7703 % 499,
        }
    )


class Duck:
    """DuckDB with the trades in a table of its own."""

    def __init__(self, data):
        self.connection = duckdb.connect(config={"threads": THREADS})
        self.connection.register("given", data)
        self.connection.execute("create table trades as select * from given")

    def seconds(self, expression, window):
        """The time of a window query, or None where it takes longer than the limit."""
        query = f"select {expression} over ({window}) as answer from trades"
        took = self.once(query)
        if took is None or took > LIMIT / 4:
            return took
        return sorted(filter(None, (self.once(query) for _ in range(3))))[1]

    def once(self, query):
        timer = threading.Timer(LIMIT, self.connection.interrupt)
        timer.start()
        start = time.perf_counter()
        try:
            self.connection.sql(query).to_arrow_table()
        except duckdb.InterruptException:
            return None
        finally:
            timer.cancel()
        return time.perf_counter() - start


def ours(data, call, window, threads=THREADS, repeat=3):
    """The time of a window expression."""
    os.environ["SASH_THREADS"] = str(threads)
    return seconds(lambda: sash.withColumns(data, {"answer": call.over(window)}), repeat)


def frame(size):
    """The last so many rows, in both languages."""
    start = Window.unboundedPreceding if size is None else 1 - size
    words = "unbounded" if size is None else str(size - 1)
    return Window.orderBy("id").rowsBetween(start, 0), f"order by id rows between {words} preceding and current row"


def row(name, what, mine, theirs, rows):
    """One line of a table: nanoseconds a row and the ratio, a bound where DuckDB was stopped."""
    other = "stopped" if theirs is None else f"{theirs / rows * 1e9:,.0f}"
    ratio = f"{(LIMIT if theirs is None else theirs) / mine:,.1f}"
    return [name, what, f"{mine / rows * 1e9:,.0f}", other, f"> {ratio}" if theirs is None else ratio]


HEAD = ["function", "frame", "Sash", "DuckDB", "DuckDB over Sash"]
CALLS = {
    "median": (sf.median("price"), "median(price)"),
    "p99": (sf.percentile_disc("price", 0.99), "quantile_disc(price, 0.99)"),
    "count distinct": (sf.count_distinct("user"), "count(distinct user)"),
    "rank": (sf.rank().order_by("price"), "rank(order by price)"),
    "lead": (sf.lead("price").order_by("price"), "lead(price order by price)"),
    "first value": (sf.first_value("user").order_by("price desc"), "first_value(user order by price desc)"),
}


def sizes(names=tuple(CALLS)):
    """Each function at frames of growing size."""
    data, rows = trades(), []
    duck = Duck(data)
    for name in names:
        call, expression = CALLS[name]
        slow = False
        for size in SIZES:
            window, words = frame(size)
            mine = ours(data, call, window)
            theirs = None if slow else duck.seconds(expression, words)
            slow = theirs is None  # larger frames take longer still
            rows.append(row(name, "so far" if size is None else f"{size:,} rows", mine, theirs, ROWS))
    table(f"{ROWS:,} rows, {THREADS} threads: ns a row", HEAD, rows)


def jumping():
    """The paper's frames that go back and forth, section 6.5."""
    data, rows = trades(), []
    duck = Duck(data)
    for m in (0.0, 0.5, 1.0):
        jump = sash.col("jump")
        back = (jump * m).cast("bigint")
        window = Window.orderBy("id").rowsBetween(-back, 500 - back)
        words = (
            f"order by id rows between cast(floor({m} * jump) as bigint) preceding "
            f"and 500 - cast(floor({m} * jump) as bigint) following"
        )
        for name in ("median", "rank", "count distinct"):
            call, expression = CALLS[name]
            rows.append(row(name, f"m = {m}", ours(data, call, window), duck.seconds(expression, words), ROWS))
    table(f"Frames of 500 rows that go back and forth, {ROWS:,} rows: ns a row", HEAD, rows)


def holes():
    """EXCLUDE and FILTER."""
    data, rows = trades(), []
    duck = Duck(data)
    window, words = frame(1_000)
    for name in ("count distinct", "median"):  # DuckDB has neither for rank
        call, expression = CALLS[name]
        mine = ours(data, call, window.exclude("current row"))
        theirs = duck.seconds(expression, f"{words} exclude current row")
        rows.append(row(name, "1,000 rows, exclude current row", mine, theirs, ROWS))
        mine = ours(data, call.filter("qty > 0"), window)
        theirs = duck.seconds(f"{expression} filter (where qty > 0)", words)
        rows.append(row(name, "1,000 rows, filter", mine, theirs, ROWS))
    table(f"Frames with holes, {ROWS:,} rows: ns a row", HEAD, rows)


def rolling():
    """The median of frames of one size against Polars' rolling_median, which has one thread."""
    import polars as pl

    values, rows = np.random.default_rng(0).normal(size=ROWS), []
    data, column = pa.table({"id": np.arange(ROWS), "price": values}), pl.Series(values)
    for size in (10, 100, 1_000, 10_000, 100_000):
        theirs = seconds(lambda size=size: column.rolling_median(size, min_samples=1), 3)
        one, two = (ours(data, CALLS["median"][0], frame(size)[0], threads) for threads in (1, 2))
        rows.append([f"{size:,}", *(f"{t / ROWS * 1e9:,.0f}" for t in (one, two, theirs)), theirs / one, theirs / two])
    head = ["rows", "Sash, 1 thread", "Sash, 2", "Polars", "Polars over Sash, 1", "over Sash, 2"]
    table(f"Rolling median of {ROWS:,} doubles: ns a row", head, rows)


def partitions(rows=10_000_000):
    """A million partitions of ten rows against one partition of ten million."""
    random, lines = np.random.default_rng(0), []
    many = np.arange(rows) // 10
    data = {"id": np.arange(rows), "price": random.normal(size=rows), "user": random.integers(0, 1000, rows)}
    for name, call in (
        ("sum", sf.sum("user")),
        ("max", sf.max("price")),
        ("median", CALLS["median"][0]),
        ("count distinct", CALLS["count distinct"][0]),
        ("rank", CALLS["rank"][0]),
    ):
        times = []
        for key in (np.zeros(rows, np.int64), many):
            given = pa.table({"key": key, **data})
            window = Window.partitionBy("key").orderBy("id").rowsBetween(-9, 0)
            times.append(ours(given, call, window))
        lines.append([name, *(f"{t / rows * 1e9:,.0f}" for t in times), times[1] / times[0]])
    table("Frames of ten rows, 10,000,000 rows: ns a row", ["function", "one partition", "a million", "ratio"], lines)


MEMORY = """
import resource, sys
import numpy as np, pyarrow as pa
import sash
from sash import Window, functions as sf
from bench.frames import CALLS, frame, trades
import bench.frames
name, rows = sys.argv[1], int(sys.argv[2])
small = trades(1000)
call = CALLS[name][0].over(frame(1000)[0])
sash.withColumns(small, {"answer": call})
data = trades(rows)
before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
now = int(open("/proc/self/statm").read().split()[1]) * 4096
out = sash.withColumns(data, {"answer": call})
after = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
print((after * 1024 - max(now, 0)) / rows - out["answer"].nbytes / rows)
"""


def memory(rows=10_000_000):
    """Peak bytes a row beyond input and output, each in a fresh process."""
    lines = []
    for name in ("median", "p99", "rank", "count distinct"):
        done = subprocess.run(
            [sys.executable, "-c", MEMORY, name, str(rows)], capture_output=True, text=True, check=True
        )
        lines.append([name, float(done.stdout)])
    table(f"Bytes a row beyond input and output, frames of 1,000 rows, {rows:,} rows", ["function", "bytes"], lines)


PARTS = {
    "sizes": sizes,
    "jumping": jumping,
    "holes": holes,
    "rolling": rolling,
    "partitions": partitions,
    "memory": memory,
}


def main():
    asked = sys.argv[1:] or list(PARTS)
    print(f"{machine()}, duckdb {duckdb.__version__}")
    for part in asked:
        PARTS[part]()


if __name__ == "__main__":
    main()
