"""Tables large enough for several threads, deep trees and many partitions."""

import duckdb
import numpy as np
import pyarrow as pa
import pytest

import sash
from sash import Window
from sash import functions as sf

ROWS = 200_000


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(1)
    return pa.table(
        {
            "id": np.arange(ROWS),
            "k": random.integers(0, 50, ROWS),
            "many": random.integers(0, ROWS // 8, ROWS),
            "v": random.normal(size=ROWS).round(2),
            "q": random.integers(0, 1000, ROWS),
            "back": random.integers(0, 500, ROWS),
        }
    )


CALLS = {
    "sum(q)": sf.sum("q"),
    "max(v)": sf.max("v"),
    "median(v)": sf.median("v"),
    "quantile_disc(q, 0.9)": sf.percentile_disc("q", 0.9),
    "count(distinct q)": sf.count_distinct("q"),
    "rank(order by v)": sf.rank().order_by("v"),
    "first_value(id order by v desc, id)": sf.first_value("id").order_by("v desc", "id"),
}
WINDOWS = {
    "partition by k order by id rows between 99 preceding and current row": Window.partitionBy("k")
    .orderBy("id")
    .rowsBetween(-99, 0),
    "partition by many order by id": Window.partitionBy("many").orderBy("id"),
    "order by id rows between back preceding and 500 - back following": Window.orderBy("id").rowsBetween(
        -sash.col("back"), 500 - sash.col("back")
    ),
}


@pytest.mark.parametrize("words", WINDOWS)
def test_duckdb_agrees_whatever_the_number_of_threads(table, words, monkeypatch):
    connection = duckdb.connect(config={"threads": 2})
    connection.register("data", table)
    asked = ", ".join(f"{call} over w as c{number}" for number, call in enumerate(CALLS))
    expected = connection.sql(f"select id, {asked} from data window w as ({words}) order by id").to_arrow_table()
    asked = {f"c{number}": call.over(WINDOWS[words]) for number, call in enumerate(CALLS.values())}
    for threads in ("1", "3"):
        monkeypatch.setenv("SASH_THREADS", threads)
        got = sash.withColumns(table, asked)
        for number, call in enumerate(CALLS):
            mine, theirs = (each[f"c{number}"].to_numpy().astype(float) for each in (got, expected))
            assert np.allclose(mine, theirs), call


ALL = {
    "dense": sf.dense_rank().order_by("v"),
    "lead": sf.lead("id").order_by("v"),
    "mode": sf.mode("q"),
    "entropy": sf.entropy("q"),
    "distinct sum": sf.sum("q").distinct(),
    "distinct max count": sf.max_count("q").distinct(),
    "distinct median": sf.median("q").distinct(),
    "listed": sf.first_n("q", 3).order_by("v"),
    "average": sf.avg("v"),
    "cume_dist": sf.cume_dist().order_by("q"),
}
FORWARD = [Window.partitionBy("k").orderBy("id").rowsBetween(-99, 5)]
OTHERS = [
    Window.partitionBy("k").orderBy("q").rangeBetween(-20, 20).exclude("ties"),
    Window.partitionBy("k").orderBy("id").rowsBetween(-sash.col("back"), 500 - sash.col("back")),
]


@pytest.mark.parametrize("window", FORWARD + OTHERS, ids=str)
def test_answers_do_not_depend_on_the_number_of_threads(table, window, monkeypatch):
    some = {name: call for name, call in ALL.items() if window in FORWARD or name != "distinct median"}
    asked = {name: call.over(window) for name, call in some.items()}
    answers = []
    for threads in ("1", "3"):
        monkeypatch.setenv("SASH_THREADS", threads)
        answers.append(sash.withColumns(table, asked).select(list(some)))
    assert answers[0].equals(answers[1])
