"""Table 4: the cost of a tuple of Arasu and Widom's algorithm over RA's, for five functions and three windows.

AW is ``b_int``, RA is ``flatfat``; an answer after every tuple, and the fastest of nine rounds. The largest window is
4M tuples here, not 8M. Combines are counted in plain Python.
"""

from __future__ import annotations

import statistics

from bench.harness.experiment import Bench
from bench.papers.reactive_2015._common import combines, costs, quotient, sliding
from sash.algebra.catalogue import builtin

TITLE = "Table 4: Arasu and Widom's B-Int over the reactive aggregator"
NAMES = ("b_int", "flatfat")
FUNCTIONS = {
    "Sum": "sum",
    "Max": "max",
    "ArithmeticMean": "avg",
    "MinCount": "min_count",
    "PopulationStdDev": "stddev_pop",
}


def run(bench: Bench) -> None:
    sizes = bench.pick((8, 8192, 2**22), (8, 512, 2048))
    rows = bench.pick(100_000, 2_000)
    ratios, taken = {}, {}
    for title, name in FUNCTIONS.items():

        def kernels(size, name=name):
            return {using: sliding(builtin(name), size, using, rows) for using in NAMES}

        lines = costs(bench, sizes, kernels, title, bench.pick(9, 3))
        ratios[title] = quotient(lines["b_int"], lines["flatfat"])
        taken[title] = lines
    head = ["function", *(f"n = {size:,}" for size in sizes)]
    bench.table(TITLE, head, [[title, *line.values()] for title, line in ratios.items()])
    _claims(bench, sizes, ratios, taken)


def _claims(bench, sizes, ratios, taken):
    counted = {n: {using: combines(bench, "max", n, using) for using in NAMES} for n in (8, bench.pick(8192, 64))}
    why = "counted, " + "; ".join(
        f"at {n:,} b_int takes {each['b_int']:.1f} combines a tuple of Max and flatfat {each['flatfat']:.1f}"
        for n, each in counted.items()
    )
    every = {(title, n): ratio for title, line in ratios.items() for n, ratio in line.items()}
    least = min(every, key=every.__getitem__)
    bench.claim(
        "AW takes 1.02 to 1.39 times the time of RA, for all functions and windows",
        f"{every[least]:.2f} to {max(every.values()):.2f}",
        every[least] > 1,
        f"the least is of {least[0]} at {least[1]:,}; {why}",
    )
    columns = [[line[size] for line in ratios.values()] for size in sizes]
    middles = [statistics.median(column) for column in columns]
    bench.claim(
        "the gap widens with the window (1.04, 1.24 and 1.37 on the median)",
        ", ".join(f"{middle:.2f} at {size:,}" for size, middle in zip(sizes, middles, strict=True)),
        middles[0] < middles[1] < middles[2],
        "ns a tuple of Max: "
        + ", ".join(f"{using} {_listed(line)}" for using, line in taken["Max"].items())
        + f"; {why}",
    )
    spreads = {size: max(column) / min(column) for size, column in zip(sizes, columns, strict=True)}
    widest = max(spreads, key=spreads.__getitem__)
    times = ", ".join(
        f"{title} {lines['b_int'][widest]:.0f} and {lines['flatfat'][widest]:.0f}" for title, lines in taken.items()
    )
    bench.claim(
        "the function makes little difference at one window size (at most 1.04 apart)",
        f"at most {spreads[widest]:.2f} apart",
        spreads[widest] <= 1.25,
        f"ns a tuple at {widest:,}, b_int and flatfat: {times}",
    )


def _listed(line):
    return ", ".join(f"{cost:.0f} at {size:,}" for size, cost in line.items())
