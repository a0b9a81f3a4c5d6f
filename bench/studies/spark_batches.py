"""How many rows Spark hands to Python at once: its default of 10,000 in an Arrow batch, and 100,000."""

from __future__ import annotations

from functools import partial

from bench.peers._spark import consumed, session, stored
from bench.peers.spark import SLIDING, SO_FAR, asked, trades
from sash import functions as sf

TITLE = "Rows of an Arrow batch on Spark"
QUICK = False
BATCH = "spark.sql.execution.arrow.maxRecordsPerBatch"
SIZES = (10_000, 100_000)
CASES = {
    "running sum, 16 keys": (sf.sum("price"), SO_FAR, ["few"]),
    "median, 16 keys": (sf.median("price"), SLIDING, ["few"]),
    "median, no PARTITION BY": (sf.median("price"), SLIDING, []),
}


def run(bench):
    rows, lines = bench.pick(1_000_000, 40_000), []
    frame = session().read.parquet(str(stored(f"trades-{rows}-16", partial(trades, rows), 16)))
    for name, case in CASES.items():
        tasks = {f"{size:,} rows a batch": partial(answered, frame, case, size) for size in SIZES}
        few, many = (timing.median for timing in bench.measure(tasks, name).values())
        lines.append([name, few, many, few / many])
    session().conf.unset(BATCH)
    bench.table(f"{rows:,} rows: seconds", ["", *(f"{size:,} a batch" for size in SIZES), "ratio"], lines)


def answered(frame, case, size):
    session().conf.set(BATCH, size)
    consumed(asked(*case, frame))
