"""Figure 16: Experimental Memory Usage in GB increments.

The paper takes the maximum resident set of processes with one query over windows of up to 134 million tuples, powers of
two and others. Here windows have up to 8 million rows, and each process slides one until its whole ring has been
written. A process that makes the same rows and has a window of one of them is drawn for comparison; what is above it is
judged, since Python and its libraries weigh more here than windows do. FlatFIT slides by one row: where it slides by
more, its stack takes as many entries as rows come at once. Peaks hardly differ between runs, so each process runs once.
"""

from __future__ import annotations

from bench.harness import Bench, peak_memory
from bench.papers.flatfit_2017._common import NAMES, hold, ratio, reaches, summary

TITLE = "Figure 16: Experimental memory usage"
BARE = "a window of 1"
ENTRIES = {
    "recalc": lambda n: n,
    "flatfat": lambda n: 2 << (n - 1).bit_length(),
    "b_int": lambda n: 2 << (n - 1).bit_length(),
    "flatfit": lambda n: 2 * n,
}
"""Words of a window by the paper's Table 1."""


def run(bench: Bench) -> None:
    million = 2**20
    sizes = bench.pick([int(million * k) for k in (1, 1.25, 1.5, 2, 2.5, 3, 4, 4.5, 6, 8)], [2**12])
    names = bench.pick(NAMES, ("flatfit",))
    for name in names:
        hold(name, 64, 64)  # compiled now and stored, so that no process below has a compiler in memory
    lines = {name: {n: _peak(bench, name, n) for n in sizes} for name in (*names, BARE)}
    bench.lines("Peak of a process", {"": lines}, "window size", "MiB", xlog=False, ylog=False)
    if not bench.full:
        return
    saved = ratio(lines, "flatfat", "flatfit")
    state = {name: {n: lines[name][n] - lines[BARE][n] for n in sizes} for name in NAMES}
    net = ratio(state, "flatfat", "flatfit")
    bench.claim(
        "FlatFIT takes 1.4 times less memory than FlatFAT on average, 1.9 times at most",
        f"whole processes: {summary(saved)}; less what a process with a window of 1 takes: {summary(net)}",
        reaches(1.4, net),
        ", ".join(f"{value:.2f} at {n:,}" for n, value in net.items()),
    )
    shares = {name: [state[name][n] * million / 8 / ENTRIES[name](n) for n in sizes] for name in NAMES}
    bench.claim(
        "memory grows as Figure 12 says, with a constant difference only",
        "less that process, of the formula's words at all sizes: "
        + ", ".join(f"{name} {min(share):.2f} to {max(share):.2f}" for name, share in shares.items()),
        all(abs(share - 1) <= 0.1 for name in NAMES for share in shares[name]),
        f"a process with a window of 1 takes {lines[BARE][sizes[0]]:.0f} to {lines[BARE][sizes[-1]]:.0f} MiB",
    )


def _peak(bench: Bench, name: str, n: int) -> float:
    held = (name, n, n) if name != BARE else ("recalc", n, 1)
    peaks = peak_memory("bench.papers.flatfit_2017._common:hold", *held, repeat=1)
    bench.record(f"{name} @ {n}", peaks, "bytes")
    return peaks[0] / 2**20
