"""Figure 7: the cost of a tuple in RA over window sizes up to millions, against a straight line in log n.

The paper goes to 8 million tuples; here windows go to 4 million (2^22), whose tree of StdDev takes 200 MB, beyond the
last cache as well. Windows are full before they are timed; a point is the fastest of 15 rounds. Combines are counted
too, in plain Python.
"""

from __future__ import annotations

from bench.harness.experiment import Bench
from bench.harness.measuring import growth
from bench.papers.reactive_2015._common import PAPER, combines, costs, full_window, log_fit, scaled, sliding, steepest
from sash.algebra.catalogue import builtin

TITLE = "Figure 7: the cost of a tuple grows with the logarithm of the window"
CACHED = 2**14  # a window up to here has its tree in the second cache of about any machine: 2^15 states of 24 bytes


def run(bench: Bench) -> None:
    sizes = [2**k for k in bench.pick(range(2, 23), (2, 5, 8, 11))]
    rows = bench.pick(100_000, 5_000)
    panels = {}
    for title, name in PAPER.items():

        def kernel(size, name=name):
            return {"flatfat": sliding(builtin(name), size, "flatfat", rows)}

        line = scaled(costs(bench, sizes, kernel, title, bench.pick(15, 3)), 1e-3)["flatfat"]
        start, slope, fitted = log_fit(line)
        panels[title] = {"flatfat": line, "best fit of a + b log2 n": {n: start + slope * _log(n) for n in line}}
        bench.claim(
            f"{title}: the cost of a tuple closely matches a straight line over log n",
            f"R² is {fitted:.3f} from 4 to {sizes[-1]:,} tuples, with {slope * 1e3:.1f} ns a doubling; "
            f"as a power the exponent is {growth(line):.2f}",
            fitted >= 0.9 and slope > 0,
            steepest(line),
        )
        _knee(bench, title, line)
    bench.lines(TITLE, panels, "window size", "µs a tuple", ylog=False)
    _counts(bench)


def _log(size):
    return size.bit_length() - 1


def _knee(bench, title, line):
    start, slope, _ = log_fit({size: cost for size, cost in line.items() if size <= CACHED})
    last = max(line)
    over = line[last] / (start + slope * _log(last))
    bench.claim(
        f"{title}: there is no knee where the window outgrows the caches",
        f"at {last:,} tuples a tuple costs {over:.2f} of what the windows up to {CACHED:,} foretell",
        over <= 1.25,
        f"the nodes above {last:,} tuples take {_bytes(title, last) / 1e6:.0f} MB",
    )


def _bytes(title, size):
    return sum(array.nbytes for array in full_window(builtin(PAPER[title]), size, "flatfat").arrays.values())


def _counts(bench):
    sizes = bench.pick((16, 64, 256, 1024, 4096), (16, 32, 64, 128))
    counts = {size: combines(bench, "max", size, "flatfat") for size in sizes}
    start, slope, fitted = log_fit(counts)
    bench.table("Combines a tuple of flatfat", ["window size", "combines"], counts.items())
    bench.claim(
        "a (1, 1)-change takes O(log n) combines",
        f"counted: {start:.1f} + {slope:.2f} log2 n, R² {fitted:.4f}",
        fitted >= 0.99,
        ", ".join(f"{found:.1f} at {size:,}" for size, found in counts.items()),
    )
