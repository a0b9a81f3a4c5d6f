"""Expressions of answers on Spark: those of a table in memory; what PySpark cannot look into says what to write."""

import pyarrow as pa
import pytest
from pyspark.sql import functions as F

import sash
from engine.test_composing import BY_K, MANY, NEAR, TABLE
from sash import SashError, Window, col
from sash import functions as sf

pytestmark = pytest.mark.filterwarnings("ignore::sash.errors.SashWarning")
NESTED = {
    "gap": sf.avg(col("t") - sf.lag("t").over(BY_K)).over(BY_K),
    "few": sf.avg("x").over(NEAR, min_samples=3),
    "visit": sf.count().over(Window.partitionBy("k", (sf.row_number().over(BY_K) / 4).floor())),
}


def rows_of(table):
    if not isinstance(table, pa.Table):
        table = table.toArrow()
    return table.sort_by("t").to_pylist()


def test_spark_has_the_same_expressions(spark):
    df = spark.createDataFrame(TABLE).repartition(3)
    asked = MANY | NESTED
    out = sash.withColumns(df, asked)
    assert out.columns == [*TABLE.column_names, *(name for name in asked if name != "x")]
    got, want = rows_of(out), rows_of(sash.withColumns(TABLE, asked))
    assert [row | {"z": None} for row in got] == [row | {"z": None} for row in want]
    assert [row["z"] for row in got] == pytest.approx([row["z"] for row in want], nan_ok=True)


def test_select_and_the_pandas_api_of_spark(spark):
    df = spark.createDataFrame(TABLE)
    asked = ["t", (col("x") - sf.min("x").over(NEAR)).alias("up"), {"x": sf.max("x").over(NEAR)}]
    want = rows_of(sash.select(TABLE, *asked))
    assert rows_of(sash.select(df, *asked)) == want
    assert rows_of(df.transform(sash.select, *asked)) == want
    frame = df.pandas_api(index_col="t")
    out = sash.select(frame, "k", {"n": sf.count().over(Window.partitionBy("k")) * 2})
    assert out.columns.tolist() == ["k", "n"]
    assert out.index.names == ["t"]
    plan = sash.explain(df, {"up": col("x") - sf.min("x").over(NEAR), "visit": NESTED["visit"]})
    assert set(plan.chosen) == {"up", "visit"}
    assert "up = x - min(x) over" in str(plan)


ASKS = {
    "withColumn": lambda df, over: df.withColumn("a", over),
    "withColumns": lambda df, over: df.withColumns({"a": over}),
    "select": lambda df, over: df.select(over),
    "filter": lambda df, over: df.filter(over > 1),
    "round": lambda _, over: F.round(over, 1),
    "when": lambda _, over: F.when(over > 1, 2),
    "coalesce": lambda _, over: F.coalesce(F.col("x"), over),
    "left": lambda _, over: F.col("x") - over,
    "right": lambda _, over: over + F.col("x"),
}


@pytest.mark.parametrize("ask", ASKS.values(), ids=ASKS)
def test_pyspark_says_what_to_write(spark, ask):
    df = spark.createDataFrame(TABLE)
    with pytest.raises(SashError, match=r"sash\.withColumns|sash\.col\("):
        ask(df, sf.avg("x").over(NEAR))
