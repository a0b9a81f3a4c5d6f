"""Figure 11: RA against the algorithm of Arasu and Widom (AW) for Max, with m changes a firing.

AW is ``b_int``. Both kernels answer the same frames in compiled code; a point is the fastest of nine rounds. Combines
are counted in plain Python.
"""

from __future__ import annotations

import statistics

from bench.harness.experiment import Bench
from bench.harness.measuring import growth
from bench.papers.reactive_2015._common import coarse, combines, costs, quotient, scaled
from sash.algebra.catalogue import builtin

TITLE = "Figure 11: the reactive aggregator against Arasu and Widom's B-Int, Max"
NAMES = ("flatfat", "b_int")
SLIDES = {"m = 1": lambda n: 1, "m = 64": lambda n: 64, "m = n/4": lambda n: n // 4}


def run(bench: Bench) -> None:
    sizes = [4**k for k in bench.pick((4, 5, 6, 7, 8, 9, 10), (4, 5, 6, 7))]
    rows, most = bench.pick(100_000, 2_000), builtin("max")
    panels = {}
    for title, m in SLIDES.items():

        def kernels(size, m=m):
            return {using: coarse(most, size, m(size), using, rows) for using in NAMES}

        panels[title] = scaled(costs(bench, sizes, kernels, title, bench.pick(9, 3)), 1e-3)
    bench.lines(TITLE, panels, "window size", "µs a tuple")
    counts = _counts(bench)
    for title, lines in panels.items():
        _claims(bench, title, lines, counts[title])


def _counts(bench):
    """Combines a tuple, at one size."""
    size = bench.pick(1024, 256)
    counts = {
        title: {using: combines(bench, "max", size, using, slide=m(size)) for using in NAMES}
        for title, m in SLIDES.items()
    }
    rows = [[title, *found.values()] for title, found in counts.items()]
    bench.table(f"Combines a tuple, windows of {size:,}", ["", *NAMES], rows)
    return counts


def _claims(bench, title, lines, counted):
    ratios = quotient(lines["b_int"], lines["flatfat"])
    middle, exponent = statistics.median(ratios.values()), growth(ratios)
    first, last = min(ratios), max(ratios)
    bench.claim(
        f"{title}: both have comparable complexity",
        f"b_int over flatfat grows with the exponent {exponent:.2f} of the window, from {first:,} tuples on",
        abs(exponent) <= 0.1,
        f"it is {ratios[first]:.2f} at {first:,} tuples, {ratios[last]:.2f} at {last:,}",
    )
    why = f"counted, b_int takes {counted['b_int']:.1f} combines a tuple and flatfat {counted['flatfat']:.1f}"
    bench.claim(
        f"{title}: RA is faster than AW by a constant factor",
        f"b_int takes {middle:.2f} times the time of flatfat (the median over window sizes)",
        middle > 1,
        why,
    )
