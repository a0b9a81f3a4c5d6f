"""Ten minutes of a continuous query that is killed every minute: no window is lost or doubled, and nothing grows.

$SASH_SOAK_SECONDS has it take another time. Prints what it measured (pytest -s).
"""

import os
import statistics
import threading
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.dataset as ds
import pytest

from spark.streaming_job import Job, expected, python_workers, times

SECONDS = int(os.environ.get("SASH_SOAK_SECONDS", "600"))
BETWEEN_KILLS = min(60, max(30, SECONDS / 10))
DISTURBED = 2 / 3  # of the run is killed every minute; in the rest, workers live long enough to show what grows
RATE = 50_000  # events a second
KEYS = 1_000
GROWTH = 1.5


def second(number):
    """The events of one second, each up to 12 seconds late, which is less than the watermark is behind."""
    random = np.random.default_rng(number)
    millis = number * 1000 + random.integers(0, 1000, RATE) - random.integers(0, 12_000, RATE)
    keys = pa.array(np.char.mod("k%d", np.arange(KEYS))).take(pa.array(random.integers(0, KEYS, RATE)))
    return pa.table({"ts": times(millis), "k": keys, "v": random.integers(0, 1000, RATE)})


class Producer(threading.Thread):
    """Writes a file each second, as far as the machine keeps up."""

    def __init__(self, job):
        super().__init__(daemon=True)
        self.job, self.over, self.files = job, threading.Event(), 0

    def run(self):
        begun = time.monotonic()
        while not self.over.wait(max(0, begun + self.files - time.monotonic())):
            self.job.feed(second(self.files), 1, first=self.files)
            self.files += 1

    def stop(self):
        self.over.set()
        self.join()


def resident(job):
    """Bytes of memory of the Python workers, and of the largest."""
    pages = []
    for pid in python_workers(job.process.pid):
        try:
            pages.append(int(Path(f"/proc/{pid}/statm").read_text().split()[1]))
        except OSError:
            continue
    size = os.sysconf("SC_PAGE_SIZE")
    return sum(pages) * size, max(pages, default=0) * size


@pytest.mark.long
def test_a_query_that_is_killed_every_minute(tmp_path):
    with Job(tmp_path, ("many_keys",)) as job:
        producer = Producer(job)
        producer.start()
        memory, begun, kills = [], time.time(), 0
        try:
            while time.time() < begun + SECONDS:
                job.start(trigger={"processingTime": "2 seconds"})
                end = begun + SECONDS
                if time.time() < begun + DISTURBED * SECONDS - BETWEEN_KILLS / 2:
                    end = time.time() + BETWEEN_KILLS
                while time.time() < end and job.process.poll() is None:
                    memory.append(resident(job))
                    time.sleep(0.5)
                assert job.kill(), (tmp_path / "log").read_text()[-20_000:]
                kills += 1
        finally:
            producer.stop()
        job.start()
        job.finish()

        progress = job.progress("many_keys")
        measured = {
            "bytes of state": [each["size"] for each in progress if each["rows"] <= 5 * RATE],  # no longer behind
            "memory of all Python workers": [total for total, _ in memory if total],
            "memory of the largest Python worker": [largest for _, largest in memory if largest],
        }
        print(f"\n{producer.files} files of {RATE:,} events, {kills} kills, {len(progress)} batches reported")
        for name, values in measured.items():
            print(name, *(f"{middle(third):,.0f} (at most {max(third):,})" for third in thirds(values)), sep="; ")
        assert_same(job)
        assert sum(each["late"] for each in progress) == 0
        for name, values in measured.items():
            _, before, after = map(middle, thirds(values))
            assert after <= GROWTH * before, f"{name} grew from {before:,} to {after:,}"


def assert_same(job):
    """All answers are those of all events as a table; of some keys at a time, to save memory."""
    found = job.answers("many_keys")
    rows = ds.dataset(job.folder / "events", format="parquet")
    last = rows.to_table(columns=["ts"])["ts"]
    compared = 0
    for part in range(5):
        wanted = expected("many_keys", rows.to_table(filter=in_part(part)), pc.max(last).as_py())
        mine = found.filter(in_part(part))
        assert mine.num_rows == wanted.num_rows
        assert mine.cast(wanted.schema).equals(wanted)
        compared += mine.num_rows
    assert compared == found.num_rows > KEYS


def in_part(part):
    """A fifth of the keys."""
    return ds.field("k").isin([f"k{key}" for key in range(KEYS) if key % 5 == part])


def middle(values):
    """What is typical: a log of changes grows until it is written anew, so that the largest is a matter of luck."""
    return statistics.median(values)


def thirds(values):
    assert len(values) >= 12, "the machine is too slow to say whether anything grows"
    cuts = [len(values) * part // 3 for part in range(4)]
    return [values[low:high] for low, high in pairwise(cuts)]
