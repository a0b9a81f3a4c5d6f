"""Figure 12: Theoretical Memory Usage in GB increments.

The paper draws the formulas of its Table 1 for windows of up to 134 million partials. Here it is the size of the arrays
that a window of so many rows allocates (nothing is written to them, so they take no memory yet). FlatFIT allocates room
for a stack of n as well, since any ranges may be asked; one query uses two entries of it, which are what is counted
here, and the rest is drawn apart.
"""

from __future__ import annotations

import numpy as np

from bench.harness import Bench
from bench.papers.flatfit_2017._common import MAX, NAMES, ratio, stack, summary
from sash.kernels.fifo import Sliding

TITLE = "Figure 12: Theoretical memory usage"
WHOLE = "flatfit, room for its stack too"


def run(bench: Bench) -> None:
    sizes = [2**23 * k for k in range(1, 17)] + [2**k + 1 for k in (23, 24, 25, 26)]
    lines = {name: {} for name in (*NAMES, WHOLE)}
    depth = stack(bench.pick(2**16, 2**10), [bench.pick(2**16, 2**10)])
    for n in sorted(sizes):
        for name in NAMES:
            arrays = Sliding(MAX, np.int64, size=n, using=name).arrays
            whole = sum(array.nbytes for array in arrays.values())
            lines[name][n] = (whole - (arrays["path"].nbytes - 8 * depth if name == "flatfit" else 0)) / 2**30
            bench.record(f"{name} @ {n}", whole, "bytes")
        lines[WHOLE][n] = whole / 2**30
    bench.lines("Arrays of a window", {"": lines}, "window size", "GiB", xlog=False, ylog=False)
    entries = {name: [lines[name][n] * 2**30 / 8 / n for n in lines[name]] for name in lines}
    bench.claim(
        "Naive holds n partials, FlatFAT and B-Int 2^(ceil(log2 n) + 1): 2n where n is a power of two, more elsewhere",
        f"{max(entries['recalc']):.2f} n, and {min(entries['flatfat']):.2f} n to {max(entries['flatfat']):.2f} n",
        max(entries["recalc"]) < 1.01 and min(entries["flatfat"]) < 2.01 and max(entries["flatfat"]) > 3,
        f"b_int {min(entries['b_int']):.2f} n to {max(entries['b_int']):.2f} n",
    )
    worst = max(entries["flatfat"])
    bench.claim(
        "FlatFAT and B-Int take up to 3n in the worst cases, such as n = 1025",
        f"up to {worst:.2f} n",
        worst < 3.01,
        f"by the paper's own formula it is 2^12 for 1025, {2**12 / 1025:.2f} n",
    )
    bench.claim(
        "FlatFIT holds 2n, its stack two entries at most",
        f"{max(entries['flatfit']):.2f} n, and {depth} entries of the stack were used in 3 n slides",
        depth <= 2 and max(entries["flatfit"]) < 2.01,
        f"{min(entries['flatfit']):.4f} n to {max(entries['flatfit']):.4f} n",
    )
    saved, room = ratio(lines, "flatfat", "flatfit"), ratio(lines, "flatfat", WHOLE)
    bench.claim(
        "Naive is best in space, FlatFIT next: never above FlatFAT",
        f"flatfat takes {summary(saved)} of what flatfit holds; with room for the stack of n, "
        f"{min(room.values()):.2f} to {max(room.values()):.2f} times",
        all(value > 0.999 for value in saved.values()),
        "more than flatfat at " + ", ".join(f"{n:,}" for n, value in saved.items() if value <= 0.999),
    )
