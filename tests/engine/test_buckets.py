"""Counts between edges, and functions by category: what NumPy and DuckDB say of the same rows."""

import datetime as dt
from collections import Counter
from decimal import Decimal

import duckdb
import numpy as np
import polars as pl
import pyarrow as pa
import pytest

import sash
from sash import Window
from sash import functions as sf

RANDOM = np.random.default_rng(11)
ROWS = pa.table(
    {
        "k": RANDOM.integers(0, 2, 70),
        "o": RANDOM.permutation(70),
        "x": pa.array(RANDOM.integers(-2, 12, 70).astype(float), mask=RANDOM.random(70) < 0.1),
        "c": pa.array([[None, "a", "b", "c"][i] for i in RANDOM.integers(0, 4, 70)]),
    }
)
BY = Window.partitionBy("k").orderBy("o")
LAST = BY.rowsBetween(-6, 0)
EDGES = [0, 2.5, 5, 10]
FRAMES = [LAST, BY.rangeBetween(-9, 9), BY.rowsBetween(-4, 4).exclude("group"), BY.rowsBetween(80, 90), Window]


@pytest.mark.parametrize("frame", FRAMES)
def test_numpy_counts_the_same_between_edges(frame):
    asked = {
        "counts": sf.histogram("x", EDGES).over(frame),
        "all": sf.histogram("x", [-np.inf, 5, np.inf]).over(frame),
        "xs": sf.collect_list("x").filter("x is not null").over(frame),
    }
    for row in sash.withColumns(ROWS, asked).to_pylist():
        assert row["counts"] == np.histogram(row["xs"], EDGES)[0].tolist()
        assert sum(row["all"]) == len(row["xs"])


@pytest.mark.parametrize("edges", [(0, 5), np.array([0, 5]), [Decimal(0), 5.0]])
def test_edges_are_any_numbers_and_belong_to_what_is_above_but_the_last(edges):
    rows = pa.table({"x": [0.0, 4.9, 5.0, 5.1, -0.1, float("nan")]})
    assert sash.withColumns(rows, {"n": sf.histogram("x", edges).over(Window)})["n"][0].as_py() == [3]


def test_slices_of_streams_hold_counts():
    board = sash.stream(ROWS, key="k").query("n", sf.histogram("x", EDGES), range=20, slide=5)
    assert "from the partials of slices" in str(board.explain())
    for row in board.results().to_pylist():
        mine = [each["x"] for each in ROWS.to_pylist() if each["k"] == row["k"]]
        values = [x for x in mine[max(row["window_end"] - 20, 0) : row["window_end"]] if x is not None]
        assert row["n"] == np.histogram(values, EDGES)[0].tolist()


@pytest.mark.parametrize("frame", FRAMES[:3])
@pytest.mark.parametrize(
    "call", [sf.sum("x"), sf.median("x"), sf.count(), sf.max("x").filter("x < 8"), sf.count_distinct("x"), sf.last("x")]
)
def test_a_function_by_category_is_that_of_the_rows_of_each(frame, call):
    found = sash.withColumns(ROWS, {"m": sf.by_bucket("c", call).over(frame)})["m"].to_pylist()
    condition = "x < 8" if call.condition is not None else "true"
    asked = {}
    for name in "abc":
        one = f"c = '{name}' and {condition}"
        alone = call if call.condition is None else sf.max("x")
        asked |= {name: alone.filter(one).over(frame), f"{name} rows": sf.count().filter(one).over(frame)}
    for got, row in zip(found, sash.withColumns(ROWS, asked).to_pylist(), strict=True):
        assert dict(got) == {name: row[name] for name in "abc" if row[f"{name} rows"]}


def test_duckdb_has_the_same_maps():
    rows = ROWS  # noqa: F841, read by DuckDB
    query = """
        select o, (select map_from_entries(list((c, n) order by c)) from
                   (select c, sum(x) n from rows b where b.k = a.k and b.o <= a.o and c is not null group by c)) m
        from rows a order by o"""
    theirs = [row[1] for row in duckdb.sql(query).fetchall()]
    ours = sash.withColumns(ROWS, {"m": sf.by_bucket("c", sf.sum("x")).over(BY)}).sort_by("o")["m"].to_pylist()
    assert [dict(each) for each in ours] == [each or {} for each in theirs]


@pytest.mark.parametrize(
    "values",
    [[1, 2, 2, None], [True, False, True, None], [1.5, 2.5, 1.5, None], [Decimal("1.5"), Decimal("2.5"), None, None],
     [dt.date(2026, 1, 2), dt.date(2026, 1, 1), None, None], [dt.datetime(2026, 1, 1, 3), None, None, None]],
)  # fmt: skip
def test_categories_are_of_any_type_that_compares(values):
    got = sash.withColumns(pa.table({"c": values}), {"n": sf.by_bucket("c", sf.count()).over(Window)})["n"][0].as_py()
    assert got == sorted(Counter(each for each in values if each is not None).items())


@pytest.mark.parametrize("dtype", [pa.float64(), pa.float32(), pa.float16()])
def test_both_zeros_are_one_category_and_so_are_all_nan(dtype):
    rows = pa.table({"c": pa.array([0.0, -0.0, float("nan"), -float("nan"), None], dtype)})
    [zero, nan] = sash.withColumns(rows, {"n": sf.by_bucket("c", sf.count()).over(Window)})["n"][0].as_py()
    assert zero == (0.0, 2)
    assert np.isnan(nan[0])
    assert nan[1] == 2


def test_categories_of_pandas_and_polars_are_texts():
    for frame in (
        ROWS.to_pandas().astype({"c": "category"}),
        pl.from_arrow(ROWS).with_columns(pl.col("c").cast(pl.Categorical)),
    ):
        got = sash.withColumns(frame, {"n": sf.by_bucket("c", sf.count()).over(Window)})["n"]
        assert dict(got[0]) == Counter(each for each in ROWS["c"].to_pylist() if each is not None)


def test_no_rows_and_no_categories_have_the_type_of_others():
    call = {"m": sf.by_bucket("c", sf.sum("x")).over(LAST)}
    full = sash.withColumns(ROWS, call).schema
    assert sash.withColumns(ROWS.slice(0, 0), call).schema == full
    nobody = sash.withColumns(ROWS.filter(ROWS["c"].is_null()), call)
    assert nobody.schema == full
    assert set(map(tuple, nobody["m"].to_pylist())) == {()}


def test_windows_of_streams_have_maps():
    board = sash.stream(ROWS, key="k").query("m", sf.by_bucket("c", sf.count()), range=10)
    for row in board.results().to_pylist():
        mine = [each["c"] for each in ROWS.to_pylist() if each["k"] == row["k"]]
        assert dict(row["m"]) == Counter(c for c in mine[row["window_end"] - 10 : row["window_end"]] if c is not None)


@pytest.mark.parametrize(
    ("wrong", "said"),
    [
        (lambda: sf.histogram("x", [1]), "edges must be a list of 2 to 129 numbers, got"),
        (lambda: sf.histogram("x", [1, 1]), "edges must ascend, got"),
        (lambda: sf.histogram("x", "abc"), "edges must be a list of 2 to 129 numbers"),
        (lambda: sf.by_bucket("c", "x"), r'by_bucket takes a function of a frame, such as sf.sum\("x"\), got \'x\''),
        (lambda: sf.by_bucket("c", sf.rank()), "by_bucket takes a function of a frame"),
        (lambda: ask(pa.table({"c": range(300)})), "takes at most 256 categories, got 300; partition by"),
        (
            lambda: ask(pa.table({"c": pa.array([1500], pa.timestamp("ns"))})),
            "category must be times of whole microsec",
        ),
        (lambda: ask(pa.table({"c": [b"a"]})), "category must be a column of texts, numbers, dates or times"),
    ],
)
def test_what_has_no_buckets_is_refused(wrong, said):
    with pytest.raises(sash.SashError, match=said):
        wrong()


def ask(rows):
    return sash.withColumns(rows, {"n": sf.by_bucket("c", sf.count()).over(Window)})
