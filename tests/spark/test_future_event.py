"""One event of the far future ends every window at once: the answers pass, in bounded memory."""

import contextlib
import os
import subprocess
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from services.jobs import Process
from sessions import HERE

NOON = 1_767_225_600_000_000
OVERLAP = 900

JOB = """
import sys
from pathlib import Path
import sash
from sash import functions as sf
from sessions import session

folder = Path(sys.argv[1])
spark = session({"spark.master": "local[2]", "spark.driver.memory": "2g", "spark.sql.shuffle.partitions": "2",
                 "spark.local.dir": str(folder / "scratch"), "spark.executor.pyspark.memory": "2g"})
sash.options.memory = "512 MB"
source = (spark.readStream.schema("ts timestamp, k bigint, v double").option("maxFilesPerTrigger", 1)
          .parquet(str(folder / "in")))
board = sash.stream(source, time="ts", key="k", watermark="0 seconds")
answers = board.query({"n": sf.count(), "most": sf.max("v")}, range="900 seconds", slide="1 second").results()
query = (answers.writeStream.format("noop").option("checkpointLocation", str(folder / "checkpoint"))
         .trigger(availableNow=True).start())
query.awaitTermination()
seen = [next(iter(each.observedMetrics.values())).asDict() for each in query.recentProgress if each.observedMetrics]
print("answers", sum(each["answers"] or 0 for each in seen))
"""


def largest(processes):
    """The most bytes that a Python worker ever had."""
    sizes = [0]
    for pid in processes:
        try:
            status = Path(f"/proc/{pid}/status").read_text()
            if b"pyspark.daemon" in Path(f"/proc/{pid}/cmdline").read_bytes():
                sizes.append(int(status.split("VmHWM:")[1].split()[0]) << 10)
        except (OSError, IndexError):
            continue
    return max(sizes)


@pytest.mark.long
def test_a_million_keys_at_overlap_900_survive_an_event_of_the_next_century(tmp_path):
    """900,000,000 answers of one batch (SASH_FUTURE_KEYS sets fewer keys), 1 GiB in each worker at most."""
    keys = int(os.environ.get("SASH_FUTURE_KEYS", 1_000_000))
    for name in ("in", "scratch"):
        (tmp_path / name).mkdir()
    for file, (times, names) in enumerate([([NOON] * keys, np.arange(keys)), ([NOON + 10**15], np.zeros(1, np.int64))]):
        rows = {"ts": pa.array(times, pa.timestamp("us", tz="UTC")), "k": names, "v": np.ones(len(names))}
        pq.write_table(pa.table(rows), tmp_path / "in" / f"{file}.parquet")
        os.utime(tmp_path / "in" / f"{file}.parquet", (1e9 + file, 1e9 + file))
    script = tmp_path / "job.py"
    script.write_text(JOB)
    most = 0
    with Process(tmp_path / "run", [HERE["PYSPARK_PYTHON"], str(script), str(tmp_path)]) as process:
        while process.process.poll() is None:
            most = max(most, largest(path.name for path in Path("/proc").glob("[0-9]*")))
            with contextlib.suppress(subprocess.TimeoutExpired):
                process.process.wait(0.5)
        assert process.process.returncode == 0, process.log()
        assert f"answers {keys * OVERLAP}" in process.log()
    print(f"{keys * OVERLAP:,} answers, a worker had {most >> 20} MiB at most")
    assert most < 1 << 30
