"""Figure 12: the resident set size of re-evaluation and of RA over window sizes.

The paper polls /proc while the operator runs, for windows up to 4K tuples. Here each window is filled in a process of
its own, whose peak is taken; windows go on to four million tuples, where they outgrow what the process has anyway. The
bytes of state are exact.
"""

from __future__ import annotations

import numpy as np

from bench.harness.experiment import Bench
from bench.harness.measuring import growth, peak_memory
from bench.papers.reactive_2015._common import PAPER
from sash.algebra.catalogue import builtin
from sash.kernels.fifo import Sliding

TITLE = "Figure 12: resident set size of re-evaluation and of the reactive aggregator"
KERNELS = ("recalc", "flatfat")


def run(bench: Bench) -> None:
    sizes = [2**k for k in bench.pick((4, 12, 18, 20, 21, 22), (4,))]
    panels = {
        title: {using: {size: _peak(bench, name, using, size) for size in sizes} for using in KERNELS}
        for title, name in PAPER.items()
    }
    bench.lines(TITLE, panels, "window size", "MB", ylog=False)
    states = _states(bench)
    for title, lines in panels.items():
        _claims(bench, title, lines, states[title])


def _peak(bench, name, using, size):
    taken = peak_memory("bench.papers.reactive_2015._common:hold", name, using, size, repeat=1)
    bench.record(f"{using} peak @ {name} @ {size}", taken, "bytes")
    return taken[0] / 1e6


def _states(bench):
    """Bytes of state by size, exactly."""
    sizes = [2**k for k in (4, 8, 12, 16, 20)]
    states = {
        title: {using: {n: _bytes(name, using, n) for n in sizes} for using in KERNELS} for title, name in PAPER.items()
    }
    head = ["window size", *(f"{title}, {using}" for title in PAPER for using in KERNELS)]
    bench.table("Bytes of state", head, [[n, *(states[t][u][n] for t in PAPER for u in KERNELS)] for n in sizes])
    return states


def _bytes(name, using, size):
    window = Sliding(builtin(name), np.int32, size=size, using=using)
    return sum(array.nbytes for array in window.arrays.values())


def _claims(bench, title, lines, states):
    exponent = growth({n: size for n, size in states["flatfat"].items() if n >= 256})
    last = max(states["flatfat"])
    factor = states["flatfat"][last] / states["recalc"][last]
    bench.claim(
        f"{title}: RA needs O(n) space with a small constant",
        f"the exponent of its state is {exponent:.2f}; it has {factor:.1f} times the bytes of the window alone",
        abs(exponent - 1) <= 0.05 and factor <= 4,
        f"{states['flatfat'][last]:,} bytes at {last:,} tuples, {states['recalc'][last]:,} for the window alone",
    )
    small = {size: cost for size, cost in lines["flatfat"].items() if size <= 4096}
    rise = max(small.values()) / min(small.values()) - 1
    bench.claim(
        f"{title}: up to 4K tuples the window hardly shows beside the process itself",
        f"the process of flatfat grows by {rise:.1%} up to 4,096 tuples",
        rise <= 0.05,
        f"of {1e6 * (max(small.values()) - min(small.values())):,.0f} bytes its state has {states['flatfat'][4096]:,}",
    )
    large = {size: cost - min(small.values()) for size, cost in lines["flatfat"].items() if size >= 2**18}
    if len(large) >= 4:
        bench.claim(
            f"{title}: beyond 4K tuples RA goes on to need space linear in the window",
            f"what the process of flatfat has more than at 16 tuples grows with the exponent {growth(large):.2f}",
            0.8 <= growth(large) <= 1.2,
            f"{large[2**20]:.1f} MB more at {2**20:,} tuples; its state has {states['flatfat'][2**20] / 1e6:.1f} there",
        )
