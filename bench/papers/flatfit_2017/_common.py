"""What the experiments of the FlatFIT paper share: data, windows to be timed, combines counted, memory.

The paper runs one thread, aggregates with MAX and slides by one tuple. Its data is that of the DEBS 2012 Grand
Challenge, which is not to be had here: ``readings`` makes a column like one of its three energy readings, whole numbers
that alternate between two levels with noise around them.
"""

from __future__ import annotations

import copy
import math
import os
import statistics
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any

import numpy as np

import sash
from bench.harness import Bench, growth, verdicts
from bench.harness.experiment import Lines
from sash.algebra.catalogue import builtin
from sash.kernels.fifo import Sliding

os.environ["SASH_THREADS"] = "1"

MAX = builtin("max")
NAMES = ("recalc", "flatfat", "b_int", "flatfit")
FLAT = ("flatfat", "flatfit")
Table = dict[str, Callable[[int], float]]
SINGLE: Table = {
    "recalc": lambda n: n - 1,
    "flatfat": math.log2,
    "b_int": math.log2,
    "flatfit": lambda n: 3,
}
"""Operations a slide for one query over n partials, by the paper's Table 1."""
ALL: Table = {
    "recalc": lambda n: n * (n - 1) / 2,
    "flatfat": lambda n: n * math.log2(n),
    "b_int": lambda n: n * math.log2(n),
    "flatfit": lambda n: n - 1,
}
"""The same for n queries, one of each range from 1 to n."""


def readings(rows: int, start: int = 0) -> np.ndarray:
    """Energy readings 100 times a second; made piece by piece, so that little more memory is taken than they need."""
    column = np.empty(rows, np.int64)
    for at in range(0, rows, 2**16):
        piece = column[at : at + 2**16]
        working = (np.arange(start + at, start + at + len(piece)) // 500) % 2
        piece[:] = 8000 + 6000 * working + np.random.default_rng([2012, start + at]).normal(0, 300, len(piece))
    return column


# Combines, counted while the kernels run as plain Python


class Counter:
    """A maximum that counts its combines."""

    def __init__(self) -> None:
        self.combines = 0
        self.aggregate = sash.Aggregate(
            "max", lift=lambda x: x, combine=self._combine, commutative=True, compiled=False
        )

    def _combine(self, older: int, newer: int) -> int:
        self.combines += 1
        return max(older, newer)


def single_count(name: str, n: int) -> float:
    """Combines a slide of one query over n rows, on average over a cycle of n + 1 slides from a full window on.

    Slides of recalc are all alike: four are counted.
    """
    slides = 4 if name == "recalc" else n + 1
    counter = Counter()
    window, column = Sliding(counter.aggregate, np.int64, using=name, room=n), readings(n + slides)
    window.push(column[:n], lo=[0], hi=[n])
    before = counter.combines
    window.push(column[n:], lo=np.arange(1, slides + 1), hi=np.arange(n + 1, n + slides + 1))
    return (counter.combines - before) / slides


def all_count(name: str, n: int) -> float:
    """Combines a slide of n queries, one of each range up to n, the longest first; of recalc two slides are counted."""
    slides = 2 if name == "recalc" else n
    counter = Counter()
    window, asked = filled(name, n, counter.aggregate), all_ranges(n, slides)
    before = counter.combines
    window.push(readings(slides, n), **asked)
    return (counter.combines - before) / slides


def counts(bench: Bench, count: Callable[[str, int], float], sizes: Iterable[int]) -> Lines:
    """Combines a slide by algorithm and window size, recorded."""
    lines: Lines = {name: {n: count(name, n) for n in sizes} for name in NAMES}
    for name, line in lines.items():
        for n, combines in line.items():
            bench.record(f"{name} @ {n}", combines, "combines")
    return lines


# Throughput of the compiled kernels


def single_tasks(n: int, least: int, names: Iterable[str] = NAMES) -> dict[str, Callable[[], Any]]:
    """One query over n rows in a window that stays full, pushed ``single_slides(n, least)`` rows at once."""
    column = readings(single_slides(n, least))

    def task(name: str) -> Callable[[], Any]:
        window = Sliding(MAX, np.int64, size=n, using=name)  # compiles, which is not what patience is for

        @cache  # filled at the first run: an algorithm that has run out of patience fills no more windows
        def out() -> Any:
            window.push(readings(n, len(column)))
            return window.push(column)

        return lambda: window.push(column, out=out())

    return {name: task(name) for name in names}


def single_slides(n: int, least: int) -> int:
    """How many slides are timed: whole cycles of FlatFIT, each of n + 1 slides and one wReset."""
    return (n + 1) * math.ceil(least / (n + 1))


def all_tasks(n: int, answers: int, names: Iterable[str] = NAMES) -> dict[str, Callable[[], Any]]:
    """All ranges up to n at every slide. Each run starts from a copy of a window that has just answered them all."""
    slides = all_slides(n, answers)
    column, asked = readings(slides, n), all_ranges(n, slides)
    windows = {name: filled(name, n) for name in names}
    out = {name: twin(window).push(column, **asked) for name, window in windows.items()}
    return {name: lambda name=name: twin(windows[name]).push(column, **asked, out=out[name]) for name in names}


def all_slides(n: int, answers: int) -> int:
    """How many slides give about so many answers; never fewer than two."""
    return max(answers // n, 2)


def all_ranges(n: int, slides: int) -> dict[str, Any]:
    """Frames of all ranges at each of some slides after the first n rows, the longest first."""
    ends = np.arange(n + 1, n + slides + 1)
    lo = (ends[:, None] - np.arange(n, 0, -1)).ravel()
    return {"lo": lo, "hi": np.repeat(ends, n), "keep": slides + 1}


def filled(name: str, n: int, aggregate: Any = MAX) -> Sliding:
    """A window of n rows that has answered all ranges once, or, by recalc, which learns nothing of it, the longest."""
    window = Sliding(aggregate, np.int64, using=name, room=n)
    ranges = 1 if name == "recalc" else n
    window.push(readings(n), lo=np.arange(ranges), hi=np.full(ranges, n), keep=1)
    return window


def twin(window: Sliding) -> Sliding:
    """A window that goes on from where another is, without changing that."""
    other = copy.copy(window)
    other.arrays = {name: array.copy() for name, array in window.arrays.items()}
    return other


# Memory


def hold(name: str, n: int, reach: int) -> None:
    """Make n rows and slide a window over them again and again, until a ring for n rows is written all over.

    The window reaches over so many of the last rows: n, or fewer to see what the rows take without it. FlatFIT, whose
    stack grows with the slide, slides by one row as in the paper; the others, which have none, by n / 4.
    """
    rows, end = readings(n), 0
    window = Sliding(MAX, np.int64, size=reach if name == "flatfit" else None, using=name)
    while end < (1 << (n - 1).bit_length()) + n:
        if name == "flatfit":
            pushed = rows[end % n :][: 2**16]
            window.push(pushed)
        else:
            pushed = rows[: n // 4] if end else rows
            window.push(pushed, lo=[end + len(pushed) - reach], hi=[end + len(pushed)])
        end += len(pushed)


def stack(n: int, ranges: Iterable[int]) -> int:
    """How many entries of FlatFIT's stack are ever used by queries of these ranges at every row, over 3 n slides."""
    window = Sliding(MAX, np.int64, using="flatfit")
    spans = np.array(sorted(ranges, reverse=True))
    window.push(readings(n), lo=[0], hi=[n])
    window.arrays["path"][:] = -1
    ends = np.arange(n + 1, 4 * n + 1)
    lo, hi = (ends[:, None] - spans).ravel(), np.repeat(ends, len(spans))
    window.push(readings(3 * n, n), lo=lo, hi=hi, **({"keep": 3 * n + 1} if len(spans) > 1 else {}))
    return int((window.arrays["path"] >= 0).sum())


# Claims


def exponents(lines: Lines) -> dict[str, float]:
    """The growth exponent of each line."""
    return {name: growth(line) for name, line in lines.items()}


def theoretical(operations: Lines) -> Lines:
    """Slides a second, at a thousand million operations a second."""
    return {name: {n: 1e9 / value for n, value in line.items()} for name, line in operations.items()}


def falls_as(bench: Bench, lines: Lines, table: Table, least: int, within: float, why: str = "") -> None:
    """The claim that throughput falls as the formulas say, judged by the exponent of each line from a size on."""
    kept = {name: {n: value for n, value in line.items() if n >= least} for name, line in lines.items()}
    formulas = {name: {n: table[name](n) for n in line} for name, line in kept.items()}
    paper, here = exponents(theoretical(formulas)), exponents(kept)
    apart = {name: abs(here[name] - paper[name]) for name in kept}
    worst = max(apart, key=apart.__getitem__)
    cost = {n: 1e9 / value / table[worst](n) for n, value in kept[worst].items()}  # nanoseconds an operation
    changed = f"{worst} takes {cost[min(cost)]:.2f} ns for each operation of the formula at {min(cost)}, "
    changed += f"{cost[max(cost)]:.2f} at {max(cost):,}"
    bench.claim(
        f"throughput falls as the formulas do: from {least} partials on, with exponents {told(paper)}",
        told(here),
        apart[worst] <= within,
        why or changed,
    )


def ranked(bench: Bench, lines: Lines) -> None:
    """The claim that FlatFIT has the highest throughput, and Naive the lowest."""
    last = max(n for n in lines["recalc"])
    order = sorted(lines, key=lambda name: lines[name][last], reverse=True)
    bench.claim(
        "FlatFIT has the highest throughput, the trees follow, Naive is last",
        f"at {last:,}, slides a second: {told({name: lines[name][last] for name in order}, ',.0f')}",
        order[0] == "flatfit" and order[-1] == "recalc",
        f"{order[0]} is {lines[order[0]][last] / lines['flatfit'][last]:.2f} times as fast as flatfit, and {order[-1]} "
        f"{lines[order[-1]][last] / lines['recalc'][last]:.2f} times as fast as recalc",
    )


def ratio(lines: Lines, over: str, under: str) -> dict[int, float]:
    """One line over another, at the points of both."""
    return {n: value / lines[under][n] for n, value in lines[over].items() if n in lines[under]}


def reaches(paper: float, ratios: dict[int, float]) -> bool:
    """Whether the mean of ratios has at least half the gain of the paper's mean, a gain being what is above 1."""
    return verdicts.gained(statistics.mean(ratios.values()), paper)


def wins(bench: Bench, paper: str, lines: Lines, least: int, count: Callable[[str, int], float]) -> None:
    """The claim that FlatFIT has a higher throughput than FlatFAT from a size on."""
    ratios = ratio(lines, "flatfit", "flatfat")
    lost = [n for n, value in ratios.items() if n >= least and value <= 1]
    here = f"from {least} on, faster at {sum(n >= least for n in ratios) - len(lost)} sizes"
    here += f", slower at {', '.join(f'{n:,} ({ratios[n]:.2f})' for n in lost)}" if lost else ""
    bench.claim(paper, here, not lost, taken(lines, max(lost), count) if lost else "")


def taken(lines: Lines, n: int, count: Callable[[str, int], float]) -> str:
    """What a slide takes at a size, in a sentence; combines of a large one are counted at 256, which takes seconds."""
    at = min(n, 256)
    said = [f"{name} {1e9 / lines[name][n]:,.1f} ns, {count(name, at):,.1f} combines" for name in FLAT]
    return f"a slide takes at {n:,}: {'; '.join(said)}" + f" (counted at {at})" * (at < n)


def told(values: dict[str, float], form: str = ".2f") -> str:
    """Values by name, in a sentence."""
    return ", ".join(f"{name} {value:{form}}" for name, value in values.items())


def summary(ratios: dict[int, float]) -> str:
    """The mean and the largest of ratios, in a sentence."""
    most = max(ratios, key=ratios.__getitem__)
    mean = statistics.mean(ratios.values())
    return f"{mean:.1f} times on average, {ratios[most]:.1f} at most (at {most:,})"


def trees(bench: Bench, lines: Lines, count: Callable[[str, int], float], at: int) -> None:
    """The claim that B-Int is slower than FlatFAT; where it is not, combines at a size are counted to say why."""
    slower = statistics.median(ratio(lines, "flatfat", "b_int").values())
    why = ""
    if verdicts.below(1.0, slower) is not True:
        fat, b_int = count("flatfat", at), count("b_int", at)
        why = f"at {at:,}, flatfat takes {fat:,.1f} combines a slide and b_int {b_int:,.1f}"
    bench.claim(
        "B-Int is slower than FlatFAT by a constant factor",
        f"flatfat has {slower:.2f} times the throughput of b_int, the median of all sizes",
        verdicts.below(1.0, slower),
        why,
    )
