"""Sessions on Spark are Spark's own, and those of the same rows as a table, also where a stream is stopped."""

from datetime import timedelta

import pyarrow as pa
import pytest
from pyspark.sql import functions as F

import sash
from engine.streams.stream_oracle import same
from sash import functions as sf
from sash.errors import SashError
from spark.test_streaming import START, Folder, events, folder, in_order  # noqa: F401

GAP = "2 seconds"
OWN = "make_interval(0, 0, 0, 0, 0, 0, load % 7)"  # Spark's own takes intervals of calendars alone


@pytest.fixture(scope="module")
def rows(spark):
    made = spark.createDataFrame(events(400, seed=3).to_pandas(timestamp_as_object=True))
    return made.withColumn("gap", F.expr("make_dt_interval(0, 0, 0, load % 7)")).repartition(3).cache()


def sessions_of_spark(rows, gap):
    return {
        (row.plug, row.session_window.start, row.session_window.end): (row.n, row.peak, row.kinds)
        for row in rows.groupBy("plug", F.session_window("ts", gap))
        .agg(F.count("*").alias("n"), F.max("load").alias("peak"), F.count_distinct("load").alias("kinds"))
        .collect()
    }


def test_a_batch_gives_the_sessions_of_session_window(rows):
    calls = {"n": sf.count(), "peak": sf.max("load"), "kinds": sf.count_distinct("load")}
    for gap, of_spark in ((GAP, GAP), (sash.col("gap"), F.expr(OWN))):
        board = sash.stream(rows, time="ts", key="plug").query(calls, range=sash.session(gap))
        found = board.results(starts=True).collect()
        expected = sessions_of_spark(rows, of_spark)
        assert len(found) == len(expected) > 50
        assert {(row.plug, row.window_start, row.window_end): (row.n, row.peak, row.kinds) for row in found} == expected


def test_partials_are_moved_where_they_suffice(rows):
    board = sash.stream(rows, time="ts", key="plug")
    board = board.query({"n": sf.count(), "peak": sf.max("load")}, range=sash.session(GAP))
    found = {
        (row.plug, row.window_start, row.window_end): (row.n, row.peak) for row in board.results(starts=True).collect()
    }
    assert found == {window: answers[:2] for window, answers in sessions_of_spark(rows, GAP).items()}


def test_pysparks_own_columns_are_gaps(rows):
    board = sash.stream(rows, time="ts", key="plug").query("n", sf.count(), range=sash.session(F.col("gap") * 2))
    assert board.results().count() == len(sessions_of_spark(rows, F.expr(f"{OWN} * 2")))


def asked(board, held):
    held = {"mid": sf.median("load")} if held else {}
    board = board.query({"n": sf.count(), "mean": sf.avg("load")} | held, range=sash.session("1 second"))
    return board.query("low", sf.min("load"), range="15 seconds")


@pytest.mark.parametrize("held", [False, pytest.param(True, marks=pytest.mark.long)], ids=["partials", "rows"])
def test_a_stream_that_is_stopped_gives_what_a_table_does(folder, held):  # noqa: F811
    rows = events(300, disorder=8, seed=5)
    for part in range(3):
        folder.add(rows.slice(part * 100, 100), files=2)
        folder.run(asked(sash.stream(folder.stream(), time="ts", key="plug", watermark="10 seconds"), held).results())
    found = in_order(folder.found())
    until = START + timedelta(seconds=100)
    expected = in_order(asked(sash.stream(rows, time="ts", key="plug"), held).results().to_pylist())
    found, expected = ([row for row in answers if row["window_end"] <= until] for answers in (found, expected))
    assert len(expected) > 50
    assert [row["window_end"] for row in found] == [row["window_end"] for row in expected]
    for mine, theirs in zip(found, expected, strict=True):
        assert all(same(mine[name], theirs[name]) for name in theirs), (mine, theirs)


def test_late_rows_give_the_sessions_that_they_join_again(folder):  # noqa: F811
    rows = events(60, seed=1)
    template = rows.slice(0, 1).to_pylist()[0]

    def of(*seconds):
        made = [template | {"ts": START + timedelta(seconds=each)} for each in seconds]
        return pa.Table.from_pylist(made, rows.schema)

    board = sash.stream(folder.stream(), time="ts", watermark="1 second", lateness="1 minute")
    board = board.query("n", sf.count(), range=sash.session("10 seconds"))
    for part in (of(0, 5, 20, 40), of(12), of(41)):
        folder.add(part)
        folder.run(board.results())
    found = [((row["window_end"] - START).total_seconds(), row["revision"], row["n"]) for row in folder.found()]
    assert sorted(found) == [(15, 0, 2), (15, 1, None), (30, 0, 1), (30, 1, 4)]


def test_continuous_queries_say_sessions_and_windows_that_grow(rows):
    found = sash.sql(
        "select plug, count(*) as n from rows [range session 2 seconds] group by plug", rows=rows.drop("gap")
    )
    board = sash.stream(rows, time="ts", key="plug").query("n", sf.count(), range=sash.session(GAP))
    assert sorted(found.collect()) == sorted(board.results().collect())
    found = sash.sql("select plug, count(*) as n from rows [range session gap] group by plug", rows=rows)
    board = sash.stream(rows, time="ts", key="plug").query("n", sf.count(), range=sash.session(sash.col("gap")))
    assert sorted(found.collect()) == sorted(board.results().collect())
    found = sash.sql("select max(load) as m from rows [range cumulate 1 minute step 20 seconds]", rows=rows)
    board = sash.stream(rows, time="ts")
    board = board.query("m", sf.max("load"), range=sash.cumulate("1 minute", step="20 seconds"))
    assert sorted(found.collect()) == sorted(board.results().collect())
    for window, extent in (
        ("rows 3 slide 20 seconds", {"range": 3, "slide": "20 seconds"}),
        ("range 20 seconds slide 3 rows", {"range": "20 seconds", "slide": 3}),
    ):
        found = sash.sql(f"select max(load) as m from rows [{window}]", rows=rows)
        board = sash.stream(rows, time="ts").query("m", sf.max("load"), **extent)
        assert sorted(found.collect()) == sorted(board.results().collect()) != []
    for window, sentence in (
        ("range session 2 seconds slide 1 second", "windows by SESSION have no SLIDE"),
        ("range session", "a window by RANGE"),
        ("range session 1 month", "gap of session must be in weeks, days or less"),
        ("range cumulate 1 minute", "CUMULATE has a step"),
        ("range cumulate 1 minute step 7 seconds", "step of cumulate must divide its size"),
    ):
        with pytest.raises(SashError, match=sentence):
            sash.sql(f"select count(*) as n from rows [{window}]", rows=rows)


def test_early_answers_are_refused(folder):  # noqa: F811
    folder.add(pa.table(events(10)))
    board = sash.stream(folder.stream(), time="ts", watermark="10 seconds")
    with pytest.raises(SashError, match="needs windows whose end is known"):
        board.query("n", sf.count(), range=sash.session("1 second")).results(emit="updates")
