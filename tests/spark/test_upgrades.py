"""A query goes on with what an earlier version left when killed, or says that it cannot; workers are as drivers."""

import shutil
from pathlib import Path

import pytest
from pyspark.errors import StreamingQueryException

import sash
from golden.checkpoints import BOARD, FED, FILES, SHUFFLE, feed, rows, unpack
from sash.errors import SashError
from sash.version import VERSION
from services.jobs import Process
from sessions import HERE
from spark.streaming_job import Job, expected, start

VERSIONS = ["0.1.0.dev1"]  # whose checkpoints are gone on with: further ones are added, none is taken away


def gone_on(spark, folder):
    for name, value in SHUFFLE.items():
        spark.conf.set(name, value)
    try:
        start(spark, folder, BOARD, files=1).awaitTermination()
    finally:
        spark.conf.set("spark.sql.shuffle.partitions", "4")


@pytest.mark.parametrize("version", VERSIONS)
def test_a_checkpoint_of_an_earlier_version_is_gone_on_with(spark, tmp_path, version):
    with Job(tmp_path, (BOARD,)) as job:
        unpack(version, tmp_path)
        feed(job, 0, FILES)
        before = job.committed(BOARD)
        assert before >= FED - 1
        gone_on(spark, tmp_path)
        assert job.committed(BOARD) > before
        assert job.answers(BOARD).to_pylist() == expected(BOARD, rows()).to_pylist()


def test_a_checkpoint_of_before_is_refused_by_name(spark, tmp_path):
    with Job(tmp_path, (BOARD,)) as job:
        unpack("0.1.0.dev0", tmp_path)
        feed(job, 0, FILES)
        with pytest.raises((SashError, StreamingQueryException), match=r"checkpoint is of Sash 0\.1\.0\.dev0"):
            gone_on(spark, tmp_path)


MIXED = """
import sys
from pyspark.sql import SparkSession
import pyarrow as pa
import sash
from sash import Window, functions as sf

spark = (SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
         .config("spark.executorEnv.PYTHONPATH", sys.argv[1]).getOrCreate())
frame = spark.createDataFrame(pa.table({"k": [1, 1], "v": [1, 2]}))
for build in (
    lambda: sash.withColumns(frame, {"m": sf.median("v").over(Window.partitionBy("k"))}),
    lambda: sash.stream(frame.selectExpr("*", "timestamp_seconds(v) as ts"), time="ts").query(
        "n", sf.count(), range="1 minute").results(),
):
    try:
        print("answered", build().collect())
    except sash.SashError as error:
        print("refused", error)
"""


@pytest.mark.long
def test_a_driver_and_workers_of_two_versions_say_so(tmp_path):
    other = tmp_path / "other"
    shutil.copytree(Path(sash.__file__).parent, other / "sash", ignore=shutil.ignore_patterns("__pycache__"))
    (other / "sash" / "version.py").write_text('VERSION = "99.0"\n')
    script = tmp_path / "mixed.py"
    script.write_text(MIXED)
    command = [HERE["PYSPARK_PYTHON"], str(script), str(other)]
    with Process(tmp_path / "run", command) as process:
        assert process.finish() == 0, process.log()
        found = [line for line in process.log().splitlines() if line.startswith(("answered", "refused"))]
    said = f"refused the driver and its workers must have one Sash, got {VERSION} on the driver and 99.0 in a worker"
    assert len(found) == 2
    assert all(line.startswith(said) for line in found), found
