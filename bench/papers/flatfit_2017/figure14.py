"""Figure 14: Throughput in processed slides per second in max-multi-query environment.

The paper answers MAX over every range from 1 to the window size after each tuple, for windows of up to 1,000. So here;
the ranges come as bounds in arrays, the longest first. A point is the fastest of nine rounds.
"""

from __future__ import annotations

from bench.harness import Bench
from bench.papers.flatfit_2017._common import ALL, all_count, all_slides, all_tasks, falls_as, ratio, taken, trees

TITLE = "Figure 14: Throughput in a max-multi-query environment"


def run(bench: Bench) -> None:
    sizes = bench.pick([2**k for k in range(11)], [1, 2, 4, 8, 16, 64])
    answers = bench.pick(300_000, 10_000)
    lines = bench.sweep(
        sizes,
        lambda n: all_tasks(n, answers),
        lambda n, seconds: all_slides(n, answers) / seconds,
        rounds=bench.pick(9, 3),
    )
    bench.lines("MAX over all ranges up to the window", {"": lines}, "window size", "slides a second")
    above = [n for n in sizes if n >= 2]
    best = [n for n in above if lines["flatfit"][n] == max(line[n] for line in lines.values())]
    lost = [n for n in above if n not in best]
    bench.claim(
        "FlatFIT performs best on all windows from 2 on",
        f"best on {len(best)} of {len(above)} sizes" + (f", not on {', '.join(map(str, lost))}" if lost else ""),
        not lost,
        taken(lines, lost[-1], all_count) if lost else "",
    )
    behind = {name: 1 - ratio(lines, "flatfit", name)[1] for name in ("recalc", "flatfat")}
    bench.claim(
        "on windows of 1, FlatFIT is behind Naive by 2 % and FlatFAT by 1 %",
        f"behind recalc by {100 * behind['recalc']:.0f} %, flatfat by {100 * behind['flatfat']:.0f} %",
        all(abs(value) < 0.1 for value in behind.values()),
        taken(lines, 1, all_count),
    )
    falls_as(bench, lines, ALL, least=bench.pick(16, 2), within=0.2)
    trees(bench, lines, all_count, bench.pick(256, 16))
