"""Where the time of a query on Spark goes: the same rows a step further each time, to Spark's noop sink.

Read; then shuffled by the keys; then passed to Python and back, with the columns that the query needs, by a function
that does nothing; then answered. Without PARTITION BY there are the keys read to find cuts, and for frames without end
the partials of all pieces, which is a pass of its own. What a step adds is what it costs.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

import pyarrow as pa
from pyspark.sql import functions as F

from bench.peers._spark import consumed, session, stored
from bench.peers.spark import SLIDING, SO_FAR, asked, trades
from sash import functions as sf
from sash.spark.passing import table_udf

TITLE = "Where the time of a query on Spark goes"
QUICK = False
KEY = ["few"]
NEEDED = ["few", "at", "price"]


def through(batches: Iterator[tuple[pa.Array, ...]]) -> Iterator[pa.Array]:
    for *_, price in batches:
        yield pa.StructArray.from_arrays([price], ["price"])


def run(bench):
    rows, files = bench.pick(2_000_000, 128_000), 64
    frame = session().read.parquet(str(stored(f"trades-{rows}", partial(trades, rows), files)))
    shuffled = frame.repartition(F.col("few"))
    passed = shuffled.select("*", table_udf(through, pa.schema({"price": pa.float64()}))(*NEEDED).alias("answers"))
    steps = {
        "read": lambda: consumed(frame),
        "16 keys: shuffled": lambda: consumed(shuffled),
        "16 keys: through Python": lambda: consumed(passed),
        "16 keys: sliding max": lambda: consumed(asked(sf.max("price"), SLIDING, KEY, frame)),
        "16 keys: only planned": lambda: asked(sf.max("price"), SLIDING, KEY, frame),
        "no PARTITION BY: cuts found": lambda: asked(sf.max("price"), SLIDING, [], frame),
        "no PARTITION BY: sliding max": lambda: consumed(asked(sf.max("price"), SLIDING, [], frame)),
        "no PARTITION BY: running sum": lambda: consumed(asked(sf.sum("price"), SO_FAR, [], frame)),
    }
    timings = bench.measure(steps)
    bench.table(
        f"{rows:,} rows: seconds", ["up to", "seconds"], [[name, each.median] for name, each in timings.items()]
    )
