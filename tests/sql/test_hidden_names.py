"""Columns between Spark and Sash have names of their own, which nobody gets to see."""

import re
import traceback

import pytest

import sash
from sash.spark.hidden import UNSPELLABLE

ROWS = "values ('a', 1, 1.5D, 'x'), ('b', 2, 2.5D, 'y'), ('a', 3, null, null) t(k, t, v, s)"
WRONG = [  # where the query is read, by Sash and by Spark
    "select sum(s || 'x') over (partition by map(k, 1)) from t",
    "select median(t + 1) over (partition by k), zz from t",
    "select median(t + 1) over (partition by k) from t qualify zz > 1",
    "select median(s || 'x') over (partition by k order by t + 1 range between '1 day' preceding and current row) from t",
    "select upper(median(t + 1) over (partition by k), 1) from t",
    "select bool_and(t + 1) over (partition by k) from t",
]
FAILING = [  # where it runs: in a worker, before it, and after it
    "select percentile_disc(t + 1, v * 9) over (partition by k) from t",
    "select sum(9223372036854775807 + t * 0) over (partition by k order by t) + median(t + 1) over (partition by k) from t",
    "select median(1 / (t - 1)) over (partition by k) from t",
    "select median(t + 1) over (partition by k) + s from t",
]


def said(action):
    """All that an error says, and those behind it."""
    try:
        action()
    except Exception as error:
        parts = ["".join(traceback.format_exception(error)), str(error), repr(error), repr(vars(error))]
        for name in ("getMessage", "getMessageParameters"):
            if hasattr(error, name):
                parts.append(str(getattr(error, name)()))
        return "\n".join(parts)
    raise AssertionError("no error")


@pytest.mark.parametrize("query", WRONG)
def test_errors_of_a_query_that_is_wrong(spark, query):
    table = spark.sql(f"select * from {ROWS}")
    assert UNSPELLABLE not in said(lambda: sash.sql(query, t=table).collect())
    assert UNSPELLABLE not in said(lambda: print(sash.explain(query, t=table)) or sash.sql(query, t=table).collect())


@pytest.mark.parametrize("query", FAILING)
def test_errors_of_a_query_that_fails(spark, query):
    table = spark.sql(f"select * from {ROWS}")
    frame = sash.sql(query, t=table)
    assert UNSPELLABLE not in str(frame.schema)
    assert UNSPELLABLE not in str(frame.columns)
    assert UNSPELLABLE not in said(frame.collect)
    assert UNSPELLABLE not in said(frame.toArrow)


def test_errors_of_what_follows_and_plans(spark):
    table = spark.sql(f"select * from {ROWS}")
    query = "select median(t + 1) over (partition by k), k || 'x', median(t + 1) over (partition by k) from t"
    frame = sash.sql(query, t=table)
    later = said(lambda: frame.select("nosuch"))
    assert "median(t + 1)" in later
    assert UNSPELLABLE not in later
    plan = sash.explain(query, t=table)
    assert "median(t + 1)" in str(plan)
    assert UNSPELLABLE not in f"{plan} {plan!r} {plan.chosen}"


def test_a_percentage_out_of_range_is_told_beside_nulls(spark):
    table = spark.sql(f"select * from {ROWS}")
    text = said(sash.sql("select percentile_disc(t, v * 9) over (partition by k) from t", t=table).collect)
    assert re.search(r"got (13\.5|22\.5) to (13\.5|22\.5)", text)  # a task may have one partition, or both
