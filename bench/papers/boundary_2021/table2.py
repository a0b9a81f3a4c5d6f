"""Table 2: latency of max over the last 2^13 and 2^14 values, an answer a value: a million windows, the last 970,000.

Here the time of every slide is taken inside compiled code by the processor's clock, whose steps are some nanoseconds,
and is the median of five runs over the same values: what the system interrupts does not count. Where rows come one by
one, pba cumulates chunks from the right on the same thread, a row a slide. DABA is added, which has a bound, too.
"""

from __future__ import annotations

from bench.harness import Bench
from bench.papers.boundary_2021._latency import NAMES, calm, claims, of_max, reading, tabled

TITLE = "Table 2: latency of max over count-based windows"


def run(bench: Bench) -> None:
    found = of_max(bench, NAMES)
    tabled(bench, "Latency of max", found, lambda size: f"2^{size.bit_length() - 1}")
    bench.record("the clock alone", reading(), "ns")
    claims(bench, found, "53.93, then 46.06")
    calm(bench, "SlickDeque and PBA have no spikes", found.values(), ("two_stacks", "slick_deque", "sba", "pba"))
