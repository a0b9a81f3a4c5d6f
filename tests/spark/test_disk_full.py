"""A disk that is full below a checkpoint, or below rows that workers spill: the query stops, and then goes on."""

import random

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
import pytest
from pyspark.errors import StreamingQueryException

import sash
from sash import SashError, Window
from sash import functions as sf
from services import jobs
from services.disks import small_disk, unmount
from spark.streaming_job import Job, events, start
from spark.test_streaming_faults import assert_exact


@pytest.mark.long
def test_a_checkpoint_on_a_disk_that_is_full_again_and_again(spark, tmp_path):
    """Survived: a full disk below offsets, state and commits, again and again; with room, the query goes on exactly."""
    table, chance, stops = events(6_000, seed=8), random.Random(8), []
    with Job(tmp_path, ("both",)) as job:
        job.feed(table, 6)
        disk = small_disk(tmp_path / "both" / "checkpoint", 16)
        filled = set()

        def keep(write):
            """Fill the disk before the state of a batch is written, or when just its commit is left."""

            def fill_sometimes(batch, number):
                before, leave = number % 2 == 1, chance.choice([0, 4096, 20_000])
                if number > 0 and number not in filled and before:
                    filled.add(number)
                    disk.fill(leave)
                write(batch, number)
                if number > 0 and number not in filled:
                    filled.add(number)
                    disk.fill()

            return fill_sometimes

        try:
            while len(stops) < 20:
                try:
                    start(spark, tmp_path, "both", files=1, keep=keep).awaitTermination()
                    break
                except StreamingQueryException as error:
                    stops.append(str(error))
                    disk.free()
            assert len(stops) >= 4
            assert all("No space left on device" in said for said in stops)
            assert_exact(job, table)
        finally:
            spark.streams.resetTerminated()
            unmount(disk)


ROWS = 100_000
TABLE = pa.table({"k": np.arange(ROWS) % 100, "t": np.arange(ROWS) % 3, "s": ["x" * 150] * ROWS})
WINDOW = Window.partitionBy("k").orderBy("t").rowsBetween(-9, 0)
ASKED = {"longest": sf.max("s").over(WINDOW), "n": sf.count().over(WINDOW)}


def ask(spark, file):
    """What was answered, or what went wrong."""
    try:
        with sash.options.set(memory="2 MB"):
            return summed(sash.withColumns(spark.read.parquet(file), ASKED).toArrow())
    except SashError as error:
        return str(error)


def summed(table):
    return [table.num_rows, pc.sum(table["n"]).as_py(), pc.count_distinct(table["longest"]).as_py()]


@pytest.mark.long
def test_workers_that_spill_to_a_disk_that_is_full(tmp_path):
    """Survived: a full disk below the rows that a Spark task spills; one sentence says so, and then it is answered."""
    pq.write_table(TABLE, tmp_path / "rows.parquet")
    disk = small_disk(tmp_path / "local", 128)
    conf = {"spark.local.dir": str(disk.path), "spark.sql.shuffle.partitions": "1"}
    try:
        with jobs.Job(tmp_path / "job", conf) as job:
            job.wait_for(lambda: any(disk.path.iterdir()))  # Spark has begun
            disk.fill(leave=6 << 20)  # enough for Spark's own files, which are compressed
            said = job.ask(ask, str(tmp_path / "rows.parquet"))
            assert isinstance(said, str)
            assert said.startswith(f"no room is left in {disk.path}")
            assert "\n" not in said
            disk.free()
            assert job.ask(ask, str(tmp_path / "rows.parquet")) == summed(sash.withColumns(TABLE, ASKED))
    finally:
        unmount(disk)
