"""The page of a board on Spark has the answers that its sinks get, and what came late, classic and on Connect."""

import os
import time
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import sash
from sash import functions as sf
from sash.errors import SashError

START = datetime(2026, 11, 16, 8, tzinfo=UTC)
SCHEMA = "ts timestamp, plug string, load double"


def loads(folder):
    """Three files of rows, the last with one that is a day late."""
    for part in range(3):
        times = [START + timedelta(seconds=10 * (part * 300 + number)) for number in range(300)]
        if part == 2:
            times[7] -= timedelta(days=1)
        rows = pa.table(
            {
                "ts": pa.array(times, pa.timestamp("us", "UTC")),
                "plug": [f"plug {number % 3}" for number in range(300)],
                "load": [float(number * 37 % 101) for number in range(300)],
            }
        )
        pq.write_table(rows, f"{folder}/{part}.parquet")
        os.utime(f"{folder}/{part}.parquet", (10**9 + part,) * 2)  # Spark reads older files first


def board_of(rows):
    board = sash.stream(rows, time="ts", key="plug", watermark="10 seconds")
    return board.query("peak", sf.max("load"), range="10 minutes", slide="5 minutes")


def streamed(spark, folder):
    return spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(folder)


def seen(spark, folder, answers):
    """What a page shows of the board, run for it, once there are so many answers."""
    with board_of(streamed(spark, folder)).watch() as page:
        sight, begin = page._sight, time.monotonic()
        while (sight.answers or 0) < answers or not sight.reasons:
            assert page.state == "running", sight.words
            assert time.monotonic() - begin < 100
            time.sleep(0.2)
    lines = {key: sorted([end, value] for end, value in line.items()) for key, line in sight.lines["peak"].items()}
    return [lines, dict(sight.reasons), sight.rows_in, sight.late, page.state, str(sight.watermark)]


def expected(folder):
    """The answers in memory of the rows that are not late, in windows that the watermark passed."""
    rows = pa.concat_tables([pq.read_table(f"{folder}/{part}.parquet") for part in range(3)])
    rows = rows.filter(pa.array(each >= START for each in rows["ts"].to_pylist()))
    mark = START + timedelta(seconds=10 * 899 - 10)
    lines = {}
    for row in board_of(rows).results().to_pylist():
        if row["window_end"] <= mark:
            lines.setdefault(row["plug"], []).append([row["window_end"].timestamp() * 1000, row["peak"]])
    return [lines, {"late: its windows had ended": 1}, 900, 1, "ended", str(mark)]


def test_a_streaming_board(spark, tmp_path):
    loads(tmp_path)
    told = expected(tmp_path)
    assert seen(spark, str(tmp_path), sum(map(len, told[0].values()))) == told


@pytest.mark.long
def test_on_connect(connect, tmp_path):
    loads(tmp_path)
    told = expected(tmp_path)
    assert connect.run(seen, str(tmp_path), sum(map(len, told[0].values()))) == told


def test_a_query_of_ones_own_is_followed_and_left_running(spark, tmp_path):
    loads(tmp_path)
    board = board_of(streamed(spark, str(tmp_path)))
    query = board.results().writeStream.format("noop").start()
    try:
        with board.watch(query) as page:
            begin = time.monotonic()
            while (page._sight.rows_in or 0) < 900 or not page._sight.late:
                assert time.monotonic() - begin < 100
                time.sleep(0.2)
        assert page._sight.late == 1
        assert query.isActive
    finally:
        query.stop()


def test_a_batch_board(spark, tmp_path):
    loads(tmp_path)
    rows = spark.read.parquet(str(tmp_path))
    board = board_of(rows)
    with board.watch() as page:
        assert page.wait(200)
    sight = page._sight
    assert page.state == "ended", sight.words
    answers = board.results().toArrow()
    assert sight.answers == answers.num_rows
    assert sum(len(line) for line in sight.lines["peak"].values()) == answers.num_rows
    with pytest.raises(SashError, match="query must be of a streaming DataFrame"):
        board.watch(5)


def test_what_is_no_query_is_refused(spark, tmp_path):
    with pytest.raises(SashError, match=r"query must be a streaming query of Spark, what start\(\) gives, got str"):
        board_of(streamed(spark, str(tmp_path))).watch("mine")
