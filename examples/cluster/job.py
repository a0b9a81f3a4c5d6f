"""A job for a cluster: moving medians by key, one window over all rows, and a board; says on which workers it ran.

python job.py spark://HOST:7077
"""

import sys

from pyspark.sql import SparkSession
from pyspark.sql import functions as F

import sash
from sash import Window
from sash import functions as sf

ROWS = 200_000


def main(master: str) -> None:
    """Ask a table of prices on the cluster."""
    builder = SparkSession.builder.master(master).appName("sash on a cluster")
    spark = (
        builder.config("spark.sql.shuffle.partitions", "4")
        .config("spark.executor.memory", "512m")
        .config("spark.ui.enabled", "false")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )
    trades = spark.range(0, ROWS, 1, 4).select(
        F.timestamp_seconds(F.lit(1_800_000_000) + F.col("id")).alias("ts"),
        F.concat(F.lit("S"), (F.col("id") % 50).cast("string")).alias("symbol"),
        (F.lit(100) + (F.col("id") * 7919) % 1000 / 100).alias("price"),
    )
    by_symbol = Window.partitionBy("symbol").orderBy("ts")
    out = sash.withColumns(
        trades,
        {
            "middle": sf.median("price").over(by_symbol.rangeBetween("-1 hour", 0)),
            "place": sf.rank().order_by("price desc").over(Window.orderBy("ts").rowsBetween(-999, 0)),
        },
    )
    print("moving medians, and places among the last 1,000 trades:")
    out.orderBy(F.desc("ts")).show(5, truncate=False)

    board = sash.stream(trades, time="ts", key="symbol").query(
        {"highest": sf.max("price"), "typical": sf.median("price")}, range="6 hours", slide="1 hour"
    )
    print("the board:")
    board.results().orderBy(F.desc("window_end"), "symbol").show(5, truncate=False)

    where = trades.repartition(4).mapInPandas(worker, "worker string").distinct().collect()
    print(f"the tasks ran on {len(where)} workers")
    spark.stop()


def worker(batches):
    """The folder of the executor that a task runs on."""
    import os

    import pandas as pd

    for _ in batches:
        yield pd.DataFrame({"worker": [os.getcwd()]})


if __name__ == "__main__":
    main(sys.argv[1])
