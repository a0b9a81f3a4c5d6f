"""Ten million partitions of one row each, on Spark, with workers that may hold little."""

import pytest
from pyspark.sql import functions as F

import sash
from sash import Window
from sash import functions as sf
from sash.engine.spilling import need, scratch
from spark import cases

pytestmark = pytest.mark.long
ROWS = 10_000_000


def test_each_row_is_a_partition_of_its_own(spark):
    """Survived 10,000,000 keys of one row each, in tasks that may use 256 MB, about half of what they need."""
    assert need(ROWS // 4 * 16, ROWS // 4, scratch(expressions=4)) > 1.5 * (256 << 20)  # in each of four tasks
    frame = spark.range(0, ROWS, 1, 4).selectExpr("id as k", "id * 7919 % 1009 as x")
    window = Window.partitionBy("k").orderBy("x")
    asked = {"sum": sf.sum("x"), "median": sf.median("x"), "kinds": sf.count_distinct("x"), "rank": sf.rank()}
    with cases.settings(spark, execution__arrow__maxRecordsPerBatch=100_000), sash.options.set(memory="256 MB"):
        out = sash.withColumns(frame, {name: call.over(window) for name, call in asked.items()})
        wrong = F.expr("sum <> x or median <> x or kinds <> 1 or rank <> 1 or sum is null or median is null")
        found = out.agg(F.count("*").alias("rows"), F.count_if(wrong).alias("wrong"), F.sum("sum").alias("sum")).first()
        assert (found.rows, found.wrong, found["sum"]) == (ROWS, 0, frame.agg(F.sum("x")).first()[0])
