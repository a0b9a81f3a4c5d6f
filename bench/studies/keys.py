"""One query over more and more keys: windows of 60 s over a whole table, in order and a tenth of the events late.

Events are 1 ms apart. Late ones come up to five seconds after their time. Where answers outnumber events, which they
do for 100,000 keys, answers are what is paid for.
"""

from __future__ import annotations

from bench.peers._stream_cases import board, events
from sash import functions as sf

TITLE = "Continuous queries by the number of keys"
CASES = [(1, 1, 5_000_000), (100, 1, 2_000_000), (100_000, 60, 1_000_000), (100_000, 10, 1_000_000)]
LATE = {"in order": 0.0, "10 % late": 0.1}


def run(bench):
    lines = [measured(bench, keys, slide, bench.pick(rows, 50_000)) for keys, slide, rows in CASES]
    head = ["keys", "slide, s", "events", "answers", *LATE]
    bench.table("max, windows of 60 s, whole tables: millions of events a second", head, lines)


def measured(bench, keys, slide, rows):
    """One line: what is asked, and millions of events a second."""
    data = {name: events(rows, keys, late=late) for name, late in LATE.items()}
    boards = {name: board(each, sf.max("value"), 60, slide, keys) for name, each in data.items()}
    answers = boards["in order"].results().num_rows
    times = bench.measure({name: each.results for name, each in boards.items()}, f"{keys:,} keys, slide {slide} s")
    return [keys, slide, rows, answers, *(rows / times[name].median / 1e6 for name in LATE)]
