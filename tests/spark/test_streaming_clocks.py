"""Clocks that jump below a query on Spark, and one event of the next century in its stream."""

import sys
import threading
import time
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest

from services import jobs
from services.clocks import turning_clock
from spark.streaming_job import Job, events, expected, in_order, start, times
from spark.test_streaming_faults import assert_exact

STEPS = [3600, -3600, 86_400 * 365, 0, -86_400 * 30, 7]  # seconds
CENTURY = np.array([36_525 * 86_400 * 1000])  # milliseconds
# by its own clock, Spark holds an executor for dead that was not heard of for two minutes
PATIENT = {"spark.storage.blockManagerHeartbeatTimeoutMs": "100000000s", "spark.sql.shuffle.partitions": "2"}


def run(spark, folder):
    """Answer all there is; gives the jumps of Java's clock between batches, in seconds."""
    seen = []

    def keep(write):
        def noted(batch, number):
            seen.append(spark.sparkContext._jvm.System.currentTimeMillis() / 1000 - time.monotonic())
            write(batch, number)

        return noted

    query = start(spark, folder, "both", {"processingTime": "0 seconds"}, files=1, keep=keep)
    query.processAllAvailable()
    query.stop()
    return [after - before for before, after in pairwise(seen)]


@pytest.mark.long
@pytest.mark.skipif(sys.platform != "linux", reason="a clock is turned below libc")
def test_a_clock_that_jumps_below_spark(tmp_path):
    """Survived: the clock of driver, Java and workers stepping by hours, a month and a year, back and ahead."""
    table, clock = events(8_000, seed=9), turning_clock(tmp_path)
    over = threading.Event()
    with Job(tmp_path, ("both",)) as job, jobs.Job(tmp_path / "job", PATIENT, clock.environment) as other:
        job.feed(table, 12)

        def turn():
            for batch, off in enumerate(STEPS * 2):
                while job.committed("both") < batch:
                    if over.wait(0.02):
                        return
                clock.turn(off)

        turner = threading.Thread(target=turn)
        turner.start()
        try:
            jumps = other.ask(run, str(tmp_path))
        finally:
            over.set()
            turner.join()
        assert sum(abs(jump) > 1000 for jump in jumps) >= 4
        assert_exact(job, table)


@pytest.mark.long
def test_one_event_of_the_next_century_on_spark(spark, tmp_path):
    """Survived: a watermark that runs away with one bad row; the metric late counts every row that comes behind it."""
    table = events(6_000, seed=10)
    bad = pa.table({"ts": times(CENTURY), "k": ["bad"], "v": [1]})
    with Job(tmp_path, ("partials",)) as job:
        job.feed(table.slice(0, 3_000), 3)
        job.feed(pa.concat_tables([table.slice(3_000, 1_000), bad]), 1, first=3)
        job.feed(table.slice(4_000), 2, first=4)
        query = start(spark, tmp_path, "partials", files=1)
        query.awaitTermination()
        late = {}
        for progress in query.recentProgress:
            for metrics in progress.observedMetrics.values():
                late[progress.batchId] = late.get(progress.batchId, 0) + (metrics.asDict()["late"] or 0)
        assert [late[batch] for batch in range(6)] == [
            0,
            0,
            0,
            0,
            0,
            1000,
        ]  # a watermark counts from the batch after the next on
        found = job.answers("partials")
        good = found.filter(pc.not_equal(found["k"], "bad"))
        whole = expected("partials", table.slice(0, 5_000), times(CENTURY)[0].as_py())
        assert in_order(good).to_pylist() == whole.to_pylist()
