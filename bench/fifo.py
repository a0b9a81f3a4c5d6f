"""The window algorithms against each other and against Polars: ``make bench-fifo``.

Nanoseconds a row, one thread each but for pba, which has a second; medians of five runs after one to
warm up. Every comparison is within one run.
"""

from __future__ import annotations

import os

os.environ["POLARS_MAX_THREADS"] = "1"  # before Polars is imported: one thread each

import math
import statistics
import sys
import time

import numpy as np
import polars as pl

from bench.timing import machine, seconds, table
from sash.algebra.catalogue import builtin
from sash.kernels.compiling.registry import parameters
from sash.kernels.fifo import ALGORITHMS, Sliding
from sash.kernels.fifo.sliding import refusal

RANDOM = np.random.default_rng(0)
BUDGET = 3e8  # combines: what would take more is left out of the table
NAMES = list(ALGORITHMS)


def throughput(name, aggregate, column, size=None, frames=None):
    """Nanoseconds a row, all rows in one push; None where the algorithm refuses, or would take too long."""
    if refusal(ALGORITHMS[name], aggregate):
        return None
    if name == "recalc" and len(column) * (size or 1) > BUDGET:
        return None
    if name == "pba" and (size or 2**20) < 1024:  # a call to the second thread every few rows
        return None

    def run():
        window = Sliding(aggregate, column.dtype, size=size, using=name)
        if frames is None:
            window.push(column)
        else:
            window.push(column, lo=frames[0], hi=frames[1])
        window.state() if name == "pba" else None

    return seconds(run) / len(column) * 1e9


def window_sizes(aggregate, rows=1_000_000):
    """Throughput over window sizes."""
    column, sizes = RANDOM.normal(size=rows), [2**k for k in range(0, 21, 2)]
    figures = {name: [throughput(name, aggregate, column, size) for size in sizes] for name in NAMES}
    head = ["size", *NAMES]
    table(
        f"{aggregate.name}: ns a row, {rows:,} rows, windows of one size, an answer a row",
        head,
        [[f"2^{k * 2}", *(figures[name][k] for name in NAMES)] for k in range(len(sizes))],
    )
    ratios = [fat / fit for fat, fit in zip(figures["flatfat"], figures["flatfit"], strict=True)]
    print(f"  flatfit over flatfat, on average: {statistics.mean(ratios):.2f} (expected 1.8)")


def slides(size=2**17, rows=1_000_000):
    """Throughput over slides."""
    aggregate, column, figures = builtin("max"), RANDOM.normal(size=rows), []
    for slide in range(1, 11):
        hi = np.arange(slide, rows + 1, slide)
        frames = np.maximum(hi - size, 0), hi
        costs = (throughput(name, aggregate, column, frames=frames) if name != "recalc" else None for name in NAMES)
        figures.append([slide, *costs])
    table(f"max: ns a row, windows of 2^17 rows that slide by 1 to 10, {rows:,} rows", ["slide", *NAMES], figures)


def all_ranges():
    """All n ranges answered at every row, the longest first."""
    aggregate, rows_out, figures = builtin("max"), 2_000_000, []
    names = [name for name in NAMES if ALGORITHMS[name].ranges]
    for size in (4, 16, 64, 256, 1024):
        rows = rows_out // size
        column = RANDOM.normal(size=rows)
        hi = np.repeat(np.arange(1, rows + 1), size)
        lo = np.maximum(hi - np.tile(np.arange(size, 0, -1), rows), 0)
        costs = [throughput(name, aggregate, column, frames=(lo, hi)) / size for name in names]
        fit, fat = costs[names.index("flatfit")], costs[names.index("flatfat")]
        figures.append([size, *costs, fat / fit])
    table("max: ns an answer, all ranges 1 to n at every row", ["n", *names, "flatfit over flatfat"], figures)
    print(f"  on average: {statistics.mean(row[-1] for row in figures):.1f} (expected 10)")


def kernel_latency(rows=200_000):
    """The time of each slide inside compiled code, by the processor's clock."""
    import numba

    from sash.kernels.compiling import numba_backend

    @numba.extending.intrinsic
    def ticks(context):
        def read(target, builder, signature, arguments):
            kind = numba.core.cgutils.ir.FunctionType(numba.core.cgutils.ir.IntType(64), [])
            counter = builder.module.declare_intrinsic("llvm.readcyclecounter", fnty=kind)
            return builder.call(counter, [])

        return numba.types.int64(), read

    @numba.njit(nogil=True)
    def clocked(slide, values, base, frames, state, out, times):
        for i in range(len(values)):
            start = ticks()
            slide(values[i : i + 1], base + i, frames, state, out[0][i : i + 1], out[1][i : i + 1])
            times[i] = ticks() - start

    tick = numba.njit(lambda a: ticks())
    tick(0)  # compiles
    start, begun = time.perf_counter(), tick(0)
    time.sleep(0.2)
    nanoseconds = (time.perf_counter() - start) * 1e9 / max(tick(0) - begun, 1)
    aggregate = builtin("max").of((np.dtype(np.float64),))
    for size in (2**13, 2**14):
        figures = []
        for name in NAMES:
            if name in ("recalc", "pba") or refusal(ALGORITHMS[name], aggregate):
                continue
            kinds = numba_backend.typed(aggregate, (np.dtype(np.float64),), "size")
            slide = numba.njit(nogil=True, error_model="numpy")(ALGORITHMS[name].make(kinds.functions))
            one = _one_row(slide, list(ALGORITHMS[name].sizes))
            window = Sliding(aggregate, np.float64, size=size, using=name)
            column = RANDOM.normal(size=size + rows)
            window.push(column[:size])
            saved, out = window.state(), (np.empty(rows), np.ones(rows, np.bool_))
            times = np.empty(rows, np.int64)
            for _ in range(2):  # the first compiles
                window.restore(saved)
                state = tuple(window.arrays.values())
                clocked(one, column[size:], size, (size,), state, out, times)
            nano = np.sort(times) * nanoseconds
            cuts = [float(nano[int(rows * q)]) for q in (0.5, 0.9, 0.99, 0.999, 0.9999)]
            figures.append([name, *cuts, float(nano[-1]), float(nano.mean())])
        head = ["", "p50", "p90", "p99", "p99.9", "p99.99", "max", "mean"]
        table(f"max: nanoseconds a slide in compiled code, window 2^{int(math.log2(size))}", head, figures)


def _one_row(slide, names):
    """A compiled function that slides by one row, whatever the algorithm's parameters are called."""
    import numba

    given = {"values": "(values,)", "rows": "1", "out": "(answers, valid)"}
    given |= {name: f"state[{k}]" for k, name in enumerate(names)}
    arguments = ", ".join(given.get(name, name) for name in parameters(slide.py_func))
    source = f"def one(values, base, frames, state, answers, valid):\n    return slide({arguments})\n"
    scope = {"slide": slide, "starts": np.zeros(0, np.int64)}
    exec(source, scope)
    return numba.njit(nogil=True)(scope["one"])


def latency(pushes=30_000):
    """The time of a push of one row, as a caller feels it."""
    aggregate = builtin("max")
    for size in (2**13, 2**14):
        figures = []
        for name in NAMES:
            if name == "recalc":
                continue
            if refusal(ALGORITHMS[name], aggregate):
                continue
            column = RANDOM.normal(size=size + pushes)
            window = Sliding(aggregate, np.float64, size=size, using=name)
            window.push(column[:size])
            batches = [column[at : at + 1] for at in range(size, size + pushes)]
            times = np.empty(pushes)
            for k, batch in enumerate(batches):
                start = time.perf_counter_ns()
                window.push(batch)
                times[k] = time.perf_counter_ns() - start
            micro = np.sort(times) / 1000
            cuts = [micro[int(pushes * q)] for q in (0.5, 0.9, 0.99, 0.999, 0.9999)]
            figures.append([name, *map(float, cuts), float(micro[-1]), float(micro.mean())])
        table(
            f"max: microseconds a push of one row, Python included, window 2^{int(math.log2(size))}",
            ["", "p50", "p90", "p99", "p99.9", "p99.99", "max", "mean"],
            figures,
        )


def coarse(rows=2_000_000, size=1000):
    """Tumbling windows, and slides of half and a tenth of the window."""
    aggregate, column, figures = builtin("stddev"), RANDOM.normal(size=rows), []
    for label, slide in (("tumbling", size), ("half", size // 2), ("a tenth", size // 10)):
        hi = np.arange(slide, rows + 1, slide)
        frames = np.maximum(hi - size, 0), hi
        figures.append([label, *(throughput(name, aggregate, column, frames=frames) for name in NAMES)])
    table(f"stddev: ns a row, windows of {size} rows, coarse slides", ["slide", *NAMES], figures)


def memory():
    """Bytes of state a row of the window."""
    aggregate, figures = builtin("max"), []
    for size in (2**10, 2**10 + 1, 2**20):
        windows = [None if refusal(ALGORITHMS[n], aggregate) else Sliding(aggregate, np.float64, size=size, using=n)
                   for n in NAMES]  # fmt: skip
        bytes_ = [w and sum(a.nbytes for a in w.arrays.values()) / size for w in windows]
        figures.append([size, *bytes_])
    table("max of doubles: bytes of state a row of the window", ["size", *NAMES], figures)


def against_polars(rows=10_000_000):
    """Rolling aggregates of ten million doubles, one thread each."""
    column = RANDOM.normal(size=rows)
    series, figures = pl.Series(column), []
    for name, theirs in (("max", "rolling_max"), ("avg", "rolling_mean"), ("stddev", "rolling_std")):
        for size in (1000, 100_000):
            peer = seconds(lambda f=theirs, n=size: getattr(series, f)(n, min_samples=1)) / rows * 1e9
            fresh = [throughput(algorithm, builtin(name), column, size) for algorithm in ("sba", "two_stacks")]
            out = Sliding(builtin(name), np.float64, size=size).push(column)
            again = seconds(lambda n=name, s=size, o=out: Sliding(builtin(n), np.float64, size=s).push(column, out=o))
            again *= 1e9 / rows
            figures.append([name, size, *fresh, again, peer, peer / fresh[0], peer / again])
    head = ["", "size", "sba", "two_stacks", "sba, out=", "Polars", "over sba", "over sba, out="]
    table(f"Polars {pl.__version__}: ns a row, {rows:,} doubles, one thread each", head, figures)
    print("  Polars' allocator hands memory out again; ours is new, and zeroed by the system, unless out= is given")


def second_core(rows=4_000_000):
    """Whether PBA gains by its second thread."""
    column, figures = np.abs(RANDOM.normal(size=rows)) + 0.1, []
    for name in ("max", "stddev", "moment_sketch"):
        for size in (2**13, 2**15, 2**17, 2**20):
            bare = builtin(name).but(finish=None)  # the kernels, not what makes structs of their answers
            sba, stacks, pba = (throughput(a, bare, column, size) for a in ("sba", "two_stacks", "pba"))
            figures.append([name, f"2^{int(math.log2(size))}", sba, stacks, pba, sba / pba, stacks / pba])
    table(
        f"pba with a second thread: ns a row, {rows:,} rows",
        ["", "size", "sba", "two_stacks", "pba", "pba over sba", "pba over two_stacks"],
        figures,
    )


PARTS = {
    "polars": against_polars,
    "sizes": lambda: [window_sizes(builtin(name)) for name in ("max", "stddev")],
    "slides": slides,
    "ranges": all_ranges,
    "coarse": coarse,
    "second": second_core,
    "latency": lambda: (kernel_latency(), latency()),
    "memory": memory,
}

if __name__ == "__main__":
    print(machine())
    for part in sys.argv[1:] or PARTS:
        PARTS[part]()
