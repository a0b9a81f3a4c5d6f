"""Continuous queries on streaming DataFrames give what they give on the same rows as a table, however they are run."""

import os
import random
import socket
import threading
import time
from datetime import UTC, datetime, timedelta

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pyspark.errors import StreamingQueryException
from pyspark.sql import functions as F

import sash
from engine.streams.stream_oracle import same, time_answers
from engine.streams.test_windows import check, queries, rows, table, time_board
from sash import functions as sf
from sash.engine.streams.limits import Limits
from sash.engine.streams.packing import table_of
from sash.engine.streams.scheme import Scheme
from sash.engine.streams.shard import ShardPlan
from sash.engine.streams.shipping import Shipping
from sash.errors import SashError
from sash.spark import shards
from sash.spark.processor import Shards
from sash.spark.streaming_boards import StreamingSource
from strategies import usually

START = datetime(2026, 11, 16, 8, tzinfo=UTC)
TYPES = {"ts": pa.timestamp("us", "UTC"), "plug": pa.string(), "load": pa.int64(), "at": pa.int64()}
COLUMNS = "ts timestamp, plug string, load bigint, at bigint"
PARTIALS = {"peak": sf.max("load"), "mean": sf.avg("load"), "n": sf.count(), "spread": sf.stddev("load")}
HELD = {"mid": sf.median("load"), "kinds": sf.count_distinct("load"), "last": sf.last("at")}


def events(count, disorder=8, seed=1):
    """Events half a second apart, each up to so many seconds early or late, none at the time of another."""
    rng = random.Random(seed)
    found = []
    for place in range(count):
        at = place * 0.5 + rng.uniform(-disorder / 2, disorder / 2)
        found.append((START + timedelta(seconds=at), f"plug {rng.randrange(5)}", rng.randrange(50), place))
    return pa.table([pa.array(column) for column in zip(*found, strict=True)], list(TYPES)).cast(pa.schema(TYPES))


class Folder:
    """A folder of files that is a stream, and the answers to queries of it."""

    def __init__(self, spark, path):
        self.spark, self.path, self.files = spark, path, 0
        self.answers, self.progress = {}, []
        (path / "in").mkdir(parents=True)

    def add(self, rows, files=1):
        for part in range(files):
            path = self.path / "in" / f"{self.files:03}.parquet"
            cut = rows.slice(
                part * rows.num_rows // files, (part + 1) * rows.num_rows // files - part * rows.num_rows // files
            )
            pq.write_table(cut, path)
            os.utime(path, (10**9 + self.files,) * 2)  # Spark reads older files first
            self.files += 1

    def stream(self, at_once=1):
        reader = self.spark.readStream.schema(COLUMNS).option("maxFilesPerTrigger", at_once)
        return reader.parquet(str(self.path / "in"))

    def run(self, results, mode="append", checkpoint="checkpoint"):
        """Run a query until all files are read, from where it was."""

        def take(batch, number):
            self.answers[checkpoint, number] = batch.toArrow()

        writer = results.writeStream.foreachBatch(take).outputMode(mode)
        query = writer.option("checkpointLocation", str(self.path / checkpoint)).trigger(availableNow=True).start()
        try:
            query.awaitTermination()
        finally:
            self.progress += query.recentProgress
            query.stop()
        return self

    def found(self, checkpoint="checkpoint"):
        tables = [answers for (name, _), answers in sorted(self.answers.items()) if name == checkpoint]
        return [row for answers in tables for row in answers.to_pylist()]


@pytest.fixture
def folder(spark, tmp_path):
    spark.conf.set("spark.sql.shuffle.partitions", "2")
    yield Folder(spark, tmp_path)
    spark.conf.set("spark.sql.shuffle.partitions", "4")


def in_order(answers):
    return sorted(answers, key=lambda row: (str(row["window_end"]), str(row.get("plug"))))


def expect(found, board, until):
    """Refuse answers that are not those of a board of the same rows in memory, up to an end."""
    expected = [row for row in board.results().to_pylist() if row["window_end"] <= until]
    assert len(expected) > 5
    found = in_order(found)
    assert [row["window_end"] for row in found] == [row["window_end"] for row in in_order(expected)]
    for mine, theirs in zip(found, in_order(expected), strict=True):
        assert all(same(mine[name], theirs[name]) for name in theirs), (mine, theirs)


def asked(board, held=True):
    board = board.query(PARTIALS | (HELD if held else {}), range="1 minute", slide="20 seconds")
    return board.query("low", sf.min("load"), range="45 seconds", slide="15 seconds")


# Through a processor in memory


@usually(15)
@given(
    st.lists(st.lists(rows, max_size=10), min_size=1, max_size=5),
    queries(),
    st.integers(1, 3),
    st.sets(st.integers(0, 5)),
)
def test_a_processor_in_memory(parts, wanted, count, restarts):
    tester_of = pytest.importorskip("pyspark.sql.streaming.tws_tester").TwsTester
    thousands = {name: (call, length * 1000, slide * 1000) for name, (call, length, slide) in wanted.items()}
    places = iter(range(10**6))
    events = [[row | {"ts": 10**9 + row["ts"] * 1000 + next(places)} for row in part] for part in parts]
    board = time_board(table([]), thousands, watermark="1 hour")
    scheme = Scheme(board._scheme.schema, board._scheme.settings, board._scheme.queries)
    plan = ShardPlan(scheme, board._slicer, "final", False, count)
    sent = shards.Sent(plan, 0, False, None).packed()
    tester = tester_of(Shards(sent), timeMode="EventTime", eventTimeExtractor=lambda row: 10**15)
    labels, found = shards.labels(count), []
    for place, part in enumerate(events):
        if place in restarts:
            shards._kept.clear()
        shipped = Shipping(plan.scheme, plan.slicer, count, False, Limits()).bodies([table(part)])
        for body in shipped:
            row = pd.DataFrame([{"label": labels[body.shard], "task": 0, "kind": body.content, "body": body.table}])
            found.append(tester.testInPandas(labels[body.shard], row))
        found.append(tester.setWatermark(place + 1))  # far before all events: timers fire, and no window ends
    found.append(tester.setWatermark(10**9))
    answers = [table_of(body) for frame in found if len(frame) for body in frame["body"] if body is not None]
    check(
        pa.concat_tables([board.results(), *answers]), time_answers([row for part in events for row in part], thousands)
    )


def test_what_a_worker_remembers_is_of_its_query():
    tester_of = pytest.importorskip("pyspark.sql.streaming.tws_tester").TwsTester

    def tester(call):
        board = time_board(table([]), {"q": (call, 1000, 1000)}, watermark="1 hour")
        plan = ShardPlan(board._scheme, board._slicer, "final", False, 1)
        sent = shards.Sent(plan, 0, False, None).packed()
        return tester_of(Shards(sent), timeMode="EventTime", eventTimeExtractor=lambda row: 10**15)

    before, after = tester("sum"), tester("count")
    before.testInPandas(7, pd.DataFrame({"kind": [0], "body": [b""], "task": [0]}))
    after.updateValueState("head", 7, before.peekValueState("head", 7))
    after.updateMapState("chunks", 7, before.peekMapState("chunks", 7))
    with pytest.raises(SashError, match="query q is count"):
        after.testInPandas(7, pd.DataFrame({"kind": [0], "body": [b""], "task": [0]}))


# Through Spark


@pytest.mark.parametrize(  # most other streams below are of partials alone
    "held", [pytest.param(False, id="partials", marks=pytest.mark.long), pytest.param(True, id="rows")]
)
def test_a_query_that_is_restarted_at_each_batch(folder, held):
    whole = events(300)
    for part in range(3):
        folder.add(whole.slice(part * 100, 100))
        folder.run(asked(sash.stream(folder.stream(), time="ts", key="plug", watermark="8 seconds"), held).results())
    until = max(whole["ts"].to_pylist()) - timedelta(seconds=8)
    expect(folder.found(), asked(sash.stream(whole, time="ts", key="plug"), held), until)
    sizes = [progress.observedMetrics["sash peak"]["size"] for progress in folder.progress]
    assert all(0 < size < 10**6 for size in sizes)


def test_it_gives_what_spark_s_window_gives(folder):
    whole = events(300)
    folder.add(whole, files=3)
    board = sash.stream(folder.stream(2), time="ts", key="plug", watermark="8 seconds")
    board = board.query({"n": sf.count(), "total": sf.sum("load")}, range="1 minute", slide="15 seconds")
    mine = folder.run(board.results(), checkpoint="mine").found("mine")
    window = F.window("ts", "1 minute", "15 seconds")
    counted = folder.stream(2).withWatermark("ts", "8 seconds").groupBy("plug", window)
    counted = counted.agg(F.count("*").alias("n"), F.sum("load").alias("total"))
    counted = counted.select("plug", F.col("window.end").alias("window_end"), "n", "total")
    assert in_order(mine) == in_order(folder.run(counted, checkpoint="theirs").found("theirs"))
    assert len(mine) > 20


def test_late_rows_are_shown_and_counted(folder):
    def rows(first, *minutes):
        times = [None if minute is None else START + timedelta(minutes=minute) for minute in minutes]
        places = list(range(first, first + len(times)))
        columns = {"ts": times, "plug": ["a"] * len(times), "load": places, "at": places}
        return pa.table(columns).cast(pa.schema(TYPES))

    folder.add(rows(0, 0, 10, 20))
    folder.add(rows(3, 0, 18))  # the watermark that judges a batch is that of the batch before, as Spark has it
    folder.add(rows(5, 0, None, 19, 40))
    board = sash.stream(folder.stream(), time="ts", key="plug", watermark="2 minutes")
    board = board.query("n", sf.count(), range="5 minutes")
    found = folder.run(board.results(late=True), checkpoint="shown").found("shown")
    assert [(row["window_end"].minute, row["n"]) for row in in_order(found) if row["late"] is None] == [
        (5, 2), (15, 1), (20, 2), (25, 1),
    ]  # fmt: skip
    shown = [(row["late"]["reason"], row["late"]["row"]["at"]) for row in found if row["late"]]
    assert sorted(shown) == [("late: its windows had ended", 5), ("ts is NULL", 6)]
    folder.progress.clear()
    folder.run(board.results(), checkpoint="counted")
    assert sum(progress.observedMetrics["sash n"]["late"] for progress in folder.progress) == 2
    seen = folder.progress[-1].observedMetrics["sash n"].asDict()
    assert (seen["keys"], seen["windows"]) == (1, 1)


def test_early_answers_in_update_mode(folder):
    whole = events(200)
    folder.add(whole, files=2)
    board = sash.stream(folder.stream(), time="ts", key="plug", watermark="8 seconds")
    board = board.query({"n": sf.count(), "mid": sf.median("load")}, range="1 minute", slide="20 seconds")
    last = {}
    for row in folder.run(board.results(emit="updates"), mode="update").found():
        last[row["plug"], row["window_end"]] = row
    plain = sash.stream(whole, time="ts", key="plug").query(
        {"n": sf.count(), "mid": sf.median("load")}, range="1 minute", slide="20 seconds"
    )
    assert in_order(last.values()) == in_order(plain.results().to_pylist())


def test_windows_that_count_rows(folder):
    whole = events(200)
    folder.add(whole, files=2)
    calls = {"n": sf.count(), "mid": sf.median("load"), "list": sf.collect_list("at")}
    board = sash.stream(folder.stream(), time="ts", key="plug", watermark="8 seconds").query(calls, range=10, slide=4)
    found = folder.run(board.results()).found()
    until = max(whole["ts"].to_pylist()) - timedelta(seconds=8)
    known = whole.filter(pa.array([at < until for at in whole["ts"].to_pylist()]))
    expected = sash.stream(known, time="ts", key="plug").query(calls, range=10, slide=4).results()
    assert in_order(found) == in_order(expected.to_pylist())
    assert len(found) > 20


def test_windows_without_events_are_filled_across_restarts(folder):
    whole = events(300).filter(pa.array([k % 60 < 9 for k in range(300)]))
    calls = {"n": sf.count(), "peak": sf.max("load")}
    for part in range(2):
        folder.add(whole.slice(part * 22, 22 + part))
        board = sash.stream(folder.stream(), time="ts", key="plug", watermark="8 seconds")
        folder.run(board.query(calls, range="10 seconds", slide="5 seconds").results(fill="previous"))
    plain = sash.stream(whole, time="ts", key="plug").query(calls, range="10 seconds", slide="5 seconds")
    until = max(whole["ts"].to_pylist()) - timedelta(seconds=8)
    ended = [row for row in plain.results().to_pylist() if row["window_end"] <= until]
    last = {row["plug"]: row["window_end"] for row in ended}
    expected = [row for row in plain.results(fill="previous").to_pylist() if row["window_end"] <= last[row["plug"]]]
    assert len(expected) > 1.5 * len(ended)
    assert in_order(folder.found()) == in_order(expected)
    with pytest.raises(SashError, match="windows without events are known behind the watermark"):
        hours(minutes(folder.stream(), watermark="8 seconds").results(fill=True))


def test_late_rows_give_answers_again_across_restarts(folder):
    whole = events(240)
    order = sorted(range(240), key=lambda k: k + (60 if k % 7 == 0 else 0))  # some half a minute late
    arrived, calls = whole.take(pa.array(order)), {"n": sf.count(), "mid": sf.median("load")}
    settings = {"time": "ts", "key": "plug", "lateness": "1 minute"}
    for part in range(4):
        folder.add(arrived.slice(part * 60, 60))
        board = sash.stream(folder.stream(), watermark="8 seconds", **settings)
        folder.run(board.query(calls, range="20 seconds", slide="10 seconds").results())
    last = {}
    for row in folder.found():
        place = row["plug"], row["window_end"]
        assert row["revision"] == (last[place]["revision"] + 1 if place in last else 0)
        last[place] = row
    assert any(row["revision"] for row in last.values())
    assert not sum(progress.observedMetrics["sash n"]["late"] for progress in folder.progress)
    plain = sash.stream(whole, **settings).query(calls, range="20 seconds", slide="10 seconds").results().to_pylist()
    until = max(whole["ts"].to_pylist()) - timedelta(seconds=8)
    expected = {(row["plug"], row["window_end"]): row for row in plain if row["window_end"] <= until}
    assert {place: row | {"revision": 0} for place, row in last.items()} == expected
    with pytest.raises(SashError, match="with lateness=, answers are given again as late rows come"):
        hours(minutes(folder.stream(), watermark="8 seconds", lateness="1 hour").results())


def test_rows_of_the_future_move_no_watermark(folder):
    now = datetime.now(UTC).replace(microsecond=0)
    for place, moment in enumerate([now, now + timedelta(days=3), now - timedelta(minutes=5), now]):
        folder.add(pa.table({"ts": [moment], "plug": ["a"], "load": [place], "at": [place]}).cast(pa.schema(TYPES)))
    board = minutes(folder.stream(), watermark="10 minutes", ahead="1 day")
    shown = [row["late"] for row in folder.run(board.results(late=True), checkpoint="shown").found("shown")]
    assert [(late["reason"], late["row"]["at"]) for late in shown] == [("ts is more than 1 day ahead of the clock", 1)]
    assert list(shown[0]["row"]) == list(TYPES)
    folder.progress.clear()
    folder.run(board.results(), checkpoint="counted")
    assert sum(progress.observedMetrics["sash n"]["late"] for progress in folder.progress) == 1
    assert folder.progress[-1].observedMetrics["sash n"]["windows"] == 2
    batch = folder.spark.read.schema(COLUMNS).parquet(str(folder.path / "in"))
    assert minutes(batch, ahead="1 day").results().agg(F.sum("n")).first()[0] == 3
    assert [row["at"] for row in minutes(batch, ahead="1 day").late().collect()] == [1]
    with pytest.raises(SashError, match="ahead needs the watermark to be given as watermark="):
        minutes(folder.stream().withWatermark("ts", "1 minute"), ahead="1 day")
    with pytest.raises(SashError, match=r"idle is for streams in process, .* one time mode"):
        minutes(folder.stream(), watermark="1 minute", idle="1 minute")


def test_rows_with_which_a_function_fails_are_set_aside_and_the_query_lives(folder):
    def lift(x):
        if x == 13:
            raise ValueError("thirteen")
        return x

    own = sash.Aggregate("own", lift=lift, combine=lambda a, b: max(a, b), lower=lambda s: s, commutative=True)
    times = [START + timedelta(minutes=k) for k in (0, 0, 0, 9)]
    columns = {"ts": times, "plug": ["a"] * 4, "load": [7, 13, 2, 1], "at": [0, 1, 2, 3]}
    folder.add(pa.table(columns).cast(pa.schema(TYPES)))
    board = sash.stream(folder.stream(), time="ts", key="plug", watermark="1 minute", on_error="aside")
    found = folder.run(board.query("most", own("load"), range="5 minutes").results(late=True)).found()
    assert [row["most"] for row in found if row["late"] is None] == [7]
    (late,) = [row["late"] for row in found if row["late"]]
    assert late["row"]["at"] == 1
    assert late["reason"].startswith("failed: ")
    batch = sash.stream(folder.spark.read.schema(COLUMNS).parquet(str(folder.path / "in")), time="ts", on_error="aside")
    board = batch.query("most", own("load"), range="5 minutes")
    assert sorted(row["most"] for row in board.results().collect()) == [1, 7]
    assert [row["at"] for row in board.late().collect()] == [1]


def minutes(source, **settings):
    return sash.stream(source, time="ts", key="plug", **settings).query("n", sf.count(), range="1 minute")


def hours(source, **settings):
    return sash.stream(source, time="window_end", **settings).query("n", sf.sum("n"), range="2 minutes")


@pytest.mark.long
def test_chains_of_answers_beside_late_rows(folder):
    folder.add(events(400), files=2)
    board = minutes(folder.stream(), watermark="8 seconds")
    told = board.results(late=True).where("late is null").drop("late")
    found = folder.run(hours(told).results(), checkpoint="with late").found("with late")
    assert found
    assert in_order(found) == in_order(folder.run(hours(board.results()).results(), checkpoint="ours").found("ours"))


def test_chains(folder):
    whole = events(400)
    folder.add(whole, files=2)
    one = minutes(folder.stream(), watermark="8 seconds").results()
    two = folder.run(hours(one).results(), checkpoint="ours").found("ours")
    for source, emit, why in (
        (folder.stream(), "updates", "early answers are given again"),
        (folder.stream().withColumn("ts", F.to_timestamp_ntz(F.col("ts").cast("string"))), "final", "with a zone"),
    ):
        with pytest.raises(SashError, match=f"window_end of another board's results cannot be asked of .*{why}"):
            hours(minutes(source, watermark="8 seconds").results(emit=emit), watermark="8 seconds")
    until = max(whole["ts"].to_pylist()) - timedelta(seconds=8)
    expect_all = hours(minutes(whole).results()).results().to_pylist()
    assert [row for row in expect_all if row["window_end"] <= until] == in_order(two)
    assert set(folder.progress[-1].observedMetrics) == {"sash n", "sash n 2"}
    after = one.groupBy(F.window("window_end", "2 minutes")).agg(F.sum("n").alias("n"))
    after = after.select(F.col("window.end").alias("window_end"), "n")
    assert in_order(folder.run(after, checkpoint="after").found("after")) == in_order(two)


@pytest.mark.long
def test_chains_among_other_operators(folder):
    whole = events(400)
    folder.add(whole, files=2)
    one = minutes(folder.stream(), watermark="8 seconds").results()
    other = sash.stream(folder.stream(), time="ts", watermark="8 seconds").query("all", sf.count(), range="1 minute")
    together = one.drop("plug").union(other.results())
    counts = {}
    for row in folder.run(together, checkpoint="union").found("union"):
        counts.setdefault(row["window_end"], []).append(row["n"])
    assert all(sum(found) == 2 * max(found) for found in counts.values())
    before = folder.stream().withWatermark("ts", "8 seconds").groupBy("plug", F.window("ts", "1 minute"))
    before = before.agg(F.count("*").alias("n")).select(F.window_time("window").alias("window_end"), "n")
    found = folder.run(hours(before).results(), checkpoint="before").found("before")
    plain = sash.stream(whole, time="ts").query("n", sf.count(), range="2 minutes").results().to_pylist()
    until = max(whole["ts"].to_pylist()) - timedelta(seconds=8)
    assert in_order(found) == [row for row in plain if row["window_end"] <= until]


def test_a_session_whose_state_is_not_in_rocksdb_is_refused_and_left_as_it_is(spark, folder):
    provider = "spark.sql.streaming.stateStore.providerClass"
    before, package = spark.conf.get(provider), "org.apache.spark.sql.execution.streaming.state"
    spark.conf.set(provider, f"{package}.HDFSBackedStateStoreProvider")
    try:
        with pytest.raises(SashError, match=r'RocksDB, got .* HDFSBackedStateStoreProvider: write spark\.conf\.set\("'):
            minutes(folder.stream(), watermark="8 seconds").results()
        assert spark.conf.get(provider) == f"{package}.HDFSBackedStateStoreProvider"
    finally:
        spark.conf.set(provider, before)


@pytest.mark.long
def test_events_before_1970_wait_for_a_watermark_behind_it_and_are_late_then(folder):
    """Spark's watermark never goes below 1970."""
    old = [datetime(1969, 6, 1, 8, minute, tzinfo=UTC) for minute in (0, 10)]
    for place, moment in enumerate([*old, START, START, old[0]]):
        folder.add(pa.table({"ts": [moment], "plug": ["a"], "load": [place], "at": [place]}).cast(pa.schema(TYPES)))
    folder.run(minutes(folder.stream(), watermark="0 seconds").results(late=True))
    assert [row["late"]["row"]["at"] for row in folder.found() if row["late"]] == [4]
    ends = {number: table["window_end"].to_pylist() for (_, number), table in folder.answers.items()}
    assert [number for number, found in ends.items() if any(end and end.year == 1969 for end in found)] == [3]
    assert sorted(end.minute for end in ends[3]) == [1, 11]


def test_names_that_spark_takes_for_the_same_are_refused(folder):
    stream = sash.stream(folder.stream(), time="ts", key="plug", watermark="8 seconds")
    for name in ("PLUG", "Window_End"):
        with pytest.raises(SashError, match=f"must differ in more than case on Spark, got .* and {name}"):
            stream.query(name, sf.count(), range="1 minute")


def test_explain_shows_columns_of_pyspark_as_they_were_given(folder):
    stream = sash.stream(folder.stream(), time="ts", watermark="8 seconds")
    assert "__sash" not in str(stream.query("n", sf.sum(F.col("load") * 2), range="1 minute").explain())


def test_a_query_that_is_refused_starts_and_its_first_batch_fails(folder):
    folder.add(events(20))
    board = sash.stream(folder.stream(), time="ts", watermark="8 seconds")
    folder.run(board.query("n", sf.count(), range="1 minute").results())
    folder.add(events(20))
    found = board.query("n", sf.max("load"), range="1 minute").results()
    writer = found.writeStream.format("noop").option("checkpointLocation", str(folder.path / "checkpoint"))
    query = writer.trigger(availableNow=True).start()
    with pytest.raises(Exception, match=r"query n is max\(load\) .* and was count"):
        query.awaitTermination()
    committed = {path.name for path in (folder.path / "checkpoint" / "commits").glob("[0-9]*")}
    assert {path.name for path in (folder.path / "checkpoint" / "offsets").glob("[0-9]*")} - committed  # it had begun


def test_a_checkpoint_is_of_its_queries(folder):
    folder.add(events(100))
    stream = sash.stream(folder.stream(), time="ts", key="plug", watermark="8 seconds")
    board = stream.query("peak", sf.max("load"), range="1 minute")
    folder.run(board.results())
    folder.add(events(200).slice(100, 50))
    other = stream.query("peak", sf.min("load"), range="1 minute")
    with pytest.raises((StreamingQueryException, SashError), match=r"query peak is min\(load\) over range 1 minute"):
        folder.run(other.results())
    with (
        sash.options.set(shards=3),
        pytest.raises((StreamingQueryException, SashError), match=r"sash\.options\.shards = 2"),
    ):
        folder.run(board.results())
    with sash.options.set(shards=2):
        folder.spark.conf.set("spark.sql.shuffle.partitions", "3")  # Spark itself stays with what the checkpoint has
        folder.run(board.query("n", sf.count(), range="10 seconds").results())
        renamed = stream.query("n", sf.count(), range="10 seconds").query(
            "top", sf.max("load"), range="1 minute", was="peak"
        )
        folder.add(events(200).slice(150))
        folder.run(renamed.results())
        folder.run(stream.query("top", sf.max("load"), range="1 minute").results())
    added = [row for row in in_order(folder.found()) if row.get("n") is not None]
    assert min(row["window_end"] for row in added) > START + timedelta(seconds=50)
    found = [row | {"peak": row.get("peak", row.get("top"))} for row in folder.found()]
    assert {"top", "peak"} < set().union(*found)
    expect([row for row in found if row["peak"] is not None],
           sash.stream(events(200), time="ts", key="plug").query("peak", sf.max("load"), range="1 minute"),
           max(events(200)["ts"].to_pylist()) - timedelta(seconds=8))  # fmt: skip


@pytest.mark.long
def test_spark_may_spread_shards_over_other_partitions(folder):
    whole = events(200)
    for number, partitions in enumerate((None, 3, 1)):
        if partitions is not None:
            checkpoint = str(folder.path / "checkpoint")
            folder.spark._streamingCheckpointManager.repartition(checkpoint, partitions)
        folder.add(whole.slice(number * 67, 67))
        board = asked(sash.stream(folder.stream(), time="ts", key="plug", watermark="8 seconds"))
        with sash.options.set(shards=4):
            folder.run(board.results())
    until = max(whole["ts"].to_pylist()) - timedelta(seconds=8)
    expect(folder.found(), asked(sash.stream(whole, time="ts", key="plug")), until)


def test_what_a_stream_cannot_do_is_said_when_it_is_built(folder, monkeypatch):
    source = folder.stream()
    with pytest.raises(SashError, match="watermark must be given for a streaming DataFrame"):
        sash.stream(source, time="ts")
    with pytest.raises(SashError, match="time must be given for a streaming DataFrame"):
        sash.stream(source, key="plug", watermark="1 second")
    marked = source.withWatermark("ts", "8 seconds")
    with pytest.raises(SashError, match="watermark must be the one that the DataFrame has, 8 seconds, got 9 seconds"):
        sash.stream(marked, time="ts", watermark="9 seconds")
    with pytest.raises(SashError, match="time must be the column that has the watermark of the DataFrame, got other"):
        sash.stream(marked.withColumn("other", F.now()), time="other")
    board = sash.stream(marked, time="ts").query("n", sf.count(), range="1 minute")
    assert board.results().isStreaming
    with pytest.raises(SashError, match=r"results\(late=True\) has the rows that came late"):
        board.late()
    assert "2 shards" in str(board.explain())
    monkeypatch.setattr("sash.spark.streaming_boards.version", lambda _: "5.29.1")
    with pytest.raises(SashError, match=r"need protobuf 6\.33 or newer, got 5\.29\.1"):
        board.results()
    assert "state: about 3 slices for each key with events in all of them, of about 16 bytes: 48 bytes" in str(
        board.explain()
    )


def test_times_without_a_zone_and_columns_of_pyspark(folder):
    whole = events(200)
    folder.add(whole, files=2)
    source = folder.stream().withColumn("plain", F.col("ts").cast("timestamp_ntz"))
    by_plain = sash.stream(source, time=sash.col("plain"), key=F.col("plug"), watermark="8 seconds")
    by_plain = by_plain.query("s", sf.sum(F.col("load") * 2), range="1 minute")
    found = folder.run(by_plain.results(), checkpoint="plain").found("plain")
    expected = sash.stream(whole, time="ts", key="plug").query("s", sf.sum(sash.col("load") * 2), range="1 minute")
    ends = {(row["plug"], row["window_end"].replace(tzinfo=None)): row["s"] for row in expected.results().to_pylist()}
    assert found
    assert all(ends[row["plug"], row["window_end"]] == row["s"] for row in found)
    assert by_plain.results().schema["window_end"].dataType.typeName() == "timestamp_ntz"


@pytest.mark.long
def test_dates(folder):
    for day in (0, 3):
        folder.add(
            pa.table({"ts": [START + timedelta(days=day)], "plug": ["a"], "load": [1], "at": [day]}).cast(
                pa.schema(TYPES)
            )
        )
    source = folder.stream().withColumn("day", F.to_date("ts"))
    board = sash.stream(source, time="day", watermark="1 day").query("n", sf.count(), range="2 days", slide="1 day")
    assert [(row["window_end"].day, row["n"]) for row in in_order(folder.run(board.results()).found())] == [
        (17, 1), (18, 1),
    ]  # fmt: skip


def test_shards_are_spread_over_partitions(spark):
    for count in (1, 2, 5, 16):
        numbers = spark.createDataFrame([(label,) for label in shards.labels(count)], "label int")
        places = numbers.select((F.pmod(F.hash("label"), F.lit(count))).alias("place")).collect()
        assert sorted(row.place for row in places) == list(range(count))


def test_continuous_queries_in_sql(folder):
    loads = folder.stream().withWatermark("ts", "8 seconds")
    found = sash.sql("select plug, max(load) as peak from loads [range 1 minute] group by plug", loads=loads)
    assert found.isStreaming
    assert found.columns == ["plug", "window_end", "peak"]


def test_a_streaming_source_is_one_that_streams(spark, folder):
    assert isinstance(sash.stream(folder.stream(), time="ts", watermark="1 second")._source, StreamingSource)
    assert not isinstance(sash.stream(spark.range(2).select(F.now().alias("ts")), time="ts")._source, StreamingSource)


@pytest.mark.long
def test_on_connect(connect, tmp_path):
    whole = events(200)
    folder = Folder(None, tmp_path)
    folder.add(whole, files=2)
    found = connect.run(on_connect, str(tmp_path))
    board = sash.stream(whole, time="ts", key="plug").query("n", sf.count(), range="1 minute", slide="20 seconds")
    until = max(whole["ts"].to_pylist()) - timedelta(seconds=8)
    expected = [row for row in board.results().to_pylist() if row["window_end"] <= until]
    assert sorted(found) == sorted([row["plug"], row["window_end"].timestamp(), row["n"]] for row in expected)


def on_connect(spark, path):
    """What a board answers on Connect, from files to files."""
    reader = spark.readStream.schema("ts timestamp, plug string, load bigint, at bigint")
    source = reader.option("maxFilesPerTrigger", 1).parquet(f"{path}/in")
    board = sash.stream(source, time="ts", key="plug", watermark="8 seconds")
    results = board.query("n", sf.count(), range="1 minute", slide="20 seconds").results()
    writer = results.writeStream.format("parquet").option("path", f"{path}/out")
    query = writer.option("checkpointLocation", f"{path}/checkpoint").trigger(availableNow=True).start()
    query.awaitTermination()
    rows = spark.read.parquet(f"{path}/out").select("plug", F.col("window_end").cast("double"), "n").collect()
    return [list(row) for row in rows]


@pytest.mark.long
def test_a_source_that_makes_rows_and_one_that_sends_text(folder):
    made = folder.spark.readStream.format("rate").option("rowsPerSecond", 50).load()
    board = sash.stream(made, time="timestamp", watermark="0 seconds").query("n", sf.count(), range="1 second")
    counts = live(folder, board.results(), "rate", lambda found: len(found) > 3)
    assert all(row["n"] <= 50 for row in counts)
    with socket.create_server(("127.0.0.1", 0)) as server:
        lines = [f"{(START + timedelta(seconds=second)).isoformat()},{second}\n" for second in range(0, 100, 5)]

        def send():
            with server.accept()[0] as client:
                for line in lines:
                    client.sendall(line.encode())
                    time.sleep(0.05)
                time.sleep(30)

        threading.Thread(target=send, daemon=True).start()
        port = server.getsockname()[1]
        text = folder.spark.readStream.format("socket").option("host", "127.0.0.1").option("port", port).load()
        parts = F.split("value", ",")
        sent = text.select(parts[0].cast("timestamp").alias("ts"), parts[1].cast("bigint").alias("v"))
        board = sash.stream(sent, time="ts", watermark="0 seconds").query("s", sf.sum("v"), range="10 seconds")
        sums = live(folder, board.results(), "socket", lambda found: len(found) >= 9)
    assert [row["s"] for row in in_order(sums)] == [20 * k + 5 for k in range(9)]


def live(folder, results, name, enough):
    """The answers of a query that runs until there are enough of them."""
    found = []

    def take(batch, number):
        found.extend(batch.toArrow().to_pylist())

    writer = results.writeStream.foreachBatch(take).option("checkpointLocation", str(folder.path / name))
    query = writer.trigger(processingTime="300 milliseconds").start()
    deadline = time.monotonic() + 120
    while not enough(found) and query.isActive and time.monotonic() < deadline:
        time.sleep(0.1)
    query.stop()
    assert query.exception() is None
    return found
