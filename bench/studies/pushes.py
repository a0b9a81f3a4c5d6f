"""How long a push into an opened board takes, by the rows that it brings: windows of 60 s every second.

The time is that which a caller waits, Python and Arrow included. Rows of one key are 1 ms apart, so that about every
thousandth closes a window; those of 100 keys close a window of every key then.
"""

from __future__ import annotations

import time

import numpy as np

from bench.peers._stream_cases import board, events
from sash import functions as sf

TITLE = "Latency of pushes"
SIZES = (1, 10, 100, 1_000, 10_000)
QUERIES = {
    "max, 1 key": (sf.max("value"), 1),
    "max, 100 keys": (sf.max("value"), 100),
    "median, 1 key": (sf.median("value"), 1),
}


def run(bench):
    medians, rows = {name: {} for name in QUERIES}, []
    for name, (call, keys) in QUERIES.items():
        for size in SIZES:
            found = microseconds(call, keys, size, bench.pick(min(1_000, 2_000_000 // size), 50))
            middle, high, most = (float(np.quantile(found, share)) for share in (0.5, 0.99, 1.0))
            bench.record(f"{name} @ {size} rows", [float(np.median(part)) for part in np.array_split(found, 5)], "µs")
            medians[name][size] = middle
            rows.append([name, size, middle, high, most, middle / size])
    bench.table("microseconds a push", ["query", "rows", "median", "p99", "most", "median a row"], rows)
    bench.lines(TITLE, {"": medians}, "rows of a push", "microseconds")


def microseconds(call, keys, size, pushes):
    """The times of pushes of so many rows, after a full window and a few pushes to warm up."""
    before, few = 60_000, 5
    data = events(before + (pushes + few) * size, keys)
    operator = board(data, call, 60, 1, keys, "0 seconds").open()
    operator.push(data.slice(0, before))
    batches = [data.slice(before + place * size, size) for place in range(pushes + few)]
    times = np.empty(len(batches))
    for place, batch in enumerate(batches):
        start = time.perf_counter_ns()
        operator.push(batch)
        times[place] = (time.perf_counter_ns() - start) / 1000
    return times[few:]
