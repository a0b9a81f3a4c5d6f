"""Count, sum, distinct count and median over the rows of another table around each row, in process and in one call.

DuckDB is asked in three ways (a range join with aggregation; a window over both tables; for as-of alone its ASOF
join), Polars for as-of alone, each with two threads.
"""

from __future__ import annotations

import polars as pl

import sash
from bench.peers._duckdb import Duck
from bench.peers._other_tables_cases import BACK, RANGE_JOIN, UNION, by_sash, events, labels, sums
from sash import Window
from sash import functions as sf

TITLE = "Frames over another table, in process"
LIMIT = 20.0  # seconds a query of DuckDB
ASOF = "select l.id, r.value as last from labels l asof left join events r on r.key = l.key and r.ts <= l.ts"


def run(bench):
    left, right = labels(bench.pick(2_000_000, 20_000)), events(bench.pick(10_000_000, 100_000))
    duck = Duck("labels", left, LIMIT)
    duck.connection.register("given", right)
    duck.connection.execute("create table events as select * from given")
    sizes = f"{left.num_rows:,} rows and {right.num_rows:,}"
    for name, seconds in BACK.items():
        mine = sums(by_sash(left, right, seconds))
        for text in (RANGE_JOIN, UNION) if not bench.full else ():
            theirs = sums(duck.answer(text.format(seconds)))
            if theirs != mine:
                raise AssertionError(f"DuckDB has other answers: {theirs}, Sash {mine}")
        peers = {
            "DuckDB, range join": lambda seconds=seconds: duck.answer(RANGE_JOIN.format(seconds)),
            "DuckDB, window over both": lambda seconds=seconds: duck.answer(UNION.format(seconds)),
        }
        bench.duel(f"count, sum, distinct, median of {name}, {sizes}", lambda seconds=seconds: by_sash(
            left, right, seconds), peers)  # fmt: skip
    frames = [pl.from_arrow(table).set_sorted("ts") for table in (left, right)]
    as_of = {"last": sf.last("value").over(Window.of(right, on="key", at="ts").rowsBetween(0, 0))}
    bench.duel(f"as of, {sizes}", lambda: sash.withColumns(left, as_of), {
        "Polars": lambda: frames[0].join_asof(frames[1], on="ts", by="key"),
        "DuckDB": lambda: duck.answer(ASOF),
    })  # fmt: skip
