"""How long a fresh process takes to its first answer.

Each figure is the median wall time of whole processes, from their start to their end, taken in turns so
that a busy moment of the machine meets all alike.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from statistics import median

TITLE = "Cold start"
FIRST_ANSWER = """
import numpy as np
from sash.algebra.catalogue import builtin
from sash.kernels.fifo import slide
assert slide(builtin("max"), np.arange(1000.0), size=100).values[-1] == 999.0
"""
POLARS = """
import polars as pl
assert pl.Series([float(i) for i in range(1000)]).rolling_max(100)[-1] == 999.0
"""
WATCHED = ("numpy", "llvmlite", "numba", "pyarrow", "pyspark")
REPORT = f"\nimport sys; print(*(name for name in {WATCHED} if name in sys.modules))"

EMPTY, WARM = "empty", "warm"
CASES = {  # the source, and the cache of kernels that it finds
    "python": ("pass", WARM),
    "import sash": ("import sash", WARM),
    "import numpy": ("import numpy", WARM),
    "first answer, cold cache": (FIRST_ANSWER, EMPTY),
    "first answer, warm cache": (FIRST_ANSWER, WARM),
    "first answer of Polars": (POLARS, WARM),
}


def fresh(source, cache):
    """The wall time of a fresh process, and which of the watched libraries it imported."""
    environment = {**os.environ, "SASH_CACHE_DIR": cache}
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", source + REPORT], env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    return time.perf_counter() - began, done.stdout.strip()


def run(bench):
    rounds = bench.pick(7, 3)
    times = {name: [] for name in CASES}
    imported = {}
    with tempfile.TemporaryDirectory() as home:
        for source, cache in CASES.values():
            if cache is WARM:
                fresh(source, f"{home}/{WARM}")  # fills the cache, and Python's own of compiled modules
        for turn in range(rounds):
            for name, (source, cache) in CASES.items():
                taken, imported[name] = fresh(source, f"{home}/{WARM if cache is WARM else turn}")
                times[name].append(taken)
    for name, taken in times.items():
        bench.record(name, taken, "s")
    start = median(times["python"])
    rows = [[name, median(taken), median(taken) - start, imported[name]] for name, taken in times.items()]
    bench.table("seconds of whole processes", ["", "whole", "less Python's own start", "imports"], rows)
