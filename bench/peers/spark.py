"""Window functions on Spark: whole queries from Parquet files to Spark's noop sink, a text carried along.

Spark has its segment tree on and its fastest words: it has no distinct counts and no medians over frames but those of
collected lists and sets, which were faster than self-joins and ``percentile`` at every size tried. They get fewer rows
of the same keys, and are compared by the row.
"""

from __future__ import annotations

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


def asked(frame, call, frame_words, keys):
    start = Window.unboundedPreceding if frame_words == SO_FAR else 1 - SIZE
    window = Window.partitionBy(*keys).orderBy("at").rowsBetween(start, 0)
    return sash.withColumns(frame, {"answer": call.over(window)})


def spoken(frame, words, frame_words, keys):
    partition = f"partition by {', '.join(keys)} " if keys else ""
    return frame.selectExpr("*", words.format(w=f"over ({partition}order by at {frame_words})") + " as answer")


def run(bench):
    rows, files = bench.pick(2_000_000, 100_000), 32
    folder = stored(f"trades-{rows}", partial(trades, rows), files)
    paths = sorted(map(str, folder.glob("*.parquet")))
    spark = session()
    for name, (call, words, frame_words, keys, fewer) in TASKS.items():
        frame, some = spark.read.parquet(*paths), spark.read.parquet(*paths[: files // fewer])
        ours = lambda: consumed(asked(frame, call, frame_words, keys))  # noqa: B023, E731
        theirs = lambda: consumed(spoken(some, words, frame_words, keys))  # noqa: B023, E731
        bench.duel(f"{name}, {rows:,} rows", ours, {"Spark": theirs}, share=1 / fewer)
