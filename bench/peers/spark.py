"""Window functions on Spark: whole queries from Parquet files to Spark's noop sink, a text carried along.

Spark has its segment tree on and its fastest words: it has no distinct counts and no medians over frames but those of
collected lists and sets, which were faster than self-joins and ``percentile`` at every size tried. They get fewer rows
of the same keys, and what all would take follows from two such shares. Counts and sums of the answers are compared.
"""

from __future__ import annotations

import math
from functools import partial

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

import sash
from bench.peers._spark import consumed, session, stored
from sash import Window
from sash import functions as sf

TITLE = "Window functions on Spark"
KEYS, SIZE = 16, 1_000
SO_FAR = "rows between unbounded preceding and current row"
SLIDING = f"rows between {SIZE - 1} preceding and current row"
MEDIAN = (  # a list of one list, so that it is named once
    "transform(array(sort_array(collect_list(price) {w})), s -> (s[(size(s) - 1) div 2] + s[size(s) div 2]) / 2)[0]"
)
TASKS = {  # Sash, Spark, frame, keys, the share of rows that Spark can take
    "running sum, 16 keys": (sf.sum("price"), "sum(price) {w}", SO_FAR, ["few"], 1),
    "sliding max, 16 keys": (sf.max("price"), "max(price) {w}", SLIDING, ["few"], 1),
    "count distinct, 16 keys": (sf.count_distinct("user"), "size(collect_set(user) {w})", SLIDING, ["few"], 32),
    "median, 16 keys": (sf.median("price"), MEDIAN, SLIDING, ["few"], 32),
    "sliding max, no PARTITION BY": (sf.max("price"), "max(price) {w}", SLIDING, [], 1),
}


def trades(rows):
    """Keys, a shuffled order, a price, a user, and a text that is only carried along."""
    random = np.random.default_rng(0)
    note = pc.utf8_lpad(pa.array(random.integers(0, 1 << 62, rows)).cast(pa.string()), 30, ".")
    columns = {"few": random.integers(0, KEYS, rows), "at": random.integers(0, 1 << 45, rows)}
    return pa.table(
        columns | {"price": random.lognormal(3, 1, rows), "user": random.integers(0, 10_000, rows), "note": note}
    )


def asked(call, frame_words, keys, frame):
    start = Window.unboundedPreceding if frame_words == SO_FAR else 1 - SIZE
    window = Window.partitionBy(*keys).orderBy("at").rowsBetween(start, 0)
    return sash.withColumns(frame, {"answer": call.over(window)})


def spoken(words, frame_words, keys, frame):
    partition = f"partition by {', '.join(keys)} " if keys else ""
    return frame.selectExpr("*", words.format(w=f"over ({partition}order by at {frame_words})") + " as answer")


def done(query, frame):
    consumed(query(frame))


def check(name, *answers):
    """Raise unless both have as many answers with the same sum."""
    mine, theirs = (each.selectExpr("count(answer)", "sum(answer)").first() for each in answers)
    if mine[0] != theirs[0] or not math.isclose(mine[1], theirs[1], rel_tol=1e-9):
        raise AssertionError(f"{name}: another answer, {mine} and {theirs}")


def run(bench):
    rows, files = bench.pick(2_000_000, 128_000), 64
    folder = stored(f"trades-{rows}", partial(trades, rows), files)
    paths = sorted(map(str, folder.glob("*.parquet")))
    spark = session()
    for name, (call, words, frame_words, keys, fewer) in TASKS.items():
        mine, theirs = (partial(each, what, frame_words, keys) for each, what in ((asked, call), (spoken, words)))
        few = spark.read.parquet(paths[0])
        check(name, mine(few), theirs(few))
        frame, *shares = (spark.read.parquet(*paths[:count]) for count in (files, files // fewer, files // fewer // 2))
        tasks = tuple(partial(done, theirs, share) for share in shares)
        peer = tasks if fewer > 1 else tasks[0]
        bench.duel(f"{name}, {rows:,} rows", partial(done, mine, frame), {"Spark": peer}, share=1 / fewer)
