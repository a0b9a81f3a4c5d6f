"""Places that a pipeline may not write to: what it reads, what others fill, what is not this machine's."""

import pytest

from pipeline_files import board, query, section, sink, source
from sash.errors import SashError
from sash.pipelines import build, flows, load
from sash.pipelines.same_place import overlap, table
from sash.pipelines.targets import check_places, checked
from sash.spark import checkpoints, stores, writing
from sash.spark.writing import Target

SOURCE = source("t", path="in", schema="k string, n bigint, at timestamp")
BOARD = board("board", "t", query("1 hour", columns_n="count(*)"), time="at", watermark="1 minute")
STREAM = section("[stream]", checkpoint="c")


@pytest.fixture
def check(tmp_path, spark):
    """Writes a pipeline, and checks it."""
    (tmp_path / "in").mkdir()
    (tmp_path / "p.toml").touch()

    def is_right(text, stream=None, source=SOURCE, **values):
        (tmp_path / "p.toml").write_text(source + text)
        loaded = load(tmp_path / "p.toml", values, stream)
        check_places(loaded, spark)
        return checked(loaded, spark, build(loaded, spark))

    is_right.folder = tmp_path
    return is_right


@pytest.mark.parametrize(
    ("path", "read"),
    [
        ("s3a://b/data", "s3a://b/data/in"),
        ("s3a://b/data/in", "s3a://b/data"),
        ("s3a://b/data", "s3a://b/data/"),
        ("s3://b/data/", "s3n://B/data/in"),
        ("s3a://id:secret@b/data", "s3a://b/data"),
        ("s3a://b", "s3a://b/data"),
        ("s3a://b/more/../data", "s3a://b/data/in"),
        ("s3a://b//data/.", "s3a://b/data/in"),
        ("s3a://b/my%20data", "s3a://b/my data/in"),
        ("s3a://b/data/out", "s3a://b/data/*"),
        ("s3a://b/data/2026", "s3a://b/data/*/in"),
        ("s3a://b/data", "s3a://b/{more,data}/in"),
        ("s3a://b/{more,data}/x", "s3a://b/data"),
        ("hdfs:///data", "hdfs://name:8020/data/in"),
        ("abfss://c@store.dfs.core.windows.net/data", "wasbs://c@store.blob.core.windows.net/data/in"),
        ("dbfs:/data", "dbfs:///data/in"),
        ("file:/data", "/data/in"),
        ("FILE:///data", "/data/in"),
        ("file://localhost/data", "/data"),
        ("/my%20data", "/my data/in"),
        ("/data/out", "/data/[a-z]*"),
    ],
)
def test_places_that_hold_each_other(path, read):
    assert overlap(path, {read})


@pytest.mark.parametrize(
    ("path", "read"),
    [
        ("s3a://b/data", "s3a://b/database"),
        ("s3a://b/data", "s3a://c/data"),
        ("s3a://b/DATA", "s3a://b/data"),
        ("s3a://b/data/out", "s3a://b/data/in"),
        ("s3a://b/data/out", "s3a://b/data/*.csv"),
        ("gs://b/data", "s3://b/data"),
        ("/b/data", "s3a://b/data"),
        ("hdfs://one/data", "hdfs://two/data"),
        ("abfss://c@store.dfs.core.windows.net/data", "abfss://d@store.dfs.core.windows.net/data"),
        ("/data/out", "/data/[^o]*"),
    ],
)
def test_places_that_do_not(path, read):
    assert not overlap(path, {read})


@pytest.mark.parametrize(
    ("path", "read", "is_seen"),
    [
        ("/data", "hdfs://name:8020/data/in", True),
        ("webhdfs://name/data/in", "/data", True),
        ("/data", "/data/in", True),
        ("hdfs:///user/ann/in", "in", True),  # below the home of whoever runs it
        ("file:/data", "hdfs://name/data", False),
        ("/data", "hdfs://other/data", False),
        ("/data/out", "hdfs://name/data/in", False),
        ("/data", "s3a://name/data", False),
    ],
)
def test_paths_without_a_scheme_are_in_the_default_store(path, read, is_seen):
    assert overlap(path, {read}, "hdfs://name") == is_seen


@pytest.mark.parametrize("store", ["viewfs://links", "hdfs://nowhere.invalid"])
def test_an_overlap_with_the_default_store_is_seen(check, spark, store):
    """As on a cluster whose default store is another one; also where that cannot be reached."""
    spark.conf.set("fs.defaultFS", store)
    try:
        source = f'[sources.t]\npath = "{store}{check.folder}/data/in"\nschema = "n int"\n'
        with pytest.raises(SashError, match=r"line \d+: .*data is read by this pipeline; it cannot be written"):
            check(sink("data", mode="overwrite"), source=source)
        assert not writing.is_local(spark, "/data")
    finally:
        spark.conf.unset("fs.defaultFS")
    assert writing.is_local(spark, "/data")


def test_a_default_store_that_no_setting_of_spark_names_is_known(spark):
    """An older name of the setting stands for the files of Hadoop, which Spark does not show."""
    session = spark.newSession()
    session.conf.set("fs.viewfs.mounttable.links.link./data", "file:///data")
    session.conf.set("fs.default.name", "viewfs://links/")
    assert stores.default_store(session) == "viewfs://links"
    assert stores.default_store(spark) == "file:"


def test_links_are_followed(tmp_path):
    (tmp_path / "data" / "in").mkdir(parents=True)
    (tmp_path / "links").mkdir()
    (tmp_path / "links" / "one").symlink_to(tmp_path / "data")
    assert overlap(str(tmp_path / "data"), {str(tmp_path / "links" / "one" / "in")})
    assert overlap(str(tmp_path / "links" / "one"), {str(tmp_path / "data" / "in")})
    assert overlap(str(tmp_path / "data"), {f"{tmp_path}/links/*"})
    assert not overlap(str(tmp_path / "out"), {f"{tmp_path}/links/*"})


def test_names_of_tables():
    assert table("T", "spark_catalog", "default") == table("`spark_catalog`.default.`t`", "x", "y")
    assert table("db.t", "spark_catalog", "default") != table("t", "spark_catalog", "default")
    assert table("`a.b`", "c", "d") == ("c", "d", "a.b")


@pytest.mark.parametrize(
    ("source", "sink"),
    [
        ('[sources.t]\npath = "s3a://b/data/in"\n', 'path = "s3://b/data"'),
        ('[sources.t]\ntable = "kept"\n', 'table = "spark_catalog.default.KEPT"'),
        ('[sources.t]\npath = "in"\nschema = "n int"\n[[steps]]\nname = "s"\nsql = "select * from t, kept"\n',
         'table = "`kept`"'),
        ('[sources.t]\npath = "in"\nschema = "n int"\n[[steps]]\nname = "s"\n'
         "sql = \"select * from t union all select * from csv.`${folder}/more`\"\n", 'path = "more"'),
    ],
)  # fmt: skip
def test_what_is_read_is_not_written(check, spark, source, sink):
    (check.folder / "more").mkdir()
    (check.folder / "more" / "a.csv").write_text("1\n")
    spark.sql("create table if not exists kept (n int) using parquet")
    try:
        with pytest.raises(SashError, match=r"p\.toml, line \d+: .* is read by this pipeline; it cannot be written"):
            check(f'[[sinks]]\nmode = "overwrite"\n{sink}\n', source=source.replace("${folder}", str(check.folder)))
    finally:
        spark.sql("drop table kept")


@pytest.mark.parametrize(
    ("text", "why"),
    [
        (sink(name="live", table="somewhere"), "is no folder of this machine"),
        (sink("s3a://b/out", name="live"), "is no folder of this machine"),
        (sink(name="live", format="jdbc", table="t", options_url="jdbc:postgresql://db/x"),
         "is no folder of this machine"),
        (sink(name="live", format="jdbc", table="t", options_url="jdbc:mysql://db/x"),
         "is no folder of this machine"),
        (STREAM + sink("out", name="live"), "is where this pipeline writes as a stream, too"),
        ('[stream]\ncheckpoint = "c"\n[variables]\nout = "o"\n[[sinks]]\nname = "live"\npath = "${out}"\n',
         "is where this pipeline writes as a stream, too"),
    ],
)  # fmt: skip
def test_what_others_need_is_replaced_only_where_it_is_said(check, spark, monkeypatch, text, why):
    monkeypatch.setattr(writing, "check_format", lambda spark, format: None)  # of stores that are not here
    with pytest.raises(
        SashError, match=rf"p\.toml, line \d+: live would replace .*, which {why}: .*mode = \"overwrite"
    ):
        check(text)
    for mode in ("overwrite", "append"):
        assert [each.mode for each in check(f'{text}mode = "{mode}"\n')] == [mode]


def test_what_needs_no_mode(check):
    assert [each.mode for each in check(sink("out"))] == ["overwrite"]
    assert check(STREAM + sink("out/${mode}"))
    assert check(STREAM + '[variables]\nout = "o/${mode}"\n[[sinks]]\npath = "${out}"\n')
    assert check(sink(format="console"))
    written = check(STREAM + BOARD + sink("out", mode="overwrite"), stream=True)
    assert [each.mode for each in written] == ["append"]  # mode is of the batch


BOTH = STREAM + BOARD + sink("out") + sink("late", late=True)


@pytest.mark.parametrize("sink", ["board", "board_late"])
def test_a_checkpoint_of_a_query_for_each_sink_is_refused_by_name(check, sink):
    (check.folder / "c" / sink).mkdir(parents=True)
    (check.folder / "c" / sink / "metadata").write_text('{"id": "x"}')
    told = rf"c/{sink} is the checkpoint of {sink} as a query of its own, as older versions .*; now it has one query"
    with pytest.raises(SashError, match=told):
        check(BOTH, stream=True)


def test_a_folder_that_a_query_for_one_sink_wrote_is_refused(check):
    (check.folder / "late" / "_spark_metadata").mkdir(parents=True)
    with pytest.raises(SashError, match="late is written by a stream with a query for this sink alone"):
        check(BOTH, stream=True)


def test_a_checkpoint_of_several_sinks_is_not_left_behind(check):
    (check.folder / "c" / "board.sinks").mkdir(parents=True)
    (check.folder / "c" / "board.sinks" / "metadata").write_text('{"id": "x"}')
    with pytest.raises(
        SashError, match=r"board\.sinks is the checkpoint of board as one query with others of its step"
    ):
        check(STREAM + BOARD + sink("out"), stream=True)


def test_the_sinks_of_a_query_stay(check):
    members = check.folder / "c" / "board.sinks" / "sash_sinks"
    members.mkdir(parents=True)
    (members / "0.json").write_text('{"name":"board"}\n{"name":"other"}\n')
    (members.parent / "metadata").write_text('{"id": "x"}')
    with pytest.raises(SashError, match="stay those that it began with, board, other, got board, board_late"):
        check(BOTH, stream=True)


def test_files_that_are_there_are_not_mixed_with_those_of_a_stream(check):
    (check.folder / "late").mkdir()
    (check.folder / "late" / "mine").touch()
    with pytest.raises(SashError, match=r"late has files, and the stream of .* did not write them"):
        check(BOTH, stream=True)
    (check.folder / "late" / "sash_batch=0").mkdir()
    with pytest.raises(SashError, match="late is written by a stream"):
        check(BOARD + sink("late", late=True))


@pytest.mark.parametrize("stream", [True, False])
@pytest.mark.parametrize("what", ['partition_by = "m"', 'format = "kafka"\nkey = "m"'])
def test_columns_of_late_rows_are_known_before_anything_runs(check, stream, what):
    place = 'options."kafka.bootstrap.servers" = "x:1"' if "kafka" in what else 'path = "late-${mode}"'
    sink = f"[[sinks]]\nlate = true\n{what}\n{place}\n"
    with pytest.raises(SashError, match=r"line \d+: there is no column m to write; there are reason, k, n, at"):
        check(STREAM + BOARD + sink, stream=stream)
    assert check(STREAM + BOARD + sink.replace('"m"', '"k"'), stream=stream)


def test_a_word_in_a_comment_or_a_text_joins_no_step_to_a_board(tmp_path):
    step = '[[steps]]\nname = "{}"\nsql = "select \'board\' as b from {} -- as board does"\n'
    sinks = sink("a", from_="board") + sink("b", from_="board", late=True)
    more = sink("c", from_="apart") + sink("d", from_="made")
    (tmp_path / "p.toml").write_text(
        STREAM + SOURCE + BOARD + step.format("apart", "t") + step.format("made", "`Board`") + sinks + more
    )
    found = flows.flows(load(tmp_path / "p.toml", stream=True))
    assert [(each.taken, each.sinks) for each in found] == [("board", (0, 1, 3)), ("apart", (2,))]


@pytest.mark.parametrize(
    "sql",
    [
        "select k, sum(n) from board group by k",
        "select b.* from board b join t on b.n = t.n",
        "select distinct n from board",
        "select my_sum(n) from board",
    ],
)
def test_steps_between_a_board_and_a_sink_beside_late_rows_take_rows_one_by_one(check, sql):
    step = f'[[steps]]\nname = "more"\nsql = "{sql}"\n'
    sinks = sink("out") + sink("late", from_="board", late=True)
    text = (BOARD + step + sinks).replace('from = "t"\n', 'from = "t"\nkey = "k"\n')
    told = "more is made from answers of board, whose late rows another sink takes|my_sum|LEFT_OUTER|Stream"
    with pytest.raises(SashError, match=told):
        check(STREAM + text, stream=True)


def test_what_is_in_a_store_is_seen_through_spark(spark, tmp_path, monkeypatch):
    """As on a cluster: nothing is looked at but by Spark."""
    monkeypatch.setattr(checkpoints, "is_local", lambda spark, path: False)
    (tmp_path / "old" / "_spark_metadata").mkdir(parents=True)
    (tmp_path / "old" / "_spark_metadata" / "0").write_text("v1\n")
    (tmp_path / "new" / "sash_batch=0" / "k=1").mkdir(parents=True)
    (tmp_path / "new" / "sash_batch=0" / "k=1" / "part").write_text("{}")
    (tmp_path / "empty").mkdir()
    folder = str(tmp_path / "c")

    def target(name):
        return Target("late", "json", str(tmp_path / name), None, "append", (), {})

    assert not checkpoints.begun(spark, folder)
    checkpoints.check_parts(spark, target("gone"), folder)
    checkpoints.check_parts(spark, target("empty"), folder)
    with pytest.raises(SashError, match="with a query for this sink alone"):
        checkpoints.check_parts(spark, target("old"), folder)
    with pytest.raises(SashError, match="which has yet to begin"):
        checkpoints.check_parts(spark, target("new"), folder)
    checkpoints.keep_members(spark, folder, ["a", "b"])
    (tmp_path / "c" / "metadata").write_text('{"id": "x"}')
    assert checkpoints.begun(spark, folder)
    checkpoints.check_parts(spark, target("new"), folder)
    checkpoints.check_members(spark, folder, ["b", "a"])
    with pytest.raises(SashError, match="stay those that it began with, a, b, got a"):
        checkpoints.check_members(spark, folder, ["a"])
