"""A checkpoint that is older than the files its stream wrote is refused: what comes again would stand beside them."""

import re
import shutil
from collections import Counter
from datetime import UTC, datetime, timedelta
from fnmatch import fnmatchcase

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pipeline_files import board, query, section, sink, source
from sash.errors import SashError
from sash.pipelines import PipelineError, load, run
from sash.spark import checkpoints
from sash.spark.writing import Target

START = datetime(2026, 3, 1, tzinfo=UTC)
SOURCE = section("[stream]", checkpoint="checkpoint") + source("rows", path="rows", schema="id bigint, at timestamp")
BOARD = (
    board("lists", "rows", query("1 hour", columns_ids="array_agg(id)"), time="at", watermark="1 minute")
    + sink("out", from_="lists")
    + sink("late", from_="lists", late=True)
)


@pytest.fixture
def stream(tmp_path, spark):
    """A pipeline, run as a stream each time that an hour of rows has come."""
    (tmp_path / "rows").mkdir()
    hours, before = iter(range(99)), spark.conf.get("spark.sql.shuffle.partitions")

    def go_on(text):
        hour = next(hours)
        moments = [START + timedelta(hours=hour, minutes=minute) for minute in range(0, 60, 10)]
        rows = pa.table({"id": range(hour * 6, hour * 6 + 6), "at": pa.array(moments, pa.timestamp("us", "UTC"))})
        pq.write_table(rows, tmp_path / "rows" / f"{hour}.parquet")
        (tmp_path / "p.toml").write_text(SOURCE + text)
        return run(load(tmp_path / "p.toml", stream=True), spark)

    go_on.folder = tmp_path
    spark.conf.set("spark.sql.shuffle.partitions", 1)
    yield go_on
    spark.conf.set("spark.sql.shuffle.partitions", before)


def files(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*")}


def replaced(folder, copy):
    shutil.rmtree(folder / "checkpoint", ignore_errors=True)
    if copy:
        shutil.copytree(folder / copy, folder / "checkpoint")


@pytest.mark.long
def test_a_query_of_several_sinks_does_not_go_on_from_an_older_checkpoint(stream):
    folder = stream.folder
    stream(BOARD)
    stream(BOARD)
    shutil.copytree(folder / "checkpoint", folder / "copy")
    stream(BOARD)
    replaced(folder, "copy")
    before = files(folder / "out")
    told = (
        r"p\.toml, line \d+: .*/out has later batches of a stream than .*/lists\.sinks knows of \((\d+) is its last\)"
    )
    with pytest.raises(PipelineError, match=told) as refused:
        stream(BOARD)
    assert files(folder / "out") == before
    last = int(re.search(told, str(refused.value))[1])
    for path in folder.glob("*/sash_batch=*"):  # as the sentence says
        if int(path.name.partition("=")[2]) > last:
            shutil.rmtree(path)
    stream(BOARD)
    answers = pq.read_table(folder / "out").to_pylist()
    assert Counter(each for row in answers for each in row["ids"]) == Counter(range(4 * 6))  # the last hour is open


def test_a_query_of_one_sink_does_not_go_on_from_an_older_checkpoint(stream):
    folder, out = stream.folder, sink("out")
    stream(out)
    shutil.copytree(folder / "checkpoint", folder / "copy")
    stream(out)
    shutil.copytree(folder / "checkpoint", folder / "newest")
    replaced(folder, "copy")
    told = r"out has later batches of a stream than .*/rows knows of \(0 is its last\): .* go on with the newest"
    with pytest.raises(PipelineError, match=told):
        stream(out)
    replaced(folder, "newest")
    stream(out)
    ids = pq.read_table(folder / "out")["id"].to_pylist()
    assert Counter(ids) == Counter(range(4 * 6))


@pytest.mark.parametrize("local", [True, False])
@pytest.mark.parametrize("later", ["sash_batch=40/k=5/part", "sash_batch=1000/k=5/part", "_spark_metadata/49.compact"])
def test_batches_of_files_are_known_by_their_numbers(tmp_path, spark, monkeypatch, local, later):
    monkeypatch.setattr(checkpoints, "is_local", lambda spark, path: local)  # else as on a cluster
    target = Target("out", "json", str(tmp_path / "77" / "out"), None, "append", ("k",), {})
    checkpoint = tmp_path / "99" / "c"

    def writes(path):
        (tmp_path / path).parent.mkdir(parents=True)
        (tmp_path / path).write_text("{}")

    def last_known():
        """What a refusal says that the checkpoint knows."""
        try:
            checkpoints.check_timeline(spark, target, str(checkpoint))
        except SashError as error:
            return re.search(r"checkpoint .*/99/c knows of \((none|\d+)", str(error))[1]

    assert last_known() is None
    writes("77/out/sash_batch=0/k=1/part")
    assert last_known() == "none"
    writes("99/c/offsets/38")
    assert last_known() is None
    writes("77/out/sash_batch=38/k=50/part")
    assert last_known() is None
    writes(f"77/out/{later}")
    assert last_known() == "38"


@given(st.integers(-1, 10**6), st.integers(0, 10**7))
def test_numbers_above_one_are_found_by_a_pattern(number, other):
    patterns = checkpoints.above(number).strip("{}").split(",")
    assert number < 0 or len(patterns) <= len(str(number)) + 1
    assert any(fnmatchcase(str(other), each) for each in patterns) == (other > number)
