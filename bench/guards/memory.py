"""The peak of memory of window functions, in fresh processes, beyond what the input and the output take."""

from __future__ import annotations

import statistics

import numpy as np

import sash
from bench.harness import peak_memory
from bench.peers.frames import CALLS, trades, trailing

TITLE = "Memory of window functions"
NAMES = ("median", "p99", "rank", "count distinct")


def answer(name, rows, answers):
    """Answer a window query over as many rows, or give as many zeros for comparison."""
    call = CALLS[name][0].over(trailing(1_000)[0])
    sash.withColumns(trades(1_000), {"answer": call})
    data = trades(rows)
    return sash.withColumns(data, {"answer": call}) if answers else np.ones(rows)


def run(bench):
    rows = bench.pick(10_000_000, 1_000_000)
    lines = []
    for name in NAMES:
        peaks = [peak_memory("bench.guards.memory:answer", name, rows, answers, repeat=bench.pick(5, 1))
                 for answers in (True, False)]  # fmt: skip
        beyond = [(with_answer - statistics.median(peaks[1])) / rows for with_answer in peaks[0]]
        bench.record(f"{name}, beyond input and output", [each * rows for each in beyond], "bytes")
        lines.append([name, statistics.median(peaks[0]) / 2**20, statistics.median(beyond)])
    bench.table(
        f"{rows:,} rows, frames of 1,000", ["function", "peak, MiB", "bytes a row beyond input and output"], lines
    )
