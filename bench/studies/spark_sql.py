"""Window calls in SQL that Spark and Sash both answer, by keys: what is left to Spark follows from these.

Whole queries from Parquet files to Spark's noop sink, Spark's segment tree on. Every call is answered by Sash here,
even one that would be left to Spark.
"""

from __future__ import annotations

from functools import partial
from unittest.mock import patch

from bench.peers._spark import consumed, session, stored
from bench.peers.spark import KEYS, trades
from sash.spark import native
from sash.sql.entry import sql

TITLE = "Window calls in SQL, by Sash and by Spark"
QUICK = False
WINDOWS = {
    f"{KEYS} keys": "partition by few order by at",
    "10,000 keys": "partition by user order by at",
    "no PARTITION BY": "order by at",
}
CALLS = {
    "row_number": "row_number() over ({w})",
    "running sum": "sum(price) over ({w} rows unbounded preceding)",
    "max of 10 rows": "max(price) over ({w} rows 9 preceding)",
    "max of 1,000 rows": "max(price) over ({w} rows 999 preceding)",
    "total": "sum(price) over ({w} rows between unbounded preceding and unbounded following)",
}


def by_sash(frame, expression):
    """The query with its call answered by Sash."""
    with patch.multiple(native, ONE_TASK=0, FEW=0):
        return sql(f"select *, {expression} as answer from trades", trades=frame)


def by_spark(frame, expression):
    """The query with its call answered by Spark."""
    return frame.selectExpr("*", f"{expression} as answer")


def run(bench):
    rows = bench.pick(500_000, 20_000)
    frame = session().read.parquet(str(stored(f"trades-{rows}-8", partial(trades, rows), 8)))
    lines = []
    for place, window in WINDOWS.items():
        for name, call in CALLS.items():
            expression = call.format(w=window)
            tasks = {
                "Sash": lambda expression=expression: consumed(by_sash(frame, expression)),
                "Spark": lambda expression=expression: consumed(by_spark(frame, expression)),
            }
            times = bench.measure(tasks, f"{name}, {place}")
            mine, theirs = times["Sash"].median, times["Spark"].median
            lines.append([place, name, mine, theirs, theirs / mine])
    bench.table(f"{rows:,} rows: seconds", ["by", "call", "Sash", "Spark", "Spark over Sash"], lines)
