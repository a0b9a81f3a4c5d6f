"""Figure 6: throughput of max over windows of time: 6 to 60 minutes sliding by 10 ms, and an hour by 10 to 100 ms.

As in the paper, slices of one slide each are merged by each algorithm; a reading comes about every 10 ms, so that a
slice of 10 ms holds one, none or two. Finding the edges of the slices, folding them and merging them all counts. The
readings are generated: DEBS 2012 is not to be had. They are replayed without pauses, where slices come as fast as they
are merged: that is the case of Theorem 1, whose chunks ``pba`` has. Theorem 2, which the paper has for time, counts on
the 10 ms between slices and makes a chunk as long as a window: ``pba, Theorem 2``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache

import numpy as np

from bench.harness import Bench
from bench.papers.boundary_2021._chunking import chunk_for_times, seconds_per_combine
from bench.papers.boundary_2021._common import (
    HERTZ,
    PAPER,
    Task,
    beats,
    behind,
    cut,
    debs12,
    every,
    folding,
    least,
    pushing,
    readings,
    throughputs,
)
from sash.algebra.catalogue import builtin

TITLE = "Figure 6: throughput for time-based windows"
NAMES = [*(name for name in PAPER if name != "recalc"), "daba", "pba, Theorem 2"]
MILLI = 1000  # microseconds


@cache
def combining() -> float:
    return seconds_per_combine(builtin("max"), np.float64)


def sliced(name: str, minutes: float, slide: int, at: np.ndarray, column: np.ndarray) -> Callable[[], None]:
    """Cut readings into slices of so many milliseconds, fold these, and push them."""
    edges = np.zeros(len(at) * 1000 // HERTZ // slide + 1, np.int64)
    partials, fold = folding(builtin("max"), column, len(edges) - 1, blank=-np.inf)
    chunk = chunk_for_times(minutes * 60, slide / 1000, combining()) if "2" in name else None
    push = pushing(name.partition(",")[0], round(minutes * 60_000 / slide), partials, chunk)

    def whole() -> None:
        cut(at, slide * MILLI, edges)
        fold(edges)
        push()

    return whole


def run(bench: Bench) -> None:
    rows = bench.pick(1_000_000, 20_000)
    at, column = readings(rows), debs12(rows)
    hour = bench.pick(60, 1)
    ranges = [hour * share / 60 for share in (6, 12, 24, 36, 60)]
    slides = bench.pick([10, 20, 40, 60, 80, 100], [10, 40, 100])

    def tasks(minutes: float, slide: int) -> Iterator[tuple[str, Task]]:
        return ((name, (sliced(name, minutes, slide, at, column), rows)) for name in NAMES)

    fixed = throughputs(bench, ranges, lambda minutes: tasks(minutes, 10), "slide 10 ms")
    moving = throughputs(bench, slides, lambda slide: tasks(hour, slide), "range 1 h")
    bench.lines("(a) Fixed slide of 10 ms", {"": fixed}, "range, minutes", "million readings/s", xlog=False)
    bench.lines("(b) Fixed range of 1 hour", {"": moving}, "slide, ms", "million readings/s", xlog=False)

    panels = {"a": fixed, "b": moving}
    rest = [name for name in NAMES if not name.startswith("pba")]
    best, stacks, other = (
        least({"a": fixed}, name, names, every)
        for name, names in (("pba", rest), ("pba", ["two_stacks"]), ("pba, Theorem 2", rest))
    )
    slices = round(ranges[-1] * 6000)
    fastest = max(rest, key=lambda name: fixed[name][ranges[-1]])
    bench.claim(
        "PBA has the best throughput for a slide of 10 ms, whatever the range",
        f"pba at least {best:.2f}x the fastest other ({stacks:.2f}x two_stacks), with Theorem 2 {other:.2f}x",
        best > 1,
        behind(slices, column, fixed["pba"][ranges[-1]], fastest, fixed[fastest][ranges[-1]])
        + "; pba on one thread without cutting and folding",
    )
    beats(bench, panels, "SBA is above TwoStack and SlickDeque")
    risen = {name: line[slides[-1]] / line[slides[0]] for name, line in moving.items()}
    worst = min(risen, key=risen.__getitem__)
    bench.claim(
        "as with counts, a larger slide gives a higher throughput",
        f"a slide of 100 ms over one of 10 ms: at the least {risen[worst]:.1f}x, {worst}",
        risen[worst] > 1,
        ", ".join(f"{name} {ratio:.1f}x" for name, ratio in risen.items()),
    )
