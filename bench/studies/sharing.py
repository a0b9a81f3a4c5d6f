"""Queries that share a stream against the same queries apart: max, avg and stddev over 10 to 700 s by 1 to 10 s.

Ten queries run apart; what more of them would take is scaled from these.
"""

from __future__ import annotations

import statistics
import time

import numpy as np

import sash
from bench.harness import growth
from bench.peers._stream_cases import events
from sash import functions as sf

TITLE = "Queries that share a stream"
SAMPLE = 10
CALLS = (sf.max("value"), sf.avg("value"), sf.stddev("value"))


def queries(count):
    """The arguments of so many queries."""
    drawn = np.random.default_rng(1).integers([10, 1], [701, 11], (count, 2))
    extents = [{"range": f"{length} seconds", "slide": f"{slide} seconds"} for length, slide in drawn]
    return [((f"q{place}", CALLS[place % 3]), extent) for place, extent in enumerate(extents)]


def shared(stream, asked):
    """A board with all of the queries."""
    for names, extent in asked:
        stream = stream.query(*names, **extent)
    return stream


def run(bench):
    rows, counts = bench.pick(2_000_000, 20_000), bench.pick((1, 10, 100, 1_000), (1, 3, 10, 30))
    asked = queries(max(counts))
    stream = sash.stream(events(rows), time="ts")
    apart = [shared(stream, [each]) for each in asked[:SAMPLE]]
    alone = bench.measure({f"query {place} apart": each.results for place, each in enumerate(apart)})
    one, took, made, lines = statistics.mean(each.median for each in alone.values()), {}, {}, []
    for count in counts:
        start = time.perf_counter()
        board = shared(stream, asked[:count])
        made[count] = time.perf_counter() - start
        took[count] = bench.measure({"shared": board.results}, f"{count:,} queries")["shared"].median
        ratios = [took[count] / one, one * count / took[count]]
        lines.append(
            [count, made[count], took[count], *(rows / each / 1e6 for each in (took[count], one * count)), *ratios]
        )
    for what, costs in (("answering", took), ("making a board", made)):
        bench.record(f"time of {what} by queries", growth(costs), "exponent")
    head = ["queries", "board made, s", "shared, s", "shared, M events/s", "apart, M events/s",
            "shared over one query", "apart over shared"]  # fmt: skip
    grows = f"answering takes queries^{growth(took):.2f}, making the board queries^{growth(made):.2f}"
    bench.table(f"{rows:,} events; {grows}", head, lines)
