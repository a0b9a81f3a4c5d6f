"""Every row of a stream is in an answer or in the sink of late rows, once, wherever batches end and whatever fails."""

import json
import os
import random
import sys
import threading
from collections import Counter
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sash.pipelines import Failed, load, run
from services.jobs import Process, committed

START = datetime(2026, 3, 1, tzinfo=UTC)
PIPELINE = """
{spark}
[stream]
checkpoint = "checkpoint"
[sources.rows]
path = "rows"
schema = "id bigint, k string, at timestamp"
options.maxFilesPerTrigger = {files}
[[steps]]
name = "lists"
from = "rows"
kind = "stream"
time = "at"
key = "k"
watermark = "30 seconds"
[[steps.queries]]
range = "1 minute"
columns.ids = "array_agg(id)"
[[steps]]
name = "busy"
sql = "select k, window_end, size(ids) as many from lists where size(ids) > 1"
[[sinks]]
from = "lists"
path = "answers"
[[sinks]]
from = "lists"
late = true
path = "late"
format = "json"
[[sinks]]
path = "busy"
"""
ON = '[spark]\nmaster = "local[2]"\nconf = { "spark.sql.shuffle.partitions" = 2 }'


class Rows:
    """Files of a folder, which come in the order of their numbers."""

    def __init__(self, folder, seed):
        self.folder, self.chance = folder / "rows", random.Random(seed)
        self.count, self.files, self.minute = 0, 0, 0
        self.folder.mkdir()

    def bring(self, files):
        """Rows around a time that moves on, some far behind it, some without any."""
        for _ in range(files):
            self.minute += self.chance.randrange(3)
            self._write([self._moment() for _ in range(self.chance.randrange(1, 40))])

    def end(self):
        """A row that lets all windows of those before end."""
        self._write([START + timedelta(days=9)])

    def _moment(self):
        if self.chance.random() < 0.03:
            return None
        back = self.chance.choice([0, 0, 0, 1, 5]) * 60
        return START + timedelta(seconds=self.minute * 60 - back + self.chance.randrange(60))

    def _write(self, moments):
        ids = range(self.count, self.count + len(moments))
        keys = [f"k{self.chance.randrange(4)}" for _ in ids]
        table = pa.table({"id": pa.array(ids), "k": keys, "at": pa.array(moments, pa.timestamp("us", "UTC"))})
        part = self.folder / f".{self.files}"
        pq.write_table(table, part)
        os.utime(part, (1e9 + self.files, 1e9 + self.files))
        part.rename(self.folder / f"{self.files:06d}.parquet")
        self.count, self.files = self.count + len(moments), self.files + 1


def assert_conserved(folder, rows):
    """Refuse a row that is in no answer and was not late, or twice somewhere; the last one's window is open."""
    answers = pq.read_table(folder / "answers").to_pylist()
    files = (folder / "late").rglob("*.json")
    late = [json.loads(line)["id"] for file in files for line in file.read_text().splitlines()]
    found = Counter(each for row in answers for each in row["ids"]) + Counter(late)
    assert found == Counter(range(rows.count - 1))
    assert len(late) > 0
    assert len({(row["k"], row["window_end"]) for row in answers}) == len(answers)
    busy = Counter((row["k"], row["window_end"], row["many"]) for row in pq.read_table(folder / "busy").to_pylist())
    assert busy == Counter((row["k"], row["window_end"], len(row["ids"])) for row in answers if len(row["ids"]) > 1)


def written(folder, files, spark=""):
    file = folder / "p.toml"
    file.write_text(PIPELINE.format(files=files, spark=spark))
    return file


@pytest.mark.parametrize(
    ("seed", "rounds"), [(1, 1), *(pytest.param(seed, 3, marks=pytest.mark.long) for seed in range(2, 12))]
)
def test_every_row_is_answered_or_late_where_sinks_fail(tmp_path, spark, seed, rounds):
    rows, chance, failures = Rows(tmp_path, seed), random.Random(seed), []
    for blocked in chance.sample(["late", "answers", "busy"], rounds):
        rows.bring(5)
        file = written(tmp_path, chance.randrange(1, 4))
        try:
            with barred(tmp_path / blocked):
                run(load(file, stream=True), spark)
        except Failed as error:
            failures.append(str(error))
    assert failures
    rows.end()
    run(load(file, stream=True), spark)
    assert_conserved(tmp_path, rows)


@contextmanager
def barred(folder):
    """A sink that cannot be written for a while: there is a file in the place of its folder."""
    aside = folder.with_name(f"{folder.name} aside")
    if folder.exists():
        folder.rename(aside)
    folder.touch()
    try:
        yield
    finally:
        folder.unlink()
        if aside.exists():
            aside.rename(folder)


def killed_again_and_again(folder, seed, kills):
    """Kill the driver, its Java and its workers at chance moments while files come; then let it end."""
    rows, chance = Rows(folder, seed), random.Random(seed)
    command = [sys.executable, "-m", "sash.cli", "run", "p.toml", "--stream"]
    checkpoint = folder / "checkpoint" / "lists.sinks"
    for _ in range(kills):
        rows.bring(8)
        written(folder, 1, ON)
        target = committed(checkpoint) + chance.randrange(1, 4)
        with Process(folder, command) as life:
            life.wait_for((checkpoint / "offsets" / str(target)).exists)  # the batch has begun
            threading.Event().wait(chance.uniform(0, 2))
            assert life.kill()
    rows.end()
    with Process(folder, command) as last:
        assert last.finish() == 0, last.log()
    assert_conserved(folder, rows)


@pytest.mark.long
def test_every_row_is_answered_or_late_where_the_driver_is_killed(tmp_path):
    killed_again_and_again(tmp_path, seed=5, kills=1)


@pytest.mark.long
@pytest.mark.parametrize("seed", range(6))
def test_every_row_is_answered_or_late_where_the_driver_is_killed_again_and_again(tmp_path, seed):
    killed_again_and_again(tmp_path, seed, kills=5)
