"""What the figures share: lineitem of TPC-H, whole queries of Sash and DuckDB over it, and where two lines cross.

Queries are whole, as in the paper: Sash from an Arrow table to an Arrow table, DuckDB from its own table to an Arrow
table, two threads each. A median is percentile_disc(0.5). Hyper, PostgreSQL and Tableau are not here, and today's
DuckDB is not the paper's 0.3.2.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

import sash
from bench.harness import Bench
from bench.harness.experiment import Lines
from bench.harness.machine import HOME
from bench.papers.holistic_2022._comparators import in_tasks, incremental_anywhere, naive, threads
from bench.peers._duckdb import Duck
from sash import Window
from sash import functions as sf
from sash.kernels.operations import incremental
from sash.kernels.structures import order_statistic_tree

COLUMNS = ["l_shipdate", "l_extendedprice", "l_partkey"]
SPEED = "million tuples a second"

FUNCTIONS = {
    "median": (sf.percentile_disc("l_extendedprice", 0.5), "quantile_disc(l_extendedprice, 0.5)"),
    "rank": (sf.rank().order_by("l_extendedprice"), "rank(order by l_extendedprice)"),
    "lead": (
        sf.lead("l_extendedprice").order_by("l_extendedprice"),
        "lead(l_extendedprice order by l_extendedprice)",
    ),
    "distinct count": (sf.count_distinct("l_partkey"), "count(distinct l_partkey)"),
}

SASH, TREE, NAIVE, DUCKDB = "Sash", "merge_sort_tree", "naive", "DuckDB"
INCREMENTAL, STATISTIC = "incremental", "order_statistic_tree"
INCREMENTAL_TASKS, STATISTIC_TASKS = "incremental, tasks of 20,000", "order_statistic_tree, tasks of 20,000"
STATISTIC_ALONE, INCREMENTAL_ANYWHERE = "order_statistic_tree, 1 thread", "incremental, any frames"
HOW: dict[str, tuple[str | None, Callable[[], Any]]] = {  # the name for using=, and what is to be in place meanwhile
    SASH: (None, threads),
    TREE: (TREE, threads),
    INCREMENTAL: (INCREMENTAL, threads),
    STATISTIC: (STATISTIC, threads),
    STATISTIC_ALONE: (STATISTIC, lambda: threads(1)),
    STATISTIC_TASKS: (STATISTIC, lambda: in_tasks(order_statistic_tree)),
    INCREMENTAL_TASKS: (INCREMENTAL, lambda: in_tasks(incremental)),
    NAIVE: (TREE, naive),
    INCREMENTAL_ANYWHERE: (TREE, incremental_anywhere),
}

COUNTERS = "Sash's has no hash table, but an array with a counter for each value; and these are fewer rows"

Frame = tuple[Any, str]
"""A window, and DuckDB's words for it."""


def lineitem(bench: Bench, rows: int) -> pa.Table:
    """So many rows of lineitem at random, in its order: of scale factor 1, or 0.01 in a quick run."""
    data = _lineitem(bench.pick("1", "0.01"))
    data = data.take(np.sort(np.random.default_rng(0).permutation(len(data))[:rows]))
    cents = pc.cast(pc.multiply(data["l_extendedprice"], 100), pa.int64()).to_numpy()
    data = data.append_column("jump", pa.array(cents * 7703 % 49_900 / 100))  # 6.5
    return data.append_column("id", pa.array(np.arange(len(data)))).combine_chunks()


@cache
def _lineitem(scale: str) -> pa.Table:
    path = HOME / "out" / "tpch" / scale / "lineitem.parquet"
    if not path.exists():
        command = [Path(sys.executable).with_name("tpchgen-cli"), "parquet", "--scale-factor", scale]
        subprocess.run([*command, "--tables", "lineitem", "--output-dir", path.parent, "--quiet"], check=True)
    return pq.read_table(path, columns=COLUMNS)


def trailing(size: int | None, order: str = "l_shipdate") -> Frame:
    """The last so many rows, or all so far."""
    words = "unbounded" if size is None else str(size - 1)
    window = Window.orderBy(*order.split(", ")).rowsBetween(Window.unboundedPreceding if size is None else 1 - size, 0)
    return window, f"order by {order} rows between {words} preceding and current row"


def asked(function: str, frame: Frame) -> str:
    """A window query for DuckDB."""
    return f"select {FUNCTIONS[function][1]} over ({frame[1]}) as answer from lineitem"


def queries(
    data: pa.Table, function: str, frame: Frame, names: Iterable[str], duck: Duck | None = None
) -> dict[str, Callable[[], Any]]:
    """A whole query for each line, and for DuckDB where there is one."""
    tasks = {name: _query(data, function, frame[0], *HOW[name]) for name in names}
    return tasks if duck is None else tasks | {DUCKDB: lambda: duck.answer(asked(function, frame))}


def _query(data: pa.Table, function: str, window: Any, using: str | None, how: Any) -> Callable[[], pa.Table]:
    over = FUNCTIONS[function][0].over(window, using=using)

    def run() -> pa.Table:
        with how():
            return sash.withColumns(data, {"answer": over})

    return run


def agree(data: pa.Table, function: str, frame: Frame, names: Iterable[str], *others: str) -> None:
    """Raise unless all lines, DuckDB and other queries of its compute the same; the order must be without ties.

    DuckDB gives its rows in any order, and breaks the ties of a lead in its own way: its leads are not compared.
    """
    found = {name: task() for name, task in queries(data, function, frame, names).items()}
    expected = next(iter(found.values()))["answer"]
    for name, answer in found.items():
        if not answer["answer"].equals(expected):
            raise AssertionError(f"{name} computes another {function} than {next(iter(found))}")
    duck = Duck("lineitem", data, 60.0)
    for query in () if function == "lead" else (asked(function, frame), *others):
        if _in_cents(duck.answer(query)["answer"]) != _in_cents(expected):
            raise AssertionError(f"another {function} than that of {query}")


def _in_cents(answers: pa.ChunkedArray) -> list[int]:
    return sorted(round(float(answer) * 100) for answer in answers.to_pylist())


def measured(lines: Lines) -> Lines:
    """The lines, if the merge sort tree, with which all others are compared, has one."""
    if TREE not in lines:
        raise RuntimeError("the merge sort tree took longer than there was patience for: the machine is too busy")
    return lines


def overtaking(lines: Lines, first: str, second: str) -> tuple[str, bool]:
    """Where the first line overtakes the second, in words, and whether it does: behind at first, ahead at the end.

    A line that has ended took longer than there was patience for, so it is behind one that goes on.
    """
    ahead = _ahead(lines, first, second)
    points = list(ahead)
    both = [point for point in points if point in lines.get(first, {}) and point in lines.get(second, {})]
    ratio = f"{lines[first][both[-1]] / lines[second][both[-1]]:.2f} times as fast at {both[-1]:,}" if both else "alone"
    if not points or all(ahead.values()):
        return f"{first} is ahead of {second} everywhere, {ratio}", False
    if not ahead[points[-1]]:
        return f"{first} is behind {second} at the end, {ratio}", False
    at = max(i for i, point in enumerate(points) if not ahead[point])
    return f"{first} overtakes {second} between {points[at]:,} and {points[at + 1]:,}, {ratio}", True


def leads(lines: Lines, first: str, second: str) -> bool:
    """Whether the first line is ahead at every point."""
    ahead = _ahead(lines, first, second)
    return bool(ahead) and all(ahead.values())


def _ahead(lines: Lines, first: str, second: str) -> dict[Any, bool]:
    one, other = lines.get(first, {}), lines.get(second, {})
    return {point: one.get(point, 0.0) > other.get(point, 0.0) for point in sorted(one.keys() | other.keys())}
