"""Figure 12 (6.5): a framed median over frames of 501 rows that go back and forth, the more the greater m.

All 6 million rows in the paper, 100,000 here. Sash refuses its incremental algorithm where frames go back, so that the
line is the same algorithm with rows that may enter and leave at both ends, in place of the tree in the same query.
"""

from __future__ import annotations

import numpy as np

import sash
from bench.harness import Bench
from bench.papers.holistic_2022._common import (
    INCREMENTAL_ANYWHERE,
    NAIVE,
    SASH,
    SPEED,
    TREE,
    Duck,
    Frame,
    agree,
    lineitem,
    queries,
)
from sash import Window

TITLE = "Figure 12: a framed median over frames that go back and forth"
LIMIT = 20.0  # seconds a query of DuckDB may take
NAMES = (SASH, TREE, NAIVE, INCREMENTAL_ANYWHERE)


def run(bench: Bench) -> None:
    data = lineitem(bench, bench.pick(100_000, 2_000))
    for m in (0.0, 0.5):
        agree(data.slice(0, 2_000), "median", jumping(m, "l_shipdate, id"), NAMES)
    duck = Duck("lineitem", data, LIMIT)
    lines = bench.sweep(
        bench.pick((0.0, 0.05, 0.25, 0.5, 1.0), (0.0, 1.0)),
        lambda m: queries(data, "median", jumping(m), NAMES, duck),
        lambda m, seconds: len(data) / seconds / 1e6,
    )
    bench.lines(f"Median of {len(data):,} rows, 501 a frame", {"": lines}, "m", SPEED, xlog=False)
    claims(bench, lines, shared(data))


def shared(data) -> float:
    """The part of a frame's rows that are in the frame before, too, at m = 1."""
    back = data.sort_by([("l_shipdate", "ascending"), ("id", "ascending")])["jump"].to_numpy().astype(int)
    moved = np.abs(1 - np.diff(back))
    return float(np.maximum(501 - moved, 0).mean() / 501)


def jumping(m: float, order: str = "l_shipdate") -> Frame:
    """The paper's frames: back by up to 499 m rows, and 500 rows on."""
    back = (sash.col("jump") * m).cast("bigint")
    words = f"cast(floor({m} * jump) as bigint)"
    return (
        Window.orderBy(*order.split(", ")).rowsBetween(-back, 500 - back),
        f"order by {order} rows between {words} preceding and 500 - {words} following",
    )


def claims(bench: Bench, lines: dict[str, dict[float, float]], common: float) -> None:
    tree, kept, anew = lines[TREE], lines[INCREMENTAL_ANYWHERE], lines[NAIVE]
    over = {m: kept[m] / tree[m] for m in kept if m in tree}
    first = over.pop(0.0)
    listed = ", ".join(f"{ratio:.2f} at m = {m}" for m, ratio in over.items())
    bench.claim(
        "where frames only move forward (m = 0) the incremental algorithm keeps up with the merge sort tree",
        f"it is {first:.2f} times as fast",
        first > 0.5,
    )
    bench.claim(
        "as soon as frames go back a little, it is slower than the merge sort tree",
        f"it is as fast {listed}",
        bool(over) and max(over.values()) < 1,
    )
    most = max(kept)
    bench.claim(
        "as they do so more, it becomes slower even than the naive algorithm",
        f"at m = {most} it is {kept[most] / anew[most]:.2f} times as fast as that",
        kept[most] < anew[most],
        "" if kept[most] < anew[most] else f"two frames share {common:.0%} of their rows there, which stay partitioned",
    )
    spread = max(tree.values()) / min(tree.values())
    bench.claim(
        "merge sort trees do not mind", f"the fastest over the slowest is {spread:.2f}", spread < 1.5 and 1.0 in tree
    )
