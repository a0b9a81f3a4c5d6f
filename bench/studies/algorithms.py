"""Every algorithm for windows that only move forward, by the size of the window: nanoseconds a row, one push, one core.

They come from the registry, so that a new one is measured, too. One that takes longer than its limit at a size is not
tried at larger ones; pba, which has a second thread, is left out where it would call it every few rows.
"""

from __future__ import annotations

from functools import partial

import numpy as np

from bench.harness import growth
from sash.algebra.catalogue import builtin
from sash.kernels.fifo import ALGORITHMS, Sliding
from sash.kernels.fifo.sliding import refusal

TITLE = "Algorithms for windows that move forward, by the size of the window"
COLUMNS = {"max": np.float64, "sum": np.int64}


def run(bench):
    rows, sizes = bench.pick(500_000, 10_000), bench.pick((16, 256, 4_096, 65_536, 1 << 20), (16, 64, 256, 1_024))
    panels, lines = {}, []
    for name, kind in COLUMNS.items():
        column = np.random.default_rng(0).normal(scale=1000, size=rows).astype(kind)
        for task in tasks(name, column[:10], max(sizes)).values():
            task()  # compiles, which is not what patience is for
        tasks_at, worth = partial(tasks, name, column), lambda _, seconds: seconds / rows * 1e9
        panels[name] = bench.sweep(sizes, tasks_at, worth, patience=1.0, panel=name)
        for algorithm, line in panels[name].items():
            exponent = growth(line) if len(line) > 3 else None
            if exponent is not None:
                bench.record(f"{algorithm}, time of {name} by the size of the window", exponent, "exponent")
            lines.append([name, algorithm, exponent, *map(line.get, sizes)])
    bench.lines(f"{rows:,} rows, an answer a row", panels, "rows of a window", "nanoseconds a row")
    head = ["", "algorithm", "exponent", *(f"{size:,} rows" for size in sizes)]
    bench.table("nanoseconds a row; time grows as size^exponent", head, lines)


def tasks(name, column, size):
    """A push of all rows by each algorithm that can."""
    able = [each for each, algorithm in ALGORITHMS.items() if not refusal(algorithm, builtin(name))]
    return {each: partial(push, each, name, column, size) for each in able if each != "pba" or size >= 1_024}


def push(algorithm, name, column, size):
    window = Sliding(builtin(name), column.dtype, size=size, using=algorithm)
    window.push(column)
    if algorithm == "pba":
        window.state()  # waits for the second thread
