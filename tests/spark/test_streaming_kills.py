"""A continuous query that is killed while it writes its checkpoint, and executors that are killed below it."""

import os
import random
import re
import signal
import threading
import time
from contextlib import ExitStack, suppress
from itertools import pairwise
from pathlib import Path

import pytest

from services import jobs
from spark.streaming_job import BESIDE, SETTINGS, Job, delayed, events, expected, session_of, start
from spark.test_streaming_faults import assert_exact, assert_goes_on

CHANGELOG = "spark.sql.streaming.stateStore.rocksdb.changelogCheckpointing.enabled"
KILLS = 6
STATE = re.compile(r"\.?(\d+)[._]")


def run(spark, folder, board="both"):
    start(spark, folder, board, files=1).awaitTermination()


def stage(checkpoint):
    """Where a query is: between batches; in one, once its offsets are written; or in one with some state written."""
    begun = max((int(path.name) for path in (checkpoint / "offsets").glob("[0-9]*")), default=-1)
    if begun <= jobs.committed(checkpoint):
        return "between"
    names = [STATE.match(path.name) for path in (checkpoint / "state").glob("*/*/*")]
    written = any(name and int(name[1]) == begun + 1 for name in names)
    return "state" if written else "batch"


@pytest.mark.long
@pytest.mark.parametrize("changelog", ["true", "false"])
def test_kills_in_the_middle_of_a_checkpoint(tmp_path, changelog):
    """Survived: kill -9 of driver, Java and workers six times, most while offsets, state or commits are written."""
    assert_survives(tmp_path, "both", random.Random(changelog), changelog)


@pytest.mark.long
@pytest.mark.parametrize("changelog", ["true", "false"])
def test_kills_of_columns_beside_rows(tmp_path, changelog):
    """Survived: the same six times; each row leaves once, with the answers of a batch."""
    assert_survives(tmp_path, BESIDE, random.Random(f"{BESIDE} {changelog}"), changelog)


@pytest.mark.long
@pytest.mark.parametrize("board", ["sessions", "sessions_of_rows"])
def test_kills_of_sessions(tmp_path, board):
    """Survived: the same six times; sessions that are open when all dies are joined as before."""
    assert_survives(tmp_path, board, random.Random(board), "true")


@pytest.mark.long
@pytest.mark.parametrize("board", ["late_windows", "late_sessions"])
def test_kills_of_answers_that_are_given_again(tmp_path, board):
    """Survived: the same six times; each revision comes once, as it does where nothing was killed."""
    assert_survives(tmp_path, board, random.Random(board), "true")


def assert_survives(folder, board, chance, changelog):
    """Kill a query again and again, and compare what it gave in all with the answers of a table."""
    table = events(8_000, seed=6) if board not in SETTINGS else delayed(events(8_000, seed=6))
    conf = {"spark.sql.shuffle.partitions": "2", CHANGELOG: changelog}
    with Job(folder, (board,)) as job, ExitStack() as stack:
        job.feed(table, 24)
        checkpoint, stages = folder / board / "checkpoint", []
        lives = [jobs.Job(folder / f"life {number}", conf) for number in range(KILLS + 1)]
        stack.enter_context(lives[0])
        for life, heir in pairwise(lives):
            life.tell(run, str(folder), board)
            stack.enter_context(heir)  # starts meanwhile
            wanted, least = chance.choice(["batch", "state", "state"]), jobs.committed(checkpoint) + chance.randrange(3)
            life.wait_for(lambda: jobs.committed(checkpoint) >= least and stage(checkpoint) == wanted)  # noqa: B023
            time.sleep(chance.choice([0, 0, chance.uniform(0, 0.3)]))
            assert life.kill()
            stages.append(stage(checkpoint))
        print(stages)
        assert stages.count("between") < KILLS / 2
        assert stages.count("state") >= 2
        lives[-1].ask(run, str(folder), board)
        assert jobs.committed(checkpoint) >= 23
        assert_goes_on(job)
        if board not in SETTINGS:
            assert_exact(job, table)
            return
        with Job(folder / "unharmed", (board,)) as unharmed:
            unharmed.feed(table, 24)
            lives[-1].ask(run, str(unharmed.folder), board)
            assert_given_again(job, unharmed, table)


def assert_given_again(job, unharmed, table):
    """Each batch gives what it gives to who was never killed; the last revisions are the answers of a table."""
    (board,) = job.boards
    found, wanted = job.answers(board), expected(board, table)
    assert found.to_pylist() == unharmed.answers(board).to_pylist()
    numbers = {}
    for row in found.to_pylist():
        numbers.setdefault((row["k"], row["window_end"]), []).append(row["revision"])
    assert all(each == list(range(len(each))) for each in numbers.values())  # each revision once
    assert sum(len(each) > 1 for each in numbers.values()) > 100
    last = {(row["k"], row["window_end"]): row for row in found.drop_columns("revision").to_pylist()}
    there = [row for row in last.values() if row["n"] is not None or "total" in row]  # sessions may be no more
    assert there == wanted.to_pylist()


@pytest.mark.long
def test_executors_that_are_killed_in_turn(cluster, tmp_path):
    """Survived: kill -9 of four executors in turn, in the middle of batches; the master starts others."""
    table, chance = events(10_000, seed=7), random.Random(7)
    with Job(tmp_path, ("both",)) as job:
        job.feed(table, 12)
        cluster.start()
        checkpoint, killed, over = tmp_path / "both" / "checkpoint", [], threading.Event()

        def kill_some():
            for turn, batch in enumerate((1, 3, 5, 7)):
                while jobs.committed(checkpoint) < batch or stage(checkpoint) == "between":
                    if over.wait(0.01):
                        return
                over.wait(chance.uniform(0, 0.5))
                killed.extend(kill_executor(cluster.workers[turn % 2]))

        killer = threading.Thread(target=kill_some)
        killer.start()
        try:
            cluster.run(run, str(tmp_path), conf={"spark.shuffle.io.retryWait": "500ms"})
        finally:
            over.set()
            killer.join()
        assert len(killed) >= 3
        assert len(set(killed)) == len(killed)
        assert all(worker.poll() is None for worker in cluster.workers)
        assert_exact(job, table)


def kill_executor(worker):
    """Kill the executors that a worker of the cluster has started, and not the worker; gives who died."""
    found = []
    for pid in session_of(worker.pid):
        with suppress(OSError):
            if b"CoarseGrainedExecutorBackend" in Path(f"/proc/{pid}/cmdline").read_bytes():
                os.kill(pid, signal.SIGKILL)
                found.append(pid)
    return found
