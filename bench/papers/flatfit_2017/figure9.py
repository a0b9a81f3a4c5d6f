"""Figure 9: Theoretical throughput in a single query environment running N operations per second.

The paper divides N by the formulas of its Table 1. Here N, a thousand million, is divided by the combines counted as in
Figure 8.
"""

from __future__ import annotations

from bench.harness import Bench
from bench.papers.flatfit_2017._common import SINGLE, counts, falls_as, ranked, single_count, theoretical

TITLE = "Figure 9: Theoretical throughput in a single query environment"


def run(bench: Bench) -> None:
    sizes = bench.pick([2**k for k in range(1, 13)], [2, 4, 8, 32])
    lines = theoretical(counts(bench, single_count, sizes))
    bench.lines("Throughput at N = 10^9 combines a second", {"": lines}, "window size", "slides a second")
    falls_as(bench, lines, SINGLE, least=bench.pick(16, 2), within=0.1)
    ranked(bench, lines)
