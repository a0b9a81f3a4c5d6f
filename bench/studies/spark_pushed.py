"""A condition on the PARTITION BY column around a windowed query: written above the windows, below them, and left out.

Whole queries from Parquet files to Spark's noop sink. Above and below read the same partitions, so that they should
take the same time, and without the condition all are answered.
"""

from __future__ import annotations

from functools import partial

from bench.peers._spark import consumed, session, stored
from bench.peers.spark import trades
from sash.sql.entry import sql

TITLE = "Conditions above and below windows in SQL"
QUICK = False
WINDOWED = "select *, median(price) over (partition by user order by at rows 99 preceding) m from trades"
QUERIES = {
    "above": f"select * from ({WINDOWED}) v where user = 400",
    "above, of a join": f"select * from ({WINDOWED}) v join names on names.id = v.user where v.user = 400",
    "below": f"{WINDOWED} where user = 400",
    "without": WINDOWED,
}


def run(bench):
    rows = bench.pick(2_000_000, 20_000)
    frame = session().read.parquet(str(stored(f"trades-{rows}-8", partial(trades, rows), 8)))
    names = session().range(1_000).selectExpr("id", "cast(id as string) as name")
    tasks = {
        name: lambda query=query: consumed(sql(query, trades=frame, **({"names": names} if "names" in query else {})))
        for name, query in QUERIES.items()
    }
    times = bench.measure(tasks, "a median of 100 rows")
    lines = [[name, times[name].median, times["without"].median / times[name].median] for name in tasks]
    bench.table(f"{rows:,} rows: seconds", ["condition", "seconds", "faster than without"], lines)
