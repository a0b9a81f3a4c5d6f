"""Figure 10: the cost of a tuple for StdDev, by how many tuples m come between two firings.

The m tuples of a firing come at once, and each node of FlatFAT is combined once, as in RA. A point is the fastest of 31
short rounds. Combines are counted in plain Python.
"""

from __future__ import annotations

from bench.harness.experiment import Bench
from bench.harness.measuring import growth
from bench.papers.reactive_2015._common import coarse, combines, costs, log_fit, scaled, steepest
from sash.algebra.catalogue import builtin

TITLE = "Figure 10: coarse-grained sliding, the cost of a tuple by m"
SLIDES = {"m = 1": lambda n: 1, "m = 4": lambda n: 4, "m = 64": lambda n: 64,
          "m = n/16": lambda n: n // 16, "m = n/4": lambda n: n // 4, "m = n": lambda n: n}  # fmt: skip
CONSTANT, SHARES = list(SLIDES)[:3], list(SLIDES)[3:]


def run(bench: Bench) -> None:
    sizes = [2**k for k in bench.pick(range(4, 21), (4, 6, 8, 10, 12))]
    rows = bench.pick(30_000, 2_000)

    def kernels(size):
        return {
            name: coarse(builtin("stddev"), size, m(size), "flatfat", rows)
            for name, m in SLIDES.items()
            if 1 <= m(size) <= size
        }

    lines = scaled(costs(bench, sizes, kernels, "flatfat", bench.pick(31, 3)), 1e-3)
    bench.lines(TITLE, {"flatfat": lines}, "window size", "µs a tuple")
    counts = _counts(bench)
    _straight(bench, counts, "combines")
    _straight(bench, {m: {n: cost for n, cost in lines[m].items() if n >= 64} for m in CONSTANT}, "timed")
    _level(bench, counts, bench.pick(1024, 64), "combines")
    _level(bench, lines, bench.pick(4096, 64), "timed")
    _bound(bench, counts)
    _falling(bench, lines)


def _counts(bench):
    """Combines a tuple; where m is a share of n, for larger windows too."""
    sizes = [2**k for k in bench.pick(range(6, 13), range(6, 10))]
    counts = {m: {n: combines(bench, "stddev", n, "flatfat", slide=SLIDES[m](n)) for n in sizes} for m in SLIDES}
    for m in SHARES:
        counts[m] |= {
            n: combines(bench, "stddev", n, "flatfat", slide=SLIDES[m](n)) for n in bench.pick((4**7, 4**8), ())
        }
    bench.lines("Figure 10, combines", {"flatfat": counts}, "window size", "combines a tuple", ylog=False)
    return counts


def _straight(bench, lines, what):
    fits = {m: log_fit(lines[m]) for m in CONSTANT}
    worst = min(fits, key=lambda m: fits[m][2])
    bench.claim(
        "for constant m (1, 4, 64) the cost of a tuple grows with log n: straight lines",
        f"{what}: " + ", ".join(f"{m}: R² {fit[2]:.3f}" for m, fit in fits.items()),
        all(slope > 0 and fitted >= 0.9 for _, slope, fitted in fits.values()),
        f"{worst}: {steepest(lines[worst])}",
    )


def _level(bench, lines, least, what):
    large = {m: {n: cost for n, cost in lines[m].items() if n >= least} for m in SHARES}
    found = {m: growth(line) for m, line in large.items()}
    said = ", ".join(f"{m}: {exponent:.2f}" for m, exponent in found.items())
    level = all(abs(exponent) <= 0.1 for exponent in found.values())
    worst = max(found, key=lambda m: abs(found[m]))
    ends = [large[worst][n] for n in (min(large[worst]), max(large[worst]))]
    bench.claim(
        "where m is a share of n (n/16, n/4, n) the cost of a tuple is constant for windows that are large enough",
        f"{what}, exponents from {min(large[worst]):,} tuples on: {said}",
        level,
        f"{worst}: {ends[0]:.4f} at the smallest of these windows, {ends[1]:.4f} at the largest",
    )


def _bound(bench, counts):
    """m tuples take at most m(1 + ceil(log2(n/m))) combines; then the window is looked up."""
    shares = {}
    for name, line in counts.items():
        for n, found in line.items():
            m = SLIDES[name](n)
            doublings = (n // m).bit_length() - 1
            lookup = 2 * (n.bit_length() - 1) / m
            shares[name, n] = found / (1 + doublings + lookup)
    worst = max(shares, key=shares.__getitem__)
    bench.claim(
        "a firing of m changes takes O(m + m log(n/m)) combines, by Theorem 4.2 at most m(1 + ceil(log2 n/m)) a bulk",
        f"at most {shares[worst]:.2f} of the bound for an insertion and a look-up",
        shares[worst] <= 1,
        f"at {worst[1]:,} tuples, {worst[0]}",
    )


def _falling(bench, lines):
    least = min(lines["m = n"])
    falls = {m: lines[m][least] / min(lines[m].values()) for m in SHARES}
    tuples = 1e3 * least * (lines["m = n"][least] - min(lines["m = n"].values()))
    bench.claim(
        "on small windows the lines of shares fall, from the overhead of a firing",
        f"from {least} tuples to the lowest: " + ", ".join(f"{m}: {fall:.2f} times" for m, fall in falls.items()),
        min(falls.values()) > 1.25,
        f"a firing is an entry of an array here: with m = n it adds {tuples:.0f} ns to those of {least} tuples",
    )
