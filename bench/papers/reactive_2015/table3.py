"""Table 3: the smallest windows where RA is as fast as re-evaluation, and where it is ten times as fast.

The paper narrows the points down to ten tuples; here windows are a factor of four apart, with a straight line between
them on logarithmic axes. ISS answers Count by the size of its container: here by the ends of the frames, which no
kernel can undercut. For Collect the lists are made too. Values are 32-bit integers unless marked Double.
"""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from bench.harness.experiment import Bench
from bench.papers.reactive_2015._common import costs, crossing, full_window, numbers, quotient, sliding
from sash.algebra.catalogue import builtin
from sash.engine.placing import gathered

TITLE = "Table 3: from which window size on the reactive aggregator pays off"
INT, DOUBLE = np.int32, np.float64
FUNCTIONS = {  # what the paper found: the break-even point, and where RA is ten times as fast
    "Count": ("count", INT, None, None), "Sum": ("sum", INT, 370, 5200), "Sum<Double>": ("sum", DOUBLE, 290, 5200),
    "Max": ("max", INT, 260, 5200), "Max<Double>": ("max", DOUBLE, 130, 3600), "ArithmeticMean": ("avg", INT, 10, 900),
    "MinCount": ("min_count", INT, 200, 4480), "SampleStdDev": ("stddev", INT, 10, 700),
    "PopulationStdDev": ("stddev_pop", INT, 10, 700), "ArgMax": ("max_by", INT, 130, 2770),
    "ArgMax<Double>": ("max_by", DOUBLE, 250, 5810), "Collect": ("collect", INT, None, None),
}  # fmt: skip


def run(bench: Bench) -> None:
    sizes = bench.pick((1, 4, 16, 64, 256, 1024, 4096, 16384), (4, 64))
    found, speeds, combining = {}, {}, {}
    for title, (name, dtype, *_) in FUNCTIONS.items():
        lines = costs(bench, sizes, lambda size, n=name, d=dtype: _pair(bench, builtin(n), size, d), title)
        speeds[title] = quotient(lines["recalc"], lines["flatfat"])
        found[title] = crossing(speeds[title], 1), crossing(speeds[title], 10)
        combining[title] = lines["recalc"][sizes[-1]] / (sizes[-1] - 1)
    head = ["function", "break-even", "10x", "break-even in the paper", "10x in the paper"]
    bench.table(TITLE, head, [[t, *map(_point, found[t]), *map(_point, FUNCTIONS[t][2:])] for t in FUNCTIONS])
    _claims(bench, found, speeds, combining)


def _pair(bench, aggregate, size, dtype):
    rows = bench.pick(100_000, 500)
    fewer = min(rows, max(6_000_000 // size, 200))
    if aggregate.name == "count":
        end = np.arange(rows)
        baseline = (lambda: end - np.maximum(end - size, 0)), rows
        return {"recalc": baseline, "flatfat": sliding(aggregate, size, "flatfat", rows, dtype)}
    if aggregate.name == "collect":
        return {using: _lists(aggregate, size, using, fewer) for using in ("recalc", "flatfat")}
    rest = {"recalc": fewer, "flatfat": rows}
    return {using: sliding(aggregate, size, using, count, dtype) for using, count in rest.items()}


def _lists(aggregate, size, using, rows):
    window, column = full_window(aggregate, size, using), pa.array(numbers(rows + size))

    def run():
        before = window.rows - size
        values, valid = window.push(rows=rows)
        for end in ("f0", "f1"):
            values[end] -= before
        return gathered(aggregate, column, values, valid)

    return run, rows


def _point(size):
    return "never" if size is None else round(size)


def _claims(bench, found, speeds, combining):
    paid = {title: points for title, points in found.items() if FUNCTIONS[title][2]}
    for which, most, words in ((0, 370, "breaks even at 10 to 370"), (1, 5810, "is ten times as fast at 700 to 5,810")):
        points = {title: point[which] for title, point in paid.items()}
        late = [title for title, point in points.items() if point is None or point > most]
        here = sorted(point for point in points.values() if point is not None)
        spread = f"at {here[0]:,.0f} to {here[-1]:,.0f} tuples" if here else "at no size"
        bench.claim(
            f"RA {words} tuples",
            f"{spread}; later than the paper's latest: {', '.join(late) or 'none'}",
            not late,
            "; ".join(f"{title}: {_said(speeds[title])}" for title in late),
        )
    for title in ("Count", "Collect"):
        why = "Collect's partial is a start and a stop here, not a list; " if title == "Collect" else ""
        even = found[title][0]
        here = "it does not up to the largest window" if even is None else f"it does from {even:,.0f} tuples on"
        bench.claim(f"{title} never breaks even", here, even is None, why + _said(speeds[title]))
    cheap, dear = ("Sum", "Max", "MinCount"), ("ArithmeticMean", "SampleStdDev", "PopulationStdDev")
    soonest, latest = (
        min(found[title][0] or np.inf for title in cheap),
        max(found[title][0] or np.inf for title in dear),
    )
    bench.claim(
        "the costlier the function, the sooner RA breaks even (the mean and the deviations before Sum, Max, MinCount)",
        f"the costly ones by {latest:,.0f} tuples, the cheap ones from {soonest:,.0f} on",
        latest < soonest,
        "compiled, a combine of recalc takes " + ", ".join(f"{t} {combining[t]:.2f}" for t in cheap + dear) + " ns",
    )


def _said(ratios):
    """How flatfat compares with recalc, in words."""
    return "flatfat is " + ", ".join(f"{ratio:.2f}" for ratio in ratios.values()) + " times as fast, by window size"
