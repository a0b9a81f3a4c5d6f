"""Figure 11: Theoretical throughput in a max-multi-query environment running N operations per second.

The paper divides N by the formulas of its Table 1. Here N, a thousand million, is divided by the combines counted as in
Figure 10.
"""

from __future__ import annotations

from bench.harness import Bench
from bench.papers.flatfit_2017._common import ALL, all_count, counts, falls_as, ranked, theoretical

TITLE = "Figure 11: Theoretical throughput in a max-multi-query environment"


def run(bench: Bench) -> None:
    sizes = bench.pick([2**k for k in range(1, 9)], [2, 4, 8, 32])
    counted = counts(bench, all_count, sizes)
    lines = theoretical(counted)
    bench.lines("Throughput at N = 10^9 combines a second", {"": lines}, "window size", "slides a second")
    short = [ALL["b_int"](n) / n - counted["b_int"][n] / n for n in sizes]
    why = f"b_int takes n log2 n less {short[0]:.1f} n to {short[-1]:.1f} n, which weighs more where n is small"
    falls_as(bench, lines, ALL, least=bench.pick(16, 2), within=0.1, why=why)
    ranked(bench, lines)
