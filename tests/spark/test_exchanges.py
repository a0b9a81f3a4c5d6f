"""Rows that come together, and stay right: keys, names, ties and what is computed, whatever way rows travel."""

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import functions as F

import sash
from sash import Window
from sash import functions as sf
from sash.engine.columns_read import checked
from sash.engine.evaluating import evaluate
from sash.spark import ranged
from sash.spark.exchanges import ALONE, HASHED, RANGED, exchanges
from sash.spark.piecewise import _check

U = Window.unboundedPreceding


def frame(spark, rows=600):
    number = np.arange(rows)
    table = pa.table({"id": number, "k": number % 3, "j": number % 5, "t": number * 7 % 40, "x": number * 13 % 97})
    return table, spark.createDataFrame(table.to_pandas())


@pytest.fixture
def pieces(monkeypatch):
    monkeypatch.setattr(ranged, "ROWS_A_PIECE", 50)


def test_expressions_that_share_some_keys_share_an_exchange():
    asked = checked(
        {
            "a": sf.count().over(Window.partitionBy("j", "k")),
            "b": sf.count().over(Window.partitionBy("k")),
            "c": sf.median("x").over(Window.orderBy("t")),
            "d": sf.sum("x").over(Window.orderBy("t")),
        },
        ["k", "j", "x", "t"],
    )
    found = [(each.how, each.keys, sorted(each.columns)) for each in exchanges(asked, lambda _: False)]
    assert found == [(HASHED, ("k",), ["a", "b"]), (RANGED, (), ["d"]), (ALONE, (), ["c"])]


def test_what_remains_of_a_skewed_exchange_keeps_its_keys():
    asked = checked(
        {
            "a": sf.row_number().over(Window.partitionBy("k").orderBy("t")),
            "b": sf.median("x").over(Window.partitionBy("k", "j").orderBy("t")),
            "c": sf.count_distinct("x").over(Window.partitionBy("k", "t")),
        },
        ["k", "j", "x", "t"],
    )
    found = [(each.how, each.keys, sorted(each.columns)) for each in exchanges(asked, lambda _: True)]
    assert found == [(HASHED, ("k",), ["b", "c"]), (RANGED, ("k",), ["a"])]


@pytest.mark.parametrize(
    "name",
    [
        "own",
        "piece",
        *(pytest.param(each, marks=pytest.mark.long) for each in ("first", "last", "part", "mine", "arrival", "told")),
    ],
)
def test_names_that_workers_use_for_themselves_are_free(spark, pieces, name):
    table, _ = frame(spark)
    table = table.append_column(name, table["x"])
    df = spark.createDataFrame(table.to_pandas())
    w = Window.orderBy("t", "id")
    columns = {
        name: sf.sum(name).over(w.rowsBetween(-2, 2)),
        "so far": sf.sum(name).over(w),
        "least": sf.min(name).over(w.rowsBetween(U, -1)),
        "by it": sf.max("x").over(Window.partitionBy("k").orderBy(name, "id").rowsBetween(-3, 0)),
    }
    with sash.options.set(memory="20k"):
        got = sash.withColumns(df, columns).orderBy("id").toArrow()
    want = evaluate(table, columns).sort_by("id")
    for column in columns:
        assert got[column].to_pylist() == want[column].to_pylist()


def test_a_random_argument_is_drawn_once(spark, pieces):
    _, df = frame(spark)
    out = sash.withColumns(
        df, {"s": sf.sum(F.rand()).over(Window), "n": sf.count().filter(F.rand() < 0.5).over(Window)}
    )
    assert out.select(F.round("s", 6)).distinct().count() == 1
    assert out.select("n").distinct().count() == 1


def test_ties_are_settled_by_all_expressions_of_a_call(spark, pieces):
    table, df = frame(spark)
    by = Window.orderBy("t")
    columns = {"n": sf.row_number().over(by), "m": sf.median("x").over(by.rowsBetween(U, 0))}
    with pytest.warns(sash.errors.SashWarning, match="m: median"):
        got = sash.withColumns(df, columns).orderBy("id").toArrow()
    want = evaluate(table, columns, arrival=False).sort_by("id")
    assert got["n"].to_pylist() == want["n"].to_pylist()
    assert got["m"].to_pylist() == want["m"].to_pylist()


def test_pieces_are_as_many_as_memory_asks_for(spark, monkeypatch):
    monkeypatch.setattr(ranged, "ROWS_A_PIECE", 10**9)
    table, df = frame(spark, 3000)
    columns = {"s": sf.sum("x").over(Window.orderBy("id").rowsBetween(-5, 5))}
    with sash.options.set(memory="200k"):
        got = sash.withColumns(df, columns).orderBy("id").toArrow()
    assert got["s"].to_pylist() == evaluate(table, columns)["s"].to_pylist()


def test_a_column_that_gives_several_rows_for_one_is_refused(spark):
    _, df = frame(spark)
    with pytest.raises(sash.SashError, match="Spark cannot resolve"):
        sash.withColumns(df, {"s": sf.sum(F.explode(F.array("x", "t"))).over(Window.partitionBy("k"))})


def test_values_without_a_hash_are_counted(spark):
    _, df = frame(spark)
    maps = df.withColumn("m", F.create_map("id", "x"))
    assert sash.withColumns(maps, {"n": sf.count("m").over(Window)}).select("n").distinct().collect()[0].n == 600


def test_columns_of_two_libraries_do_not_mix(spark):
    with pytest.raises(sash.SashError, match="does not mix"):
        F.col("x") * sash.col("k")
    with pytest.raises(sash.SashError, match="PySpark cannot take lag"):
        F.col("x") - sf.lag("x").over(Window.orderBy("t"))


def test_what_is_no_window_expression_is_told_apart(spark):
    from pyspark.sql import Window as SparkWindow

    _, df = frame(spark)
    with pytest.raises(sash.SashError, match=r"sash\.functions"):
        sash.withColumns(df, {"s": F.sum("x").over(SparkWindow.partitionBy("k"))})
    with pytest.raises(sash.SashError, match="over\\(window\\) is missing"):
        sash.withColumns(df, {"s": sf.sum("x")})
    with pytest.raises(sash.SashError, match="columns must map"):
        sash.withColumns(df, None)


def test_rows_that_came_or_went_between_two_reads_are_noticed():
    piece, own = np.zeros(4, np.int32), np.zeros(4, np.int32)
    _check(piece, own, None, np.array([4]))
    with pytest.raises(sash.SashError, match="the data changed"):
        _check(piece, own, None, np.array([5]))
