"""Python workers of Spark that may map few addresses give exact answers or a sentence, and never die without one."""

import os
import statistics
from collections import defaultdict
from datetime import UTC, datetime

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from services.jobs import Process
from sessions import HERE

NOON = 1_767_268_800
ROWS, FILES = 60_000, 3
JOB = """
import sys
from pathlib import Path
import sash
from sash import functions as sf
from sessions import session

folder, addresses, memory = Path(sys.argv[1]), *sys.argv[2:]
spark = session({"spark.master": "local[1]", "spark.driver.memory": "1g", "spark.sql.shuffle.partitions": "1",
                 "spark.local.dir": str(folder / "scratch"), "spark.executor.pyspark.memory": addresses})
sash.options.memory = memory
source = (spark.readStream.schema("ts timestamp, k string, v bigint, w string").option("maxFilesPerTrigger", 1)
          .parquet(str(folder / "in")))
board = sash.stream(source, time="ts", key="k", watermark="0 seconds")
answers = board.query({"n": sf.count(), "mid": sf.median("v"), "most": sf.max("w")}, range="100 seconds").results()
query = (answers.writeStream.format("parquet").option("path", str(folder / "out"))
         .option("checkpointLocation", str(folder / "checkpoint")).trigger(availableNow=True).start())
query.awaitTermination()
"""


def told(folder, rows, addresses, memory):
    """What a job said that ended with an error, or nothing, and the answers that it gave."""
    for name in ("in", "scratch"):
        (folder / name).mkdir(parents=True)
    step = -(-len(rows["v"]) // FILES)
    for file in range(FILES):
        part = {name: values[file * step : (file + 1) * step] for name, values in rows.items()}
        path = folder / "in" / f"{file}.parquet"
        pq.write_table(pa.table({**part, "ts": pa.array(part["ts"], pa.timestamp("us", tz="UTC"))}), path)
        os.utime(path, (1e9 + file, 1e9 + file))
    script = folder / "job.py"
    script.write_text(JOB)
    with Process(folder / "run", [HERE["PYSPARK_PYTHON"], str(script), str(folder), addresses, memory]) as process:
        words = "" if process.process.wait() == 0 else process.log()
    answers = {}
    out = [] if words else pq.read_table(folder / "out", coerce_int96_timestamp_unit="us").to_pylist()
    for row in out:
        where = row["k"], row["window_end"].replace(tzinfo=UTC)  # Spark writes moments without their zone
        assert where not in answers
        answers[where] = row["n"], row["mid"], row["most"]
    return words, answers


def drawn(keys, width):
    """Rows in the order of time, and one at the end that closes all windows but its own."""
    chance = np.random.default_rng(7)
    moments = [NOON * 10**6 + 5_000 * k for k in range(ROWS)] + [(NOON + 10_000) * 10**6]
    names = [f"key {k}" for k in chance.integers(0, keys, ROWS)] + ["last"]
    return {"ts": moments, "k": names, "v": [*chance.integers(0, 10**6, ROWS).tolist(), 0],
            "w": [f"{k:>{width}}" for k in chance.integers(0, 1000, ROWS)] + [""]}  # fmt: skip


def expected(rows):
    """The same windows, from lists."""
    windows = defaultdict(list)
    for moment, key, value, text in list(zip(rows["ts"], rows["k"], rows["v"], rows["w"], strict=True))[:-1]:
        end = datetime.fromtimestamp((moment // 10**8 + 1) * 100, UTC)
        windows[key, end].append((value, text))
    return {
        where: (len(found), statistics.median(value for value, _ in found), max(text for _, text in found))
        for where, found in windows.items()
    }


@pytest.mark.long
@pytest.mark.parametrize(("addresses", "memory"), [("500m", "8 MB"), ("1g", "16 MB"), ("3g", "64 MB")])
def test_a_worker_with_few_addresses_gives_exact_answers_or_a_sentence(tmp_path, addresses, memory):
    rows = drawn(keys=500, width=200)
    words, answers = told(tmp_path, rows, addresses, memory)
    if words:
        assert addresses != "3g", words
        assert "spark.executor.pyspark.memory" in words or "sash.options.memory" in words, words
        assert "exited unexpectedly" not in words, words
    else:
        assert answers == expected(rows)


@pytest.mark.long
def test_a_key_that_does_not_fit_a_worker_is_named_with_its_size_and_a_remedy(tmp_path):
    words, _ = told(tmp_path, drawn(keys=1, width=500), "3g", "8 MB")
    assert "the open windows of the key k = 'key 0' have about " in words
    assert "set sash.options.memory" in words
    assert "exited unexpectedly" not in words
