"""Windows of 1 to 100,000 slides of a tenth of a second: what an event costs should not depend on how many hold it.

One key, events 1 ms apart, as a whole table and pushed in batches of 100,000. A batch has 1,000 slices; a push folds
those that its windows reach back to once more, which shows where they reach back over many more slices than it brings.
"""

from __future__ import annotations

from bench.harness import growth
from bench.peers._stream_cases import board, events
from bench.studies._batches import pushed
from sash import functions as sf

TITLE = "Continuous queries by range over slide"
SLIDE = 0.1  # seconds
CALLS = {"max": sf.max("value"), "avg": sf.avg("value")}


def run(bench):
    rows, ratios = bench.pick(4_000_000, 100_000), bench.pick((1, 10, 100, 1_000, 10_000, 100_000), (1, 10, 100, 1_000))
    data = events(rows)

    def tasks_at(ratio):
        tasks = {}
        for name, call in CALLS.items():
            whole, part = (board(data, call, SLIDE * ratio, SLIDE, watermark=mark) for mark in (None, "0 seconds"))
            tasks |= {f"{name}, whole table": whole.results, f"{name}, batches": pushed(part, data)}
        return tasks

    costs = bench.sweep(ratios, tasks_at, lambda _, seconds: seconds)
    rates = {name: {ratio: rows / took / 1e6 for ratio, took in line.items()} for name, line in costs.items()}
    bench.lines(TITLE, {f"{rows:,} events": rates}, "range over slide", "millions of events a second")
    exponents = {name: growth(line) for name, line in costs.items()}
    for name, exponent in exponents.items():
        bench.record(f"time by range over slide, {name}", exponent, "exponent")
    bench.table("time grows as (range over slide)^b", ["", "b"], list(exponents.items()))
