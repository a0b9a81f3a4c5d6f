"""Table 3: latency of MomentSketch (ten moments) over windows of one and two hours that slide by a second.

A second holds 100 values; only the merging of the seconds' slices is timed, as in the paper: 3,600 and 7,200 slices a
window, 100,000 windows instead of a million. How time is taken is said in Table 2. Slices are replayed without pauses,
so that pba has the chunks of Theorem 1. SlickDeque, which the paper has here, cannot run: a sketch is no one of its
inputs, and the paper does not say how it was made to.
"""

from __future__ import annotations

from bench.harness import Bench
from bench.papers.boundary_2021._common import uniform
from bench.papers.boundary_2021._latency import NAMES, claims, latencies, of_moments, tabled
from sash.algebra.catalogue import builtin
from sash.kernels.fifo import ALGORITHMS
from sash.kernels.fifo.sliding import refusal

TITLE = "Table 3: latency of MomentSketch over time-based windows"


def run(bench: Bench) -> None:
    found = of_moments(bench, NAMES)
    tabled(bench, "Latency of MomentSketch", found, lambda size: f"{size // 3600} h" if bench.full else f"{size} s")
    claims(bench, found, "164.24, then 171.75, the other way round")
    bench.claim(
        "SlickDeque takes 385 ns on average and has no spikes",
        "it cannot run",
        None,
        refusal(ALGORITHMS["slick_deque"], builtin("moment_sketch")) or "",
    )
    size = next(iter(found))
    column = uniform(bench.pick(100_000, 2_000) + size)
    times = {
        name: each.usual / latencies(name, builtin("max"), (column,), size).usual for name, each in found[size].items()
    }
    bench.claim(
        "the more complex the aggregate, the higher the latency: MomentSketch has 3 to 4 times the median of max",
        ", ".join(f"{name} {ratio:.1f}x max" for name, ratio in times.items()),
        min(times.values()) >= 2 and max(times.values()) <= 6,
        "ns of MomentSketch: " + ", ".join(f"{name} {each.usual:.1f}" for name, each in found[size].items()),
    )
