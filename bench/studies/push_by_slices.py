"""What a push of ten slices costs by how many slices are open: one key, a row and a window a second.

The time is that of the process, all threads together. In order, windows go by the default, which is a tree that is
kept, or by an algorithm that is named; under disorder a tenth of the rows comes up to five seconds late. Medians are
answered from rows that are held.
"""

from __future__ import annotations

import time

import numpy as np

import sash
from bench.harness import growth
from bench.peers._stream_cases import MICROS, events
from sash import functions as sf

TITLE = "Pushes by the slices that are open"
SIZE = 10  # slices of a push
FEW = 10  # pushes that warm up
CASES = {
    "max, default": (sf.max("value"), None, 0.0),
    "max, two_stacks": (sf.max("value"), "two_stacks", 0.0),
    "max, daba": (sf.max("value"), "daba", 0.0),
    "max, sba": (sf.max("value"), "sba", 0.0),
    "max, pba": (sf.max("value"), "pba", 0.0),
    "max, slick_deque": (sf.max("value"), "slick_deque", 0.0),
    "count, subtract_on_evict": (sf.count(), "subtract_on_evict", 0.0),
    "max, flatfat": (sf.max("value"), "flatfat", 0.0),
    "max, flatfit": (sf.max("value"), "flatfit", 0.0),
    "max, disorder": (sf.max("value"), None, 0.1),
    "avg, disorder, two_stacks": (sf.avg("value"), "two_stacks", 0.1),
    "median": (sf.median("value"), None, 0.0),
    "median, disorder": (sf.median("value"), None, 0.1),
    "count_distinct": (sf.count_distinct("user"), None, 0.0),
}


def run(bench):
    sizes = bench.pick((1_000, 10_000, 100_000, 1_000_000), (100, 300, 1_000, 3_000))
    pushes = bench.pick(100, 10)
    data = {late: events(2 * sizes[-1] + (pushes + FEW) * SIZE, gap=MICROS, late=late) for late in (0.0, 0.1)}
    lines, rows = {}, []
    for name, (call, using, late) in CASES.items():
        found = {size: microseconds(data[late], call, size, using, late, pushes) for size in sizes}
        for size, times in found.items():
            bench.record(f"{name} @ {size} slices", [float(np.median(part)) for part in np.array_split(times, 5)], "µs")
        lines[name] = {size: float(np.median(times)) for size, times in found.items()}
        mean = {size: float(np.mean(times)) for size, times in found.items()}
        exponent = growth(lines[name])
        bench.record(f"{name}: time by slices", exponent, "exponent")
        costs = lines[name].values()
        rows.append([name, *costs, lines[name][sizes[-1]] / lines[name][sizes[0]],
                     mean[sizes[-1]] / mean[sizes[0]], exponent])  # fmt: skip
    head = ["microseconds of process time a push", *(f"{size:,} slices" for size in sizes),
            "last over first", "of means", "exponent"]  # fmt: skip
    bench.table(f"a push of {SIZE} slices, median of {pushes}", head, rows)
    bench.lines(TITLE, {"": lines}, "open slices", "microseconds of process time a push")


def microseconds(data, call, size, using, late, pushes):
    """The times of pushes, once a whole window has come and a few pushes have warmed up."""
    board = sash.stream(data.schema, time="ts", watermark="5 seconds" if late else "0 seconds")
    operator = board.query("answer", call, range=f"{size} seconds", slide="1 second", using=using).open()
    operator.push(data.slice(0, size + FEW))
    batches = [data.slice(size + FEW + place * SIZE, SIZE) for place in range(FEW + pushes)]
    times = np.empty(len(batches))
    for place, batch in enumerate(batches):
        start = time.process_time_ns()
        operator.push(batch)
        times[place] = (time.process_time_ns() - start) / 1000
    return times[FEW:]
