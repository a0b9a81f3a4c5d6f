"""Figure 11: RA against the algorithm of Arasu and Widom (AW) for Max, with m changes a firing.

AW is ``b_int``. Both kernels answer the same frames in compiled code; where m is a share of the window, FlatFAT in bulk
(``sash.kernels.fifo.FlatFat``, called from Python) is the one that does what RA does. Combines are counted in plain
Python.
"""

from __future__ import annotations

import statistics

from bench.harness.experiment import Bench
from bench.harness.measuring import growth
from bench.papers.reactive_2015._common import BULK, coarse, combines, costs, in_bulk, quotient, scaled
from sash.algebra.catalogue import builtin

TITLE = "Figure 11: the reactive aggregator against Arasu and Widom's B-Int, Max"
SLIDES = {"m = 1": lambda n: 1, "m = 64": lambda n: 64, "m = n/4": lambda n: n // 4}


def run(bench: Bench) -> None:
    sizes = [4**k for k in bench.pick((4, 5, 6, 7, 8, 9, 10), (4, 5, 6, 7))]
    rows, most = bench.pick(200_000, 2_000), builtin("max")
    panels = {}
    for title, m in SLIDES.items():

        def kernels(size, title=title, m=m):
            timed = {using: coarse(most, size, m(size), using, rows) for using in ("flatfat", "b_int")}
            share = title == "m = n/4"
            return timed | ({BULK: in_bulk(most, size, m(size), min(rows, 40 * m(size)))} if share else {})

        panels[title] = scaled(costs(bench, sizes, kernels, title), 1e-3)
    bench.lines(TITLE, panels, "window size", "µs a tuple")
    counts = _counts(bench)
    for title, lines in panels.items():
        _claims(bench, title, lines, counts[title])


def _counts(bench):
    """Combines a tuple, at one size."""
    size, names = bench.pick(1024, 256), ("flatfat", BULK, "b_int")
    counts = {
        title: {using: combines(bench, "max", size, using, slide=m(size)) for using in names}
        for title, m in SLIDES.items()
    }
    rows = [[title, *found.values()] for title, found in counts.items()]
    bench.table(f"Combines a tuple, windows of {size:,}", ["", *names], rows)
    return counts


def _claims(bench, title, lines, counted):
    name = BULK if BULK in lines else "flatfat"
    ratios = quotient(lines["b_int"], lines[name])
    if name == BULK and bench.full:  # calls from Python are most of the cost of smaller windows
        ratios = {size: ratio for size, ratio in ratios.items() if size >= 4**7}
    middle, exponent = statistics.median(ratios.values()), growth(ratios)
    bench.claim(
        f"{title}: both have comparable complexity",
        f"b_int over {name} grows with the exponent {exponent:.2f} of the window, from {min(ratios):,} tuples on",
        abs(exponent) <= 0.1,
    )
    why = f"counted, b_int takes {counted['b_int']:.1f} combines a tuple and {name} {counted[name]:.1f}"
    if name == BULK:
        why += "; beside them FlatFat looks up each row that leaves by its id"
    bench.claim(
        f"{title}: RA is faster than AW by a constant factor",
        f"b_int takes {middle:.2f} times the time of {name} (the median over window sizes)",
        middle > 1,
        "" if middle > 1 else why,
    )
