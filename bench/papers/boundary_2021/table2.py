"""Table 2: latency of max over the last 2^13 and 2^14 values, an answer a value: a million windows, the last 970,000.

Here the time of every slide is taken inside compiled code by the processor's clock, whose steps are some nanoseconds,
and is the median of five runs over the same values: what the system interrupts does not count. pba is driven from
Python at the two slides of each chunk where its second thread is called. DABA is added, which has a bound, too.
"""

from __future__ import annotations

import numpy as np

from bench.harness import Bench
from bench.papers.boundary_2021._latency import NAMES, claims, clock, nanoseconds, of_max, spikes, tabled

TITLE = "Table 2: latency of max over count-based windows"


def run(bench: Bench) -> None:
    found = of_max(bench, NAMES)
    tabled(bench, "Latency of max", found, lambda size: f"2^{size.bit_length() - 1}")
    ticks = np.zeros(10_000, np.int64)
    nanoseconds()
    clock(ticks)
    bench.record("the clock alone", float(np.median(ticks)) * nanoseconds(), "ns")
    claims(bench, found, "53.93, then 46.06")
    counts = {
        name: sum(len(spikes(each[name], each["two_stacks"])) for each in found.values())
        for name in ("two_stacks", "slick_deque", "sba", "pba")
    }
    bench.claim(
        "SlickDeque and PBA have no spikes",
        "windows over a tenth of TwoStack's Max: " + ", ".join(f"{name} {count}" for name, count in counts.items()),
        counts["slick_deque"] == counts["pba"] == 0 < counts["two_stacks"],
        "pba: two slides of each chunk are driven from Python" if counts["pba"] else "",
    )
