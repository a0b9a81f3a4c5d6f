"""Figure 9: windows that force FlatFAT to resize all the time, against windows of one size.

As in the paper the oscillating window is filled until its capacity of n doubles, then evicted until it halves, over and
over. ``sash.kernels.fifo.FlatFat`` resizes so; since it is called from Python, a firing here takes n/16 tuples, not
one. With one tuple a firing the combines are counted instead.
"""

from __future__ import annotations

import statistics
from functools import partial

from bench.harness.experiment import Bench
from bench.harness.measuring import growth, once
from bench.papers.reactive_2015._common import PAPER, Counted, Reactive, costs, quotient, scaled
from sash.algebra.catalogue import builtin

TITLE = "Figure 9: windows of one size and windows whose capacity oscillates"


def run(bench: Bench) -> None:
    sizes = [2**k for k in bench.pick((12, 14, 16, 18, 20), (10, 11, 12, 13))]
    panels = {}
    for title, name in PAPER.items():
        lines = costs(bench, sizes, lambda size, name=name: _windows(builtin(name), size, size // 16), title)
        panels[title] = scaled(lines, 1e-3)
        _claims(bench, f"{title}, n/16 tuples a firing", lines)
    bench.lines(TITLE, panels, "window size", "µs a tuple", ylog=False)
    _counts(bench)
    _latency(bench)


def _windows(aggregate, size, step):
    """A cycle of each kind: as many tuples come as go, with an answer every ``step`` tuples that come."""
    fixed, moving = Reactive(aggregate, size), Reactive(aggregate, size)
    steps = size // 2 // step + 2  # from just below a half, where capacity halves, to just above all, where it doubles
    moving.insert(step)

    def keep():
        for _ in range(steps):
            fixed.fire(step)

    def oscillate():
        assert moving.window.capacity == 2 * size
        moving.evict(steps * step)
        assert moving.window.capacity == size
        for _ in range(steps):
            moving.insert(step)
            moving.window.query()

    return {"fixed": (keep, steps * step), "oscillating": (oscillate, steps * step)}


def _claims(bench, what, lines):
    ratios = quotient(lines["oscillating"], lines["fixed"])
    middle, exponent = statistics.median(ratios.values()), growth(ratios)
    bench.claim(
        f"{what}: the cost of resizing is amortised",
        f"oscillating over fixed grows with the exponent {exponent:.2f} of the window; unamortised it would be 1",
        exponent <= 0.1,
    )
    bench.claim(
        f"{what}: oscillating windows are faster than fixed ones",
        f"they take {middle:.2f} of the cost (the median over window sizes)",
        middle < 1,
    )


def _counts(bench):
    lines = {"fixed": {}, "oscillating": {}}
    for size in bench.pick((16, 64, 256, 1024), (8, 16, 32, 64)):
        counted = Counted("max")
        for kind, timed in _windows(counted.aggregate, size, 1).items():
            lines[kind][size] = counted.during(timed)
            bench.record(f"{kind} combines a tuple @ {size}", lines[kind][size], "combines")
    bench.lines("Figure 9, combines", {"Max, one tuple a firing": lines}, "window size", "combines a tuple", ylog=False)
    _claims(bench, "combines, one tuple a firing", lines)


def _latency(bench):
    sizes = [2**k for k in bench.pick((8, 14, 16, 18, 20), (8, 10, 11, 12))]
    times = {}
    for size in sizes:
        taken = [once(partial(Reactive(builtin("stddev"), size).insert, 1)) for _ in range(5)]
        bench.record(f"doubling @ {size}", taken, "s")
        times[size] = statistics.median(taken) * 1e6
    bench.table("StdDev: µs of the insert that doubles the capacity", ["window size", "µs"], times.items())
    large = {size: cost for size, cost in times.items() if size >= 2**14} if bench.full else times
    bench.claim(
        "one firing may take linear time: 4.2 µs from 256 to 512 tuples, 9.4 ms from 1 M to 2 M",
        f"{times[sizes[0]]:.0f} µs at {sizes[0]:,}, {times[sizes[-1]] / 1e3:.1f} ms at {sizes[-1]:,}; "
        f"the exponent is {growth(large):.2f} from {min(large):,} tuples on",
        0.8 <= growth(large) <= 1.2,
    )
