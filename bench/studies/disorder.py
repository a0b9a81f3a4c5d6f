"""Batches of 100,000 events with a watermark of 5 seconds, in order and a tenth of the events up to 5 s late."""

from __future__ import annotations

from bench.peers._stream_cases import board, events
from bench.studies._batches import pushed
from sash import functions as sf

TITLE = "Continuous queries with events out of order"
CASES = [(1, "max", 4_000_000), (1, "avg", 4_000_000), (1, "median", 400_000),
         (100, "max", 1_000_000), (100, "avg", 1_000_000), (100, "median", 200_000)]  # fmt: skip
LATE = {"in order": 0.0, "10 % late": 0.1}


def run(bench):
    lines = [measured(bench, keys, name, bench.pick(rows, 50_000)) for keys, name, rows in CASES]
    head = ["", "keys", "events", *(f"{name}, M events/s" for name in LATE), "late over in order"]
    bench.table("windows of 60 s every second, batches, watermark 5 seconds", head, lines)


def measured(bench, keys, name, rows):
    """One line: what is asked, millions of events a second, and how many times as long late ones take."""
    call, data = getattr(sf, name)("value"), {order: events(rows, keys, late=late) for order, late in LATE.items()}
    tasks = {order: pushed(board(each, call, 60, 1, keys, "5 seconds"), each) for order, each in data.items()}
    times = bench.measure(tasks, f"{name}, {keys} key{'s' * (keys > 1)}")
    ordered, late = (times[order].median for order in LATE)
    return [name, keys, rows, rows / ordered / 1e6, rows / late / 1e6, late / ordered]
