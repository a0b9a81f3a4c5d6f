"""Figure 10: the cost of a tuple for StdDev, by how many tuples m come between two firings.

``flatfat`` is the kernel for FIFO windows, which climbs to the root for each tuple. "flatfat in bulk" is
``sash.kernels.fifo.FlatFat``, which takes the changes of a firing at once, as RA does; each of its firings costs a few
calls from Python, so that small m is timed on the kernel and counted in combines on both.
"""

from __future__ import annotations

from bench.harness.experiment import Bench
from bench.harness.measuring import growth
from bench.papers.reactive_2015._common import BULK, coarse, combines, costs, in_bulk, log_fit, scaled
from sash.algebra.catalogue import builtin

TITLE = "Figure 10: coarse-grained sliding, the cost of a tuple by m"
SLIDES = {"m = 1": lambda n: 1, "m = 4": lambda n: 4, "m = 64": lambda n: 64,
          "m = n/16": lambda n: n // 16, "m = n/4": lambda n: n // 4, "m = n": lambda n: n}  # fmt: skip
CONSTANT, SHARES = list(SLIDES)[:3], list(SLIDES)[3:]


def run(bench: Bench) -> None:
    stddev = builtin("stddev")
    sizes = [4**k for k in bench.pick((3, 4, 5, 6, 7, 8, 9, 10), (3, 4, 5, 6))]
    rows, firings = bench.pick(100_000, 2_000), bench.pick(100, 2)

    def kernel(size):
        return {name: coarse(stddev, size, m(size), "flatfat", rows) for name, m in SLIDES.items()}

    def bulk(size):
        return {name: in_bulk(stddev, size, m(size), min(rows, m(size) * firings)) for name, m in SLIDES.items()}

    panels = {
        "flatfat": scaled(costs(bench, sizes, kernel, "flatfat"), 1e-3),
        BULK: scaled(costs(bench, sizes, bulk, BULK), 1e-3),
    }
    bench.lines(TITLE, panels, "window size", "µs a tuple")
    counts = _counts(bench)
    shares = _shares(bench)
    _straight(bench, panels["flatfat"], "flatfat, timed")
    _level(bench, panels[BULK], shares)
    _straight(bench, counts[BULK], f"{BULK}, combines")
    _bound(bench, counts[BULK])
    _falling(bench, panels[BULK]["m = n"])


def _counts(bench):
    sizes = bench.pick((64, 128, 256, 512, 1024), (64, 128))
    counts = {
        using: {name: {n: combines(bench, "stddev", n, using, slide=m(n)) for n in sizes} for name, m in SLIDES.items()}
        for using in ("flatfat", BULK)
    }
    bench.lines("Figure 10, combines", counts, "window size", "combines a tuple", ylog=False)
    return counts


def _straight(bench, lines, what):
    fits = {m: log_fit(lines[m]) for m in CONSTANT}
    said = ", ".join(f"{m}: R² {fit[2]:.3f}" for m, fit in fits.items())
    bench.claim(
        "for constant m (1, 4, 64) the cost of a tuple grows with log n: straight lines",
        f"{what}: {said}",
        all(slope > 0 and fitted >= 0.9 for _, slope, fitted in fits.values()),
    )


def _shares(bench):
    """Combines a tuple where m is a share of n, which larger windows can be counted for."""
    sizes = [4**k for k in bench.pick((5, 6, 7, 8), (3, 4))]
    return {m: {n: combines(bench, "stddev", n, BULK, slide=SLIDES[m](n)) for n in sizes} for m in SHARES}


def _level(bench, timed, counted):
    if not bench.full:
        return
    paper = "where m is a share of n (n/16, n/4, n) the cost of a tuple is constant for windows that are large enough"
    found = {m: growth(line) for m, line in counted.items()}
    said = ", ".join(f"{m}: {exponent:.2f}" for m, exponent in found.items())
    level = all(abs(exponent) <= 0.1 for exponent in found.values())
    bench.claim(paper, f"{BULK}, combines, exponents from 1,024 to 65,536 tuples: {said}", level)
    large = {m: growth({n: cost for n, cost in timed[m].items() if n >= 4**6}) for m in SHARES}
    said = ", ".join(f"{m}: {exponent:.2f}" for m, exponent in large.items())
    level = all(abs(exponent) <= 0.1 for exponent in large.values())
    firing, tuples = timed["m = 1"][4**6], 4**6 // 16
    why = (
        f"a firing of one tuple takes {firing:.0f} µs: over the {tuples} tuples of n/16 at 4,096 "
        f"that is {firing / tuples:.2f} µs a tuple of {timed['m = n/16'][4**6]:.2f}"
    )
    bench.claim(paper, f"{BULK}, timed, exponents from 4,096 tuples on: {said}", level, "" if level else why)


def _bound(bench, counts):
    """m writes take at most m(1 + ceil(log2(n/m))) combines; a firing evicts and inserts m each, and then looks up."""
    worst = 0.0
    for name, line in counts.items():
        for n, found in line.items():
            m = SLIDES[name](n)
            doublings = (n // m).bit_length() - 1
            lookup = 2 * (n.bit_length() - 1) / m
            worst = max(worst, found / (2 * (1 + doublings) + lookup))
    bench.claim(
        "a firing of m changes takes O(m + m log(n/m)) combines, by Theorem 4.2 at most m(1 + ceil(log2 n/m)) a bulk",
        f"at most {worst:.2f} of the bound for an eviction, an insertion and a look-up",
        worst <= 1,
    )


def _falling(bench, line):
    first, rest = line[min(line)], min(line.values())
    bench.claim(
        "on small windows the lines of shares fall, from the overhead of a firing",
        f"{BULK}, m = n: {first:.2f} µs a tuple at {min(line)} tuples, {rest:.2f} µs at the lowest",
        first > 1.5 * rest,
    )
