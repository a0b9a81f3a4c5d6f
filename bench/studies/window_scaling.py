"""Window functions as rows grow: frames of 1,000 rows, whole queries with their sorts, two threads."""

from __future__ import annotations

from functools import partial

import sash
from bench.harness import growth
from bench.peers.frames import CALLS, trades, trailing

TITLE = "Window functions by the number of rows"


def run(bench):
    sizes = [1 << power for power in bench.pick((16, 18, 20, 22), (12, 13, 14, 15))]
    window = trailing(1_000)[0]

    def tasks_at(rows):
        data = trades(rows)
        return {
            name: partial(sash.withColumns, data, {"answer": call.over(window)}) for name, (call, _) in CALLS.items()
        }

    costs = bench.sweep(sizes, tasks_at, lambda _, seconds: seconds)
    rates = {name: {rows: took / rows * 1e9 for rows, took in line.items()} for name, line in costs.items()}
    bench.lines(TITLE, {"frames of 1,000 rows": rates}, "rows", "nanoseconds a row")
    lines = []
    for name, line in costs.items():
        exponent = growth(line)
        bench.record(f"time of {name} by rows", exponent, "exponent")
        lines.append([name, exponent, *rates[name].values()])
    head = ["function", "exponent", *(f"{rows:,} rows" for rows in sizes)]
    bench.table("time grows as rows^exponent; nanoseconds a row", head, lines)
