"""Frames that nothing may look at, as in the query functions of Spark's Declarative Pipelines."""

import os
import subprocess
import sys
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from pyspark.sql import functions as F
from pyspark.sql.types import LongType, StructField, StructType

import sash
from sash import SashError, Window
from sash import functions as sf
from sessions import HERE
from spark import cases

DATA = cases.numbered(pa.table({"k": [1, 1, 2, 2, 2], "t": [1, 2, 3, 4, 5], "v": [3.0, 1.0, None, 2.0, 5.0]}))
SCHEMA = "k bigint, t long, v double, `id` bigint"
OF_KEY = Window.partitionBy("k").orderBy("t")
COLUMNS = {
    "middle": sf.median("v").over(OF_KEY),
    "off": sash.col("v") * 2 - sf.avg(sash.col("v") * 2).over(OF_KEY),
    "places": sf.row_number().over(Window.orderBy("t")),
}


def described(frame, columns=COLUMNS, schema=SCHEMA):
    return sash.withColumns(frame, columns, schema=schema)


@pytest.mark.filterwarnings("ignore::sash.errors.SashWarning")
@pytest.mark.parametrize("form", ["text", "arrow", "spark"])
def test_a_frame_of_a_given_schema_has_the_same_answers(spark, form):
    frame = spark.createDataFrame(DATA)
    schema = {"text": SCHEMA, "arrow": DATA.schema, "spark": frame.schema}[form]
    assert cases.collected(described(frame, schema=schema)) == cases.collected(sash.withColumns(frame, COLUMNS))


def test_columns_that_are_not_in_the_schema_are_carried_along(spark):
    out = described(spark.createDataFrame(DATA), {"m": sf.max("v").over(OF_KEY)}, "k int, t int, v double")
    assert out.columns == ["k", "t", "v", "id", "m"]
    assert cases.collected(out)["m"].to_pylist() == [3.0, 3.0, None, 2.0, 5.0]


@pytest.mark.parametrize(
    ("schema", "said"),
    [
        ("k bigint, v nothing", "schema must be a pyarrow Schema, a StructType or text such as .*, got 'nothing' in"),
        ("k bigint v double", "schema must be .*, got 'k bigint v double'"),
        (7, "schema must be .*, got 7 of type int"),
        ("k bigint, t bigint", "there is no column 'v'"),
        (StructType([StructField("k", LongType())]), "there is no column 'v'; there are k"),
    ],
)
def test_a_schema_that_does_not_do_is_refused(spark, schema, said):
    with pytest.raises(SashError, match=said):
        described(spark.createDataFrame(DATA), schema=schema)


def test_what_nobody_may_look_at_is_refused_in_one_sentence(spark):
    frame = spark.createDataFrame(DATA)
    with pytest.raises(
        SashError, match=r"nothing tells the type of a column of PySpark, got .*; write it with sash.col"
    ):
        described(frame, {"s": sf.sum(F.col("v") * 2).over(OF_KEY)})
    with pytest.raises(SashError, match=r"n: Window.of does not go with schema="):
        described(frame, {"n": sf.count().over(Window.of(frame, on="k", at="t").rangeBetween(-1, 0))})
    with pytest.raises(SashError, match="schema= is for batch DataFrames, got a streaming one"):
        described(spark.readStream.format("rate").load())
    with pytest.raises(SashError, match="schema is for Spark DataFrames, got it with a Table"):
        described(DATA)


SPEC = """
name: sash
storage: {storage}
libraries:
  - glob:
      include: definitions/**
configuration:
  spark.sql.shuffle.partitions: "2"
"""
DEFINITIONS = """
from pyspark import pipelines as dp
from pyspark.sql import SparkSession
import sash
from sash import Window, functions as sf

spark = SparkSession.active()
OF_KEY = Window.partitionBy("k").orderBy("t")


@dp.materialized_view
def trades():
    return spark.range(9).selectExpr("id % 2 as k", "id as t", "id * id as v")


@dp.materialized_view
def answers():
    columns = {"middle": sf.median("v").over(OF_KEY), "so_far": sf.sum("v").over(Window.orderBy("t"))}
    return sash.withColumns(spark.read.table("trades"), columns, schema="k bigint, t bigint, v bigint")


def refused(ask):
    try:
        ask()
    except sash.SashError as error:
        return str(error)


@dp.materialized_view
def errors():
    frame = spark.read.table("trades")
    said = [
        refused(lambda: sash.withColumns(frame, {"m": sf.median("v").over(OF_KEY)})),
        refused(lambda: sash.sql("select median(v) over (partition by k) from trades")),
        refused(lambda: sash.stream(frame, time="t").query("n", sf.count(), range=5)),
    ]
    return spark.range(1).selectExpr(*(f'"{each}" as e{place}' for place, each in enumerate(said)))
"""


@pytest.mark.long
def test_a_pipeline_of_spark_runs_with_window_functions(tmp_path):
    (tmp_path / "definitions").mkdir()
    (tmp_path / "definitions" / "boards.py").write_text(DEFINITIONS)
    storage, warehouse = tmp_path / "storage", tmp_path / "spark-warehouse"
    (tmp_path / "spark-pipeline.yml").write_text(SPEC.format(storage=storage.as_uri()))
    run = [str(Path(sys.executable).parent / "spark-pipelines"), "run"]
    done = subprocess.run(run, cwd=tmp_path, env=os.environ | HERE, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    answers = pq.read_table(warehouse / "answers").sort_by("t")
    assert answers["middle"].to_pylist() == [0.0, 1.0, 2.0, 5.0, 4.0, 9.0, 10.0, 17.0, 16.0]
    assert answers["so_far"].to_pylist() == [sum(n * n for n in range(last + 1)) for last in range(9)]
    (errors,) = pq.read_table(warehouse / "errors").to_pylist()
    assert all(said.startswith("Spark forbids to look at a DataFrame in a query function") for said in errors.values())
    assert "schema='k bigint" in errors["e0"]
    assert "withColumns with schema= there" in errors["e1"]
