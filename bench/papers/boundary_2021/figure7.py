"""Figure 7: the latency of window after window, of max (2^13, 2^14 values) and of MomentSketch (1 h, 2 h by 1 s).

The paper draws every window of a million; here a point is the slowest of 512 windows, of the first 2^16. How time is
taken is said in Table 2, and why SlickDeque has no line for MomentSketch in Table 3.
"""

from __future__ import annotations

import numpy as np

from bench.harness import Bench
from bench.papers.boundary_2021._latency import Clocked, calm, of_max, of_moments, spikes

TITLE = "Figure 7: latency, window by window"
NAMES = ("two_stacks", "slick_deque", "sba", "pba")
EACH = 512  # windows a point


def line(clocked: Clocked) -> dict[int, float]:
    points = min(2**16, len(clocked.times)) // EACH
    worst = clocked.times[: points * EACH].reshape(points, EACH).max(axis=1)
    return {EACH * (k + 1): float(value) for k, value in enumerate(worst)}


def run(bench: Bench) -> None:
    maxima, sketches = of_max(bench, NAMES), of_moments(bench, NAMES)
    found = {f"max, {size} values": by_name for size, by_name in maxima.items()}
    found |= {f"MomentSketch, {size} s": by_name for size, by_name in sketches.items()}
    panels = {title: {name: line(each) for name, each in by_name.items()} for title, by_name in found.items()}
    bench.lines("Slowest of 512 windows", panels, "window", "ns", xlog=False)

    for name, words in (
        ("two_stacks", "TwoStack has spikes, one a window's length apart"),
        ("sba", "SBA has a high latency periodically, at each boundary"),
    ):
        gaps = {
            size: np.diff(spikes(by_name[name], by_name["two_stacks"])) for size, by_name in (maxima | sketches).items()
        }
        apart = {size: float(np.median(gap)) if len(gap) else float("nan") for size, gap in gaps.items()}
        bench.claim(
            words,
            "median distance of spikes: " + ", ".join(f"{gap:,.0f} at {size:,}" for size, gap in apart.items()),
            all(0.49 * size <= gap <= 1.01 * (size + 1) for size, gap in apart.items()),
            "spikes found: " + ", ".join(f"{len(gap) + 1} at {size:,}" for size, gap in gaps.items()),
        )
    for title, pair in (("max", maxima), ("MomentSketch", sketches)):
        small, large = (by_name["two_stacks"].each(size) for size, by_name in pair.items())
        bench.claim(
            f"{title}: TwoStack's spikes are higher with the larger window",
            f"the slowest in a window's length, at the median: {small:,.0f} ns, {large:,.0f} ns with twice the window",
            large > 1.5 * small,
            "a row of the window takes {:.2f} ns, then {:.2f}".format(
                *(ns / size for ns, size in zip((small, large), pair, strict=True))
            ),
        )
    calm(bench, "PBA and SlickDeque have no spikes", found.values(), ("slick_deque", "pba"))
