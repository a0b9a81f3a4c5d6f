"""Figure 8: tumbling windows, where nothing can be used again: the time of a firing by re-evaluation and by RA.

All tuples of a firing come at once, and each node of FlatFAT is combined once, as in RA. Combines are counted in plain
Python.
"""

from __future__ import annotations

import statistics

from bench.harness.experiment import Bench
from bench.papers.reactive_2015._common import PAPER, chosen, coarse, combines, costs, quotient
from sash.algebra.catalogue import builtin

TITLE = "Figure 8: the time of a firing of tumbling windows"


def run(bench: Bench) -> None:
    sizes = [4**k for k in bench.pick((2, 3, 4, 5, 6, 7, 8, 9, 10), (2, 4, 6))]
    rows = bench.pick(200_000, 2_000)
    panels = {}
    for title, name in PAPER.items():
        aggregate = builtin(name)

        def kernels(size, aggregate=aggregate):
            return {
                "recalc": coarse(aggregate, size, size, "recalc", rows),
                "flatfat": coarse(aggregate, size, size, "flatfat", rows),
                "the planner": coarse(aggregate, size, size, chosen(aggregate, size, size), rows),
            }

        lines = costs(bench, sizes, kernels, title)
        panels[title] = {name: {n: cost * n / 1e3 for n, cost in line.items()} for name, line in lines.items()}
    bench.lines(TITLE, panels, "window size", "µs a firing")
    counts = _counts(bench)
    for title, lines in panels.items():
        _claim(bench, title, lines, counts)


def _counts(bench):
    """Combines a firing, by algorithm and window size."""
    sizes, names = bench.pick((16, 64, 256, 1024), (16, 64)), ("recalc", "flatfat")
    counts = {using: {n: combines(bench, "max", n, using, slide=n) * n for n in sizes} for using in names}
    rows = [[n, *(counts[using][n] for using in names)] for n in sizes]
    bench.table("Combines a firing of tumbling windows", ["window size", *names], rows)
    holds = all(counts["flatfat"][n] <= counts["recalc"][n] == n - 1 for n in sizes)
    more = [n for n in sizes if counts["flatfat"][n] > counts["recalc"][n]]
    bench.claim(
        "RA does no more combines for a whole new window than re-evaluation, which takes n - 1",
        f"counted at {sizes[-1]:,} tuples: " + ", ".join(f"{line[sizes[-1]]:.0f} by {u}" for u, line in counts.items()),
        holds,
        f"flatfat takes more at {', '.join(map(str, more)) or 'no size'}",
    )
    return counts


def _claim(bench, title, lines, counts):
    ratios = quotient(lines["flatfat"], lines["recalc"])
    middle, size = statistics.median(ratios.values()), max(counts["flatfat"])
    ours, theirs = counts["flatfat"][size], counts["recalc"][size]
    why = f"at {size:,} tuples flatfat takes {ours:.0f} combines a firing and recalc {theirs:.0f}; "
    why += f"its nodes are written and read beside: {min(ratios.values()):.2f} to {max(ratios.values()):.2f} times"
    bench.claim(
        f"{title}: a firing costs about the same by RA and by re-evaluation",
        f"flatfat takes {middle:.2f} times recalc's time (the median over window sizes)",
        middle <= 1.25,
        why,
    )
