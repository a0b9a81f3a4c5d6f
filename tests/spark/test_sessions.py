"""``session_id`` on Spark and in SQL, and what Spark's own session_window makes of the same rows."""

from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pytest
from pyspark.sql import functions as F

import sash
from sash import Window
from sash import functions as sf
from spark import cases

BY = Window.partitionBy("u").orderBy("t")


@pytest.fixture(scope="module")
def visits():
    """Rows of some users, at times that repeat, with gaps of their own, some of them none."""
    random, start = np.random.default_rng(11), datetime(2026, 1, 1)
    return cases.numbered(
        pa.table(
            {
                "u": random.integers(0, 20, 600),
                "t": [start + timedelta(seconds=int(at)) for at in random.integers(0, 20_000, 600)],
                "gap": [None if size < 0 else int(size) for size in random.integers(-20, 900, 600)],
            }
        )
    )


def test_as_in_process(spark, visits):
    frame = cases.in_tasks(spark, visits, 3)
    asked = {
        "const": sf.session_id("5 minutes").over(BY),
        "down": sf.session_id("5 minutes").over(Window.partitionBy("u").orderBy("t desc")),
        "some": sf.session_id("5 minutes").filter("gap > 300").over(BY),
        "start": sf.min("t").over(BY),
    }
    cases.check(frame, visits, asked)


@pytest.mark.filterwarnings("ignore::sash.errors.SashWarning")
def test_without_a_key(spark, visits):
    cases.check(cases.in_tasks(spark, visits, 3), visits, {"n": sf.session_id("9 seconds").over(Window.orderBy("t"))})


@pytest.mark.parametrize("own", [False, True], ids=["of one gap", "of each row's gap"])
def test_the_sessions_are_those_of_session_window(spark, visits, own):
    """Times are whole seconds and gaps are not, so that none ends where another begins: Spark makes one of these."""
    frame = spark.createDataFrame(visits.to_pandas())
    frame = frame.withColumn("own", F.expr("make_dt_interval(0, 0, 0, gap + 0.5)"))
    gap = F.expr("concat(gap + 0.5, ' seconds')") if own else "5 minutes 0.5 seconds"
    theirs = frame.groupBy("u", F.session_window("t", gap)).agg(F.count("*").alias("n"), F.min("t").alias("first"))
    call = sf.session_id(sash.col("own") if own else "5 minutes 0.5 seconds")
    ours = sash.withColumns(frame, {"session": call.over(BY)}).where("session is not null")
    ours = ours.groupBy("u", "session").agg(F.count("*").alias("n"), F.min("t").alias("first"))
    columns = ("u", "n", "first")
    assert sorted(ours.select(*columns).collect()) == sorted(theirs.select(*columns).collect())


def test_rows_exactly_a_gap_apart_are_two_sessions_and_one_in_spark(spark):
    rows = spark.sql("select timestamp'2026-01-01 08:00:00' + make_dt_interval(0, 0, id * 5) t from range(3)")
    assert rows.groupBy(F.session_window("t", "5 minutes")).count().collect()[0]["count"] == 3
    ours = sash.withColumns(rows.withColumn("u", F.lit(1)), {"n": sf.session_id("5 minutes").over(BY)})
    assert sorted(row["n"] for row in ours.collect()) == [1, 2, 3]
    for source in (rows, rows.toArrow()):
        found = sash.stream(source, time="t").query("n", sf.count(), range=sash.session("5 minutes")).results()
        assert (found if isinstance(found, pa.Table) else found.toArrow())["n"].to_pylist() == [1, 1, 1]


def test_in_sql(spark, visits):
    frame = spark.createDataFrame(visits.to_pandas())
    frame = frame.withColumn("own", F.expr("make_dt_interval(0, 0, 0, gap)"))
    answers = sash.sql(
        """
        select id, session_id(interval 5 minutes) over w as a, session_id('5 minutes') over w as b,
               session_id(interval '300' second) over w as c, session_id(own) over w as d,
               session_id(make_dt_interval(0, 0, cast(gap as int) div 60)) over w as e
        from visits window w as (partition by u order by t)
        """,
        visits=frame,
    ).toArrow()
    expected = sash.withColumns(frame, {"a": sf.session_id("5 minutes").over(BY),
                                        "d": sf.session_id(sash.col("own")).over(BY)}).toArrow()  # fmt: skip
    ours, theirs = (each.sort_by("id") for each in (answers, expected))
    assert ours["a"].equals(theirs["a"])
    assert ours["b"].equals(theirs["a"])
    assert ours["c"].equals(theirs["a"])
    assert ours["d"].equals(theirs["d"])
    assert ours["e"].null_count > ours["d"].null_count  # whole minutes, of which some gaps have none


def test_numbers_in_sql(spark):
    rows = spark.sql("select * from values (1), (2), (4), (9) as rows(t)")
    got = sash.sql("select session_id(2) over (order by t) n, session_id(1.5) over (order by t) m from r", r=rows)
    assert [tuple(row) for row in got.collect()] == [(1, 1), (1, 1), (2, 2), (3, 3)]


def test_a_gap_that_is_none_is_refused_in_sql(spark):
    rows = spark.sql("select * from values (1), (2) as rows(t)")
    with pytest.raises(sash.SashError, match="gap must be above zero, got 0"):
        sash.sql("select session_id(0) over (order by t) from r", r=rows)
