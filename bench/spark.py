"""Window functions on Spark against Spark's own: ``make bench-spark``, or ``python -m bench.spark PART…``.

Whole queries from Parquet files to Spark's noop sink, a string column carried along, in one session with two cores and
Spark's defaults; only Spark's segment tree is on unless said. Sash and its peers take turns, three times or more after
one to warm up. A peer that would take longer than the limit is measured on fewer rows, as its line says, and its
ratio, marked ~, is of the time a row: it has run for a quarter of the limit then, so that little of it does not depend
on the rows. One that is over the limit with the fewest rows runs once.

``SASH_BENCH_ROWS=100000`` tries it out; ``SASH_BENCH_LIMIT`` is in seconds, ``SASH_BENCH_REPEAT`` is how many times;
``SASH_BENCH_ONLY="sliding max"`` is for one function.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from functools import cache
from pathlib import Path

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
os.environ.setdefault("SPARK_LOCAL_IP", "127.0.0.1")

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pyspark
from pyspark.sql import SparkSession

import sash
from bench.timing import machine, table
from sash import Window
from sash import functions as sf
from sash.spark.java import ensure_java

ROWS = int(os.environ.get("SASH_BENCH_ROWS", 4_000_000))
LIMIT = float(os.environ.get("SASH_BENCH_LIMIT", 60))  # seconds a query of a peer may take
REPEAT = int(os.environ.get("SASH_BENCH_REPEAT", 3))
ONLY = os.environ.get("SASH_BENCH_ONLY")  # one function, such as "sliding max"
FOLDER = Path(__file__).parent.parent / "out" / "spark"
FILES = 64  # that hold ROWS rows: a peer that is slow reads fewer
FEWER = 4  # files, for what does not depend on the number of rows; enough for several pieces
FEW, MANY = 16, ROWS // 10  # keys
SIZE = 1_000  # rows of a frame
TREE, BATCH = "spark.sql.window.segmentTree.enabled", "spark.sql.execution.arrow.maxRecordsPerBatch"


@cache
def session():
    """Two cores, 6 GB, and otherwise what Spark does by default."""
    ensure_java()
    conf = {
        "spark.master": "local[2]",
        "spark.driver.memory": "6g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.local.dir": str(FOLDER / "scratch"),
        "spark.sql.warehouse.dir": str(FOLDER / "warehouse"),
    }
    spark = SparkSession.builder.config(map=conf).getOrCreate()
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def trades(files=FILES):
    """So many files of rows: keys, a shuffled order, a price, a user, and a text that is only carried along."""
    folder = FOLDER / f"{ROWS}"
    folder.mkdir(parents=True, exist_ok=True)
    paths = [folder / f"{place:04}.parquet" for place in range(files)]
    for place, path in enumerate(paths):
        if not path.exists():
            write(path, place)
    return session().read.parquet(*map(str, paths))


def write(path, seed):
    """One file, of its own random numbers; another process sees the whole of it or none."""
    random, rows = np.random.default_rng(seed), ROWS // FILES
    columns = {
        "few": random.integers(0, FEW, rows),
        "many": random.integers(0, MANY, rows),
        "at": random.integers(0, 1 << 45, rows),  # microseconds of a year
        "price": random.lognormal(3, 1, rows),
        "user": random.integers(0, 10_000, rows),
        "note": pc.utf8_lpad(pa.array(random.integers(0, 1 << 62, rows)).cast(pa.string()), 30, "."),
    }
    pq.write_table(pa.table(columns), f"{path}.new")
    Path(f"{path}.new").replace(path)


@dataclass(frozen=True)
class Asked:
    """One question, as Sash and as Spark's formulations of it have it, by name."""

    ours: object  # of sf
    theirs: dict[str, object]  # a function of a frame and the keys that gives a frame
    sliding: bool = True
    framed: bool = True

    def sash(self, frame, keys):
        """The answer of Sash, not yet computed."""
        window = Window.partitionBy(*keys).orderBy("at")
        if self.framed:
            window = window.rowsBetween(1 - SIZE if self.sliding else Window.unboundedPreceding, 0)
        return sash.withColumns(frame, {"answer": self.ours.over(window)})


def over(expression, words=f"rows between {SIZE - 1} preceding and current row"):
    """A window function of Spark; ``{w}`` is its window."""

    def asked(frame, keys):
        partition = f"partition by {', '.join(keys)} " if keys else ""
        return frame.selectExpr("*", expression.format(w=f"over ({partition}order by at {words})") + " as answer")

    return asked


def joined(aggregate):
    """The join of rows with those up to so many row numbers before; blocks make it an equality for Spark."""

    def asked(frame, keys):
        by, key = (f"partition by {', '.join(keys)} ", ", ".join(keys)) if keys else ("", "0")
        frame.createOrReplaceTempView("trades")
        return frame.sparkSession.sql(f"""
            with numbered as (
              select *, struct({key}) as k, row_number() over ({by}order by at) - 1 as n from trades),
            answers as (
              select a.k, a.n, {aggregate} as answer
              from (select k, n, explode(array(n div {SIZE}, n div {SIZE} - 1)) as block from numbered) a
              join (select k, n, price, user, n div {SIZE} as block from numbered) b
              on a.k = b.k and a.block = b.block and b.n > a.n - {SIZE} and b.n <= a.n
              group by a.k, a.n)
            select numbered.*, answer from numbered join answers using (k, n)""")

    return asked


def no_tree(asked):
    """Without Spark's segment tree."""

    def plain(frame, keys):
        frame.sparkSession.conf.set(TREE, "false")
        return asked(frame, keys)

    return plain


SO_FAR = "rows between unbounded preceding and current row"
MEDIAN = (  # a list of one list, so that it is named once
    "transform(array(sort_array(collect_list(price) {w})), s -> (s[(size(s) - 1) div 2] + s[size(s) div 2]) / 2)[0]"
)
ASKED = {
    "running sum": Asked(
        sf.sum("price"),
        {"Spark": over("sum(price) {w}", SO_FAR), "Spark, no tree": no_tree(over("sum(price) {w}", SO_FAR))},
        sliding=False,
    ),
    "sliding max": Asked(
        sf.max("price"), {"Spark": over("max(price) {w}"), "Spark, no tree": no_tree(over("max(price) {w}"))}
    ),
    "count distinct": Asked(
        sf.count_distinct("user"),
        {"collect_set": over("size(collect_set(user) {w})"), "self-join": joined("count(distinct user)")},
    ),
    "median": Asked(
        sf.median("price"),
        {
            "percentile": over("percentile(price, 0.5) {w}"),
            "collect_list": over(MEDIAN),
            "self-join": joined("percentile(price, 0.5)"),
        },
    ),
    "row number": Asked(sf.row_number(), {"Spark": over("row_number() {w}", "")}, framed=False),
}
AIMS = {"running sum": 1.3, "sliding max": 2.5, "count distinct": 20, "median": 20}


@dataclass
class Measured:
    """The times of a query, and on how many files."""

    times: list[float]
    files: int

    @property
    def best(self):
        return min(self.times)

    @property
    def median(self):
        return statistics.median(self.times)

    @property
    def rows(self):
        return self.files * (ROWS // FILES)


def once(make, frame, keys):
    """The seconds of a query, from its words to its last row."""
    session().conf.set(TREE, "true")
    start = time.perf_counter()
    make(frame, keys).write.format("noop").mode("overwrite").save()
    return time.perf_counter() - start


def measured(queries, keys):
    """Each query on all files, or, where that would take too long, on as many as there is time for; in turns."""
    found = {name: Measured([], FILES) if name == "Sash" else fitting(make, keys) for name, make in queries.items()}
    once(queries["Sash"], trades(), keys)
    for _ in range(REPEAT):
        for name, make in queries.items():
            if sum(found[name].times) < LIMIT:
                found[name].times.append(once(make, trades(found[name].files), keys))
    return found


def fitting(make, keys):
    """How many files a query reads within the limit; each try warms up for the next. One that is over counts."""
    files = 1
    while files < FILES:
        took = once(make, trades(files), keys)
        if took > LIMIT:
            return Measured([took], files)
        if took * 4 > LIMIT:  # perhaps the first time only
            took = min(took, once(make, trades(files), keys))
        if took * 4 > LIMIT:
            return Measured([], files)
        files *= 4
    once(make, trades(), keys)
    return Measured([], FILES)


HEAD = ["function", "by", "rows", "best s", "median s", "us a row", "over Sash", "aim"]


def compared(title, names, keys, aims):
    """A table for each question; ratios are of median times a row."""
    for name in [each for each in names if ONLY in (None, each)]:
        lines = []
        found = measured({"Sash": ASKED[name].sash, **ASKED[name].theirs}, keys)
        mine = found["Sash"]
        peers = [each for who, each in found.items() if who != "Sash" and "no tree" not in who]
        strongest = min(peers, key=lambda each: each.median / each.rows)
        for who, each in found.items():
            ratio = None if each is mine else ratio_of(each, mine)
            aim = aims[name] if each is strongest else None
            cost = each.median / each.rows * 1e6
            lines.append([name, who, f"{each.rows:,}", each.best, each.median, cost, ratio, aim])
        table(f"{title}, {name}, frames of {SIZE:,} rows", HEAD, lines)


def ratio_of(theirs, mine):
    """How many times as long theirs takes a row; marked where it was not measured on as many rows."""
    ratio = (theirs.median / theirs.rows) / (mine.median / mine.rows)
    return f"{'' if theirs.files == mine.files else '~'}{ratio:,.2f}"


def keys():
    """Few keys and many."""
    for number, key in ((FEW, "few"), (MANY, "many")):
        compared(f"{ROWS:,} rows, {number:,} keys", list(AIMS), [key], AIMS)


def whole():
    """No PARTITION BY, where Spark has one task."""
    names = ["running sum", "sliding max", "median", "row number"]
    compared(f"{ROWS:,} rows, no PARTITION BY", names, [], dict.fromkeys(names, 1.5))


def scaling():
    """From a quarter of the rows to eight times as many."""
    sizes = [FILES // 4 << step for step in range(6)]
    for keys in (["few"], []):
        lines = []
        for name in ("sliding max", "median"):
            make, costs = ASKED[name].sash, []
            once(make, trades(sizes[0]), keys)
            for files in sizes:
                found = Measured([once(make, trades(files), keys) for _ in range(REPEAT)], files)
                costs.append(found.median / found.rows * 1e6)
                ratios = [costs[-1] / costs[0], costs[-1] / min(costs), 1.3]
                lines.append([name, f"{found.rows:,}", found.best, found.median, costs[-1], *ratios])
        head = ["function", "rows", "best s", "median s", "s a million", "over the first", "over the least", "aim"]
        table(f"Scaling, {f'{FEW} keys' if keys else 'no PARTITION BY'}", head, lines)


FIRST = """
import json, sys, time
from bench.spark import ASKED, FEWER, once, session, trades
name, who, keys = json.loads(sys.argv[1])
start = time.perf_counter()
session()
began, frame = time.perf_counter(), trades(FEWER)
frame.write.format("noop").mode("overwrite").save()
read = time.perf_counter()
make = ASKED[name].sash if who == "Sash" else ASKED[name].theirs[who]
times = [once(make, frame, keys) for _ in range(4)]
print(json.dumps([began - start, read - began, *times]))
"""


def first():
    """What the first query of a session costs, in fresh processes that have read the rows once before."""
    trades(FEWER)
    lines = []
    for keys in (["few"], []):
        for name in ("sliding max", "median"):
            cases = ["empty cache", "warm cache", *([] if name == "median" else ["Spark"])]
            times = {case: [] for case in cases}
            with tempfile.TemporaryDirectory() as home:
                fresh(name, "Sash", keys, f"{home}/warm")
                for turn in range(REPEAT):
                    for case in cases:
                        cache = f"{home}/{turn}" if case == "empty cache" else f"{home}/warm"
                        times[case].append(fresh(name, "Spark" if case == "Spark" else "Sash", keys, cache))
            for case, runs in times.items():
                start, read, one, two, *_, last = (statistics.median(each) for each in zip(*runs, strict=True))
                best = min(run[2] for run in runs)
                where = f"{FEW} keys" if keys else "no PARTITION BY"
                lines.append([name, where, case, start, read, best, one, two, last, one - last])
    head = [
        "function",
        "by",
        "which",
        "session",
        "read",
        "first, best",
        "first",
        "second",
        "fourth",
        "first less fourth",
    ]
    table(f"The first query of a session, {FEWER * ROWS // FILES:,} rows: seconds", head, lines)


def fresh(name, who, keys, cache):
    """The times of a fresh process."""
    done = subprocess.run(
        [sys.executable, "-c", FIRST, json.dumps([name, who, keys])],
        env={**os.environ, "SASH_CACHE_DIR": cache},
        check=True,
        stdout=subprocess.PIPE,
        text=True,
    )
    return json.loads(done.stdout.splitlines()[-1])


def batches():
    """How many rows Spark hands over at once."""
    lines, sizes = [], (10_000, 100_000)
    for number, key in ((FEW, ["few"]), (MANY, ["many"]), (0, [])):
        for name in ("running sum", "median"):
            make, times = ASKED[name].sash, {size: [] for size in sizes}
            once(make, trades(), key)
            for _ in range(REPEAT):
                for size in sizes:
                    session().conf.set(BATCH, size)
                    times[size].append(once(make, trades(), key))
            session().conf.unset(BATCH)
            middle = [statistics.median(times[size]) for size in sizes]
            where = f"{number:,} keys" if key else "no PARTITION BY"
            lines.append([name, where, *map(min, times.values()), *middle, middle[0] / middle[1]])
    head = ["function", "by", *(f"{size:,}, {word} s" for word in ("best", "median") for size in sizes), "ratio"]
    table(f"Rows of an Arrow batch, {ROWS:,} rows", head, lines)


PARTS = {"keys": keys, "global": whole, "scaling": scaling, "first": first, "batches": batches}


def main():
    asked = sys.argv[1:] or list(PARTS)
    print(f"{machine()}, pyspark {pyspark.__version__}")
    for part in asked:
        PARTS[part]()


if __name__ == "__main__":
    main()
