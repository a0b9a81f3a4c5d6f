"""Figures 1 to 3: Panes, Pairs and Cutty-slicing.

The paper draws the three ways to cut a stream, and says how many partials a window has by each; its experiments do not
compare them, for they slide by one. Here the partials of a window are counted in the plan, and the partials that a
running operator holds after each batch of 20 rows.
"""

from __future__ import annotations

import math

import pyarrow as pa

import sash
from bench.harness import Bench
from bench.papers.flatfit_2017._common import readings
from sash import functions as sf
from sash.windows.grids import Grid
from sash.windows.shared_plan import SharedPlan
from sash.windows.slicers import SLICERS

TITLE = "Figures 1 to 3: Partials in a window by Panes, Pairs and Cutty-slicing"
SLIDE = 60
BATCH = 20


def run(bench: Bench) -> None:
    ranges = [SLIDE * k + 7 for k in (1, 2, 4, 8, 16, 32)]
    lines = {slicer: {r: _partials(slicer, r) for r in ranges} for slicer in SLICERS}
    for slicer, line in lines.items():
        for length, partials in line.items():
            bench.record(f"{slicer} @ {length}", partials, "partials")
    bench.lines(f"Ranges not divisible by the slide of {SLIDE}", {"": lines}, "range", "partials in a window")
    bench.claim(
        "Panes: range / slide partials where the slide divides the range, else range / gcd(range, slide)",
        ", ".join(f"{lines['panes'][r]:,} for a range of {r:,}" for r in ranges[:3]),
        all(lines["panes"][r] == r // math.gcd(r, SLIDE) for r in ranges)
        and all(_partials("panes", SLIDE * k) == k for k in (1, 2, 4, 8)),
        "by the formula " + ", ".join(f"{r // math.gcd(r, SLIDE):,} for {r:,}" for r in ranges),
    )
    fewer = {f: _partials("panes", 8 * SLIDE + f) / _partials("pairs", 8 * SLIDE + f) for f in range(1, SLIDE)}
    least = min(fewer, key=fewer.__getitem__)
    bench.claim(
        "Pairs has half the partials of Panes where the slide does not divide the range",
        f"{fewer[least]:.1f} to {max(fewer.values()):.1f} times fewer, over all remainders of the range by the slide",
        fewer[least] >= 2,
        f"with a remainder of {least} of {SLIDE}, panes cut a window into {_partials('panes', 8 * SLIDE + least)} and "
        f"pairs into {_partials('pairs', 8 * SLIDE + least)}",
    )
    halved = [lines["pairs"][r] / lines["cutty"][r] for r in ranges]
    bench.claim(
        "Cutty-slicing has floor(range / slide) + 1, half as many as Pairs",
        f"{min(halved):.2f} to {max(halved):.2f} times fewer than pairs, from short ranges to long",
        all(lines["cutty"][r] == r // SLIDE + 1 for r in ranges) and halved[-1] > 1.8,
        ", ".join(f"{lines['cutty'][r]} for a range of {r:,}" for r in ranges),
    )
    r = ranges[bench.pick(3, 1)]
    held = {slicer: _held(slicer, r) for slicer in SLICERS}
    bench.table(f"Most partials held by an operator, range {r}, slide {SLIDE}", ["", "held", "in a window"],
                [[slicer, held[slicer], lines[slicer][r]] for slicer in SLICERS])  # fmt: skip


def _partials(slicer: str, length: int) -> int:
    return SharedPlan({"q": Grid(length, SLIDE)}, slicer).slices_in("q")


def _held(slicer: str, length: int) -> int:
    board = sash.stream(pa.schema({"v": pa.int64()}), slicer=slicer).query("q", sf.max("v"), range=length, slide=SLIDE)
    operator, most, column = board.open(), 0, readings(2 * length)
    for at in range(0, len(column), BATCH):
        operator.push(pa.table({"v": column[at : at + BATCH]}))
        most = max(most, len(operator.state.cells))
    return most
