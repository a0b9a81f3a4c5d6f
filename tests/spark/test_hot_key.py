"""One key with 99 % of three million rows: right answers, from more than one task."""

import duckdb
import pytest
from pyspark.sql import functions as F

import sash
from sash import Window
from sash import functions as sf
from spark import cases

pytestmark = pytest.mark.long
ROWS = 3_000_000
OF_KEY = Window.partitionBy("k").orderBy("t")
LAST = OF_KEY.rowsBetween(-999, 0)
BY_KEY, LAST_ROWS = "partition by k order by t", "partition by k order by t rows 999 preceding"
SHARED = {
    "running": (sf.sum("q").over(OF_KEY), f"sum(q) over ({BY_KEY})"),
    "highest": (sf.max("q").over(LAST), f"max(q) over ({LAST_ROWS})"),
    "middle": (sf.median("q").over(LAST), f"median(q) over ({LAST_ROWS})"),
    "kinds": (sf.count_distinct("q").over(LAST), f"count(distinct q) over ({LAST_ROWS})"),
    "rank": (sf.rank().over(OF_KEY), f"rank() over ({BY_KEY})"),
}
ALONE = {
    "middle so far": (sf.median("q").over(OF_KEY), f"median(q) over ({BY_KEY})"),
    "kinds so far": (sf.count_distinct("q").over(OF_KEY), f"count(distinct q) over ({BY_KEY})"),
}


@pytest.fixture(scope="module")
def rows(spark, tmp_path_factory):
    path = str(tmp_path_factory.mktemp("hot") / "rows")
    drawn = "xxhash64(id) % 1000 as q", "pmod(xxhash64(id, 1), 1 << 40) * 4000000 + id as t"
    spark.range(ROWS).selectExpr("if(id % 100 = 0, 1 + id % 5000, 0) as k", *drawn).write.parquet(path)
    return path


def differences(rows, answers, asked):
    """How many rows DuckDB answers otherwise, and how many there are."""
    connection = duckdb.connect(config={"threads": 2, "memory_limit": "3GB"})
    theirs = ", ".join(f'{words} as "{name}"' for name, (_, words) in asked.items())
    unlike = " or ".join(f'a."{name}" is distinct from b."{name}"' for name in asked)
    return connection.sql(
        f"select count(*) filter (where {unlike}), count(*) from read_parquet('{answers}/*.parquet') a "
        f"join (select k, t, {theirs} from read_parquet('{rows}/*.parquet')) b using (k, t)"
    ).fetchall()[0]


def test_several_tasks_share_the_key_where_frames_end_or_partials_are_told(spark, rows, tmp_path):
    """Survived 99 % of 3,000,000 rows in one key, told to use 1 GB a task: four share it, and DuckDB agrees."""
    settings = {"adaptive__coalescePartitions__enabled": False, "execution__arrow__maxRecordsPerBatch": 100_000}
    with cases.settings(spark, **settings), sash.options.set(skew=True, memory="1g"):
        out = sash.withColumns(spark.read.parquet(rows), {name: over for name, (over, _) in SHARED.items()})
        assert "__sash_own" in cases.plan(out)
        out.select("*", F.spark_partition_id().alias("task")).write.parquet(str(tmp_path / "out"))
    assert differences(rows, tmp_path / "out", SHARED) == (0, ROWS)
    tasks = spark.read.parquet(str(tmp_path / "out")).where("k = 0").groupBy("task").count().collect()
    assert len(tasks) == 4
    assert max(task["count"] for task in tasks) < ROWS / 2


def test_one_task_is_enough_for_what_cannot_be_shared(spark, rows, tmp_path):
    """Survived medians and distinct counts of all rows so far of that key, by a task told to use 1 GB."""
    settings = {"execution__arrow__maxRecordsPerBatch": 100_000}
    with cases.settings(spark, **settings), sash.options.set(skew=True, memory="1g"):
        out = sash.withColumns(spark.read.parquet(rows), {name: over for name, (over, _) in ALONE.items()})
        out.write.parquet(str(tmp_path / "out"))
    assert differences(rows, tmp_path / "out", ALONE) == (0, ROWS)
