"""The peak of memory of window functions, in fresh processes, beyond what the input and the output take."""

from __future__ import annotations

import statistics

import sash
from bench.harness import peak_memory
from bench.peers.frames import CALLS, trades, trailing

TITLE = "Memory of window functions"
NAMES = ("median", "p99", "rank", "count distinct")


def answering(name, rows):
    """What answers a window query over so many rows, which are made here, as are the kernels."""
    call = CALLS[name][0].over(trailing(1_000)[0])
    sash.withColumns(trades(1_000), {"answer": call})
    data = trades(rows)
    return lambda: sash.withColumns(data, {"answer": call})["answer"]


def run(bench):
    rows = bench.pick(10_000_000, 1_000_000)
    lines = []
    for name in NAMES:
        beyond = peak_memory("bench.guards.memory:answering", name, rows, repeat=bench.pick(5, 1))
        bench.record(name, beyond, "bytes")
        lines.append([name, statistics.median(beyond) / rows])
    bench.table(f"{rows:,} rows, frames of 1,000", ["function", "bytes a row beyond input and output"], lines)
