"""A Spark Connect server of its own process, and a client that knows its address alone."""

import datetime as dt
import os
import socket
import subprocess
import time
from pathlib import Path

import pytest

from sessions import BRIEF, HERE, PATIENCE, Place, die_with_parent

SERVER = "org.apache.spark.sql.connect.service.SparkConnectServer"


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """A place to run at: ``sc://`` and a port of this machine."""
    import pyspark

    from sash.spark.java import ensure_java

    ensure_java()
    folder = tmp_path_factory.mktemp("server")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    conf = {
        "spark.master": "local[2]",
        "spark.connect.grpc.binding.port": str(port),
        "spark.ui.enabled": "false",
        "spark.driver.memory": "1g",
        "spark.driver.extraJavaOptions": BRIEF,
        "spark.local.dir": str(folder),
        "spark.sql.warehouse.dir": str(folder / "warehouse"),
    }
    settings = [part for name, value in conf.items() for part in ("--conf", f"{name}={value}")]
    submit = str(Path(pyspark.__file__).parent / "bin" / "spark-submit")
    with (folder / "log").open("w") as log:
        process = subprocess.Popen(
            [submit, "--class", SERVER, *settings, "spark-internal"],
            env=os.environ | HERE,
            cwd=folder,
            stdout=log,
            stderr=log,
            preexec_fn=die_with_parent,
        )
    try:
        deadline = time.monotonic() + PATIENCE
        while not _listens(port):
            assert process.poll() is None, (folder / "log").read_text()
            assert time.monotonic() < deadline, (folder / "log").read_text()
            time.sleep(0.2)
        yield Place(tmp_path_factory.mktemp("client"), {}, {"SPARK_REMOTE": f"sc://127.0.0.1:{port}"})
    finally:
        process.terminate()
        process.wait()


def _listens(port):
    with socket.socket() as trial:
        return trial.connect_ex(("127.0.0.1", port)) == 0


def ask(spark, folder):
    """A batch, an aggregate of one's own, and a stream, from files to files."""
    import sash
    from sash import Window
    from sash import functions as sf

    reach = sash.Aggregate("reach", lift=lambda x: (x, x), combine=lambda a, b: (min(a[0], b[0]), max(a[1], b[1])),
                           lower=lambda s: s[1] - s[0], commutative=True)  # fmt: skip
    frame = spark.range(8).selectExpr("id % 2 as k", "id as t", "id * id as v", "timestamp_seconds(60 * id) as ts")
    of_key = Window.partitionBy("k").orderBy("t")
    columns = {
        "middle": sf.median("v").over(of_key),
        "reach": reach("v").over(of_key.rowsBetween(-1, 0)),
        "so_far": sf.sum("v").over(Window.orderBy("t").rowsBetween(-2, 0)),
    }
    batch = sash.withColumns(frame, columns).orderBy("t").select(*columns).toArrow().to_pylist()

    frame.write.parquet(f"{folder}/rows")
    stream = spark.readStream.schema("k bigint, t bigint, v bigint, ts timestamp").parquet(f"{folder}/rows")
    board = sash.stream(stream, time="ts", key="k", watermark="1 minute").query("n", sf.count(), range="2 minutes")
    writer = board.results().writeStream.format("parquet").option("path", f"{folder}/answers")
    query = writer.option("checkpointLocation", f"{folder}/checkpoint").trigger(availableNow=True).start()
    query.awaitTermination()
    answers = spark.read.parquet(f"{folder}/answers").orderBy("window_end", "k").toArrow().to_pylist()
    return [list(row.values()) for row in batch], [
        [row["k"], row["window_end"].isoformat(), row["n"]] for row in answers
    ]


@pytest.mark.long
def test_batches_own_aggregates_and_streams_run_on_a_server(server, tmp_path):
    batch, answers = server.run(ask, str(tmp_path))
    squares = [n * n for n in range(8)]
    middles = [0.0, 1.0, 2.0, 5.0, 4.0, 9.0, 10.0, 17.0]
    reaches = [0.0, 0.0, 4.0, 8.0, 12.0, 16.0, 20.0, 24.0]
    assert batch == [[middles[n], reaches[n], sum(squares[max(n - 2, 0) : n + 1])] for n in range(8)]
    ends = [dt.datetime(1970, 1, 1, 0, minute, tzinfo=dt.UTC).isoformat() for minute in (2, 4, 6)]
    assert answers == [[key, end, 1] for end in ends for key in (0, 1)]
