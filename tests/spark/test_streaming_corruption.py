"""Files of a checkpoint that were damaged: the query refuses to go on, or was right not to read them."""

import random
import shutil

import pytest
from pyspark.errors import PySparkException

from sash.errors import SashError
from spark.streaming_job import Job, events, expected, start

TRIES = 10


def files_of(folder):
    """Files of the last batches, and not what says that these are whole."""
    found = [path for path in folder.rglob("*") if path.is_file() and path.stat().st_size > 1]
    kept = [path for path in found if not path.name.endswith(".crc") and "metadata" not in str(path)]
    return sorted(kept, key=lambda path: path.stat().st_mtime_ns)[-8 if folder.name == "state" else -1 :]


def forget(spark):
    """Have Spark read state from its files, and not go on with what it has open."""
    getattr(spark._jvm.org.apache.spark.sql.execution.streaming.state, "StateStore$").__getattr__("MODULE$").stop()


def damage(path, chance):
    """Turn a bit, or cut the file short."""
    body = path.read_bytes()
    place = chance.randrange(len(body))
    if chance.random() < 0.3:
        path.write_bytes(body[:place])
    else:
        path.write_bytes(body[:place] + bytes([body[place] ^ 1 << chance.randrange(8)]) + body[place + 1 :])


@pytest.mark.long
def test_files_of_a_checkpoint_that_are_damaged(spark, tmp_path):
    """Survived: bits turned and files cut short in state, offsets and commits; no start gave a wrong answer."""
    table, chance = events(4_000, seed=11), random.Random(11)
    board, aside = tmp_path / "both", tmp_path / "aside"
    with Job(tmp_path, ("both",)) as job:
        job.feed(table.slice(0, 3_000), 3)
        start(spark, tmp_path, "both", files=1).awaitTermination()
        shutil.copytree(board, aside)
        job.feed(table.slice(3_000), 1, first=3)
        wanted, refused = expected("both", table).to_pylist(), 0
        for number in range(TRIES):
            shutil.rmtree(board)
            shutil.copytree(aside, board)
            if number < TRIES - 1:  # at last, nothing is damaged
                kind = ("state", "state", "offsets", "commits")[number % 4]
                damage(chance.choice(files_of(board / "checkpoint" / kind)), chance)
            forget(spark)
            try:
                start(spark, tmp_path, "both", files=1).awaitTermination()
            except (PySparkException, SashError):
                refused += 1
            else:
                assert job.answers("both").to_pylist() == wanted
        assert 2 <= refused < TRIES
