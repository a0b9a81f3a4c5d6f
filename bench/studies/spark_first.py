"""What the first query of a session costs, in fresh processes that have read the rows once before.

A sliding max by 16 keys, by Sash with an empty and with a filled cache of kernels, and by Spark itself.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
import sys
import tempfile
from functools import partial

from bench.harness.machine import HOME
from bench.harness.measuring import once
from bench.peers._spark import consumed, session, stored
from bench.peers.spark import SLIDING, TASKS, asked, spoken, trades

TITLE = "The first query of a session on Spark"
QUICK = False
TASK = "sliding max, 16 keys"
CASES = {"Sash, empty kernel cache": "Sash", "Sash, filled kernel cache": "Sash", "Spark": "Spark"}
STEPS = ("session", "read", "first query", "second query", "third query")


def run(bench):
    rows = bench.pick(250_000, 20_000)
    folder(rows)
    times = {case: [] for case in CASES}
    with tempfile.TemporaryDirectory() as home:
        for turn in range(bench.pick(5, 1)):
            for case, who in CASES.items():  # the first of a turn fills the cache for the second
                times[case].append(fresh(who, rows, f"{home}/{turn}"))
    lines = []
    for case, runs in times.items():
        columns = list(zip(*runs, strict=True))
        for step, values in zip(STEPS, columns, strict=True):
            bench.record(f"{case} @ {step}", values, "s")
        lines.append([case, *map(statistics.median, columns)])
    bench.table(f"{TASK}, {rows:,} rows: seconds", ["", *STEPS], lines)


def folder(rows, files=4):
    """Where the rows are."""
    return str(stored(f"trades-{rows}-{files}", partial(trades, rows), files))


def fresh(who, rows, cache):
    """The times of the steps of a fresh process."""
    command = [sys.executable, "-m", "bench.studies.spark_first", who, str(rows)]
    environment = {**os.environ, "SASH_CACHE_DIR": cache}
    done = subprocess.run(command, cwd=HOME, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout.splitlines()[-1])


def steps(who, rows):
    """The times of the steps, taken in this process."""
    call, words, _, keys, _ = TASKS[TASK]
    start = once(session)
    frame = session().read.parquet(folder(rows))
    query = partial(asked, call) if who == "Sash" else partial(spoken, words)
    answer = lambda: consumed(query(SLIDING, keys, frame))  # noqa: E731
    return [start, once(lambda: consumed(frame)), *(once(answer) for _ in STEPS[2:])]


if __name__ == "__main__":
    print(json.dumps(steps(sys.argv[1], int(sys.argv[2]))))
