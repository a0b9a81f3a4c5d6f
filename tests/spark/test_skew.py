"""A key with very many rows is cut into pieces, and does not keep one task busy alone."""

import numpy as np
import pyarrow as pa
import pytest

import sash
from sash import Window
from sash import functions as sf
from sash.spark import ranged, skew
from spark import cases

ROWS = 240
random = np.random.default_rng(11)
KEYS = np.where(random.random(ROWS) < 0.5, 3, random.integers(10, 60, ROWS))  # half of the rows have one key
DATA = cases.numbered(
    pa.table(
        {
            "k": [None if key == 10 else int(key) for key in KEYS],
            "t": [None if t == 0 else int(t) for t in random.integers(0, 90, ROWS)],
            "q": [int(q) for q in random.integers(-9, 9, ROWS)],
            "s": [["a", "b", None][place] for place in random.integers(0, 3, ROWS)],
        }
    )
)
OF_KEY = Window.partitionBy("k").orderBy("t")
COLUMNS = {
    "sum of the last": sf.sum("q").over(OF_KEY.rowsBetween(-20, 0)),
    "near": sf.count_distinct("s").over(OF_KEY.rangeBetween(-5, 5)),
    "running": sf.sum("q").over(OF_KEY),
    "best so far": sf.max_by("s", "q").over(OF_KEY),
    "all": sf.avg("q").over(OF_KEY.rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)),
    "rank": sf.rank().over(OF_KEY),
    "share": sf.cume_dist().over(OF_KEY),
    "next": sf.lead("q", 2).over(OF_KEY),
}


@pytest.fixture
def hot(monkeypatch):
    monkeypatch.setattr(skew, "HOT_ROWS", 50)
    monkeypatch.setattr(skew, "SAMPLED", 1.0)
    monkeypatch.setattr(ranged, "ROWS_A_PIECE", 20)
    with sash.options.set(skew=True):
        yield


@pytest.mark.parametrize("adaptive", [True, pytest.param(False, marks=pytest.mark.long)])
def test_a_hot_key_is_cut(spark, hot, adaptive):
    frame = cases.in_tasks(spark, DATA, 3, shuffled=True)
    with cases.settings(spark, adaptive__enabled=adaptive):
        assert "__sash_own" in cases.plan(sash.withColumns(frame, COLUMNS))
        cases.check(frame, DATA, COLUMNS)


@pytest.mark.parametrize(
    "name", [pytest.param(each, marks=() if each in ("near", "running") else pytest.mark.long) for each in COLUMNS]
)
def test_each_expression_by_itself(spark, hot, name):
    cases.check(cases.in_tasks(spark, DATA, 2), DATA, {name: COLUMNS[name]})


def test_orders_of_its_own_and_other_keys_go_along(spark, hot):
    columns = {
        **COLUMNS,
        "by q": sf.sum("t").over(Window.partitionBy("k").orderBy(sf.desc("q")).rowsBetween(-3, 3)),
        "two keys": sf.sum("q").over(Window.partitionBy("k", "s").orderBy("t")),
        "middle": sf.median("q").over(OF_KEY),
        "of the whole": sf.max("q").over(Window.partitionBy("k")),
    }
    cases.check(cases.in_tasks(spark, DATA, 2), DATA, columns)


def test_keys_with_about_as_many_rows_each_are_not(spark, hot):
    even = DATA.set_column(0, "k", pa.array([place % 40 for place in range(ROWS)]))
    frame = spark.createDataFrame(even)
    assert "__sash_own" not in cases.plan(sash.withColumns(frame, COLUMNS))


def test_nor_few_rows_nor_where_nobody_looks(spark, hot, monkeypatch):
    frame = spark.createDataFrame(DATA)
    for choice in (False, "auto"):  # Spark expects few bytes
        with sash.options.set(skew=choice):
            assert "__sash_own" not in cases.plan(sash.withColumns(frame, COLUMNS))
    monkeypatch.setattr(skew, "HOT_ROWS", 1000)
    assert "__sash_own" not in cases.plan(sash.withColumns(frame, COLUMNS))


def test_looking_by_itself_from_some_size_on(spark, hot, monkeypatch):
    frame = spark.createDataFrame(DATA)
    monkeypatch.setattr(skew, "LOOK_FROM", 100)
    with sash.options.set(skew="auto"):
        assert "__sash_own" in cases.plan(sash.withColumns(frame, COLUMNS))


def test_what_spark_expects_of_a_frame(spark, tmp_path):
    assert skew.expected_bytes(spark.range(1000)) == pytest.approx(8000, rel=0.01)  # as printed: 7.8 KiB
    assert skew.expected_bytes(spark.range(2**40)) == 2.0**43
    assert 8000 < skew.expected_bytes(spark.range(1000).selectExpr("id", "id as again")) < 40_000
    spark.range(5000).write.parquet(str(tmp_path / "rows"))
    assert 1000 < skew.expected_bytes(spark.read.parquet(str(tmp_path / "rows"))) < 1e6


def test_no_rows(spark, hot):
    out = sash.withColumns(spark.createDataFrame(DATA).where("q > 100"), COLUMNS)
    assert out.collect() == []
