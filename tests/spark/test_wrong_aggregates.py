"""Aggregates of users that raise, give what they must not, or never return, on Spark."""

import contextlib
import os
import re
import sys
import threading
import time
from pathlib import Path

import pyarrow as pa
import pytest

import sash
import wrong_aggregates as wrong
from sash import SashError, Window

pytestmark = pytest.mark.long
ROWS = pa.table({"k": [1, 1, 2, 2], "t": [1, 2, 3, 4], "x": [1.0, 2.0, -1.0, 4.0], "s": ["a", "b", "c", "d"]})
BY_KEY = Window.partitionBy("k").orderBy("t").rowsBetween(-1, 0)
AHEAD = Window.orderBy("t").rowsBetween(1, 2)


def told(spark, call, window):
    with pytest.raises(SashError) as caught:
        sash.withColumns(spark.createDataFrame(ROWS), {"c": call.over(window)}).collect()
    return str(caught.value)


def still_answers(spark):
    frame = sash.withColumns(spark.createDataFrame(ROWS), {"c": sash.functions.sum("x").over(BY_KEY)})
    assert [row.c for row in frame.orderBy("t").collect()] == [1.0, 3.0, -1.0, 3.0]


@pytest.mark.parametrize("what", wrong.COMPILED)
def test_what_goes_wrong_in_a_task_is_a_sentence(spark, what):
    """Survived functions that raise or return the wrong type in workers: no trace of Java, and the session goes on."""
    aggregate, message = wrong.COMPILED[what]
    for window in (BY_KEY, AHEAD):
        said = told(spark, aggregate("x"), window)
        assert re.search(message, said), said
        assert len(said.splitlines()) == 1
        assert len(said) < 400
    still_answers(spark)


def test_a_row_that_there_is_not(spark):
    """Survived a position beyond all rows."""
    assert "beyond: lower must give the position of a row" in told(spark, wrong.ROW("s"), BY_KEY)
    still_answers(spark)


def test_plain_python_that_fails_is_refused_before_anything_runs(spark):
    """Survived an aggregate whose type cannot be told."""
    failing = sash.Aggregate("failing", lift=lambda x: 1 // 0, combine=lambda a, b: a, compiled=False)
    with pytest.warns(sash.errors.SashWarning, match="as plain Python in the tasks"):
        said = told(spark, failing("x"), BY_KEY)
    assert "failing must answer rows that are made up" in said
    assert "ZeroDivisionError" in said


def test_plain_python_runs_in_tasks_and_says_that_it_is_slow(spark):
    """The longest text of a frame, whose state no compiler takes."""
    longest = sash.Aggregate("longest", lift=lambda s: s, combine=lambda a, b: b if len(b) > len(a) else a,
                             lower=lambda s: s.upper(), takes="values", compiled=False)  # fmt: skip
    rows = [(1, 1, "a"), (1, 2, "ccc"), (1, 3, "bb"), (2, 1, None), (2, 2, "dd")]
    window = sash.Window.partitionBy("k").orderBy("o").rowsBetween(-1, 0)
    with pytest.warns(sash.errors.SashWarning, match="longest.s. runs as plain Python in the tasks of Spark"):
        answers = sash.withColumns(
            spark.createDataFrame(rows, "k int, o int, s string"), {"l": longest("s").over(window)}
        )
    assert [row.l for row in answers.orderBy("k", "o").collect()] == ["A", "CCC", "CCC", None, "DD"]


def computing_workers():
    """Python workers of this process that compute at this moment, or wait for a core to."""
    found = {}
    for file in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):  # it is gone meanwhile
            state, parent = file.read_text().rpartition(")")[2].split()[:2]
            python = b"pyspark.daemon" in (file.parent / "cmdline").read_bytes()
            found[int(file.parent.name)] = int(parent), python and state == "R"

    def ours(process):
        return process == os.getpid() or (process in found and ours(found[process][0]))

    return {process for process, (_, computes) in found.items() if computes and ours(process)}


@pytest.mark.skipif(sys.platform != "linux", reason="looks at /proc")
def test_one_that_never_returns_can_be_cancelled(spark):
    """Survived a loop without end in a worker: the job is cancelled, its worker is ended, and the session goes on."""
    frame = sash.withColumns(spark.createDataFrame(ROWS), {"c": wrong.ENDLESS("x").over(BY_KEY)})
    ended = []

    def run():
        try:
            frame.collect()
        except Exception as error:
            ended.append(str(error))

    asking = threading.Thread(target=run, daemon=True)
    asking.start()
    tracker = spark.sparkContext.statusTracker()
    while asking.is_alive() and not any(
        tracker.getStageInfo(stage).numActiveTasks for stage in tracker.getActiveStageIds()
    ):
        asking.join(0.1)
    asking.join(10)  # so long as to be compiled, and to be where it never ends
    assert asking.is_alive(), ended
    looping = computing_workers()
    assert looping
    spark.sparkContext.cancelAllJobs()
    asking.join(60)
    assert not asking.is_alive()
    assert "cancelled" in ended[0]
    deadline = time.monotonic() + 60
    while looping & computing_workers():
        assert time.monotonic() < deadline, "the worker was left alone"
        time.sleep(0.1)
    still_answers(spark)
