"""Table 1 (3.2): how time and space of the algorithms grow, for SQL's default frame, and whether threads help.

The paper states bounds; here they are held against growth exponents over four sizes. Steps are touches of arrays and
combines, counted with the kernels as plain Python at small sizes, where no cache disturbs; times are those of the
compiled kernels on one thread; bytes are the most that a call allocates, answers included. A bound's exponent is what
it has over the same sizes, which is more than 1 for n log n. A second thread helps where two take at most two thirds
of the time of one. The naive algorithm, and nothing else, is not Sash's, and has one thread.
"""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from contextlib import nullcontext
from math import log2
from typing import Any
from unittest import mock

from bench.harness import Bench, growth
from bench.papers.holistic_2022._comparators import in_tasks, threads
from bench.papers.holistic_2022._counting import steps_of
from bench.papers.holistic_2022._entries import ENTRIES, Entry, Rows, made
from sash.kernels import recycling

TITLE = "Table 1: how the algorithms grow"
NEAR = 0.1  # by how much an exponent may be above its bound's
BOUNDS = {
    "n": lambda n: n,
    "n log n": lambda n: n * log2(n),
    "n (log n)²": lambda n: n * log2(n) ** 2,
    "n²": lambda n: n * n,
}


def run(bench: Bench) -> None:
    found = {entry.name: judged(bench, entry) for entry in ENTRIES}
    head = ["aggregate", "algorithm", "time", "steps n^", "bound n^", "time n^", "space", "bytes n^", "2 threads"]
    bench.table("Growth exponents for SQL's default frame", head, found.values())
    tree, lists = (found[f"percentile by {name}"][3] for name in ("merge_sort_tree", "sorted_segment_tree"))
    bench.claim(
        "percentiles: compared to a segment tree of sorted lists, a merge sort tree has the better runtime complexity",
        f"its steps grow with n^{tree:.2f}, those of the lists with n^{lists:.2f}",
        tree < lists,
    )


def judged(bench: Bench, entry: Entry) -> list[Any]:
    """Measure and judge one row of the table."""
    quadratic = entry.time == "n²"
    few = bench.pick((64, 128, 256, 512) if quadratic else (64, 256, 1024, 4096), (16, 24, 32, 48))
    many = bench.pick((8, 9, 10, 11) if quadratic else (13, 15, 17, 19), (8, 9, 10, 11))
    steps = {n: steps_of(entry.ask, made(n)) for n in few}
    for n, taken in steps.items():
        bench.record(f"steps of {entry.name} @ {n}", taken, "steps")
    inputs = {2**power: made(2**power) for power in many}
    with threads(1):
        lines = bench.sweep(inputs, lambda n: {entry.name: lambda: entry.ask(inputs[n], None)}, lambda n, s: s)
        space = {n: allocated(lambda rows=rows: entry.ask(rows, None)) for n, rows in inputs.items()}
    faster = None if entry.parallel is None else speed_up(bench, entry, inputs[2 ** many[-1]])
    exponents = [growth(costs) for costs in (steps, lines[entry.name], space)]
    allowed = [
        growth({n: BOUNDS[bound](n) for n in sizes}) for bound, sizes in ((entry.time, few), (entry.space, inputs))
    ]
    claim(bench, entry, exponents, allowed, faster)
    return [entry.aggregate, entry.algorithm, f"O({entry.time})", exponents[0], allowed[0], exponents[1],
            f"O({entry.space})", exponents[2], faster]  # fmt: skip


def claim(bench: Bench, entry: Entry, exponents: list[float], allowed: list[float], faster: float | None) -> None:
    taken, seconds, space = exponents
    failed = []
    if taken > allowed[0] + NEAR or (entry.time == "n²" and taken < allowed[0] - 2 * NEAR):
        failed.append(f"steps grow with n^{taken:.2f}")
    if space > allowed[1] + NEAR:
        failed.append(f"bytes grow with n^{space:.2f}")
    if faster is not None and (faster > 1.5) != entry.parallel:
        failed.append(f"two threads are {faster:.2f} times as fast")
    parallel = {None: "", True: ", parallel", False: ", not parallel"}[entry.parallel]
    bench.claim(
        f"{entry.name}: O({entry.time}) time, O({entry.space}) space{parallel}",
        f"steps n^{taken:.2f} (the bound: n^{allowed[0]:.2f}), time n^{seconds:.2f}, bytes n^{space:.2f} "
        f"(n^{allowed[1]:.2f})" + ("" if faster is None else f", two threads {faster:.2f} times as fast"),
        not failed,
        "; ".join(failed),
    )


def allocated(task: Callable[[], Any]) -> int:
    """The most bytes that are allocated at once while a task runs; of Arrow's pool Python would not know."""
    tracemalloc.start()
    try:
        with mock.patch.object(recycling, "POOL", None):
            task()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def speed_up(bench: Bench, entry: Entry, rows: Rows) -> float:
    """How many times as fast two threads are as one; a kernel of few rows is cut in two."""

    def on(count: int) -> Callable[[], Any]:
        def task() -> Any:
            halves = in_tasks(entry.module, len(rows.bounds) // 2) if entry.module and count > 1 else nullcontext()
            with threads(count), halves:
                return entry.ask(rows, None)

        return task

    timings = bench.measure({f"{entry.name} on {count}": on(count) for count in (1, 2)}, len(rows.bounds))
    alone, both = timings.values()
    return alone.median / both.median
