"""Instructions a row of three hot kernels, counted by valgrind: a guard that does not care how busy the machine is.

Kernels are called through ``ffi_call``, inside of which alone is collected: to start an interpreter takes a thousand
times as many instructions, which are not the same twice. What n more rows take on top of n is divided by n. To load a
kernel calls functions, too, and takes some 100,000 instructions more or less: rows are so many that this is less than
one in a hundred. Valgrind is not part of the repository: where it is not to be had, nothing is measured, and a sentence
says so.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor

from bench.guards._counted import KERNELS

TITLE = "Instructions of hot kernels"
ROWS = {"sliding_max": 1 << 21, "radix_sort": 1 << 19, "merge_sort_tree": 1 << 17}


def run(bench):
    if not shutil.which("valgrind"):
        print("  valgrind is not installed: nothing is counted")
        return
    with tempfile.TemporaryDirectory() as cache, ThreadPoolExecutor(2) as pool:
        environment = {**os.environ, "SASH_CACHE_DIR": cache, "PYTHONHASHSEED": "0"}
        for name in KERNELS:  # compiled outside of valgrind
            subprocess.run(_command(name, ROWS[name]), env=environment, check=True)
        asked = [(name, rows) for name in KERNELS for rows in (ROWS[name], 2 * ROWS[name])]
        counts = dict(zip(asked, pool.map(lambda each: _count(*each, environment), asked), strict=True))
    each = {name: (counts[name, 2 * rows] - counts[name, rows]) / rows for name, rows in ROWS.items()}
    if min(each.values()) <= 0:
        raise AssertionError(f"kernels were not seen by valgrind: {each}")
    for name, instructions in each.items():
        bench.record(name, instructions, "instructions")
    bench.table("instructions a row", ["kernel", "instructions"], list(each.items()))


def _command(name, rows):
    return [sys.executable, "-m", "bench.guards._counted", name, str(rows)]


def _count(name, rows, environment):
    tool = ["valgrind", "--tool=callgrind", "--toggle-collect=ffi_call", "--callgrind-out-file=/dev/null"]
    done = subprocess.run([*tool, *_command(name, rows)], env=environment, check=True, capture_output=True, text=True)
    return int(re.search(r"Collected : (\d+)", done.stderr)[1])
