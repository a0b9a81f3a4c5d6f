"""Millions of events of keys that come and go through one board: memory and state are those of what is open."""

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import sash
from sash import functions as sf

BATCHES, ROWS = 300, 20_000
LIVE = 2_000  # keys at a time; each batch, a tenth of them leave for good
SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "v": pa.int64()})
BOARDS = {
    "partials": (
        {"n": sf.count(), "peak": sf.max("v"), "sd": sf.stddev("v")},
        {"range": "10 seconds", "slide": "2 seconds"},
    ),
    "rows": ({"mid": sf.median("v"), "kinds": sf.count_distinct("v")}, {"range": "4 seconds", "slide": "2 seconds"}),
    "early": ({"n": sf.count(), "s": sf.sum("v")}, {"range": "10 seconds", "slide": "5 seconds"}),
}
EMITS = {"early": "updates"}


def batch(number):
    """A second of events, up to half a second out of order, some later than the watermark allows."""
    random = np.random.default_rng(number)
    micros = number * 10**6 + random.integers(-500_000, 10**6, ROWS)
    micros[:10] -= 60 * 10**6
    keys = number * (LIVE // 10) + random.integers(0, LIVE, ROWS)
    return pa.table([pa.array(micros, pa.timestamp("us")), keys, random.integers(0, 1000, ROWS)], schema=SCHEMA)


def resident():
    """Bytes of memory of this process, with what Arrow could give back given back."""
    pa.default_memory_pool().release_unused()
    return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")


@pytest.mark.long
@pytest.mark.parametrize("name", BOARDS)
def test_millions_of_events_of_keys_that_come_and_go(name):
    """Survived: six million events of 60,000 keys, restarts and late rows among them, in memory that stays flat."""
    calls, windows = BOARDS[name]
    emit = EMITS.get(name, "final")
    board = sash.stream(SCHEMA, time="ts", key="k", watermark="1 second").query(calls, **windows)
    operator, memory, sizes, held, counted = board.open(emit), [], [], [], 0
    for number in range(BATCHES):
        rows = batch(number)
        answers = operator.push(rows)
        counted += answers.num_rows
        assert operator.late().num_rows == (10 if number else 0)
        if number % 10 == 9:
            state = operator.snapshot()
            sizes.append(len(state))
            if number % 50 == 49:
                operator = board.open(emit)
                operator.restore(state)
            memory.append(resident())
            held.append(pa.total_allocated_bytes())
    third = len(memory) // 3
    measured = {"bytes of state": (sizes, 1.1), "memory": (memory, 1.15), "memory of Arrow": (held, 1.25)}
    print(f"\n{name}: {counted:,} answers")
    for what, (values, growth) in measured.items():
        before, after = max(values[:third]), max(values[-third:])
        print(f"{what}: {before:,} in the first third, {after:,} in the last, at most")
        assert after <= growth * before, what
    assert counted > BATCHES * LIVE / 10
    assert operator.late_count == 10 * (BATCHES - 1)
