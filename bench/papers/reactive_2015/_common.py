"""What the experiments of this paper share: windows that are full, the events sent to them, and fits of their costs."""

from __future__ import annotations

import os

os.environ["SASH_THREADS"] = "1"  # the paper's processes have one thread

import math
import statistics
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from typing import Any

import numpy as np

from bench.harness.experiment import Bench, Lines
from bench.harness.measuring import REPEAT
from sash.algebra import Aggregate
from sash.algebra.catalogue import builtin
from sash.kernels.algorithm import FOLD, Task
from sash.kernels.fifo import FlatFat, Sliding
from sash.planner import choose
from sash.windows.bounds import CONSTANT, MONOTONIC

PAPER = {"Max": "max", "StdDev": "stddev"}  # what the figures aggregate, as Sash calls it
Timed = tuple[Callable[[], Any], int]
"""A task, and how many tuples go through it."""


def numbers(rows: int, dtype: Any = np.int32) -> np.ndarray:
    """Seeded values of the type that the paper aggregates."""
    return np.random.default_rng(0).integers(0, 2**31 - 1, rows, np.int32).astype(dtype, copy=False)


def full_window(aggregate: Aggregate, size: int, using: str, dtype: Any = np.int32) -> Sliding:
    """A window of one size, with all its rows."""
    dtypes = (dtype,) * aggregate.inputs
    window = Sliding(aggregate, *dtypes, size=size, using=using)
    window.push(*(numbers(size, kind) for kind in dtypes), rows=size)
    return window


def sliding(aggregate: Aggregate, size: int, using: str, rows: int, dtype: Any = np.int32) -> Timed:
    """Send rows through a full window, with an answer after each."""
    window = full_window(aggregate, size, using, dtype)
    columns = (numbers(rows, dtype),) * aggregate.inputs
    return lambda: window.push(*columns, rows=rows), rows


def one_by_one(aggregate: Aggregate, size: int, using: str, rows: int) -> Timed:
    """The same with a call a row, as an operator is called for each tuple."""
    window, column = full_window(aggregate, size, using), numbers(rows)
    batches = [column[at : at + 1] for at in range(rows)]
    return lambda: [window.push(batch) for batch in batches], rows


def coarse(aggregate: Aggregate, size: int, slide: int, using: str, rows: int) -> Timed:
    """Send rows through a full window that is answered after every so many."""
    window = Sliding(aggregate, np.int32, using=using)
    if size < window.capacity:  # room for just the window; by itself it begins with 16
        window.capacity, window.arrays = size, window._allocate(size)
    window.push(numbers(size), lo=[0], hi=[size])
    rows = max(rows // slide, 1) * slide
    column, ends = numbers(rows), np.arange(slide, rows + 1, slide)

    def run() -> None:
        hi = window.rows + ends
        window.push(column, lo=hi - size, hi=hi)

    return run, rows


class Reactive:
    """A reactive aggregator: FlatFAT that resizes, given inserts, evicts and triggers."""

    def __init__(self, aggregate: Aggregate, size: int, room: int = 0) -> None:
        """A window of a size, with room for just that or for more."""
        self.window = FlatFat(aggregate, np.int32, capacity=room or size)
        self.column, self.oldest = numbers(2 * size), 0
        self.window.insert(self.column[:size])

    def insert(self, rows: int) -> None:
        self.window.insert(self.column[:rows])

    def evict(self, rows: int) -> None:
        self.window.evict(np.arange(self.oldest, self.oldest + rows))
        self.oldest += rows

    def fire(self, rows: int) -> None:
        """Evict and insert so many, and ask for the answer."""
        self.evict(rows)
        self.insert(rows)
        self.window.query()


def chosen(aggregate: Aggregate, size: int, slide: int = 1) -> str:
    """The algorithm that the planner takes for such windows over a long column; neither aggregate here is exact."""
    shape, many = CONSTANT if slide == 1 else MONOTONIC, 1_000_000
    task = Task(FOLD, many, many, shape, widest=size, aggregate=aggregate, exact=False, trailing=slide == 1)
    return choose([task])[0].name


# Measuring


def costs(
    bench: Bench, points: Iterable[Any], timed_at: Callable[[Any], Mapping[str, Timed]], panel: str, rounds: int = 0
) -> Lines:
    """Nanoseconds a tuple, by line and point; each task has a number of tuples of its own.

    A line whose shape is judged takes the fastest of so many rounds: whatever else the machine does only adds to it.
    """
    lines: Lines = {}
    for point in points:
        timed = timed_at(point)
        tasks = {name: task for name, (task, _) in timed.items()}
        timings = bench.measure(tasks, f"{panel} @ {point}", repeat=rounds or REPEAT)
        for name, timing in timings.items():
            seconds = min(timing.values) if rounds else timing.median
            lines.setdefault(name, {})[point] = seconds / timed[name][1] * 1e9
    return lines


def scaled(lines: Lines, factor: float) -> Lines:
    """The same lines in another unit."""
    return {name: {point: value * factor for point, value in line.items()} for name, line in lines.items()}


class Counted:
    """An aggregate as plain Python, which counts its combines."""

    def __init__(self, name: str) -> None:
        made = builtin(name).of((np.dtype(np.float64),))
        self.combines = 0
        self.aggregate = made.but(
            combine=lambda a, b: self._count(made.combine(a, b)),
            compiled=False,
            typed=None,
            combine_without_nan=None,
            inverse=None,
        )

    def _count(self, result: Any) -> Any:
        self.combines += 1
        return result

    def during(self, timed: Timed) -> float:
        """Combines a tuple while a task runs."""
        task, tuples = timed
        before = self.combines
        task()
        return (self.combines - before) / tuples


def combines(bench: Bench, name: str, size: int, using: str, *, slide: int = 1) -> float:
    """Combines a tuple over one turn of a full window."""
    counted = Counted(name)
    found = counted.during(coarse(counted.aggregate, size, slide, using, size))
    bench.record(f"{using} combines a tuple @ {name} @ {size} @ slide {slide}", found, "combines")
    return found


# Judging


def log_fit(line: Mapping[int, float]) -> tuple[float, float, float]:
    """a, b and R² of cost = a + b · log2 size, by least squares."""
    sizes, values = [math.log2(size) for size in line], list(line.values())
    slope, start = statistics.linear_regression(sizes, values)
    return start, slope, statistics.correlation(sizes, values) ** 2 if len(set(values)) > 1 else 0.0


def steepest(line: Mapping[int, float]) -> str:
    """Where a line leaves the straight over log2 size, in words."""
    points = list(line.items())
    steps = {(a, b): (after - before) / math.log2(b / a) for (a, before), (b, after) in pairwise(points)}
    most = max(steps, key=steps.__getitem__)
    usual = statistics.median(steps.values())
    return f"a doubling adds {usual:.2g} on the median, but {steps[most]:.2g} from {most[0]:,} to {most[1]:,} tuples"


def crossing(ratios: Mapping[int, float], level: float) -> float | None:
    """The smallest size from which on a ratio stays at a level or above, between the points that were measured."""
    points = list(ratios.items())
    below = [k for k, (_, ratio) in enumerate(points) if ratio < level]
    if not below:
        return points[0][0]
    if below[-1] == len(points) - 1:
        return None
    (left, low), (right, high) = points[below[-1]], points[below[-1] + 1]
    share = math.log(level / low) / math.log(high / low)
    return left * (right / left) ** share


def quotient(upper: Mapping[Any, float], lower: Mapping[Any, float]) -> dict[Any, float]:
    """One line over another, where both have points."""
    return {point: upper[point] / lower[point] for point in upper if point in lower}


# In processes of their own, for their memory


def hold(name: str, using: str, size: int) -> None:
    """Fill a window of a size with an answer at its end, and slide it by some rows more."""
    task, _ = coarse(builtin(name), size, 1, using, 16)
    task()
