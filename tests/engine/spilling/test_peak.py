"""A small budget keeps memory small: measured in a process of its own, by what was resident at most."""

import subprocess
import sys
from pathlib import Path

import pytest

STATUS = Path("/proc/self/status")
ROWS = 2_000_000
SCRIPT = """
import sys
import numpy as np
import pyarrow as pa
import sash
from sash import Window, functions as sf
from sash.engine.spilling import answers

budget, rows, one_key = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3] == "one key"
total = sf.sum("v").over(Window.partitionBy("k").orderBy("t").rowsBetween(-50, 0))
pieces = None
if one_key:
    from sash.engine import ranges
    from sash.engine.spilling import Ranges
    pieces = Ranges(("k", "t"), ranges.KeyOrder.of(total.window.checked()), ranges.reach(total))

def peak():
    return next(int(line.split()[1]) for line in open("/proc/self/status") if line.startswith("VmHWM")) * 1024

def batches(count):
    rng = np.random.default_rng(1)
    for start in range(0, count, 10_000):
        k = np.zeros(10_000, np.int64) if one_key else rng.integers(0, 10_000, 10_000)
        yield pa.record_batch({"k": k, "t": rng.integers(0, 1 << 40, 10_000), "v": rng.normal(size=10_000)})

def run(count, budget):
    def evaluate(table):
        return sash.withColumns(table, {"total": total}).select(["total"])
    return sum(batch.num_rows for batch in answers(batches(count), evaluate, ["k"], budget=budget, pieces=pieces))

run(20_000, 1 << 40)
run(20_000, 2_000_000)
before = peak()
assert run(rows, budget) == rows
print(peak() - before)
"""


def grown(budget, kind):
    command = [sys.executable, "-c", SCRIPT, str(budget), str(ROWS), kind]
    return int(subprocess.run(command, capture_output=True, text=True, check=True).stdout)


@pytest.mark.skipif(not STATUS.exists(), reason="only Linux says how much was resident at most")
@pytest.mark.parametrize("kind", ["many keys", "one key"])
def test_memory_stays_near_the_budget(kind):
    budget = 30_000_000
    least = grown(budget, kind)
    assert least < 2 * budget
    assert least < grown(1 << 40, kind) / 2
