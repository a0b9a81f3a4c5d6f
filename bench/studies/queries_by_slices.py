"""What further queries cost: pushes of ten slices for 1, 4 and 16 ranges, 100 queries over a table, boards of 1,000.

Ranges of one aggregate differ, between half of the longest and all of it. The queries over a table and those of
boards are drawn as in ``studies.sharing``. Times of pushes are those of the process, all threads together.
"""

from __future__ import annotations

import statistics
import time

import numpy as np

import sash
from bench.peers._stream_cases import MICROS, events
from bench.studies.push_by_slices import FEW, SIZE
from bench.studies.sharing import SAMPLE, queries, shared
from sash import functions as sf

TITLE = "Queries that share slices"
QUERIES = (1, 4, 16)


def run(bench):
    sizes, pushes = bench.pick((1_000, 10_000, 100_000), (100, 300, 1_000)), bench.pick(100, 10)
    data = events(2 * sizes[-1] + (pushes + FEW) * SIZE, gap=MICROS)
    rows = []
    for name, call in (("max", sf.max("value")), ("avg", sf.avg("value"))):
        for size in sizes:
            found = {count: microseconds(data, call, size, count, pushes) for count in QUERIES}
            for count, times in found.items():
                parts = [float(np.median(part)) for part in np.array_split(times, 5)]
                bench.record(f"{name}, {count} queries @ {size} slices", parts, "µs")
            costs = [float(np.median(times)) for times in found.values()]
            rows.append([name, size, *costs, costs[-1] / costs[0]])
    head = ["", "slices", *(f"{count} queries, µs" if count > 1 else "1 query, µs" for count in QUERIES), "16 over 1"]
    bench.table(f"a push of {SIZE} slices, median of {pushes}", head, rows)
    tables(bench)
    boards(bench)


def microseconds(data, call, size, count, pushes):
    """The times of pushes into a board of so many queries, once a whole window has come."""
    board = sash.stream(data.schema, time="ts", watermark="0 seconds")
    for place in range(count):
        board = board.query(f"q{place}", call, range=f"{size - place * size // 32} seconds", slide="1 second")
    operator = board.open()
    operator.push(data.slice(0, size + FEW))
    batches = [data.slice(size + FEW + place * SIZE, SIZE) for place in range(FEW + pushes)]
    times = np.empty(len(batches))
    for place, batch in enumerate(batches):
        start = time.process_time_ns()
        operator.push(batch)
        times[place] = (time.process_time_ns() - start) / 1000
    return times[FEW:]


def tables(bench):
    """Queries over a table: 100 on one board against one, the mean of some."""
    rows = bench.pick(2_000_000, 20_000)
    asked = queries(100)
    stream = sash.stream(events(rows), time="ts")
    tasks = {f"query {place} alone": shared(stream, [each]).results for place, each in enumerate(asked[:SAMPLE])}
    times = bench.measure({**tasks, "10 queries": shared(stream, asked[:10]).results,
                           "100 queries": shared(stream, asked).results})  # fmt: skip
    one = statistics.mean(times[name].median for name in tasks)
    lines = [["one, the mean of ten", one, 1.0]]
    lines += [[name, times[name].median, times[name].median / one] for name in ("10 queries", "100 queries")]
    bench.table(f"{rows:,} events, from a table", ["queries", "seconds", "over one"], lines)


def boards(bench):
    """Making boards."""
    counts = bench.pick((10, 100, 1_000), (3, 10, 30))
    asked = queries(max(counts))
    stream = sash.stream(events(1_000), time="ts")
    shared(stream, asked)  # what is looked up once
    times = {count: bench.measure({"a board": lambda count=count: shared(stream, asked[:count])}, f"{count} queries")
             for count in counts}  # fmt: skip
    rows = [[count, timing["a board"].median, timing["a board"].median / count * 1e6]
            for count, timing in times.items()]  # fmt: skip
    bench.table("making a board, one query after the other", ["queries", "seconds", "µs a query"], rows)
