"""A continuous query goes on from its checkpoint, whatever died, with the answers of the same rows as a table."""

import os
import random
import signal
import threading
from itertools import pairwise

import pytest
from pyspark.errors import StreamingQueryException

from spark.streaming_job import Job, events, expected, python_workers, start


def assert_exact(job, table):
    for board in job.boards:
        found, wanted = job.answers(board), expected(board, table)
        assert found.num_rows > 100
        assert found.to_pylist() == wanted.to_pylist()


def assert_goes_on(job):
    """A process begins with the batch that the last one was killed in, or the next, and not with an earlier one."""
    for board in job.boards:
        lives = [range(min(batches), max(batches)) for batches in job.lives(board)]
        assert len(lives) > 1
        assert all(before.stop <= after.start for before, after in pairwise(lives))


def test_a_driver_that_was_killed(request, tmp_path):
    table = events(3600, seed=1)
    with Job(tmp_path, ("both",)) as job:
        job.feed(table, 3)
        job.start({"spark.sql.shuffle.partitions": "2"}, files=1)
        spark = request.getfixturevalue("spark")  # starts meanwhile
        assert job.wait_for(lambda: job.committed("both") >= 0)
        assert job.kill()
        spark.conf.set("spark.sql.shuffle.partitions", "2")
        try:
            start(spark, tmp_path, "both", files=1).awaitTermination()
        finally:
            spark.conf.set("spark.sql.shuffle.partitions", "4")
        assert_goes_on(job)
        assert_exact(job, table)


@pytest.mark.long
@pytest.mark.parametrize("seed", [1, 2])
def test_a_driver_that_is_killed_again_and_again(tmp_path, seed):
    chance = random.Random(seed)
    table = events(36_000, seed)
    with Job(tmp_path, ("partials", "rows")) as job:
        job.feed(table.slice(0, 18_000), 9)
        kills = 0
        for life in range(5):
            job.start(files=1)
            target = job.committed("partials") + chance.randrange(3)
            if job.wait_for(lambda: job.begun() and job.committed("partials") >= target):  # noqa: B023
                threading.Event().wait(chance.uniform(0, 2))
            kills += job.kill()
            if life == 2:
                job.feed(table.slice(18_000), 9, first=9)
        assert kills >= 2  # a fast machine may be done before
        job.start(files=1)
        job.finish()
        assert_goes_on(job)
        assert_exact(job, table)


@pytest.mark.long
def test_a_stop_and_a_start_with_other_cores(tmp_path):
    table = events(16_000, seed=3)
    with Job(tmp_path, ("partials", "rows")) as job:
        job.feed(table, 8)
        job.start({"spark.master": "local[1]"}, files=1, stop_after=2)
        job.finish()
        assert all(0 <= job.committed(board) < 7 for board in job.boards)
        job.start({"spark.master": "local[2]"}, files=1)
        job.finish()
        assert_goes_on(job)
        assert_exact(job, table)


@pytest.mark.long
def test_a_sink_that_fails_and_reads_its_batch_twice(spark, tmp_path):
    """The Python workers live on, with shards in memory that are ahead of the checkpoint."""
    table = events(12_000, seed=4)
    failures = []

    def keep(write):
        def fail_sometimes(batch, number):
            assert batch.count() == batch.toArrow().num_rows
            write(batch, number)
            if number % 2 == 1 and number not in failures:
                failures.append(number)
                raise OSError(f"no room for batch {number}")

        return fail_sometimes

    with Job(tmp_path, ("both",)) as job:
        job.feed(table, 6)
        while True:
            query = start(spark, tmp_path, "both", files=1, keep=keep)
            try:
                query.awaitTermination()
                break
            except StreamingQueryException as error:
                assert "no room for batch" in str(error)  # noqa: PT017
        assert failures == [1, 3, 5]
        assert_exact(job, table)


@pytest.mark.long
def test_a_python_worker_and_then_an_executor_that_are_killed(cluster, tmp_path):
    table = events(24_000, seed=5)
    chance = random.Random(5)
    with Job(tmp_path, ("both",)) as job:
        job.feed(table, 12)
        cluster.start()
        killed, over = [], threading.Event()

        def kill_some():
            for batch, victims in ((1, pythons), (4, pythons), (7, executor)):
                while job.committed("both") < batch:
                    if over.wait(0.02):
                        return
                over.wait(chance.uniform(0, 1))
                killed.append(victims())

        def pythons():
            found = [pid for worker in cluster.workers for pid in python_workers(worker.pid)]
            victims = [pid for pid in found if chance.random() < 0.5] or found[:1]
            for pid in victims:
                os.kill(pid, signal.SIGKILL)
            return len(victims)

        def executor():
            os.killpg(cluster.workers[0].pid, signal.SIGKILL)
            return 1

        killer = threading.Thread(target=kill_some)
        killer.start()
        try:
            conf = {"spark.shuffle.io.retryWait": "500ms"}
            assert cluster.run(on_cluster, str(tmp_path), conf=conf) is None
        finally:
            over.set()
            killer.join()
        assert len(killed) == 3
        assert all(killed)
        assert sum(each.poll() is None for each in cluster.workers) == 1
        assert_exact(job, table)


def on_cluster(spark, folder):
    start(spark, folder, "both", files=1).awaitTermination()
