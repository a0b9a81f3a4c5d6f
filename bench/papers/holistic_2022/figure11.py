"""Figure 11 (6.4): throughput of a framed median as the frame grows, up to SQL's default frame.

The paper has all 6 million rows of scale factor 1 and 20 cores; here a million of them and two. The second panel is the
distinct count of which the text tells. Lines "tasks of 20,000" cut the rows as Hyper does; otherwise each thread
has one share. A line ends where a query takes longer than four seconds; the last point is the default frame.
"""

from __future__ import annotations

import duckdb

from bench.harness import Bench
from bench.harness.experiment import Lines
from bench.papers.holistic_2022._common import (
    COUNTERS,
    DUCKDB,
    INCREMENTAL,
    INCREMENTAL_TASKS,
    NAIVE,
    SASH,
    SPEED,
    STATISTIC_ALONE,
    STATISTIC_TASKS,
    TREE,
    Duck,
    agree,
    leads,
    lineitem,
    measured,
    overtaking,
    queries,
    trailing,
)

TITLE = "Figure 11: a framed median as the frame grows"
PATIENCE = 4.0
PANELS = {
    "median": (SASH, TREE, NAIVE, INCREMENTAL, STATISTIC_TASKS, STATISTIC_ALONE),
    "distinct count": (SASH, TREE, INCREMENTAL_TASKS),
}


def run(bench: Bench) -> None:
    data = lineitem(bench, bench.pick(1_000_000, 2_000))
    sizes = (*bench.pick((10, 100, 1_000, 10_000, 50_000), (10, 100)), len(data))
    panels = {function: panel(bench, data, function, sizes) for function in PANELS}
    bench.lines(f"{len(data):,} rows", panels, "rows of a frame", SPEED)
    claims(bench, panels, len(data))


def panel(bench: Bench, data, function: str, sizes: tuple[int, ...]) -> Lines:
    duck, names = Duck("lineitem", data, 1.5 * PATIENCE), PANELS[function]
    for size in (100, None):
        agree(data.slice(0, 2_000), function, trailing(size, "l_shipdate, id"), names)

    def tasks_at(size):
        return queries(data, function, trailing(None if size == len(data) else size), names, duck)

    speed = lambda size, seconds: len(data) / seconds / 1e6  # noqa: E731
    return measured(bench.sweep(sizes, tasks_at, speed, patience=PATIENCE, panel=function))


def claims(bench: Bench, panels: dict[str, Lines], everything: int) -> None:
    median, tree = panels["median"], panels["median"][TREE]
    spread = max(tree.values()) / min(tree.values())
    bench.claim(
        "merge sort trees have one speed at all frames, the default frame of SQL included",
        f"the fastest frame over the slowest is {spread:.2f}",
        spread < 2 and everything in tree,
    )
    for name, where in ((NAIVE, "130"), (INCREMENTAL, "700")):
        bench.claim(
            f"merge sort trees overtake the {name} algorithm at frames of {where} rows",
            *overtaking(median, TREE, name),
        )
    bench.claim(
        "they overtake order statistic trees at 20,000 rows, the size of a task",
        *overtaking(median, TREE, STATISTIC_TASKS),
    )
    alone = median[STATISTIC_ALONE]
    apart = max(alone.values()) / min(alone.values())
    words, _ = overtaking(median, TREE, STATISTIC_ALONE)
    ahead = leads(median, TREE, STATISTIC_ALONE)
    bench.claim(
        "on one thread an order statistic tree does not depend on the frame, but is behind the parallel merge sort "
        "tree",
        f"its fastest frame over the slowest is {apart:.2f}; {words}",
        apart < 2 and ahead,
        "" if ahead else "the merge sort tree has two threads here, not 40",
    )
    words, ahead = overtaking(median, TREE, DUCKDB)[0], leads(median, TREE, DUCKDB)
    bench.claim(
        "DuckDB is not competitive at any frame",
        words,
        ahead,
        "" if ahead else f"the paper had 0.3.2, here it is {duckdb.__version__}",
    )
    there = [name for name, line in median.items() if everything in line]
    others = [name for name in there if name not in (SASH, TREE, STATISTIC_ALONE)]
    bench.claim(
        "for the default frame, of the parallel algorithms only merge sort trees compute the median in reasonable time",
        f"within {PATIENCE:.0f} s are {', '.join(there)}",
        TREE in there and not others,
        f"{everything:,} rows are few: work that tasks repeat grows with their square" if others else "",
    )
    words, holds = overtaking(panels["distinct count"], TREE, INCREMENTAL_TASKS)
    bench.claim(
        "distinct counts: merge sort trees overtake the incremental algorithm at 50,000 rows",
        words,
        holds,
        "" if holds else COUNTERS,
    )
