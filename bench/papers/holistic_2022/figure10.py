"""Figure 10 (6.3): throughput of framed holistic functions as the input grows, frames of 5% of the rows.

Random samples of lineitem, as in the paper, which goes beyond 1.2 million rows on 20 cores; here up to a million on 2.
Sash gives each thread one share of the rows; the lines "tasks of 20,000" cut them as Hyper does, where each task first
aggregates a frame. A line ends where a query takes longer than three seconds.
"""

from __future__ import annotations

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
    STATISTIC,
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

TITLE = "Figure 10: holistic functions as the input grows"
PATIENCE = 3.0
PANELS = {
    "median": (SASH, TREE, NAIVE, INCREMENTAL, STATISTIC, STATISTIC_TASKS),
    "rank": (SASH, TREE, NAIVE),
    "lead": (SASH, TREE, NAIVE),
    "distinct count": (SASH, TREE, NAIVE, INCREMENTAL, INCREMENTAL_TASKS),
}


def run(bench: Bench) -> None:
    sizes = bench.pick((50_000, 100_000, 200_000, 400_000, 1_000_000), (1_000, 2_000))
    panels = {function: panel(bench, function, sizes) for function in PANELS}
    bench.lines("Frames of 5% of the rows", panels, "rows", SPEED, xlog=False)
    claims(bench, panels)


def panel(bench: Bench, function: str, sizes: tuple[int, ...]) -> Lines:
    names = PANELS[function]
    agree(lineitem(bench, sizes[0] // 10), function, trailing(sizes[0] // 20, "l_shipdate, id"), names)

    def tasks_at(size):
        data = lineitem(bench, size)
        return queries(data, function, trailing(size // 20), names, Duck("lineitem", data, 1.5 * PATIENCE))

    speed = lambda size, seconds: size / seconds / 1e6  # noqa: E731
    return measured(bench.sweep(sizes, tasks_at, speed, patience=PATIENCE, panel=function))


def claims(bench: Bench, panels: dict[str, Lines]) -> None:
    median, distinct = panels["median"], panels["distinct count"]
    bench.claim(
        "medians: the naive and the incremental algorithm, Hyper's and DuckDB's, are not competitive at any size, with "
        "at most 0.6 million tuples a second",
        "; ".join(overtaking(median, TREE, name)[0] for name in (NAIVE, INCREMENTAL, DUCKDB)),
        all(leads(median, TREE, name) for name in (NAIVE, INCREMENTAL, DUCKDB)),
    )
    words, overtakes = overtaking(median, TREE, STATISTIC_TASKS)
    bench.claim(
        "medians: order statistic trees win at first, and have fallen behind at 0.8 million rows, since tasks repeat "
        "work once a frame nears the 20,000 rows of a task",
        f"{words}; with one task a thread, {overtaking(median, TREE, STATISTIC)[0]}",
        overtakes,
    )
    words, overtakes = overtaking(distinct, TREE, INCREMENTAL_TASKS)
    bench.claim(
        "distinct counts: the naive algorithm stays behind, the incremental one wins at first and loses from 1.2 "
        "million rows, where its hash table outgrows the L2 cache",
        f"{words}; {overtaking(distinct, TREE, NAIVE)[0]}",
        overtakes and leads(distinct, TREE, NAIVE),
        "" if overtakes else COUNTERS,
    )
    bench.claim(
        "ranks and leads: the naive algorithm, the only competitor, does not stand a chance",
        "; ".join(f"{name}: {overtaking(panels[name], TREE, NAIVE)[0]}" for name in ("rank", "lead")),
        all(leads(panels[name], TREE, NAIVE) for name in ("rank", "lead")),
    )
    kept = {name: list(lines[TREE].values())[-1] / max(lines[TREE].values()) for name, lines in panels.items()}
    bench.claim(
        "merge sort trees keep their speed as the input grows",
        "at the largest input they have of their peak "
        + ", ".join(f"{share:.0%} ({name})" for name, share in kept.items()),
        min(kept.values()) > 0.5,
    )
