"""How long a fresh process takes to its first answer: ``python -m bench.cold_start``.

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

ROUNDS = 7
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
CASES = {  # what it is called, its source, the cache it finds, its target in seconds
    "python": ("pass", WARM, None),
    "import sash": ("import sash", WARM, 0.3),
    "import numpy": ("import numpy", WARM, None),
    "first answer, cold cache": (FIRST_ANSWER, EMPTY, None),
    "first answer, warm cache": (FIRST_ANSWER, WARM, 0.35),
    "first answer of polars": (POLARS, WARM, None),
}


def run(source: str, cache: str) -> tuple[float, str]:
    """The wall time of a fresh process, and which of the watched libraries it imported."""
    environment = {**os.environ, "SASH_CACHE_DIR": cache}
    began = time.perf_counter()
    done = subprocess.run(
        [sys.executable, "-c", source + REPORT], env=environment, check=True, stdout=subprocess.PIPE, text=True
    )
    return time.perf_counter() - began, done.stdout.strip()


def main() -> None:
    """Measure every case and print the table."""
    times: dict[str, list[float]] = {name: [] for name in CASES}
    imported = dict.fromkeys(CASES, "")
    with tempfile.TemporaryDirectory() as home:
        for source, cache, _ in CASES.values():
            if cache is WARM:
                run(source, f"{home}/{WARM}")  # fills the cache, and Python's own of compiled modules
        for turn in range(ROUNDS):
            for name, (source, cache, _) in CASES.items():
                taken, imported[name] = run(source, f"{home}/{WARM if cache is WARM else turn}")
                times[name].append(taken)
    start = median(times["python"])
    print(f"{'seconds, median of ' + str(ROUNDS):26}{'whole':>8}{'less python':>13}{'target':>8}  imports")
    for name, (_, _, target) in CASES.items():
        whole = median(times[name])
        wanted = f"{target:8.2f}" if target else " " * 8
        print(f"{name:26}{whole:8.3f}{whole - start:13.3f}{wanted}  {imported[name]}")
    for library in ("numba", "pyspark"):
        users = [name for name in CASES if library in imported[name].split()]
        print(f"{library} is imported by: {', '.join(users) or 'none'}")


if __name__ == "__main__":
    main()
