"""Figure 8: Theoretical operations per slide in a single query environment.

The paper draws the formulas of its Table 1. Here the combines of each algorithm are counted while its kernel runs as
plain Python, over a cycle of n + 1 slides of a full window, for windows of 2 to 4,096 rows.
"""

from __future__ import annotations

from bench.harness import Bench
from bench.papers.flatfit_2017._common import SINGLE, counts, exponents, single_count

TITLE = "Figure 8: Operations per slide in a single query environment"


def run(bench: Bench) -> None:
    sizes = bench.pick([2**k for k in range(1, 13)], [2, 16, 32, 64])
    lines = counts(bench, single_count, sizes)
    bench.lines("Combines counted", {"": lines}, "window size", "combines a slide")
    last, grown = sizes[-1], exponents(lines)
    exact = all(lines["recalc"][n] == SINGLE["recalc"](n) for n in sizes)
    bench.claim(
        "Naive takes n - 1 operations a slide",
        f"n - 1 at {'every size' if exact else 'some sizes only'}; grows with exponent {grown['recalc']:.2f}",
        exact,
        ", ".join(f"{lines['recalc'][n]:.2f} at {n}" for n in sizes if lines["recalc"][n] != SINGLE["recalc"](n)),
    )
    added = {
        name: [lines[name][2 * n] - lines[name][n] for n in sizes if n >= 16 and 2 * n in sizes]
        for name in ("flatfat", "b_int")
    }
    bench.claim(
        "FlatFAT and B-Int take log2 n operations a slide: a constant number more for each doubling",
        f"at {last:,}, of which the logarithm is {SINGLE['flatfat'](last):.0f}: flatfat {lines['flatfat'][last]:.1f}, "
        f"b_int {lines['b_int'][last]:.1f}; from 16 on, a doubling of the window adds "
        + "; ".join(f"{name} {min(steps):.2f} to {max(steps):.2f}" for name, steps in added.items()),
        all(min(steps) > 0 and max(steps) - min(steps) < 0.5 for steps in added.values()),
        "; ".join(f"{name} adds {', '.join(f'{step:.2f}' for step in steps)}" for name, steps in added.items()),
    )
    cycle = all(abs(lines["flatfit"][n] - 3 * (n - 1) / (n + 1)) < 1e-9 for n in sizes)
    bench.claim(
        "FlatFIT takes 3(n - 1) operations in n + 1 slides: 3 a slide, whatever the window",
        f"{'just that at every size' if cycle else 'another number'}: {lines['flatfit'][sizes[0]]:.2f} at {sizes[0]}, "
        f"{lines['flatfit'][last]:.4f} at {last:,}",
        cycle,
        f"3(n - 1) / (n + 1) is {3 * (last - 1) / (last + 1):.4f} at {last:,}",
    )
    fewest = [n for n in sizes if n > 8 and lines["flatfit"][n] == min(line[n] for line in lines.values())]
    bench.claim(
        "FlatFIT is superior in time: above 8 partials, where log2 n = 3, it takes the fewest operations",
        f"the fewest at {len(fewest)} of {sum(n > 8 for n in sizes)} sizes above 8",
        fewest == [n for n in sizes if n > 8],
        "; ".join(
            f"at {n} " + ", ".join(f"{name} {line[n]:.2f}" for name, line in lines.items())
            for n in sizes
            if n > 8 and n not in fewest
        ),
    )
