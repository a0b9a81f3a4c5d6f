"""Table 1: how many partials are combined a slide, amortised and at worst, and how many are kept, for windows of n.

The paper's table is of analysis; here combines are counted: the kernels run as plain Python over random values and then
over values that fall for the length of a window, which is SlickDeque's worst case. All but SlickDeque, which needs a
selective aggregate, would count the same for any. pba's count is of its main thread, which the paper's is, too; what
its second thread does, or would do, is counted apart. SBA, which the table has not, is added. Partials are those of the
arrays that a window keeps; FlatFIT's links and SlickDeque's places count as partials, as in the paper.
"""

from __future__ import annotations

import sys
from typing import NamedTuple

import numpy as np

from bench.harness import Bench, growth
from bench.papers.boundary_2021 import _common  # noqa: F401, one thread
from sash.algebra.catalogue import builtin
from sash.kernels.fifo import Sliding

TITLE = "Table 1: algorithmic complexities"
ASKED = {  # amortised, worst and space of the paper
    "two_stacks": (3, "n", "2n"),
    "daba": (5, 8, "2n"),
    "flatfit": (3, "n", "2n"),
    "slick_deque": ("< 2", "n", "2n"),
    "slide_side": (3, "n", "2n"),
    "sba": (None, None, None),
    "pba": ("< 3", 3, "(3n+13)/2"),
}


class Counts(NamedTuple):
    amortised: float
    worst: int
    kept: int
    elsewhere: float  # combines a slide of the second thread


def counted(name: str, size: int) -> Counts:
    """What each slide of a full window takes, over several lengths of the window."""
    done = {True: 0, False: 0}
    most = builtin("max").of((np.dtype(np.int64),))

    def combine(a: int, b: int) -> int:
        done[name != "pba" or sys._getframe(1).f_code.co_name != "cumulate"] += 1
        return most.combine(a, b)

    window = Sliding(
        most.but(combine=combine, compiled=False, combine_without_nan=None), np.int64, size=size, using=name
    )
    random = np.random.default_rng(1).integers(0, 2**40, 3 * size)
    column = np.concatenate([random, np.tile(np.arange(size)[::-1], 2) + 2**40])
    window.push(column[:size])
    counts, before = [], done[False]
    for row in range(size, len(column)):
        so_far = done[True]
        window.push(column[row : row + 1])
        counts.append(done[True] - so_far)
    kinds, extra = window.specialised.parameters, {"flatfit": "links", "slick_deque": "places"}.get(name)
    kept = sum(len(array) for each, array in window.arrays.items() if kinds[each] == "States" or each == extra)
    return Counts(sum(counts) / len(counts), max(counts), kept, (done[False] - before) / len(counts))


def run(bench: Bench) -> None:
    sizes = bench.pick([16, 64, 256, 1024, 2048], [8, 16, 32, 64])
    found = {name: {size: counted(name, size) for size in sizes} for name in ASKED}
    n, rows = sizes[-1], []
    for name, asked in ASKED.items():
        counts, last = found[name], found[name][n]
        for part in ("amortised", "worst", "kept"):
            bench.record(f"{name}, {part} @ {n}", float(getattr(last, part)), "partials")
        worst = growth({size: each.worst for size, each in counts.items()})
        rows.append([name, asked[0], last.amortised, asked[1], last.worst, worst, asked[2], last.kept])
    head = ["", "amortised, paper", "here", "worst, paper", "here", "its growth", "space, paper", "here"]
    bench.table(f"Combines a slide and partials kept, n = {n}", head, rows)

    pba = found["pba"]
    amortised, worst = max(each.amortised for each in pba.values()), max(each.worst for each in pba.values())
    bench.claim(
        "PBA takes at most 3 combines a slide, and less than 3 amortised, whatever the window",
        f"at worst {worst}, amortised up to {amortised:.4f}; the second thread {pba[n].elsewhere:.2f} more",
        worst <= 3 and amortised < 3,
        ", ".join(f"{each.worst} at worst at {size:,}" for size, each in pba.items()),
    )
    linear = ("two_stacks", "flatfit", "slick_deque", "slide_side")
    grown = {name: growth({size: each.worst for size, each in found[name].items()}) for name in linear}
    bench.claim(
        "the worst case of TwoStack, FlatFIT, SlickDeque and SlideSide is n; DABA's is 8",
        "grows with n to the power of: "
        + ", ".join(f"{name} {exponent:.2f}" for name, exponent in grown.items())
        + f"; daba {max(each.worst for each in found['daba'].values())} at worst",
        all(0.9 < exponent < 1.1 for exponent in grown.values())
        and all(each.worst <= size for name in linear for size, each in found[name].items())
        and max(each.worst for each in found["daba"].values()) <= 8,
        f"at {n:,}, at worst: " + ", ".join(f"{name} {found[name][n].worst:,}" for name in (*linear, "daba")),
    )
    averages = {name: max(each.amortised for each in found[name].values()) for name in ASKED}
    bench.claim(
        "amortised: TwoStack, FlatFIT and SlideSide 3, DABA 5, SlickDeque less than 2, the least",
        ", ".join(f"{name} {value:.2f}" for name, value in averages.items()),
        all(averages[name] <= 3 for name in ("two_stacks", "flatfit", "slide_side"))
        and averages["daba"] <= 5
        and averages["slick_deque"] < 2
        and min(averages, key=averages.__getitem__) == "slick_deque",
        f"the least is of {min(averages, key=averages.__getitem__)}",
    )
    kept = {name: found[name][n].kept for name in ASKED}
    least = min(kept, key=kept.__getitem__)
    bench.claim(
        "PBA keeps the fewest partials, (3n + 13) / 2 where the others keep 2n",
        f"pba {kept['pba']:,}, at most {(3 * n + 13) // 2:,}; the fewest {kept[least]:,}, {least}",
        kept["pba"] <= (3 * n + 13) / 2 and least == "pba",
        f"two_stacks keeps {kept['two_stacks']:,} and daba {kept['daba']:,}: aggregates stand in the places of rows "
        "that they are made of",
    )
