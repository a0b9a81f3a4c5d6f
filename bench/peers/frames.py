"""Window functions over frames, whole queries with their sorts, two threads each.

Sash goes from an Arrow table to an Arrow table, DuckDB from its own table to an Arrow table. Before the times are
taken, the answers are compared, but for lead among ties, where rows are free to swap.
"""

from __future__ import annotations

import os

os.environ["SASH_THREADS"] = "2"

import numpy as np
import pyarrow as pa

import sash
from bench.harness import Stopped
from bench.peers._duckdb import Duck
from sash import Window
from sash import functions as sf

TITLE = "Medians, distinct counts, ranks and leads over frames"
CALLS = {
    "median": (sf.median("price"), "median(price)"),
    "p99": (sf.percentile_disc("price", 0.99), "quantile_disc(price, 0.99)"),
    "count distinct": (sf.count_distinct("user"), "count(distinct user)"),
    "rank": (sf.rank().order_by("price"), "rank(order by price)"),
    "lead": (sf.lead("price").order_by("price"), "lead(price order by price)"),
    "sum of doubles": (sf.sum("price"), "sum(price)"),
}


def trades(rows):
    """Rows in order, a price, a user among many, and what makes frames go back and forth (section 6.5 of 2022)."""
    random = np.random.default_rng(0)
    price = random.lognormal(3, 1, rows).round(2)
    columns = {"id": np.arange(rows), "price": price, "user": random.integers(0, max(rows // 50, 1), rows)}
    columns |= {"qty": random.integers(-5, 100, rows), "jump": (price * 100).astype(np.int64) * 7703 % 499}
    return pa.table(columns)


def trailing(size):
    """The last so many rows, in both languages."""
    window = Window.orderBy("id").rowsBetween(1 - size, 0)
    return window, f"order by id rows between {size - 1} preceding and current row"


def run(bench):
    rows = bench.pick(1_000_000, 50_000)
    data = trades(rows)
    duck = Duck("trades", data, limit=bench.pick(20.0, 2.0))
    big = bench.pick(100_000, 5_000)

    def duel(name, what, window, words, filtered=""):
        call, expression = CALLS[name]
        ours = (call.filter(filtered) if filtered else call).over(window)
        where = f" filter (where {filtered})" if filtered else ""
        query = f"select {expression}{where} over ({words}) as answer from trades"
        mine, theirs = (lambda: sash.withColumns(data, {"answer": ours})), lambda: duck.answer(query)
        if name != "lead":
            agree(mine, theirs, query)
        bench.duel(f"{name}, {rows:,} rows, {what}", mine, {"DuckDB": theirs})

    for name in CALLS:
        duel(name, "frames of 1,000", *trailing(1_000))
    for name in ("median", "count distinct"):
        duel(name, f"frames of {big:,}", *trailing(big))
        window, words = trailing(1_000)
        duel(
            name, "frames of 1,000, EXCLUDE CURRENT ROW", window.exclude("current row"), f"{words} exclude current row"
        )
        duel(name, "frames of 1,000, FILTER", window, words, "qty > 0")
        jumping = Window.orderBy("id").rowsBetween(-sash.col("jump"), 500 - sash.col("jump"))
        duel(name, "frames of 501 that go back and forth", jumping,
             "order by id rows between jump preceding and 500 - jump following")  # fmt: skip


def agree(mine, theirs, query):
    """Raise unless both give the same."""
    try:
        other = theirs()["answer"].to_numpy()
    except Stopped:
        return
    if not np.allclose(mine()["answer"].to_numpy().astype(float), other.astype(float), equal_nan=True):
        raise AssertionError(f"another answer than that of {query}")
