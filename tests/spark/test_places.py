"""The same answers in this process, on a local session, on a cluster, on Connect; and when workers die."""

import math
import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sash
from sash import Window
from sash import functions as sf

ROWS = 400
random = np.random.default_rng(44)
TRADES = pa.table(
    {
        "at": random.permutation(ROWS),
        "key": random.integers(0, 9, ROWS),
        "price": (random.integers(0, 60, ROWS) + 1) / 2,
        "qty": [None if x == 0 else int(x) for x in random.integers(0, 20, ROWS)],
        "trader": [f"trader {place}" for place in random.integers(0, 12, ROWS)],
        "back": random.integers(-2, 30, ROWS),
    }
)
geomean = sash.Aggregate(
    "geomean",
    lift=lambda x: (math.log(x), 1),
    combine=lambda a, b: (a[0] + b[0], a[1] + b[1]),
    lower=lambda s: math.exp(s[0] / s[1]),
)
OF_KEY = Window.partitionBy("key").orderBy("at")
OVERALL = Window.orderBy("at")
QUERY = {
    "middle": sf.median("price").over(OF_KEY.rowsBetween(-9, 0)),
    "mean": geomean("price").over(OF_KEY.rangeBetween(-50, 10)),
    "place": sf.rank().order_by("price desc").over(OF_KEY.rowsBetween(-20, 5)),
    "top": sf.first_value("trader").order_by("price desc", "at").filter("qty > 3").over(OF_KEY.rowsBetween(-30, 0)),
    "since": sf.max("price").over(OF_KEY.rowsBetween(-sash.col("back"), 0).exclude("current row")),
    "best": sf.max("price").over(OVERALL.rowsBetween(-25, -1)),
    "traders": sf.count_distinct("trader").over(OVERALL.rangeBetween(-30, 3)),
    "sum": sf.sum("qty").over(OVERALL),
    "number": sf.row_number().over(OVERALL),
}
FEW = ["middle", "best"]


def expected(names=QUERY):
    return sorted(
        [*row.values()] for row in sash.withColumns(TRADES, {name: QUERY[name] for name in names}).to_pylist()
    )


def answers(spark, names=tuple(QUERY)):
    """All rows, with these answers, sorted; without PARTITION BY they are cut into several pieces."""
    from sash.spark import ranged

    ranged.ROWS_A_PIECE = 64
    frame = spark.createDataFrame(TRADES).repartition(3)
    return sorted([*row] for row in sash.withColumns(frame, {name: QUERY[name] for name in names}).collect())


def test_local(spark, monkeypatch):
    monkeypatch.setattr("sash.spark.ranged.ROWS_A_PIECE", 64)
    assert answers(spark) == expected()


def test_cluster(cluster):
    assert cluster.run(answers) == expected()


def test_connect(connect):
    assert connect.run(of_connect) == [True, expected()]


def of_connect(spark):
    return ["connect" in type(spark).__module__, answers(spark)]


def test_the_pandas_api_of_spark(spark):
    labelled = TRADES.append_column("label", pa.array([f"row {at}" for at in TRADES["at"].to_pylist()]))
    frame = spark.createDataFrame(labelled).pandas_api(index_col="label")
    out = sash.withColumns(frame, {"middle": QUERY["middle"], "place": QUERY["place"]})
    assert type(out) is type(frame)
    assert out.index.names == ["label"]
    assert [*out.columns] == [*TRADES.column_names, "middle", "place"]
    local = out[["at", "middle", "place"]].to_pandas()
    assert [*local.index] == [f"row {at}" for at in local["at"]]
    expected = sash.withColumns(TRADES, QUERY).select(["at", "middle", "place"]).to_pylist()
    assert sorted(local.values.tolist()) == sorted([*row.values()] for row in expected)


# What forks the Python workers: the first that has rows to evaluate dies, and so many of its ancestors first.
KILLER = """
import os, signal
from pathlib import Path
from sash.engine import evaluating

whole = evaluating.evaluate

def evaluate(table, columns, *args, **kwargs):
    if table.num_rows:
        try:
            Path({marker!r}).touch(exist_ok=False)
        except FileExistsError:
            return whole(table, columns, *args, **kwargs)
        victims = [os.getpid()]
        for _ in range({ancestors}):
            victims.append(int(Path(f"/proc/{{victims[-1]}}/stat").read_text().rpartition(")")[2].split()[1]))
        for victim in reversed(victims):
            os.kill(victim, signal.SIGKILL)
    return whole(table, columns, *args, **kwargs)

evaluating.evaluate = evaluate

from pyspark.daemon import manager

manager()
"""


@pytest.mark.long
@pytest.mark.parametrize(
    ("ancestors", "workers"),
    [pytest.param(0, 2, id="a Python worker"), pytest.param(3, 1, id="a worker of the cluster")],
)
def test_the_answer_is_right_although_something_dies(cluster, tmp_path, ancestors, workers):
    marker = tmp_path / "killed"
    (tmp_path / "killer.py").write_text(KILLER.format(marker=str(marker), ancestors=ancestors))
    conf = {
        "spark.python.daemon.module": "killer",
        "spark.executorEnv.PYTHONPATH": f"{tmp_path}{os.pathsep}{os.environ.get('PYTHONPATH', '')}",
        "spark.shuffle.io.retryWait": "500ms",
    }
    assert cluster.run(answers, FEW, conf=conf) == expected(FEW)
    assert Path(marker).exists()
    assert sum(each.poll() is None for each in cluster.workers) == workers
