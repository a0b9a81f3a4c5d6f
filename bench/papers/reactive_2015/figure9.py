"""Figure 9: windows that force FlatFAT to resize all the time, against windows of one size.

As in the paper the oscillating window is filled until its capacity of n doubles, then evicted until it halves, over and
over. ``sash.kernels.fifo.FlatFat`` resizes so; since it is called from Python, a firing here takes n/16 tuples, not
one, and a point is the fastest of nine rounds. With one tuple a firing the combines are counted instead.
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
    panels, counted = {}, _counted(bench)
    for title, name in PAPER.items():
        lines = costs(
            bench, sizes, lambda size, name=name: _windows(builtin(name), size, size // 16), title, bench.pick(9, 3)
        )
        panels[title] = scaled(lines, 1e-3)
        shares = {size: _resizing(builtin(name), size) for size in (sizes[0], sizes[-1])}
        why = "resizing is " + ", ".join(f"{share:.0%} of a cycle at {size:,}" for size, share in shares.items())
        _claims(bench, f"{title}, n/16 tuples a firing", lines, f"{why}; {counted}")
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

    return {"fixed": (keep, steps * step), "oscillating": (lambda: _cycle(moving, size, step, steps), steps * step)}


def _cycle(moving, size, step, steps):
    assert moving.window.capacity == 2 * size
    moving.evict(steps * step)
    assert moving.window.capacity == size
    for _ in range(steps):
        moving.insert(step)
        moving.window.query()


def _resizing(aggregate, size):
    """The share of a cycle of an oscillating window in which its tree is built anew, the median of five."""
    step, shares = size // 16, []
    moving = Reactive(aggregate, size)
    moving.insert(step)
    build, spent = moving.window._build, []
    moving.window._build = lambda *args: spent.append(once(lambda: build(*args)))
    for _ in range(5):
        spent.clear()
        shares.append(1 / once(lambda: _cycle(moving, size, step, 10)) * sum(spent))
    return statistics.median(shares)


def _claims(bench, what, lines, why):
    ratios = quotient(lines["oscillating"], lines["fixed"])
    middle, exponent = statistics.median(ratios.values()), growth(ratios)
    bench.claim(
        f"{what}: the cost of resizing is amortised",
        f"oscillating over fixed grows with the exponent {exponent:.2f} of the window; unamortised it would be 1",
        exponent <= 0.1,
        why,
    )
    bench.claim(
        f"{what}: oscillating windows are faster than fixed ones",
        f"they take {middle:.2f} of the cost (the median over window sizes)",
        middle < 1,
        why,
    )


def _counted(bench):
    """Combines a tuple where n/16 tuples fire, in words."""
    size, counted = bench.pick(1024, 64), Counted("max")
    found = {kind: counted.during(timed) for kind, timed in _windows(counted.aggregate, size, size // 16).items()}
    return f"counted at {size:,}, " + " and ".join(
        f"{kind} take {count:.2f} combines a tuple" for kind, count in found.items()
    )


def _counts(bench):
    lines = {"fixed": {}, "oscillating": {}}
    for size in bench.pick((16, 64, 256, 1024), (8, 16, 32, 64)):
        counted = Counted("max")
        for kind, timed in _windows(counted.aggregate, size, 1).items():
            lines[kind][size] = counted.during(timed)
            bench.record(f"{kind} combines a tuple @ {size}", lines[kind][size], "combines")
    bench.lines("Figure 9, combines", {"Max, one tuple a firing": lines}, "window size", "combines a tuple", ylog=False)
    last = max(lines["fixed"])
    why = ", ".join(f"{kind} {line[last]:.2f} at {last:,}" for kind, line in lines.items())
    _claims(bench, "combines, one tuple a firing", lines, why)


def _latency(bench):
    """The insert that doubles the capacity, less one at the same size that does not: the call from Python."""
    sizes = [2**k for k in bench.pick((8, 14, 16, 18, 20), (8, 10, 11, 12))]
    doubling, alone = {}, {}
    for size in sizes:
        for line, room in ((doubling, size), (alone, 2 * size)):
            taken = [once(partial(Reactive(builtin("stddev"), size, room).insert, 1)) for _ in range(9)]
            bench.record(f"{'doubling' if room == size else 'not doubling'} @ {size}", taken, "s")
            line[size] = min(taken) * 1e6
    rows = [[size, doubling[size], alone[size]] for size in sizes]
    head = ["window size", "it doubles the capacity", "it does not"]
    bench.table("StdDev: µs of an insert, the fastest of nine", head, rows)
    large = {size: doubling[size] - alone[size] for size in sizes if size >= bench.pick(2**14, 0)}
    first, last = min(large), max(large)
    bench.claim(
        "one firing may take linear time: 4.2 µs from 256 to 512 tuples, 9.4 ms from 1 M to 2 M",
        f"{doubling[sizes[0]]:.0f} µs at {sizes[0]:,}, {doubling[last] / 1e3:.1f} ms at {last:,}; less what an insert "
        f"takes that doubles nothing, the exponent is {growth(large):.2f} from {first:,} tuples on",
        0.8 <= growth(large) <= 1.2,
        " and ".join(f"{1e3 * large[size] / size:.2f} ns a tuple held at {size:,}" for size in (first, last)),
    )
