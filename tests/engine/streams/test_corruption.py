"""Stored state that was damaged, anywhere and in any way, is refused with a sentence: it never becomes an answer."""

import random
from copy import deepcopy

import numpy as np
import pyarrow as pa
import pytest

import sash
from engine.streams.test_shards import END, Job
from engine.streams.test_windows import SCHEMA, table
from sash import functions as sf
from sash.algebra.catalogue import builtin
from sash.engine import SlidingWindow
from sash.errors import SashError
from sash.kernels.fifo import ALGORITHMS, Sliding

PARTIALS = {"n": sf.count(), "mean": sf.avg("v"), "peak": sf.max("v")}
ROWS = {"mid": sf.median("v"), "kinds": sf.count_distinct("w"), "all": sf.collect_list("v")}
BOARDS = {
    "partials": (PARTIALS, {"range": "60 seconds", "slide": "5 seconds"}, "final"),
    "rows": (ROWS, {"range": "60 seconds", "slide": "20 seconds"}, "final"),
    "early": (PARTIALS, {"range": "60 seconds", "slide": "30 seconds"}, "updates"),
    "counts": (PARTIALS | ROWS, {"range": 40, "slide": 7}, "changes"),
    "delta": (PARTIALS, {"range": sash.delta("v", 5)}, "final"),
    "punctuation": (PARTIALS | ROWS, {"range": sash.punctuation("v % 50 = 0")}, "final"),
}


def board_of(name, source=SCHEMA):
    calls, windows, emit = BOARDS[name]
    return sash.stream(source, time="ts", key="k", watermark="2 seconds").query(calls, **windows), emit


def second(step, keys=3):
    """The rows of one second, of which some have no value."""
    rows = range(step * 20, step * 20 + 20)
    return table(
        [
            {"ts": at * 50_000, "k": f"key {at % keys}", "v": None if at % 7 == 3 else at, "w": "xyz"[at % 3]}
            for at in rows
        ]
    )


def damaged(body, chance, cuts, flips=None):
    """Bytes with a bit turned, at every place or at so many; and cut short, overwritten, moved, or made longer."""
    for place in range(len(body)) if flips is None else chance.choices(range(len(body)), k=flips):
        yield turned(body, place, chance.randrange(8))
    for _ in range(cuts):
        low, high = sorted(chance.choices(range(len(body) + 1), k=2))
        yield body[:low]
        yield body[:low] + body[high:]
        yield body[:low] + bytes(high - low) + body[high:]
        yield body[:low] + chance.randbytes(high - low) + body[high:]
        yield body[high:] + body[:high]
        yield body + body[low:high]
        yield body + chance.randbytes(1)


def turned(body, place, bit):
    return body[:place] + bytes([body[place] ^ 1 << bit]) + body[place + 1 :]


@pytest.mark.long
@pytest.mark.parametrize("name", BOARDS)
def test_every_byte_of_a_snapshot_of_a_board(name):
    """Survived: a bit turned in every byte of a snapshot, and thousands of cuts; the operator that refused goes on."""
    board, emit = board_of(name)
    chance = random.Random(1)
    operator = board.open(emit)
    for step in range(5):
        operator.push(second(step))
    kept, refused = operator.snapshot(), 0
    for wrong in damaged(kept, chance, 300):
        if wrong != kept:
            with pytest.raises(SashError, match=r"^state must be "):
                operator.restore(wrong)
            refused += 1
    assert refused > len(kept) + 1000
    again = board.open(emit)
    again.restore(kept)
    for each in (operator, again):
        each.answers = [each.push(second(step)) for step in range(5, 90)] + [each.close()]
    assert pa.concat_tables(operator.answers).num_rows > 10
    assert operator.answers == again.answers


def job_of(name, seconds, shards=2):
    """A query as Spark runs it, after so many seconds of rows."""
    board, emit = board_of(name)
    job = Job(board, shards, emit)
    for step in range(seconds):
        job.batch([second(step)], watermark_of(step))
    return job


def watermark_of(step):
    return step * 10**6 - 2 * 10**6 if step > 2 else None


@pytest.mark.long
@pytest.mark.parametrize("name", BOARDS)
def test_the_state_that_spark_keeps(name):
    """Survived: hundreds of bits turned and cuts made all over the chunks that two shards keep."""
    job, chance, refused = job_of(name, 6), random.Random(2), 0
    for shard, store in enumerate(deepcopy(job.stores)):
        for number, body in store.items():
            for wrong in damaged(body, chance, 2, flips=10):
                if wrong != body:
                    job.stores[shard][number] = wrong
                    with pytest.raises(SashError, match=r"^state must be "):
                        restored(job, shard)
                    refused += 1
            job.stores[shard][number] = body
    assert refused > 100
    restored(job, 0)


def restored(job, shard):
    """Have a shard read what it kept, as a worker does that has nothing in memory."""
    job.restart()
    job._work(shard, [], watermark_of(6))


@pytest.mark.parametrize("name", ["partials", "rows", "early"])
def test_damage_below_a_shard_that_is_in_memory(name):
    """Survived: chunks damaged while a worker holds their shard in memory, and so does not read them for long."""
    chance = random.Random(3)
    wanted = answers_from(job_of(name, 6), 6)
    stopped = 0
    for _ in range(3):
        job = job_of(name, 6)
        for store in job.stores:
            for number in store.keys() - {"head"}:
                store[number] = turned(store[number], chance.randrange(len(store[number])), chance.randrange(8))
        try:
            found = answers_from(job, 6)
        except SashError as error:
            stopped += "state must be unchanged" in str(error)
        else:
            assert found == wanted
    assert stopped


def answers_from(job, first):
    """All answers from a second on; after some more, nothing is in memory."""
    found = []
    for step in range(first, first + 30):
        if step == first + 20:
            job.restart()
        found += job.batch([second(step)], watermark_of(step))[0].to_pylist()
    return sorted(map(str, found + job.batch([], END)[0].to_pylist()))


def test_chunks_of_another_batch():
    """Survived: a chunk that is whole, but as another batch wrote it."""
    stream = sash.stream(SCHEMA, time="ts", key="k", watermark="2 seconds")
    job = Job(stream.query({"n": sf.count(), "s": sf.sum("v")}, range=4), 1, "changes")
    job.batch([second(step, keys=5000) for step in range(250)], None)
    job.batch([], 200 * 10**6)
    old = deepcopy(job.stores[0])
    job.batch([], 240 * 10**6)
    now = job.stores[0]
    new = [number for number in now if number not in old]
    gone = [number for number in old if number not in now]
    pairs = [(k, j) for k in new for j in gone if k != "head" and len(now[k]) == len(old[j]) and now[k] != old[j]]
    assert pairs
    for number, before in pairs:
        body, now[number] = now[number], old[before]
        job.restart()
        with pytest.raises(SashError, match=r"^state must be unchanged"):
            job.batch([], 240 * 10**6)
        now[number] = body
    job.restart()
    job.batch([], END)


@pytest.mark.long
def test_every_byte_of_a_snapshot_of_a_sliding_window():
    """Survived: a bit turned in every byte of a snapshot of a window that is managed by hand, and thousands of cuts."""
    calls = {"s": sf.sum("v"), "by": sf.max_by("w", "v"), "sd": sf.stddev("v")}
    window = SlidingWindow(calls, SCHEMA)
    window.evict(window.insert(second(0))[::3])
    kept, before, refused = window.snapshot(), window.query(), 0
    for wrong in damaged(kept, random.Random(4), 150):
        if wrong != kept:
            with pytest.raises(SashError, match=r"^snapshot must be "):
                window.restore(wrong)
            refused += 1
    assert refused > len(kept) + 1000
    assert window.query() == before
    window.restore(kept)
    assert window.query() == before


@pytest.mark.long
@pytest.mark.parametrize("using", ALGORITHMS)
def test_every_byte_of_the_state_of_a_kernel(using):
    """Survived: a bit turned in every byte of every array that an algorithm keeps, its seal among them."""
    aggregate = builtin("sum") if using == "subtract_on_evict" else builtin("max")
    window, chance = Sliding(aggregate, np.int64, size=9, using=using), random.Random(5)
    window.push(np.arange(50))
    kept = window.state()
    for name, array in kept.items():
        for place in range(array.nbytes):
            hurt = array.copy()
            hurt.view(np.uint8).reshape(-1)[place] ^= 1 << chance.randrange(8)
            with pytest.raises(SashError, match=r"^state must be "):
                window.restore({**kept, name: hurt})
    twin = Sliding(aggregate, np.int64, size=9, using=using)
    twin.restore(kept)
    assert twin.push(np.arange(20)).values.tolist() == window.push(np.arange(20)).values.tolist()
