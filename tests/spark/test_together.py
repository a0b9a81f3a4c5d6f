"""Rows that are together already are not shuffled again; filters on what they are together by belong before."""

import pytest

import sash
from sash import Window, col
from sash import functions as sf

W = Window.partitionBy("k").orderBy("t")


@pytest.fixture(scope="module")
def rows(spark):
    return spark.range(200).selectExpr(
        "id % 7 as k", "id % 3 as j", "id as t", "(id * 37) % 101 as x", "id % 2 as `t + 1`"
    )


def shuffles(frame, capsys):
    frame.explain()
    return capsys.readouterr().out.count("Exchange ")


def chained(rows, *steps):
    for step in steps:
        rows = sash.withColumns(rows, step)
    return rows


def answers(frame):
    return sorted(map(tuple, frame.collect()))


MEDIAN, COUNT = sf.median("x").over(W.rowsBetween(-5, 0)), sf.count_distinct("x").over(W)
MORE = sf.max("x").over(Window.partitionBy("j", "k").orderBy("t"))


@pytest.mark.parametrize(
    ("steps", "expected"),
    [
        ([{"a": MEDIAN}, {"b": COUNT}, {"c": MORE}], 1),
        ([{"c": MORE}, {"b": COUNT}], 2),  # by fewer columns
        ([{"a": MEDIAN}, {"K": col("k") + sf.max("j").over(W)}, {"b": sf.count().over(Window.partitionBy("K"))}], 2),
        (
            [
                {"a": sf.max("x").over(Window.partitionBy("t + 1").orderBy("t"))},
                {"b": sf.max("x").over(Window.partitionBy(col("t") + 1).orderBy("x"))},
            ],
            2,
        ),
    ],
    ids=["same keys", "fewer keys", "a key that changes", "names like expressions"],
)
def test_columns_with_the_same_keys_share_a_shuffle(rows, capsys, steps, expected):
    frame = chained(rows, *steps)
    assert shuffles(frame, capsys) == expected
    apart = rows
    for step in steps:  # with a filter that keeps all, nothing is known of where the rows are
        apart = sash.withColumns(apart.where("t >= 0"), step)
    assert answers(frame) == answers(apart)


def test_what_is_done_between_shuffles_again(rows, capsys):
    first = sash.withColumns(rows, {"a": MEDIAN})
    assert shuffles(sash.withColumns(first.where("t >= 0"), {"b": COUNT}), capsys) == 2


def test_explain_says_where_filters_belong(rows):
    plan = str(sash.explain(rows, {"a": MEDIAN, "c": MORE}))
    assert "a filter on k belongs before these columns: after them, all rows are shuffled and answered first" in plan
    assert "a filter on" not in str(sash.explain(rows, {"a": sf.max("x").over(Window.orderBy("t"))}))
