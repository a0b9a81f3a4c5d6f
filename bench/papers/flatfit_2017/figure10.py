"""Figure 10: Theoretical operations per slide in a max-multi-query environment.

The paper draws the formulas of its Table 1 for n queries, one of each range from 1 to n, at every slide. Here combines
are counted while the kernels run as plain Python, over n slides, so that the ring stands at each place once.
"""

from __future__ import annotations

import math

from bench.harness import Bench
from bench.papers.flatfit_2017._common import ALL, all_count, counts, exponents, single_count, told

TITLE = "Figure 10: Operations per slide in a max-multi-query environment"


def run(bench: Bench) -> None:
    sizes = bench.pick([2**k for k in range(1, 9)], [2, 4, 8, 32])
    lines = counts(bench, all_count, sizes)
    bench.lines("Combines counted", {"": lines}, "window size", "combines a slide")
    last, grown = sizes[-1], exponents(lines)
    for name, formula in (("recalc", "n²/2 - n/2"), ("flatfit", "n - 1")):
        exact = all(lines[name][n] == ALL[name](n) for n in sizes)
        bench.claim(
            f"{name}: {formula} operations a slide",
            f"{formula} at {'every size' if exact else 'some sizes only'}; grows with exponent {grown[name]:.2f}",
            exact,
            ", ".join(f"{lines[name][n]:.1f} at {n}" for n in sizes if lines[name][n] != ALL[name](n)),
        )
    most = {name: max(lines[name][n] / ALL[name](n) for n in sizes) for name in ("flatfat", "b_int")}
    bench.claim(
        "FlatFAT and B-Int take n log2 n at most",
        f"at {last:,}, of which that is {ALL['flatfat'](last):,.0f}: "
        + told({name: lines[name][last] for name in most}, ",.1f")
        + f"; they grow with exponents {told({name: grown[name] for name in most})}",
        all(value <= 1 for value in most.values()),
        "of n log2 n, at most " + told(most),
    )
    exact = {n: n * math.log2(n) - 1.5 * n + 2.5 * math.log2(n) + 2.5 for n in sizes}
    share = lines["flatfat"][last] / exact[last]
    bench.claim(
        "FlatFAT takes exactly n log2 n - 3n/2 + 5/2 log2 n + 5/2",
        f"at {last:,}: {lines['flatfat'][last]:,.1f} counted, {exact[last]:,.1f} by the formula",
        abs(share - 1) < 0.01,
        f"an insertion takes {single_count('flatfat', last):.0f} of these; a look-up joins the nodes that cover its "
        "range and nothing else, and the paper does not say how its own covers one",
    )
