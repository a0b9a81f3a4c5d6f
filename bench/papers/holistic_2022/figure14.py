"""Figure 14 (6.7): the phases of a running distinct count of lineitem, with a merge sort tree.

Scale factor 10 on 20 cores in the paper, 2 million rows of scale factor 1 on two here, on one thread and on two. The
paper sorts hashes to find previous occurrences; Sash throws them into buckets with a hash table each, in one phase.
"""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable
from typing import Any
from unittest import mock

import numpy as np
import pyarrow as pa

import sash
from bench.harness import Bench
from bench.papers.holistic_2022._common import FUNCTIONS, TREE, lineitem, trailing
from bench.papers.holistic_2022._comparators import THREADS, threads
from sash.engine.placing import Numbers, placed
from sash.engine.specification import Specification
from sash.kernels.structures import merge_sort_tree

TITLE = "Figure 14: phases of a running distinct count"


class Watch:
    """Seconds by phase."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    def __call__(self, phase: str, work: Callable[[], Any]) -> Any:
        start = time.perf_counter()
        done = work()
        self.seconds[phase] = time.perf_counter() - start
        return done

    def layers(self, tasks: Any) -> Any:
        """Run the tasks of one layer of the tree."""
        return self(f"layer {1 + sum('layer' in phase for phase in self.seconds)}", lambda: together(tasks))


together = merge_sort_tree.together


def phases(data: pa.Table, count: int) -> tuple[dict[str, float], pa.Array]:
    """The time of each phase on so many threads, and the answers."""
    watch, (window, _) = Watch(), trailing(None)
    columns = (sash.col("l_partkey"),)
    with threads(count):
        rows = watch("sort by l_shipdate", lambda: Specification(data, window.partition, window.order))
        kept = rows.remaining(None, columns)
        bounds = watch("frames", lambda: kept.bounds(window.frame))
        watch("keys of l_partkey", lambda: rows.identity(columns))
        previous, _ = watch("previous occurrences", lambda: rows.occurrences(columns, kept))
        with mock.patch.object(merge_sort_tree, "together", watch.layers):
            tree = merge_sort_tree.MergeSortTree(previous)
        counts = watch("results", lambda: tree.count(bounds.lo, bounds.hi, bounds.lo))
        answers = watch("answers to their rows", lambda: placed(rows, Numbers(counts.astype(np.int64))))
    rows.forget()
    return watch.seconds, answers


def run(bench: Bench) -> None:
    data = lineitem(bench, bench.pick(2_000_000, 20_000))
    over = FUNCTIONS["distinct count"][0].over(trailing(None)[0], using=TREE)
    if not phases(data, THREADS)[1].equals(sash.withColumns(data, {"answer": over})["answer"].combine_chunks()):
        raise AssertionError("the phases must answer the query")
    runs: dict[int, list[dict[str, float]]] = {1: [], THREADS: []}
    for _ in range(bench.pick(5, 2)):
        for count, kept in runs.items():
            kept.append(phases(data, count)[0])
    seconds = {count: medians(bench, count, kept) for count, kept in runs.items()}
    bench.bars(f"Phases of {len(data):,} rows on {THREADS} threads", seconds[THREADS], "seconds")
    rows = [
        [phase, alone, seconds[THREADS][phase], alone / seconds[THREADS][phase]] for phase, alone in seconds[1].items()
    ]
    bench.table("Phases", ["phase", "1 thread, s", f"{THREADS} threads, s", "ratio"], rows)
    claims(bench, seconds, len(data))


def medians(bench: Bench, count: int, runs: list[dict[str, float]]) -> dict[str, float]:
    for phase in runs[0]:
        bench.record(f"{phase} @ {count} threads", [run[phase] for run in runs], "s")
    return {phase: statistics.median(run[phase] for run in runs) for phase in runs[0]}


def claims(bench: Bench, seconds: dict[int, dict[str, float]], rows: int) -> None:
    both, whole = seconds[THREADS], sum(seconds[THREADS].values())
    long = {phase: seconds[1][phase] / took for phase, took in both.items() if took > 0.03 * whole}
    slow = [phase for phase, ratio in long.items() if ratio < 1.2]
    bench.claim(
        "all phases are parallel",
        f"phases of more than 3% of the time are on {THREADS} threads as fast as on one "
        + ", ".join(f"{ratio:.2f} ({phase})" for phase, ratio in long.items()),
        not slow,
        f"not so {', '.join(slow)}" if slow else "",
    )
    layers = sum("layer" in phase for phase in both)
    bench.claim(
        "60 million rows take 6 layers of fanout 32, and 3.3 seconds",
        f"{rows:,} rows take {layers} layers of fanout {merge_sort_tree.USUAL_FANOUT}, and {whole:.2f} seconds",
        None,
        "another machine, with two cores and fewer rows",
    )
