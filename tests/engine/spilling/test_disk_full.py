"""A disk that is full while rows go through files: one sentence says so, nothing is left, and then there is room."""

import os

import numpy as np
import pyarrow as pa
import pytest

import sash
from sash import SashError, Window
from sash import functions as sf
from sash.engine.spilling import answers
from services.disks import small_disk, unmount

ROWS = 60_000
random = np.random.default_rng(7)
TABLE = pa.table({"k": random.integers(0, 300, ROWS), "t": random.permutation(ROWS), "v": random.random(ROWS)})
WINDOW = Window.partitionBy("k").orderBy("t").rowsBetween(-9, 0)
LITTLE = 1 << 19  # bytes of memory


def evaluate(rows):
    columns = {"peak": sf.max("v").over(WINDOW), "n": sf.count().over(WINDOW)}
    return sash.withColumns(rows, columns).select(list(columns))


def asked():
    """Answers through files, one batch after another."""
    return answers(TABLE.to_batches(max_chunksize=2000), evaluate, ["k"], budget=LITTLE)


@pytest.fixture
def disk(tmp_path, monkeypatch):
    made = small_disk(tmp_path / "disk", 8)
    monkeypatch.setenv("SPARK_LOCAL_DIRS", str(made.path))
    yield made
    unmount(made)


@pytest.mark.long
def test_a_disk_that_fills_up_at_any_moment(disk):
    """Survived: a disk with no room, or with room for a part of the spilled rows; once there is more, all is right."""
    wanted, refused = evaluate(TABLE), []
    for leave in [0, 4096, *range(100_000, 5_000_000, 350_000)]:
        disk.fill(leave)
        got = []
        try:
            for batch in asked():
                got.append(batch)
        except SashError as error:
            refused.append(str(error))
        else:
            assert pa.Table.from_batches(got) == wanted
        assert os.listdir(disk.path) == ["ballast"]
    assert 5 < len(refused) < 14
    assert all(said.startswith(f"no room is left in {disk.path}") for said in refused)
    assert not any("\n" in said for said in refused)
    disk.free()
    assert pa.Table.from_batches(list(asked())) == wanted


@pytest.mark.long
def test_a_disk_that_fills_up_while_answers_are_read(disk):
    """Survived: a disk that becomes full when the first answers were taken already; the rest need no more room."""
    wanted, found = evaluate(TABLE), asked()
    got = [next(found)]
    disk.fill()
    got += list(found)
    assert pa.Table.from_batches(got) == wanted
    assert os.listdir(disk.path) == ["ballast"]
