"""What the experiments of this paper share: streams, slices, windows that stay full, and how lines compare."""

from __future__ import annotations

import os

os.environ["SASH_THREADS"] = "2"  # a push is of one thread, as in the paper; that of pba has its second

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

import numpy as np

from bench.harness import Bench
from sash.algebra.catalogue import builtin
from sash.kernels.compiling import routine, specialise
from sash.kernels.fifo import Sliding
from sash.kernels.slices.cell_folding import run_folding
from sash.kernels.threads import load, may_help, usable_cores

PAPER = ("recalc", "two_stacks", "slick_deque", "sba", "pba")  # the lines of its figures
MORE = ("daba", "slide_side", "flatfit")  # of its Table 1 only
HERTZ = 100  # readings a second of the DEBS 2012 set

Task = tuple[Callable[[], Any], int]
"""What is timed, and how many rows it takes."""

# Streams


def uniform(rows: int) -> np.ndarray:
    """The paper's synthetic set: uniform values."""
    return np.random.default_rng(2021).random(rows)


def debs12(rows: int) -> np.ndarray:
    """Power of one machine as in the DEBS 2012 set: it works in cycles, whose whole watts wander and are noisy."""
    random = np.random.default_rng(2012)
    at = np.arange(rows)
    cycle = np.where(at // (40 * HERTZ) % 3 < 2, 9000.0, 2500.0)  # 80 s at work, 40 s idle
    wander = np.cumsum(random.normal(0, 2, rows))
    return np.round(cycle + wander - wander.mean() + random.normal(0, 120, rows))


def readings(rows: int) -> np.ndarray:
    """Times of readings in microseconds: a hundredth of a second apart, each a little off."""
    step = 1_000_000 // HERTZ
    return np.arange(rows) * step + np.random.default_rng(12).integers(0, step, rows)


STREAMS = {"DEBS'12 (generated)": debs12, "synthetic": uniform}

# Slices


@routine
def cut(at, slide, edges):  # type: ignore[no-untyped-def]
    """Find the first row of each slice of so many microseconds."""
    k, end = 0, 0
    for i in range(len(at)):
        while at[i] >= end:
            edges[k] = i
            k += 1
            end += slide
    while k < len(edges):
        edges[k] = len(at)
        k += 1
    return k


def folding(aggregate: Any, column: np.ndarray, slices: int, blank: Any = None) -> tuple[np.ndarray, Any]:
    """The array of the partials of slices, and a function of their edges that fills it; empty ones are blank."""
    inputs = aggregate.of((column.dtype,))
    made = specialise(run_folding, inputs, (column.dtype,))
    partials, held = np.zeros(slices, made.state), np.zeros(slices, np.uint8)

    def fold(edges: np.ndarray) -> None:
        if blank is not None:
            partials.fill(blank)
        made.run((column,), edges, partials, held)

    return partials, fold


# Windows that stay full


def pushing(name: str, size: int, column: np.ndarray, chunk: int | None = None) -> Callable[[], Any]:
    """Push a column into a window of max again and again; once it is as long as the window, this stays full."""
    window = Sliding(builtin("max"), column.dtype, size=size, using=name, chunk=chunk)
    out = window.push(column)

    def push() -> None:
        window.push(column, out=out)
        if window.driver is not None:
            window.driver.wait()

    return push


def alone(size: int, column: np.ndarray) -> float:
    """Nanoseconds a slide of max by pba on one thread, which then cumulates chunks itself: the fastest of seven."""
    os.environ["SASH_THREADS"] = "1"
    try:
        push, times = pushing("pba", size, column), []
        for _ in range(7):
            start = time.perf_counter()
            push()
            times.append(time.perf_counter() - start)
        return min(times) / len(column) * 1e9
    finally:
        os.environ["SASH_THREADS"] = "2"


def behind(size: int, column: np.ndarray, rate: float, fastest: str, other: float) -> str:
    """Why pba, of so many million slides a second, is no further ahead of another, in a sentence."""
    helped = "" if may_help() else f"; the load was {load():.1f} on {usable_cores()} cores, where pba calls no helper"
    return (
        f"at {size:,} pba takes {1e3 / rate:.2f} ns a slide, on one thread {alone(size, column):.2f}, {fastest} "
        f"{1e3 / other:.2f}; pba combines 3 times a slide and once for its second thread, sba 3 times in all{helped}"
    )


def fewer(name: str, size: int, rows: int) -> int:
    """How many rows an algorithm gets: fewer where it takes long, none where that would not fill the window."""
    most = 2**26 // size if name == "recalc" else rows
    return min(rows, most) if min(rows, most) >= min(size, rows) else 0


def throughputs(bench: Bench, points: Iterable[Any], tasks_at: Callable[[Any], Iterator[tuple[str, Task]]], panel: str):
    """Millions of rows a second, a line for each algorithm, all of a point in turns: the fastest of seven rounds."""
    lines: dict[str, dict[Any, float]] = {}
    for point in points:
        tasks = dict(tasks_at(point))
        only = {name: task for name, (task, _) in tasks.items()}
        for name, timing in bench.measure(only, f"{panel} @ {point}", repeat=bench.pick(7, 3)).items():
            lines.setdefault(name, {})[point] = tasks[name][1] / min(timing.values) / 1e6
    return lines


# How lines compare


def least(panels: Mapping[str, Any], name: str, others: Iterable[str], points: Callable[[Any], bool]) -> float:
    """The least ratio of a line to any of the others, over all panels and the points asked for."""
    return min(
        lines[name][point] / lines[other][point]
        for lines in panels.values()
        for other in others
        for point in lines[name]
        if points(point) and point in lines.get(other, {})
    )


def every(_: Any) -> bool:
    """All points."""
    return True


def apart(lines: Mapping[str, Mapping[Any, float]], point: Any) -> float:
    """The fastest over the slowest at a point."""
    values = [line[point] for line in lines.values() if point in line]
    return max(values) / min(values)


def beats(bench: Bench, panels: Mapping[str, Any], words: str) -> None:
    """The claim that is made of every figure of throughput: sba is above two_stacks and slick_deque."""
    stacks, deque = (least(panels, "sba", [other], every) for other in ("two_stacks", "slick_deque"))
    bench.claim(
        words,
        f"sba at least {stacks:.2f}x two_stacks and {deque:.2f}x slick_deque",
        min(stacks, deque) > 1,
        "; ".join(f"{title}: sba {_listed(lines['sba'])} million/s" for title, lines in panels.items()),
    )


def _listed(line: Mapping[Any, float]) -> str:
    return ", ".join(f"{value:.1f} at {point:,}" for point, value in line.items())
