"""The time of every slide inside compiled code, by the processor's clock.

A clocked kernel calls an algorithm for one row at a time. It is compiled and cached like any other kernel. Where rows
come one by one, pba cumulates a chunk from the right on the same thread, a row a slide: no slide waits for another.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from functools import cache
from typing import Any, NamedTuple

import numpy as np

from bench.harness import Bench
from bench.harness.verdicts import below
from bench.papers.boundary_2021._common import HERTZ, folding, uniform
from sash.algebra.catalogue import builtin
from sash.kernels.compiling import Kernel, routine, specialise
from sash.kernels.compiling.accessors import define
from sash.kernels.compiling.registry import parameters
from sash.kernels.fifo import ALGORITHMS, Sliding
from sash.kernels.fifo.parallel_boundary import WORDS
from sash.kernels.fifo.sliding import refusal
from sash.kernels.slices.cell_folding import run_folding
from sash.kernels.slices.partials import Partial, columns_of, of_partials

RUNS = 5
NAMES = ("two_stacks", "slick_deque", "sba", "pba", "daba")  # the paper's four, and what else has a bound


def ticks() -> int:
    """The processor's clock; compiled, it is one instruction."""
    return time.perf_counter_ns()


@routine
def clock(times):  # type: ignore[no-untyped-def]
    """Read the clock twice in a row, again and again."""
    for i in range(len(times)):
        start = ticks()
        times[i] = ticks() - start
    return ticks()


def known_to_numba() -> None:
    """Have ``ticks`` compiled to the instruction."""
    import numba

    from sash.kernels.compiling import numba_backend

    @numba.extending.intrinsic
    def counter(context):  # type: ignore[no-untyped-def]
        def read(target, builder, signature, arguments):  # type: ignore[no-untyped-def]
            word = numba.core.cgutils.ir.IntType(64)
            kind = numba.core.cgutils.ir.FunctionType(word, [])
            return builder.call(builder.module.declare_intrinsic("llvm.readcyclecounter", fnty=kind), [])

        return numba.types.int64(), read

    numba.extending.overload(ticks)(lambda: lambda: counter())
    numba_backend.OVERLOADED = (*numba_backend.OVERLOADED, ticks)


@cache
def nanoseconds() -> float:
    """How long a tick is."""
    known_to_numba()
    nothing = np.zeros(0, np.int64)
    clock(nothing)
    start, begun = time.perf_counter_ns(), clock(nothing)
    time.sleep(0.2)
    return (time.perf_counter_ns() - start) / (clock(nothing) - begun)


CLOCKED = """
for i in range(len(times)):
    times[i] = ticks()
    slide({arguments})
    times[i] = ticks() - times[i]
return len(times)
"""


def clocked(name: str, columns: int) -> Kernel:
    """A kernel that has an algorithm slide by one row at a time over so many columns, and clocks each slide."""
    inner = ALGORITHMS[name].held_by(1)
    row = {
        "values": "(" + "".join(f"values[{k}][i : i + 1], " for k in range(columns)) + ")",
        "base": "base + i", "rows": "1", "out": "(out[0][i : i + 1], out[1][i : i + 1])",
    }  # fmt: skip

    def make(agg: Any) -> Any:
        slide = inner.make(agg)
        taken = parameters(slide)
        body = CLOCKED.format(arguments=", ".join(row.get(each, each) for each in taken))
        kept = {each: typing for each, typing in taken.items() if each != "rows"} | {"times": "Marks"}
        loop = define(f"loop({', '.join(kept)})", *body.splitlines(), slide=agg.function(slide), ticks=ticks)
        loop.__annotations__ = kept
        return loop

    return Kernel(f"clocked_{name}", make, "")


class Clocked(NamedTuple):
    """Nanoseconds of every slide."""

    times: np.ndarray

    @property
    def usual(self) -> float:
        """The average of all but the slowest hundredth; the clock's steps are too coarse for quantiles."""
        return float(np.sort(self.times)[: len(self.times) * 99 // 100].mean())

    def each(self, size: int) -> float:
        """The slowest of every so many slides, at the median: what a flip takes, whatever the system does to one."""
        whole = len(self.times) // (size + 1)
        return float(np.median(self.times[: whole * (size + 1)].reshape(whole, size + 1).max(axis=1)))

    @property
    def summary(self) -> dict[str, float]:
        """The columns of the paper's tables."""
        times = self.times
        cuts = dict(zip(("LQ", "Med", "HQ"), np.quantile(times, (0.25, 0.5, 0.75)).tolist(), strict=True))
        found = {"Min": times.min(), "Max": times.max(), "Avg": times.mean(), "Std": times.std()}
        return {name: float(value) for name, value in found.items()} | cuts | {"Avg of 99 %": self.usual}


def latencies(name: str, aggregate: Any, columns: tuple[np.ndarray, ...], size: int) -> Clocked:
    """The time of every slide of a full window: the median of several runs over the same rows.

    A spike that is the algorithm's own comes in every run; one of the system's comes in few.
    """
    tick = nanoseconds()
    dtypes = tuple(column.dtype for column in columns)
    made = specialise(clocked(name, len(columns)), aggregate.of(dtypes), dtypes, "size")
    window = Sliding(aggregate, *dtypes, size=size, using=name)
    window.push(*(column[:size] for column in columns))
    saved, rest = window.state(), tuple(column[size:] for column in columns)
    out = np.zeros(len(rest[0]), made.answer), np.ones(len(rest[0]), np.bool_)
    found = []
    for _ in range(RUNS + 1):  # the first touches the memory
        window.restore(saved)
        times = np.full(len(rest[0]), 0)  # not np.zeros: a page's first touch would count for one slide in 512
        given = {"values": rest, "base": size, "frames": (size,), "starts": np.zeros(0, np.int64), "out": out,
                 "words": np.zeros(WORDS, np.int64), "scratch": np.zeros(0)}  # fmt: skip
        all_ = given | window.arrays | {"times": times}
        made.run(*(all_[each] for each in made.parameters))
        found.append(times)
    first = len(rest[0]) * 3 // 100  # the paper reports 970 thousand of a million
    return Clocked(np.median(found[1:], axis=0)[first:] * tick)


# What the paper measures


def of_max(bench: Bench, names: tuple[str, ...]) -> dict[int, dict[str, Clocked]]:
    """Max over windows of 2^13 and 2^14 values, by size and algorithm."""
    rows = bench.pick(1_000_000, 20_000)
    column = uniform(rows + 2**14)
    return {
        size: {name: latencies(name, builtin("max"), (column[: size + rows],), size) for name in names}
        for size in (2**13, 2**14)
    }


def of_moments(bench: Bench, names: tuple[str, ...]) -> dict[int, dict[str, Clocked]]:
    """MomentSketch over 3600 and 7200 slices of 100 values, by number of slices and algorithm, where it can run."""
    rows, sizes = bench.pick((100_000, (3600, 7200)), (2_000, (360, 720)))
    sketch = builtin("moment_sketch").but(finish=None)  # the kernels, not what makes structs of their answers
    made = specialise(run_folding, sketch, (np.dtype(np.float64),))
    slices = rows + sizes[-1]
    partials, fold = folding(sketch, uniform(slices * HERTZ), slices)
    fold(np.arange(0, slices * HERTZ + 1, HERTZ))
    merging, columns = of_partials(sketch, None, [Partial(made.state, made.shape)]), columns_of(partials)
    able = [name for name in names if not refusal(ALGORITHMS[name], sketch)]
    return {
        size: {name: latencies(name, merging, tuple(each[: size + rows] for each in columns), size) for name in able}
        for size in sizes
    }


def spikes(clocked: Clocked, stacks: Clocked) -> np.ndarray:
    """The slides that take more than a tenth of the longest of two_stacks."""
    return np.flatnonzero(clocked.times > stacks.times.max() / 10)


def tabled(bench: Bench, title: str, found: dict[int, dict[str, Clocked]], label: Callable[[int], str]) -> None:
    """The paper's table of seven summaries, and the average without the slowest hundredth."""
    rows = []
    for size, by_name in found.items():
        for name, clocked in by_name.items():
            for column, value in clocked.summary.items():
                bench.record(f"{name}, {column} @ {label(size)}", value, "ns")
            rows.append([name, label(size), *clocked.summary.values()])
    head = ["", "range", *clocked.summary]
    bench.table(f"{title}, nanoseconds", head, rows)


def claims(bench: Bench, found: dict[int, dict[str, Clocked]], averages: str) -> None:
    """What the paper says of both tables."""
    first, last = found.values()
    worst = {name: [each[name].times.max() for each in found.values()] for name in first}
    others = [name for name in first if name != "pba"]
    best = all(
        each["pba"].summary[part] < each[name].summary[part]
        for each in found.values()
        for name in others
        for part in ("Max", "Std")
    )
    said = ", ".join(f"{name} {a:,.0f} and {b:,.0f}" for name, (a, b) in worst.items())
    least = {name: min(each[name].times.max() for each in found.values()) for name in first}
    bench.claim(
        "PBA has the least Max and Std",
        f"Max in ns at the two ranges: {said}",
        best,
        f"at the least {', '.join(f'{name} {value:,.0f}' for name, value in least.items())}; a slide takes at "
        "most 4 combines with pba and 6 with daba; what is above that is the system's",
    )
    flips = {name: {size: each[name].each(size) for size, each in found.items()} for name in ("two_stacks", "sba")}
    grown = {name: max(line.values()) / min(line.values()) for name, line in flips.items()}
    bench.claim(
        "twice the window doubles the Max of TwoStack and SBA, whose flips and boundaries take linear time",
        "of the slowest slide in a window's length, the median: "
        + ", ".join(f"{name} {ratio:.2f}x" for name, ratio in grown.items()),
        all(1.5 < ratio < 2.7 for ratio in grown.values()),
        "nanoseconds a row of the window: "
        + ", ".join(
            f"{name} " + " and ".join(f"{time / size:.2f}" for size, time in line.items())
            for name, line in flips.items()
        ),
    )
    usual = {name: [each[name].usual for each in found.values()] for name in first if name != "daba"}
    pairs = list(zip(usual["sba"], usual["pba"], strict=True))
    peers = [min(times) for times in zip(*(usual[name] for name in usual if name not in ("sba", "pba")), strict=True)]
    bench.claim(
        "SBA and PBA are alike but for Max and Std, and below TwoStack and SlickDeque",
        "average in ns without the slowest hundredth, at the two ranges: "
        + ", ".join(f"{name} {a:.1f} and {b:.1f}" for name, (a, b) in usual.items()),
        all(max(pair) < peer and max(pair) < 1.25 * min(pair) for pair, peer in zip(pairs, peers, strict=True))
        if max(map(max, usual.values())) - min(map(min, usual.values())) >= reading()
        else None,
        f"a slide is a call that loads and stores what the window keeps; {reading():.1f} of these ns are the clock's",
    )
    smaller, larger = (each["pba"].times.mean() for each in (first, last))
    bench.claim(
        f"PBA shows better latency with the larger window (its table has averages of {averages})",
        f"pba {smaller:.1f} ns, then {larger:.1f} ns with twice the window",
        below(float(larger), float(smaller), reading()),
        "a slide does the same at both, whatever the window",
    )


def reading() -> float:
    """How long it takes to read the clock, in nanoseconds."""
    tick, times = nanoseconds(), np.zeros(10_000, np.int64)
    clock(times)
    return float(np.median(times)) * tick


def calm(bench: Bench, words: str, found: Iterable[dict[str, Clocked]], names: tuple[str, ...]) -> None:
    """The claim that SlickDeque and PBA have no spikes, and two_stacks, where it is among the names, has."""
    all_ = list(found)
    counts = {name: sum(len(spikes(each[name], each["two_stacks"])) for each in all_ if name in each) for name in names}
    bench.claim(
        words,
        "windows over a tenth of TwoStack's slowest: " + ", ".join(f"{name} {n:,}" for name, n in counts.items()),
        counts["slick_deque"] == counts["pba"] == 0 < counts.get("two_stacks", 1),
        "what stays of spikes comes in most of five runs over the same rows",
    )
