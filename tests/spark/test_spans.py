"""Events that last, on Spark: the answers of the same rows in memory, in batch, in streams and in SQL."""

from datetime import timedelta

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from pyspark.sql import functions as F

import sash
from sash import functions as sf
from sash.errors import SashError
from spark.test_streaming import events, expect, folder, in_order  # noqa: F401, a fixture

SPAN = ("start", "ts")
FOLDED = {"n": sf.count(), "peak": sf.max("load"), "mean": sf.avg("load"), "share": sf.sum("load").prorated(),
          "load": sf.time_avg("load")}  # fmt: skip
HELD = {"mid": sf.median("load"), "lines": sf.max_concurrent(), "covered": sf.covered()}


def lasting(rows):
    """The events, each of which began as many seconds before as its load is."""
    seconds = pc.cast(pc.multiply(rows["load"], 1_000_000), pa.duration("us"))
    return rows.append_column("start", pc.subtract(rows["ts"], seconds))


def on_spark(frame):
    return frame.withColumn("start", F.expr("ts - make_dt_interval(0, 0, 0, load)"))


def asked(source, calls, **settings):
    board = sash.stream(source, span=SPAN, key="plug", **settings)
    return board.query(calls, range="1 minute", slide="20 seconds").query(
        "few", sf.count(), range="25 seconds", slide="10 seconds"
    )


@pytest.mark.parametrize(
    "calls", [pytest.param(FOLDED, id="partials", marks=pytest.mark.long), pytest.param(FOLDED | HELD, id="rows")]
)
def test_a_batch(spark, calls):
    rows = events(500)
    frame = spark.createDataFrame(rows.to_pandas()).repartition(3)
    found = asked(on_spark(frame), calls).results().toArrow().to_pylist()
    expected = in_order(asked(lasting(rows), calls).results().to_pylist())
    found = in_order(found)
    assert [row["window_end"].timestamp() for row in found] == [row["window_end"].timestamp() for row in expected]
    for mine, theirs in zip(found, expected, strict=True):
        for name in (*calls, "few"):
            value = theirs[name]
            assert mine[name] == (pytest.approx(value) if isinstance(value, float) else value)


@pytest.mark.parametrize(  # the other streams below are of partials alone
    "calls", [pytest.param(FOLDED, id="partials", marks=pytest.mark.long), pytest.param(FOLDED | HELD, id="rows")]
)
def test_a_stream_that_is_restarted(folder, calls):  # noqa: F811
    whole = events(300)
    watermark, postpone = timedelta(seconds=8), timedelta(seconds=50)
    board = asked(on_spark(folder.stream()), calls, watermark=watermark, postpone=postpone)
    for part in range(2):
        folder.add(whole.slice(part * 150, 150))
        folder.run(board.results())
    until = max(whole["ts"].to_pylist()) - watermark - postpone
    expect(folder.found(), asked(lasting(whole), calls), until)
    assert sum(progress.observedMetrics["sash n"]["late"] for progress in folder.progress) == 0


def test_spans_that_are_too_long_are_late(folder):  # noqa: F811
    whole = events(200, disorder=0)
    folder.add(whole, files=3)
    board = sash.stream(on_spark(folder.stream()), span=SPAN, watermark="0 seconds", postpone="10 seconds")
    board = board.query("n", sf.count(), range="10 seconds")
    folder.run(board.results(late=True))
    late = [row["late"] for row in folder.found() if row["late"] is not None]
    assert late
    assert all("late" in each["reason"] and "(end" in each["reason"] for each in late)
    metrics = [progress.observedMetrics.get("sash n") for progress in folder.progress]
    assert sum(each["late"] for each in metrics if each is not None) == len(late)


def test_what_a_stream_does_not_know(folder):  # noqa: F811
    frame = on_spark(folder.stream())
    for settings, sentence in (
        ({}, "postpone must be given for spans of a streaming DataFrame"),
        ({"postpone": "auto"}, "postpone must be an interval on a streaming DataFrame"),
        ({"postpone": "1 hour", "pair": "at", "longest": "1 hour"}, "pair is for rows in memory"),
    ):
        with pytest.raises(SashError, match=sentence):
            asked(frame, FOLDED, watermark="8 seconds", **settings)


def test_sql_of_a_stream(folder):  # noqa: F811
    folder.add(events(200, disorder=0), files=2)
    frame = on_spark(folder.stream()).withWatermark("ts", "0 seconds")
    with pytest.raises(SashError, match="postpone must be given"):
        sash.sql("select count(*) from calls [range 20 seconds over (start, ts)]", calls=frame)
    text = "select count(*) as n from calls [range 20 seconds over (start, ts) postpone 50 seconds]"
    found = folder.run(sash.sql(text, calls=frame)).found()
    board = sash.stream(lasting(events(200, disorder=0)), span=SPAN).query("n", sf.count(), range="20 seconds")
    until = max(row["window_end"] for row in found)
    assert in_order(found) == [row for row in board.results().to_pylist() if row["window_end"] <= until]


def test_sql(spark):
    rows = events(200)
    frame = on_spark(spark.createDataFrame(rows.to_pandas()))
    text = """
        select plug, count(*) as n, max_concurrent() as lines, prorated_sum(load) as share
        from calls [range 1 minute slide 20 seconds over (start, ts)] group by plug"""
    found = sash.sql(text, calls=frame).toArrow().to_pylist()
    board = sash.stream(lasting(rows), span=SPAN, key="plug")
    board = board.query(
        {"n": sf.count(), "lines": sf.max_concurrent(), "share": sf.sum("load").prorated()},
        range="1 minute",
        slide="20 seconds",
    )
    for mine, theirs in zip(in_order(found), in_order(board.results().to_pylist()), strict=True):
        assert (mine["n"], mine["lines"]) == (theirs["n"], theirs["lines"])
        assert mine["share"] == pytest.approx(theirs["share"])
    assert "events last from start to ts" in str(sash.explain(text, calls=frame))
    with pytest.raises(SashError, match=r"behind over .* come postpone and longest"):
        sash.sql("select count(*) from calls [range 1 minute over (start, ts) until 1 hour]", calls=frame)
    with pytest.raises(SashError, match=r"names two columns, such as over \(start, end\)"):
        sash.sql("select count(*) from calls [range 1 minute over (start)]", calls=frame)
