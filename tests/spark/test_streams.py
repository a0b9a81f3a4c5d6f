"""Continuous queries on a batch DataFrame give what they give on the same rows as a table."""

from datetime import UTC, datetime

import pyarrow as pa
import pytest
from pyspark.sql import functions as F

import sash
from engine.streams.stream_oracle import same
from sash import functions as sf
from sash.errors import SashError


@pytest.fixture(scope="module")
def events(spark):
    at = F.when(F.col("id") % 97 != 5, F.timestamp_micros(F.col("id") * 700_000 + 1_700_000_000_000_000))
    rows = spark.range(600).select(
        at.alias("ts"), (F.col("id") % 3).cast("string").alias("plug"), (F.col("id") * 7 % 11).alias("load"), "id"
    )
    return rows.repartition(3)


def sorted_rows(table):
    return sorted(table.to_pylist(), key=lambda row: (str(row["window_end"]), str(row.get("plug"))))


def boards(events, **settings):
    """The board on Spark, and that of the same rows in order, in memory."""
    table = events.orderBy("id").toArrow()
    return sash.stream(events, **settings), sash.stream(table, **settings)


PARTIALS = {"peak": sf.max("load"), "mean": sf.avg("load"), "spread": sf.stddev("load"), "n": sf.count()}
ROWS = {"mid": sf.median("load"), "last": sf.last("id"), "kinds": sf.count_distinct("load")}


@pytest.mark.parametrize("key", ["plug", None])
@pytest.mark.parametrize("calls", [PARTIALS, {**PARTIALS, **ROWS}], ids=["partials", "rows"])
def test_windows_by_time(events, key, calls):
    found = []
    for board in boards(events, time="ts", key=key):
        board = board.query(calls, range="1 minute", slide="20 seconds").query("t", sf.min("load"), range="45 seconds")
        results = board.results(emit="changes", starts=True)
        found.append(sorted_rows(results if isinstance(results, pa.Table) else results.toArrow()))
    assert len(found[0]) > 10
    for mine, theirs in zip(*found, strict=True):
        assert all(same(mine[name], theirs[name]) for name in theirs)


@pytest.mark.parametrize("calls", [PARTIALS, ROWS], ids=["partials", "rows"])
def test_windows_without_events_are_filled(events, calls):
    found = []
    for board in boards(events.where("id % 100 < 7"), time="ts", key="plug"):
        results = board.query(calls, range="10 seconds").results(fill="previous" if calls is ROWS else True)
        found.append(sorted_rows(results if isinstance(results, pa.Table) else results.toArrow()))
    assert len(found[0]) > 100
    for mine, theirs in zip(*found, strict=True):
        assert all(same(mine[name], theirs[name]) for name in theirs)


def test_nothing_is_late_in_a_batch_however_long_windows_stay(events):
    found = []
    for board in boards(events.where("ts is not null"), time="ts", key="plug", lateness="1 hour"):
        results = board.query("n", sf.count(), range="1 minute").results()
        found.append(sorted_rows(results if isinstance(results, pa.Table) else results.toArrow()))
    assert found[0] == found[1]
    assert {row["revision"] for row in found[0]} == {0}


def test_an_algorithm_that_is_named_answers_and_is_told_in_the_plan(spark, tmp_path, events):
    mine, theirs = boards(events.where("ts is not null"), time="ts", key="plug")

    def asked(board, using):
        return board.query({"peak": sf.max("load"), "n": sf.count()}, range="1 minute", slide="20 seconds", using=using)

    assert sorted_rows(asked(mine, "daba").results().toArrow()) == sorted_rows(asked(theirs, None).results())
    stream = spark.readStream.schema("ts timestamp, plug string, load bigint").parquet(str(tmp_path))
    for source in (events, stream):
        board = sash.stream(source, time="ts", key="plug", watermark="1 second")
        assert "    daba: " in str(asked(board, "daba").explain())
        assert "daba" not in str(asked(board, None).explain())
        with pytest.raises(SashError, match="using must be one of"):
            asked(board, "magic")


def test_windows_by_count_follow_time(events):
    found = []
    for board in boards(events.where("ts is not null"), time="ts", key="plug"):
        results = board.query({**PARTIALS, **ROWS}, range=10, slide=4).results()
        found.append(sorted_rows(results if isinstance(results, pa.Table) else results.toArrow()))
    assert len(found[0]) == 147
    assert found[0] == found[1]
    with pytest.raises(SashError, match="time must be given for windows by count on Spark"):
        sash.stream(events, key="plug").query("n", sf.count(), range=10)


def test_rows_without_a_place_are_reported(events):
    board = sash.stream(events, time="ts", key="plug").query("n", sf.count(), range="1 hour")
    late = board.late()
    assert late.columns == ["ts", "plug", "load", "id", "reason"]
    assert {row.reason for row in late.collect()} == {"ts is NULL"}
    both = board.results(late=True)
    assert both.where("late is not null").select("late.row.id").count() == late.count() == 7
    assert both.where("late is null").agg(F.sum("n")).first()[0] == 593


def test_columns_of_pyspark_and_expressions(events):
    board = sash.stream(events, time=F.col("ts"), key=sash.col("plug"))
    found = board.query("s", sf.sum(F.col("load") * 2), range="1 hour").results().toArrow()
    plain = sash.stream(events.toArrow(), time="ts", key="plug").query(
        "s", sf.sum(sash.col("load") * 2), range="1 hour"
    )
    assert sorted_rows(found) == sorted_rows(plain.results())


def test_keys_that_are_computed_and_windows_by_what_pyspark_computes(spark, events):
    spark.conf.set("spark.sql.adaptive.enabled", "false")
    try:
        found = (
            sash.stream(events, time="ts", key=sash.col("id") % 2).query("m", sf.median("id"), range="1 hour").results()
        )
        assert found.count() == 2
        early = sash.stream(events, time="ts", key=(F.col("id") % 2).alias("odd"))
        early = early.query("m", sf.median("id"), range="1 hour").results(emit="updates")
        assert early.columns == ["odd", "window_end", "m"]
        assert early.count() == 2
    finally:
        spark.conf.unset("spark.sql.adaptive.enabled")
    known = events.where("ts is not null")
    by = {"firsts": sf.first("id"), "all": sf.collect_list("load")}
    ends = sash.stream(known, time="ts").query(by, range=sash.punctuation(F.col("load") == 3)).results().toArrow()
    same_ends = sash.stream(known.orderBy("ts").toArrow(), time="ts").query(by, range=sash.punctuation("load = 3"))
    assert sorted_rows(ends) == sorted_rows(same_ends.results())
    odd = known.select("ts", F.col("id").alias("a.b"), F.col("load").alias("f`g"))
    far = sash.stream(odd, time="ts").query("n", sf.max("`a.b`"), range=sash.delta(F.col("`a.b`") * 2, 10)).results()
    assert far.count() == known.count()
    assert sash.stream(odd, time="ts").query("n", sf.count(), range="1 hour").late().columns == [
        "ts",
        "a.b",
        "f`g",
        "reason",
    ]
    assert sash.stream(odd, time="ts").query("n", sf.count(), range="1 hour").late().count() == 0


def test_rows_that_do_not_fit_go_through_files_and_a_key_that_does_not_is_named(events):
    board = sash.stream(events, time="ts", key=sash.col("id") % 30).query("mid", sf.median("load"), range="1 hour")
    expected = sorted(map(str, board.results().toArrow().to_pylist()))
    with sash.options.set(memory="12k"):
        assert sorted(map(str, board.results().toArrow().to_pylist())) == expected
        whole = sash.stream(events, time="ts", key="plug").query("mid", sf.median("load"), range="1 hour")
        with pytest.raises(SashError, match=r"the key plug = '\d' has rows of about .* for which a worker needs"):
            whole.results().toArrow()


@pytest.mark.long
def test_on_connect(connect):
    assert connect.run(on_connect) == [5]


def on_connect(spark):
    rows = spark.range(100).select(F.timestamp_seconds("id").alias("ts"), (F.col("id") % 2).alias("k"))
    found = sash.stream(rows, time="ts", key="k").query("n", sf.count(), range="10 seconds").results()
    return sorted({row.n for row in found.collect()})


def test_partials_of_spark_are_answered_in_memory(spark):
    loads = pa.table({"ts": [datetime(2026, 1, 1, 0, m, tzinfo=UTC) for m in (0, 5, 50)], "load": [1.0, 2.0, 4.0]})
    board = sash.stream(spark.createDataFrame(loads), time="ts").query("mean", sf.avg("load"), range="1 hour")
    partials = board.partials()
    assert board.answer(partials.toArrow())["mean"].to_pylist() == [pytest.approx(7 / 3)]
    in_memory = sash.stream(loads, time="ts").query("mean", sf.avg("load"), range="1 hour")
    with pytest.raises(SashError, match=r"partials must be frames in memory, got a Spark DataFrame; give its toArrow"):
        in_memory.answer(partials)


def test_partials_of_several_days_are_answered_on_spark(spark, tmp_path):
    """Written and read back; partials alone, and rows in lists for what needs them."""
    days = [
        pa.table({
            "ts": [datetime(2026, 1, day, hour, tzinfo=UTC) for hour in range(24) for _ in "abc"],
            "plug": ["a", "b", None] * 24, "load": [float(day * hour % 7) for hour in range(24) for _ in "abc"],
        })
        for day in (1, 2, 3)
    ]  # fmt: skip
    for number, calls in enumerate([{"mean": sf.avg("load"), "n": sf.count()}, {"mid": sf.median("load")}]):

        def board(rows, calls=calls):
            return sash.stream(rows, time="ts", key="plug").query(calls, range="30 hours", slide="6 hours")

        for day in days:
            kept = board(spark.createDataFrame(day)).partials()
            kept.write.mode("append").parquet(str(tmp_path / f"kept {number}"))
        back = spark.read.parquet(str(tmp_path / f"kept {number}"))
        of_all = board(spark.createDataFrame(days[0])).answer(
            [back.where("plug = 'a'"), back.where("not plug <=> 'a'")]
        )
        whole = board(pa.concat_tables(days)).results()
        assert sorted_rows(of_all.toArrow()) == sorted_rows(board(pa.concat_tables(days)).answer(back.toArrow()))
        assert of_all.count() == whole.num_rows
    means = spark.read.parquet(str(tmp_path / "kept 0"))
    with pytest.raises(SashError, match=r"partials must have .* to answer this board"):
        sash.stream(spark.createDataFrame(days[0]), time="ts").query("q", sf.max("load"), range="1 day").answer(means)
    with pytest.raises(SashError, match="partials must be frames of one library"):
        board(spark.createDataFrame(days[0])).answer([back, days[0]])
