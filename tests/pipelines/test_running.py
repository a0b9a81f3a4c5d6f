"""Pipelines that run: what they answer, what they leave where they fail, and what they say."""

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sash
from pipeline_files import board, query, section, sink, source
from sash import functions as sf
from sash.cli import starter
from sash.errors import SashError
from sash.pipelines import Failed, Reporter, build, load, run

START = datetime(2026, 11, 16, tzinfo=UTC)
CARRIERS = ["AA", "UA", "DL"]


def flights(count=300, first=0):
    numbers = range(first, first + count)
    return pa.table(
        {
            "carrier": [CARRIERS[number * 7 % 3] for number in numbers],
            "at": pa.array([START + timedelta(minutes=3 * number) for number in numbers], pa.timestamp("us", "UTC")),
            "ends": pa.array(
                [START + timedelta(minutes=3 * number + 5 + number % 50) for number in numbers],
                pa.timestamp("us", "UTC"),
            ),
            "delay": [float(number * 37 % 101) for number in numbers],
        }
    )


@pytest.fixture
def pipeline(tmp_path, spark):
    """Writes a pipeline over 300 flights, and runs it."""
    (tmp_path / "flights").mkdir()
    pq.write_table(flights(), tmp_path / "flights" / "0.parquet")

    def ran(text, stream=None, reporter=None, **values):
        file = tmp_path / "p.toml"
        file.write_text(source("flights", path="flights") + text)
        values |= {"folder": str(tmp_path)} if "${folder}" in text else {}
        return run(load(file, values, stream), spark, reporter)

    ran.folder, ran.spark = tmp_path, spark
    return ran


WINDOWS = """
[[steps]]
name = "typical"
from = "flights"
kind = "windows"
partition_by = ["carrier"]
order_by = ["at"]
frame = "rows between 9 preceding and current row"
columns.mid = "median(delay)"
columns.worse = "count(*) filter (where delay > 50)"
"""
BOARD = board(
    "boards",
    "flights",
    query("2 hours", slide="1 hour", columns_n="count(*)", columns_mid="median(delay)"),
    query("3 hours", columns_worst="max(delay)"),
    time="at",
    key="carrier",
    watermark="10 minutes",
)
SINK = sink("out")
STREAM = section("[stream]", checkpoint="checkpoint")


def rows(folder, order):
    table = pq.read_table(folder).sort_by(order)
    for place, each in enumerate(table.schema):
        if pa.types.is_timestamp(each.type):
            table = table.set_column(place, each.name, table[each.name].cast(pa.timestamp("us", "UTC")))
    return [tuple(row.values()) for row in table.to_pylist()]


def test_windows_are_those_of_duckdb(pipeline):
    summary = pipeline(WINDOWS + SINK)
    flights_ = flights()  # noqa: F841
    expected = duckdb.sql(
        """select *, median(delay) over w, count(*) filter (where delay > 50) over w from flights_
        window w as (partition by carrier order by "at" rows between 9 preceding and current row) order by "at" """
    ).fetchall()
    assert rows(pipeline.folder / "out", "at") == expected
    assert summary.rows_in == {"flights": 300}
    assert [(each.sink, each.rows, each.late) for each in summary.sinks] == [("typical", 300, None)]


def hours(size):
    return f"""
        with edges as (select unnest(range(timestamptz '2026-11-16 01:00Z', timestamptz '2026-11-16 19:00Z',
                                           interval 1 hour)) as e)
        select carrier, e, count(*), median(delay), max(delay) from edges
        join flights_ on "at" >= e - interval {size} hour and "at" < e group by all order by all"""


def test_a_stream_answers_what_the_batch_does(pipeline):
    both = BOARD + sink("out/${mode}")
    batch = pipeline(both)
    stream = pipeline(STREAM + both, stream=True)
    flights_ = flights()  # noqa: F841
    expected = {row[:2]: row[2:4] for row in duckdb.sql(hours(2)).fetchall()}
    found = {row[:2]: row[2:4] for row in rows(pipeline.folder / "out" / "batch", "window_end")}
    assert {key: answer for key, answer in found.items() if answer[0] is not None} == expected
    streamed = {row[:2]: row[2:4] for row in rows(pipeline.folder / "out" / "stream", "window_end")}
    latest = max(key[1] for key in streamed)
    assert streamed == {key: answer for key, answer in found.items() if key[1] <= latest}
    assert latest == START + timedelta(hours=14)
    assert (batch.sinks[0].rows, batch.sinks[0].late) == (len(found), 0)
    assert (stream.sinks[0].rows, stream.sinks[0].late) == (len(streamed), 0)
    assert stream.rows_in == {"boards": 300}

    late = flights(2).set_column(1, "at", pa.array([START, None], pa.timestamp("us", "UTC")))
    pq.write_table(pa.concat_tables([flights(100, 300), late]), pipeline.folder / "flights" / "1.parquet")
    again = pipeline(STREAM + both, stream=True)
    assert again.rows_in == {"boards": 102}
    assert again.sinks[0].late == 2
    batch = pipeline(both)
    assert batch.sinks[0].late == 1  # only the one without a time: nothing follows a batch
    found = {row[:2]: row[2:4] for row in rows(pipeline.folder / "out" / "batch", "window_end")}
    streamed = {row[:2]: row[2:4] for row in rows(pipeline.folder / "out" / "stream", "window_end")}
    differing = {key for key, answer in streamed.items() if found[key] != answer}
    assert differing == {("AA", START + timedelta(hours=1)), ("AA", START + timedelta(hours=2))}  # the late one's


def test_windows_of_rows_at_steps_of_time_and_of_time_at_rows(pipeline):
    extents, text = {"rows": (1000, "1 minute"), "time": ("1 hour", 4)}, ""
    for name, (size, slide) in extents.items():
        asked = query(size, slide=slide, columns_n="count(*)", columns_worst="max(delay)")
        text += board(name, "flights", asked, time="at", key="carrier") + sink(name, from_=name)
    pipeline(text)
    plain = sash.stream(flights(), time="at", key="carrier")
    for name, (size, slide) in extents.items():
        same = plain.query({"n": sf.count(), "worst": sf.max("delay")}, range=size, slide=slide)
        pq.write_table(same.results(), pipeline.folder / f"{name}.parquet")
        order = [("window_end", "ascending"), ("carrier", "ascending")]
        found = rows(pipeline.folder / name, order)
        assert found == rows(pipeline.folder / f"{name}.parquet", order)
        assert len(found) == {"rows": 300, "time": 75}[name]


def test_late_rows_have_a_sink_of_their_own(pipeline):
    nowhere = flights(2).set_column(1, "at", pa.array([None, START], pa.timestamp("us", "UTC")))
    pq.write_table(nowhere, pipeline.folder / "flights" / "1.parquet")
    sinks = SINK + sink("late/${mode}", late=True, format="json")
    summary = pipeline(BOARD + sinks)
    assert [each.rows for each in summary.sinks[1:]] == [1]
    written = duckdb.sql(f"select reason, carrier from '{pipeline.folder}/late/batch/*.json'").fetchall()
    assert written == [("at is NULL", "AA")]
    summary = pipeline(STREAM + BOARD + sink("late/${mode}", late=True, format="json"), stream=True)
    assert [each.rows for each in summary.sinks] == [1]
    written = duckdb.sql(f"select reason, carrier from '{pipeline.folder}/late/stream/*/*.json'").fetchall()
    assert written == [("at is NULL", "AA")]


def test_a_sink_of_late_rows_can_be_read_where_none_came(pipeline):
    pipeline(STREAM + BOARD + SINK + sink("late", late=True), stream=True)
    late = pq.read_table(pipeline.folder / "late")
    assert late.num_rows == 0
    assert late.column_names == ["reason", "carrier", "at", "ends", "delay", "sash_batch"]


def test_spans_and_queries_follow_each_other(pipeline):
    text = """
    [[steps]]
    name = "air"
    from = "flights"
    kind = "spans"
    span = ["at", "ends"]
    key = "carrier"
    [[steps.queries]]
    range = "1 hour"
    columns.most = "max_concurrent()"
    [[steps]]
    name = "busiest"
    sql = "select window_end, max_by(carrier, most) as carrier, max(most) as most from air group by window_end"
    """
    summary = pipeline(text + SINK)
    table = flights()
    starts, ends = table["at"].to_pylist(), table["ends"].to_pylist()
    aloft = [sum(each <= at < end for each, end in zip(starts, ends, strict=True)) for at in starts]
    assert summary.sinks[0].rows == len(rows(pipeline.folder / "out", "window_end"))
    assert all(row[2] <= max(aloft) for row in rows(pipeline.folder / "out", "window_end"))
    by_carrier = [
        max(
            sum(carrier == each and starts[k] <= at < ends[k] for k, each in enumerate(table["carrier"].to_pylist()))
            for at in starts
            if START <= at < START + timedelta(hours=1)
        )
        for carrier in CARRIERS
    ]
    assert rows(pipeline.folder / "out", "window_end")[0][2] == max(by_carrier)


def test_aggregates_of_a_module_beside(pipeline):
    (pipeline.folder / "mine.py").write_text(
        "import math\nimport sash\n"
        "def power(x):\n    return math.exp(x)\n"
        "softmax = sash.Aggregate('softsum', lift=lambda x: power(x / 100), combine=lambda a, b: a + b)\n"
    )
    head = 'imports = ["mine.py"]\n'
    file = pipeline.folder / "q.toml"
    file.write_text(
        head + '[sources.flights]\npath = "flights"\n' + BOARD.replace("max(delay)", "softsum(delay)")
        + WINDOWS.replace("median(delay)", "softsum(delay)") + SINK
    )  # fmt: skip
    from pyspark.sql import SparkSession

    run(load(file), SparkSession.active())
    flights_ = flights()  # noqa: F841
    expected = duckdb.sql(
        """select sum(exp(delay / 100)) over w from flights_
        window w as (partition by carrier order by "at" rows between 9 preceding and current row) order by "at" """
    ).fetchall()
    found = [row[-2] for row in rows(pipeline.folder / "out", "at")]
    assert found == pytest.approx([each for (each,) in expected])


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ('[[steps]]\nname = "a"\nsql = "select nothing from flights"\n' + SINK, "line 5: .*nothing"),
        ('[[steps]]\nname = "a"\nsql = "select median(delay) over (order by) from flights"\n' + SINK, "line 5: "),
        (WINDOWS.replace("median(delay)", "median(dely)") + SINK, "line 4: .*dely"),
        (WINDOWS.replace("9 preceding", "9 precedin") + SINK, "line 4: "),
        (BOARD.replace("median(delay)", "median(dely)") + SINK, "line 14: .*dely"),
        (BOARD.replace("median(delay)", "median(delay) + 1") + SINK, "line 14: a continuous query selects aggregates"),
        (BOARD.replace('range = "3 hours"', 'range = "0 hours"') + SINK, "line 16: range must be longer than zero"),
        (BOARD.replace('time = "at"', 'time = "delay"') + SINK, "line 7: time"),
        (BOARD + SINK + 'partition_by = ["plane"]\n', "line 18: there is no column plane to write; there are carrier"),
        (BOARD + sink("flights/out"), "line 18: .* is read by this pipeline"),
        (BOARD + sink("."), "is read by this pipeline"),
        (BOARD + SINK + sink("out", name="b"), "holds, or is inside, what another sink"),
        (BOARD + sink("x/y", name="a") + sink("x", name="b"), "holds, or is inside"),
        (BOARD + '[stream]\ncheckpoint = "x/c"\n[[sinks]]\npath = "x"\n', "holds, or is inside"),
        (BOARD + sink("file:${folder}/flights"), "is read by this pipeline"),
        (BOARD + sink("file://${folder}/flights"), "is read by this pipeline"),
        (BOARD + sink(table="t", options_path="x"), "a table has a place already"),
        (BOARD + sink(format="jdbc", options_url="jdbc:x"), "a jdbc sink needs a table"),
        (
            BOARD + sink(format="jdbc", table="t", options_url="jdbc:postgresql:x", options_fetchsize=9),
            "a PostgreSQL sink does not take the option fetchsize",
        ),
        (BOARD + sink("precious"), "precious is there, and not by a run that ended well"),
        (BOARD + sink("p.txt"), "p.txt is there, and not by a run"),
        (BOARD + SINK + 'format = "parqet"\n', "there is no format parqet"),
        (WINDOWS.replace("columns.mid", "columns.delay") + SINK, "two columns to write are called delay"),
        (BOARD.replace("max(delay)", "mxa(delay)") + SINK, "there is no aggregate mxa"),
        ('[sources.more]\npath = "gone"\n' + BOARD + SINK, "line 3: .*gone"),
        ('[sources.more]\nformat = "rate"\n' + BOARD + SINK, "line 3: rate has no history"),
    ],
)
def test_what_is_wrong_is_said_before_anything_runs(pipeline, text, told):
    (pipeline.folder / "precious").mkdir()
    for name in ("precious/thesis.txt", "p.txt"):
        (pipeline.folder / name).write_text("much work")
    with pytest.raises(SashError, match=r"p\.toml, .*" + told):
        pipeline(text)
    assert (pipeline.folder / "precious" / "thesis.txt").read_text() == "much work"
    assert not (pipeline.folder / "out").exists()


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (BOARD + SINK, "a stream needs a checkpoint"),
        (STREAM + 'trigger = "soon"\n' + BOARD + SINK, "trigger .* or \"available now\""),
        (STREAM + BOARD + SINK + 'mode = "ignore"\n', "a stream appends, got mode ignore"),
        (STREAM + WINDOWS + SINK, "takes a batch DataFrame, got a streaming one"),
        (STREAM + BOARD.replace("key =", 'emit = "updates"\nkey =') + SINK, "files keep what is written"),
        (STREAM + '[sources.old]\npath = "flights"\nstatic = true\n[[sinks]]\nfrom = "old"\npath = "x"\n', "static"),
        (STREAM + '[sources.new]\npath = "new"\nformat = "json"\n' + BOARD + SINK, "a stream of files needs a schema"),
    ],
)  # fmt: skip
def test_what_a_stream_cannot_do_is_said_before_it_runs(pipeline, text, told):
    (pipeline.folder / "new").mkdir()
    with pytest.raises(SashError, match=told):
        pipeline(text, stream=True)


def test_a_batch_that_fails_leaves_what_was_there(pipeline):
    pipeline(WINDOWS + SINK)
    before = rows(pipeline.folder / "out", "at")
    broken = WINDOWS + '[[steps]]\nname = "b"\nsql = "select *, raise_error(\'boom\') as e from typical"\n' + SINK
    with pytest.raises(Failed, match=r"p\.toml, line 16: b could not be written: .*boom"):
        pipeline(broken)
    assert rows(pipeline.folder / "out", "at") == before
    assert sorted(each.name for each in pipeline.folder.iterdir()) == ["flights", "out", "p.toml"]


def test_a_run_that_ended_between_two_renames_is_mended(pipeline):
    pipeline(WINDOWS + SINK)
    (pipeline.folder / "out").rename(pipeline.folder / ".out.sash-old")
    with pytest.raises(Failed):
        pipeline('[[steps]]\nname = "b"\nsql = "select raise_error(\'boom\') from flights"\n' + SINK)
    assert len(rows(pipeline.folder / "out", "at")) == 300


def test_modes(pipeline):
    pipeline(WINDOWS + SINK)
    with pytest.raises(SashError, match="is there already; mode says that this is an error"):
        pipeline(WINDOWS + SINK + 'mode = "error"\n')
    assert pipeline(WINDOWS + SINK + 'mode = "ignore"\n').sinks[0].rows == 0
    pipeline(WINDOWS + SINK + 'mode = "append"\n')
    assert len(rows(pipeline.folder / "out", "at")) == 600
    pipeline(WINDOWS + SINK + 'partition_by = "carrier"\n')
    assert sorted(each.name for each in (pipeline.folder / "out").iterdir() if each.is_dir()) == [
        "carrier=AA", "carrier=DL", "carrier=UA",
    ]  # fmt: skip
    assert (pipeline.folder / "out").is_dir()


def test_a_stream_that_fails_says_why(pipeline):
    pipeline(STREAM + BOARD + SINK, stream=True)
    pq.write_table(flights(50, 300), pipeline.folder / "flights" / "1.parquet")
    kept = Selection()
    with pytest.raises(Failed, match=r"boards could not be written: the checkpoint is of other queries"):
        pipeline(STREAM + BOARD.replace("columns.worst", "columns.most") + SINK, stream=True, reporter=kept)
    assert kept.done == []
    broken = '[[steps]]\nname = "b"\nsql = "select *, raise_error(\'boom\') as e from flights"\n'
    with pytest.raises(Failed, match=r"b could not be written: .*boom"):
        pipeline(STREAM + broken + SINK.replace("out", "e"), stream=True)


def test_batches_and_streams_do_not_mix(pipeline):
    pipeline(BOARD + SINK)
    with pytest.raises(SashError, match="has files of a batch, to which a stream would add its own; give each a path"):
        pipeline(STREAM + BOARD + SINK, stream=True)
    pipeline(STREAM + BOARD + SINK.replace("out", "flow.csv"), stream=True)
    written = [each.read_text() for each in (pipeline.folder / "flow.csv").glob("*.csv")]
    assert all(each.startswith("carrier,window_end,n,mid,worst\n") for each in written)
    with pytest.raises(SashError, match="is written by a stream with another checkpoint"):
        pipeline(STREAM.replace('checkpoint"', 'another"') + BOARD + SINK.replace("out", "flow.csv"), stream=True)
    with pytest.raises(SashError, match="is written by a stream; give each a path of its own"):
        pipeline(BOARD + SINK.replace("out", "flow.csv"))


def test_a_table_is_what_it_was_where_a_batch_fails(pipeline, spark):
    kept = sink(table="delays_kept", mode="overwrite")
    broken = WINDOWS + '[[steps]]\nname = "b"\nsql = "select *, raise_error(\'boom\') as e from typical"\n' + kept
    try:
        pipeline(WINDOWS + kept)
        with pytest.raises(Failed, match=r"b could not be written: .*boom"):
            pipeline(broken)
        assert spark.table("delays_kept").count() == 300
        tables = [row["tableName"] for row in spark.sql("show tables").collect()]
        assert [name for name in tables if "delays_kept" in name] == ["delays_kept"]
        assert pipeline(WINDOWS + kept).sinks[0].rows == 300
    finally:
        spark.sql("drop table if exists delays_kept")


def test_a_static_source_is_a_table_beside_streams(pipeline, spark):
    file = pipeline.folder / "s.toml"
    file.write_text(
        '[sources.flights]\npath = "flights"\n[sources.known]\npath = "flights"\nstatic = true\n'
        '[[steps]]\nname = "s"\nsql = "select f.* from flights f join known k on f.carrier = k.carrier"\n' + SINK
    )
    built = build(load(file, stream=True), spark)
    assert {name: frame.isStreaming for name, frame in built.frames.items()} == {
        "flights": True, "known": False, "s": True,
    }  # fmt: skip


class Selection(Reporter):
    def __init__(self):
        self.shown, self.done = [], []

    def show(self, sink, rows):
        self.shown.append((sink, rows))

    def ended(self, written):
        self.done.append(written.sink)


def test_sinks_that_are_no_files(pipeline, spark):
    kept = Selection()
    sinks = """
    [[sinks]]
    format = "console"
    name = "seen"
    [[sinks]]
    format = "memory"
    name = "kept"
    [[sinks]]
    table = "typical_delays"
    name = "stored"
    mode = "overwrite"
    """
    for _ in range(2):  # a table that is there is replaced
        pipeline(WINDOWS + sinks, reporter=kept)
    assert [name for name, _ in kept.shown] == ["seen", "seen"]
    assert kept.shown[0][1].num_rows == 51
    assert spark.table("kept").count() == 300
    assert spark.table("typical_delays").count() == 300
    spark.sql("drop table typical_delays")
    spark.catalog.dropTempView("kept")


def test_sinks_that_are_no_files_beside_late_rows(pipeline, spark):
    nowhere = flights(2).set_column(1, "at", pa.array([None, START], pa.timestamp("us", "UTC")))
    pq.write_table(nowhere, pipeline.folder / "flights" / "1.parquet")
    kept = Selection()
    sinks = """
    [[sinks]]
    format = "console"
    name = "seen"
    [[sinks]]
    format = "memory"
    name = "held"
    [[sinks]]
    late = true
    table = "missed_flights"
    """
    try:
        summary = pipeline(STREAM + BOARD + sinks, stream=True, reporter=kept)
        answers = summary.sinks[0].rows
        assert [(each.sink, each.rows) for each in summary.sinks] == [
            ("seen", answers), ("held", answers), ("boards_late", 1),
        ]  # fmt: skip
        assert sum(rows.num_rows for _, rows in kept.shown) == spark.table("held").count() == answers > 30
        assert [row["reason"] for row in spark.table("missed_flights").collect()] == ["at is NULL"]
    finally:
        spark.sql("drop table if exists missed_flights")
        spark.catalog.dropTempView("held")


def test_a_step_with_two_sinks_is_computed_for_each_run(pipeline):
    sinks = sink("a", name="a") + sink("b", name="b")
    assert [each.rows for each in pipeline(WINDOWS + sinks).sinks] == [300, 300]
    pq.write_table(flights(50, 300), pipeline.folder / "flights" / "1.parquet")
    assert [each.rows for each in pipeline(WINDOWS + sinks).sinks] == [350, 350]


def test_only_what_a_sink_needs_is_counted(pipeline):
    other = '[sources.other]\npath = "flights"\n[[steps]]\nname = "plain"\nsql = "select carrier from other"\n'
    summary = pipeline(WINDOWS + other + SINK)
    assert (summary.rows_in, summary.sinks[0].rows) == ({}, 300)


def test_rows_that_are_late_are_counted_for_each_sink_of_a_board(pipeline):
    nowhere = flights(1).set_column(1, "at", pa.array([None], pa.timestamp("us", "UTC")))
    pq.write_table(nowhere, pipeline.folder / "flights" / "1.parquet")
    sinks = sink(name="a", format="noop") + sink(name="b", format="noop")
    assert [each.late for each in pipeline(BOARD + sinks).sinks] == [1, 1]


def test_partitions_can_be_replaced_one_by_one(pipeline):
    dynamic = SINK + 'partition_by = "carrier"\noptions.partitionOverwriteMode = "dynamic"\n'
    pipeline(WINDOWS + dynamic)
    pipeline(WINDOWS + '[[steps]]\nname = "aa"\nsql = "select * from typical where carrier = \'AA\'"\n' + dynamic)
    assert len(rows(pipeline.folder / "out", "at")) == 300


def test_csv_is_read(pipeline, spark):
    pipeline(WINDOWS + sink("csv", format="csv"))
    (pipeline.folder / "r.toml").write_text(
        '[sources.typical]\npath = "csv"\nformat = "csv"\nwhere = "mid > 60"\n[[sinks]]\npath = "high"\n'
    )
    run(load(pipeline.folder / "r.toml"), spark)
    (pipeline.folder / "w.toml").write_text(
        '[sources.t]\npath = "csv"\nformat = "csv"\nschema = "at timestamp, carrier string"\n[[sinks]]\npath = "x"\n'
    )
    with pytest.raises(Failed, match="CSV header"):
        run(load(pipeline.folder / "w.toml"), spark)
    assert {type(row[-1]) for row in rows(pipeline.folder / "high", "at")} == {int}
    assert min(row[-2] for row in rows(pipeline.folder / "high", "at")) > 60


def test_a_stream_of_a_rate_source(pipeline, spark):
    kept = Selection()
    (pipeline.folder / "s.toml").write_text(
        'mode = "stream"\n'
        + source("ticks", format="rate-micro-batch", options_rowsPerBatch=100)
        + board("n", "ticks", query("1 second", columns_n="count(*)"), time="timestamp", watermark="0 seconds")
        + sink(format="console")
    )
    assert run(load(pipeline.folder / "s.toml"), spark, kept).rows_in == {"n": 100}


PAGE = Path(__file__).parents[2] / "docs" / "pipelines.md"
BLOCKS = re.findall(r"```toml\n(.*?)```", PAGE.read_text(), re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=lambda block: block.split("]")[0].strip("["))
def test_every_pipeline_of_the_docs_is_right(block, tmp_path, monkeypatch):
    monkeypatch.setenv("DB_PASSWORD", "swordfish")
    whole = block if "[[sinks]]" in block else block + sink("out")
    (tmp_path / "p.toml").write_text(whole)
    assert load(tmp_path / "p.toml").pipeline.sinks


@pytest.mark.parametrize("stream", [False, pytest.param(True, marks=pytest.mark.long)])
def test_the_pipeline_of_the_docs_runs(tmp_path, spark, stream):
    (tmp_path / "p.toml").write_text(BLOCKS[0])
    (tmp_path / "my_aggregates.py").write_text(starter.AGGREGATES)
    (tmp_path / "flights").mkdir()
    table = flights().rename_columns(["carrier", "at", "landed", "delay"])
    table = table.append_column("dest", table["carrier"])
    pq.write_table(table, tmp_path / "flights" / "0.parquet")
    summary = run(load(tmp_path / "p.toml", {"day": "2026-01-01"}, stream), spark)
    assert [each.sink for each in summary.sinks] == ["boards", "boards_late", "aloft"]
    boards = (
        tmp_path / "out" / "stream" / "boards" / "sash_batch=0" if stream else tmp_path / "out" / "batch" / "boards"
    )
    assert (boards / "carrier=AA").is_dir()


def test_names_may_hold_backticks_dots_and_quotes(pipeline):
    """Of columns read and answered, of keys, and of the partitions of a sink."""
    text = """
[[steps]]
name = "odd"
sql = "select carrier as `c``r`, carrier as `c.r`, at as `it's`, delay as `[d]` from flights"
[[steps]]
name = "typical"
from = "odd"
kind = "windows"
partition_by = ["`c``r`", "`c.r`"]
order_by = ["`it's` desc"]
frame = "rows between unbounded preceding and unbounded following"
columns."m`.\\"x\\"" = "max(`[d]`)"
[[steps]]
name = "boards"
from = "typical"
kind = "stream"
time = "`it's`"
key = ["`c``r`", "`c.r`"]
watermark = "10 minutes"
[[steps.queries]]
range = "30 days"
columns."n`. x" = "count(`m``.\\"x\\"`)"
"""
    pipeline(text + sink("out", partition_by=["c`r"]))
    rows = pq.read_table(pipeline.folder / "out").to_pylist()
    assert sorted((row["c`r"], row["c.r"], row["n`. x"]) for row in rows) == [(k, k, 100) for k in sorted(CARRIERS)]


RANGES = board(
    "boards",
    "flights",
    query({"session": "20 minutes"}, columns_n="count(*)"),
    query({"cumulate": "1 day", "step": "2 hours"}, columns_worst="max(delay)"),
    time="at",
    zone="Europe/Berlin",
    key="carrier",
)


def test_sessions_and_windows_that_grow(pipeline):
    pipeline(RANGES + SINK)
    board = sash.stream(flights(), time="at", key="carrier", zone="Europe/Berlin")
    board = board.query("n", sf.count(), range=sash.session("20 minutes"))
    board = board.query("worst", sf.max("delay"), range=sash.cumulate("1 day", step="2 hours"))
    expected = [tuple(row.values()) for row in board.results().to_pylist()]
    found = rows(pipeline.folder / "out", "window_end")
    assert sorted(map(str, found)) == sorted(map(str, expected))


def test_a_page_has_what_the_sinks_have(pipeline):
    sights = {}

    def show(told):
        sights.update({sight.name: sight for sight in told})

    file = pipeline.folder / "p.toml"
    file.write_text('[sources.flights]\npath = "flights"\n' + BOARD_AND_SINK)
    batch = run(load(file, {}, False), pipeline.spark, watch=show)
    assert (sights["hourly"].state, sights["hourly"].rows_in) == ("ended", 300)
    assert sights["hourly"].answers == batch.sinks[0].rows > 0
    stream = run(load(file, {}, True), pipeline.spark, watch=show)
    sight = sights["hourly"]
    assert (sight.state, sight.rows_in, sight.answers) == ("ended", 300, stream.sinks[0].rows)
    assert sum(len(line) for line in sight.lines["worst"].values()) == stream.sinks[0].rows
    assert sight.watermark is not None
    assert "worst = max(delay)" in str(sight.plan)


BOARD_AND_SINK = """
[stream]
trigger = "available now"
[[steps]]
name = "hourly"
from = "flights"
kind = "stream"
time = "at"
key = ["carrier"]
watermark = "10 minutes"
[[steps.queries]]
range = "1 hour"
columns.worst = "max(delay)"
[[sinks]]
from = "hourly"
format = "noop"
"""
