"""Figure 15: FlatFIT / FlatFAT throughput ratio.

The paper divides the throughputs of its max-multi-query experiment, for windows of up to 134 million. Here windows have
up to 2^20 rows, of which all ranges are answered at two slides or more, in the fastest of nine rounds.
"""

from __future__ import annotations

import statistics

from bench.harness import Bench, growth
from bench.papers.flatfit_2017._common import (
    ALL,
    all_count,
    all_slides,
    all_tasks,
    ratio,
    reaches,
    summary,
    wins,
)

TITLE = "Figure 15: FlatFIT / FlatFAT throughput ratio in a max-multi-query environment"


def run(bench: Bench) -> None:
    sizes = bench.pick([1, 2, 4, 16, 64, 256, 1024, 2**12, 2**14, 2**16, 2**18, 2**20], [1, 2, 8, 64])
    answers = bench.pick(500_000, 10_000)
    lines = bench.sweep(
        sizes,
        lambda n: all_tasks(n, answers, ("flatfat", "flatfit")),
        lambda n, seconds: all_slides(n, answers) / seconds,
        rounds=bench.pick(9, 3),
    )
    gains = ratio(lines, "flatfit", "flatfat")
    bench.lines("Throughput of FlatFIT over that of FlatFAT", {"": {"flatfit": gains}}, "window size",
                "times flatfat", ylog=False)  # fmt: skip
    holds = reaches(10, gains)
    why = f"by the formulas it is {_formulas(sizes):.1f} on average over the windows here, "
    why += f"{_formulas([2**k for k in range(28)]):.1f} over the paper's, which reach 2^27"
    bench.claim(
        "FlatFIT has 10 times the throughput of FlatFAT on average, 17 times at most",
        summary(gains),
        holds,
        why,
    )
    wins(bench, "the ratio is above 1 on all windows from 2 on", lines, 2, all_count)
    first, last = sizes[2], sizes[-1]
    bench.claim(
        "the ratio rises with the window, as the operations do: log2 n",
        f"{gains[first]:.2f} at {first}, {gains[last]:.2f} at {last:,}; exponent {growth(gains):.2f}",
        gains[last] > gains[first] and growth(gains) > 0,
        ", ".join(f"{gain:.2f} at {n:,}" for n, gain in gains.items()),
    )


def _formulas(sizes: list[int]) -> float:
    return statistics.mean(ALL["flatfat"](n) / ALL["flatfit"](n) for n in sizes if n > 1)
