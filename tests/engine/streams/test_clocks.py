"""Clocks that jump, and events from another century: answers follow event time, and what is lost is counted."""

import random
import time

import pyarrow as pa
import pytest

import sash
from engine.streams.test_shards import END, Job
from engine.streams.test_windows import SCHEMA, table
from sash import functions as sf

STEPS = [-3600.0, 86_400.0, -400 * 86_400.0, 0.0, 36_500 * 86_400.0, -(10.0**9)]  # seconds
CENTURY = 36_525 * 86_400 * 10**6
KINDS = {
    "time": {"range": "10 seconds", "slide": "3 seconds"},
    "count": {"range": 7, "slide": 2},
    "punctuation": {"range": sash.punctuation("v % 5 = 0")},
}


@pytest.fixture
def clock(monkeypatch):
    """Hands of the system's clock, to be turned: as many seconds from where they should be."""
    hands, true, finer = {"off": 0.0}, time.time, time.time_ns
    monkeypatch.setattr("time.time", lambda: true() + hands["off"])
    monkeypatch.setattr("time.time_ns", lambda: finer() + int(hands["off"]) * 10**9)
    return hands


def second(step):
    """Rows of one second, a little out of order, of keys that come and go."""
    chance = random.Random(step)
    rows = [{"ts": at * 100_000, "k": f"{at // 30 % 4}", "v": at, "w": "x"} for at in range(step * 10, step * 10 + 10)]
    chance.shuffle(rows)
    return table(rows)


def board(kind, source=SCHEMA):
    stream = sash.stream(source, time="ts", key="k", watermark="2 seconds")
    return stream.query({"n": sf.count(), "s": sf.sum("v"), "mid": sf.median("v")}, **KINDS[kind])


@pytest.mark.parametrize("emit", ["final", "changes"])
@pytest.mark.parametrize("kind", KINDS)
def test_a_board_reads_no_clock(monkeypatch, kind, emit):
    """So that a system clock that steps cannot change its answers."""

    def read(*_):
        raise AssertionError("a board has read the clock")

    def answered():
        operator, rows = board(kind).open(emit), 0
        for step in range(20):
            rows += operator.push(second(step)).num_rows
            if step % 7 == 3:
                state, operator = operator.snapshot(), board(kind).open(emit)
                operator.restore(state)
        return rows + operator.close().num_rows

    expected = answered()  # kernels come from files now, and the age of these is read
    for name in ("time", "time_ns"):
        monkeypatch.setattr(f"time.{name}", read)
    assert answered() == expected > 10


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_a_clock_that_jumps_below_shards(clock, kind):
    """Survived: the same below the shards of a query on Spark, whose rate of answers is never negative nor infinite."""
    found = []
    for off in (None, STEPS):
        job, answers = Job(board(kind), 2), []
        for step in range(40):
            clock["off"] = 0.0 if off is None else off[step % len(off)]
            if step % 5 == 2:
                job.restart()
            answers.append(job.batch([second(step)], step * 10**6 - 10**6 if step > 1 else None)[0])
            assert all(0 <= seen.rate < 1e9 for seen in job.seen)
        found.append([*answers, job.batch([], END)[0]])
    assert sum(part.num_rows for part in found[0]) > 20
    assert found[0] == found[1]


def ahead(step, by=CENTURY):
    """A second in which one row has a time far ahead."""
    rows = second(step).to_pylist()
    whole = [row | {"ts": round(row["ts"].timestamp() * 10**6)} for row in rows]
    return table([*whole, {"ts": step * 10**6 + by, "k": "bad", "v": 1, "w": "x"}])


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_one_event_of_the_next_century(kind):
    """Survived: a watermark that runs away with one bad row; all rows behind it are counted and given back."""
    operator, good = board(kind).open(), board(kind).open()
    for step in range(20):
        before = operator.push(second(step)), good.push(second(step))
        assert before[0] == before[1]
    operator.push(ahead(20))
    good.push(second(20))
    assert operator.late_count == 0
    came = 0
    for step in range(21, 40):
        assert operator.push(second(step)).num_rows == 0
        came += 10
        assert operator.late_count == came
    late = operator.late()
    assert late.num_rows == came
    assert set(late["reason"].to_pylist()) <= {"late: its windows had ended", "late: the watermark had passed it"}
    rows = pa.concat_tables([second(step) for step in range(21, 40)])
    assert late.select(SCHEMA.names) == rows
    tail = operator.close().to_pylist()
    assert {row["k"] for row in tail} <= {"bad", *(f"{k}" for k in range(4))}


@pytest.mark.long
@pytest.mark.parametrize("slicer", ["panes", "pairs"])
def test_a_century_has_no_cost(slicer):
    """Survived: a century of windows of a millisecond between two events; only those with events are made."""
    stream = sash.stream(SCHEMA, time="ts", key="k", watermark="0 seconds", slicer=slicer)
    windows = {"range": "10 milliseconds", "slide": "1 millisecond"}
    operator = stream.query({"n": sf.count(), "mid": sf.median("v")}, **windows).open("updates")
    rows = [operator.push(ahead(0)), operator.push(ahead(0, 2 * CENTURY)), operator.close()]
    assert sum(part.num_rows for part in rows) < 2000
    assert pa.concat_tables(rows)["n"].to_pylist().count(1) > 10


@pytest.mark.long
@pytest.mark.parametrize("kind", KINDS)
def test_one_event_of_the_next_century_below_shards(kind):
    """Survived: the same on Spark's side, where the metric late counts each row that came behind the bad one."""
    job = Job(board(kind), 2)
    for step in range(20):
        assert job.batch([second(step)], step * 10**6 - 10**6 if step > 1 else None)[2] == 0
    assert job.batch([ahead(20)], 19 * 10**6)[2] == 0
    runaway = 20 * 10**6 + CENTURY - 2 * 10**6
    job.batch([], runaway)
    for step in range(21, 30):
        if step % 3 == 0:
            job.restart()
        answers, _, late = job.batch([second(step)], runaway)
        assert late == 10
        assert answers.num_rows == 0
    assert sum(seen.windows for seen in job.seen) <= 4  # those of the bad row


@pytest.mark.long
def test_the_way_back_from_a_runaway_watermark():
    """Survived: a runaway watermark, by going back to a snapshot of before and leaving the bad row out."""
    operator, good = board("time").open(), board("time").open()
    wanted = [good.push(second(step)) for step in range(40)]
    found = [operator.push(second(step)) for step in range(20)]
    kept = operator.snapshot()
    operator.push(ahead(20))
    operator.push(second(21))
    assert operator.late_count == 10
    operator.restore(kept)
    found += [operator.push(second(step)) for step in range(20, 40)]
    assert found == wanted
    assert operator.late_count == 0
