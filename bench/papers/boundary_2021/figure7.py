"""Figure 7: the latency of window after window, of max (2^13, 2^14 values) and of MomentSketch (1 h, 2 h by 1 s).

The paper draws every window of a million; here a point is the slowest of 512 windows, of the first 2^16. How time is
taken is said in Table 2, and why SlickDeque has no line for MomentSketch in Table 3.
"""

from __future__ import annotations

import numpy as np

from bench.harness import Bench
from bench.papers.boundary_2021._latency import Clocked, of_max, of_moments, spikes

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
        )
    for title, pair in (("max", maxima), ("MomentSketch", sketches)):
        small, large = (float(by_name["two_stacks"].times.max()) for by_name in pair.values())
        bench.claim(
            f"{title}: TwoStack's spikes are higher with the larger window",
            f"{small:,.0f} ns, and {large:,.0f} ns with twice the window",
            large > 1.5 * small,
        )
    calm = {
        name: sum(len(spikes(each[name], each["two_stacks"])) for each in found.values() if name in each)
        for name in ("slick_deque", "pba")
    }
    bench.claim(
        "PBA and SlickDeque have no spikes",
        "windows over a tenth of TwoStack's slowest: " + ", ".join(f"{name} {count}" for name, count in calm.items()),
        max(calm.values()) == 0,
        "pba: two slides of each chunk are driven from Python" if calm["pba"] else "",
    )
