"""Figures 9 to 13 of Arbitrarily-Framed Holistic SQL Aggregates and Window Functions (SIGMOD 2022), 6.2 to 6.6.

``python -m bench.papers.holistic_2022 [figure9 … figure13]`` prints each claim of the paper, what comes out here and
whether the shape holds, and draws ``docs/plots/holistic-2022-figure*.svg``. ``SASH_TPCH_SCALE`` is the scale factor.

As in the paper, queries are whole, on TPC-H's lineitem, in millions of tuples a second: Sash from an Arrow table to an
Arrow table, DuckDB from its own table to an Arrow table, two threads each. A median is percentile_disc(0.5).
Medians of three runs after one to warm up; where the first takes over a second, one more run counts, and over five
seconds the first. Past that the line of the incremental algorithm ends: it is quadratic, and would take four times as
long at the next size. A query of DuckDB is stopped at ``SASH_BENCH_LIMIT`` seconds.

Left out: Hyper, PostgreSQL and Tableau, which are not here, and the naive algorithm, which Sash does not have for
percentiles. Today's DuckDB is not the paper's 0.3.2: it has merge sort trees of its own, after this paper.
"""

from __future__ import annotations

import math
import os
import statistics
import subprocess
import sys
import threading
import time
from functools import cache
from pathlib import Path

import duckdb
import numpy as np
import pyarrow as pa
import pyarrow.compute
import pyarrow.parquet as pq

import sash
from bench.papers import HOME, canvas, compare, once
from bench.timing import machine, table
from sash import Window
from sash import functions as sf
from sash.errors import Refused
from sash.kernels.index.merge_sort_tree import MergeSortTree

SCALE = os.environ.get("SASH_TPCH_SCALE", "1")
LIMIT = float(os.environ.get("SASH_BENCH_LIMIT", 20))  # seconds a query of DuckDB may take
SLOW = 5.0  # seconds after which a first run counts, and ends the line of a quadratic algorithm
THREADS = 2

FUNCTIONS = {
    "median": (sf.percentile_disc("l_extendedprice", 0.5), "quantile_disc(l_extendedprice, 0.5)"),
    "rank": (sf.rank().order_by("l_extendedprice"), "rank(order by l_extendedprice)"),
    "lead": (
        sf.lead("l_extendedprice").order_by("l_extendedprice"),
        "lead(l_extendedprice order by l_extendedprice)",
    ),
    "distinct count": (sf.count_distinct("l_partkey"), "count(distinct l_partkey)"),
}
TREE, INCREMENTAL, STATISTIC = "merge sort tree", "incremental", "order statistic tree"
ALGORITHMS = {"Sash's choice": None, TREE: "merge_sort_tree", INCREMENTAL: "incremental",
              STATISTIC: "order_statistic_tree"}  # fmt: skip
DUCKDB = "DuckDB"
COLOURS = {"Sash's choice": "#d1495b", TREE: "#00798c", INCREMENTAL: "#edae49", STATISTIC: "#6a4c93", DUCKDB: "#555555"}


# Data


@cache
def lineitem(rows=None):
    """The lineitem table of TPC-H, or so many of its rows at random in its order; made on first use."""
    if rows is not None:
        data = lineitem()
        return data.take(np.sort(np.random.default_rng(0).permutation(len(data))[:rows]))
    folder = HOME / "out" / "tpch" / SCALE
    path = folder / "lineitem.parquet"
    if not path.exists():
        generator = Path(sys.executable).with_name("tpchgen-cli")
        made = ["parquet", "--scale-factor", SCALE, "--tables", "lineitem", "--output-dir", str(folder), "--quiet"]
        subprocess.run([generator, *made], check=True)
    data = pq.read_table(path, columns=["l_shipdate", "l_extendedprice", "l_partkey"]).combine_chunks()
    cents = pa.compute.cast(pa.compute.multiply(data["l_extendedprice"], 100), pa.int64()).to_numpy()
    data = data.append_column("jump", pa.array(cents * 7703 % 49_900 / 100))  # section 6.5
    return data.append_column("id", pa.array(np.arange(len(data))))


class Duck:
    """DuckDB with some of lineitem in a table of its own."""

    def __init__(self, data):
        self.connection = duckdb.connect(config={"threads": THREADS})
        self.connection.register("given", data)
        self.connection.execute("create table lineitem as select * from given")

    def answer(self, query):
        """A query's answer, or duckdb.InterruptException at the limit."""
        timer = threading.Timer(LIMIT, self.connection.interrupt)
        timer.start()
        try:
            return self.connection.sql(query).to_arrow_table()  # execute would copy the answer once more
        finally:
            timer.cancel()


# Measuring


def timed(task):
    """The time of a task, or None where it is refused or stopped."""
    try:
        first = once(task)
        if first > SLOW:
            return first
        return statistics.median(once(task) for _ in range(3 if first < 1 else 1))
    except (Refused, duckdb.InterruptException):
        return None


def sweep(points, task_at, rows_at, patience=math.inf):
    """Millions of tuples a second at each point, until one cannot be had or takes too long."""
    line = {}
    for point in points:
        took = timed(task_at(point))
        if took is None:
            break
        line[point] = rows_at(point) / took / 1e6
        if took > patience:
            break
    return line


def sweeps(points, data_at, function, frame_at, without=()):
    """A line for each algorithm and for DuckDB; ``frame_at`` gives a window and DuckDB's words for it."""
    call, expression = FUNCTIONS[function]
    lines = {}
    for name, using in ALGORITHMS.items():
        if name in without:
            continue

        def ours(point, using=using):
            data, over = data_at(point), call.over(frame_at(point)[0], using=using)
            return lambda: sash.withColumns(data, {"answer": over})

        patience = SLOW if name == INCREMENTAL else math.inf
        lines[name] = sweep(points, ours, lambda point: len(data_at(point)), patience)
    ducks = {}

    def theirs(point):
        data = data_at(point)
        if id(data) not in ducks:
            ducks[id(data)] = Duck(data)
        return lambda: ducks[id(data)].answer(
            f"select {expression} over ({frame_at(point)[1]}) as answer from lineitem"
        )

    lines[DUCKDB] = sweep(points, theirs, lambda point: len(data_at(point)))
    return {name: line for name, line in lines.items() if line}


def trailing(size, order="l_shipdate"):
    """The last so many rows, or all so far, in both languages."""
    words = "unbounded" if size is None else str(size - 1)
    window = Window.orderBy(*order.split(", ")).rowsBetween(Window.unboundedPreceding if size is None else 1 - size, 0)
    return window, f"order by {order} rows between {words} preceding and current row"


def crossing(lines, first, second, points):
    """Where the first line overtakes the second, in words, and whether it does so at all."""
    both = [point for point in points if point in lines.get(first, ()) and point in lines.get(second, ())]
    ahead = [lines[first][point] > lines[second][point] for point in both]
    ratio = f"{lines[first][both[-1]] / lines[second][both[-1]]:.2f} times as fast at {both[-1]:,}"
    if all(ahead) or not ahead[-1]:
        return f"the {first} is {'ahead everywhere' if all(ahead) else 'behind at the end'}, {ratio}", False
    at = max(i for i, leads in enumerate(ahead) if not leads)
    return f"the {first} overtakes between {both[at]:,} and {both[at + 1]:,}, {ratio}", True


# Saying and drawing


def show(title, what, points, lines, named=lambda point: f"{point:,}"):
    """A table of lines: one row a point."""
    rows = [[named(point), *(line.get(point) for line in lines.values())] for point in points]
    table(f"{title}: millions of tuples a second", [what, *lines], rows)


def draw(number, panels, what, logarithmic=True):
    """Lines by title, each against the points of an axis, and one scale of speeds for all."""
    figure, axes, save = canvas(len(panels), 3 + 2.4 * len(panels), 3)
    speeds = [speed for lines in panels.values() for line in lines.values() for speed in line.values()]
    for axis, (title, lines) in zip(axes, panels.items(), strict=True):
        for name, line in lines.items():
            axis.plot(list(line), list(line.values()), "o-", color=COLOURS[name], markersize=3, linewidth=1.4)
        axis.set(title=title, xlabel=what, yscale="log", ylim=(min(speeds) / 1.3, max(speeds) * 1.3))
        axis.yaxis.set_major_formatter("{x:g}")
        if logarithmic:
            axis.set_xscale("log")
            axis.set_xticks(points := sorted({point for line in lines.values() for point in line}), minor=False)
            axis.set_xticklabels(map(short, points), rotation=45)
            axis.minorticks_off()
    axes[0].set_ylabel("million tuples a second")
    names = [name for name in COLOURS if any(name in lines for lines in panels.values())]
    handles = [axes[0].plot([], [], "o-", color=COLOURS[name], markersize=3)[0] for name in names]
    figure.legend(handles, names, loc="outside right upper")
    save(f"holistic-2022-figure{number}")


def short(count):
    return f"{count / 1e6:.3g}M" if count >= 1e6 else f"{count / 1e3:.3g}k" if count >= 1e3 else str(count)


# The figures


def numbered(answer, order="l_shipdate"):
    """The paper's traditional formulations, with lineitem's rows numbered."""
    return f"with numbered as (select *, row_number() over (order by {order}) as rn from lineitem) {answer}"


SUBQUERY = """select (select quantile_disc(l2.l_extendedprice, 0.5) from numbered l2
    where l2.rn between l1.rn - 999 and l1.rn) as answer from numbered l1"""
SELF_JOIN = """select quantile_disc(l2.l_extendedprice, 0.5) as answer
    from numbered l1 join numbered l2 on l2.rn between l1.rn - 999 and l1.rn group by l1.rn"""


def in_cents(answered):
    """All answers, sorted: Sash gives percentiles of decimals as doubles."""
    return sorted(round(float(answer) * 100) for answer in answered["answer"].to_pylist())


def agree(data, duck):
    """Raise unless all compute the same; a tie broken by id, for in the paper's order rows are free to swap."""
    order = "l_shipdate, id"
    window, words = trailing(1000, order)
    for function in ("median", "rank", "distinct count"):
        call, expression = FUNCTIONS[function]
        queries = [f"select {expression} over ({words}) as answer from lineitem"]
        if function == "median":
            queries += [numbered(SUBQUERY, order), numbered(SELF_JOIN, order)]
        expected = in_cents(sash.withColumns(data, {"answer": call.over(window)}))
        for query in queries:
            if in_cents(duck.answer(query)) != expected:
                raise AssertionError(f"another {function} than that of {query}")


def figure9():
    data = lineitem(20_000)
    duck = Duck(data)
    agree(data, duck)
    window, words = trailing(1000)
    call, expression = FUNCTIONS["median"]
    tasks = {name: lambda using=using: sash.withColumns(data, {"answer": call.over(window, using=using)})
             for name, using in ALGORITHMS.items()}  # fmt: skip
    queries = {
        "DuckDB, framed median": f"select {expression} over ({words}) as answer from lineitem",
        "DuckDB, correlated subquery": numbered(SUBQUERY),
        "DuckDB, self join": numbered(SELF_JOIN),
    }
    tasks |= {name: lambda query=query: duck.answer(query) for name, query in queries.items()}
    speeds = {name: len(data) / took / 1e6 for name, task in tasks.items() if (took := timed(task))}
    title = f"Figure 9: framed median of {len(data):,} rows, 1,000 a frame"
    table(f"{title}, millions of tuples a second", ["", "speed"], [[n, f"{s:.3f}"] for n, s in speeds.items()])
    traditional = max((speeds[name] for name in list(queries)[1:] if name in speeds), default=len(data) / LIMIT / 1e6)
    over = {name: speed / traditional for name, speed in speeds.items() if name not in list(queries)[1:]}
    claim = (
        "over the fastest traditional formulation, merge sort trees are 63 times as fast, even the naive algorithm 3"
    )
    ours = ", ".join(f"{name} {ratio:.0f}" for name, ratio in over.items())
    compare(claim, ours, over[TREE] > 10 and min(over.values()) > 3)
    _, (axis,), save = canvas(1, 7, 2.6)
    names = list(speeds)[::-1]
    axis.barh(names, [speeds[name] for name in names], color=[COLOURS.get(name, COLOURS[DUCKDB]) for name in names])
    axis.set(title=title, xlabel="million tuples a second", xscale="log")
    axis.grid(axis="y", visible=False)
    save("holistic-2022-figure9")


def figure10():
    everything = len(lineitem())
    sizes = [size for size in (50_000, 100_000, 200_000, 400_000, 800_000, 1_600_000) if size <= everything]
    panels = {}
    for function in FUNCTIONS:
        without = [INCREMENTAL] if function == "lead" else []  # only half of a lead would be incremental
        frame = lambda size: trailing(size // 20)  # noqa: E731
        panels[function] = sweeps(sizes, lineitem, function, frame, without=without)
        show(f"Figure 10: {function}, frames of 5% of the rows", "rows", sizes, panels[function])
    draw(10, panels, "rows")
    median, distinct = panels["median"], panels["distinct count"]
    where, _ = crossing(median, TREE, INCREMENTAL, sizes)
    slower = all(median[INCREMENTAL][size] < median[TREE][size] for size in median[INCREMENTAL])
    compare("incremental medians are not competitive at any size", where, slower)
    where, overtakes = crossing(median, TREE, STATISTIC, sizes)
    claim = "order statistic trees win at first and lose from 0.8 million rows, as tasks of 20,000 rows repeat work"
    compare(claim, f"{where}; a task here is a thread's share of the rows", overtakes)
    claim = "incremental distinct counts win at first and lose from 1.2 million rows, where they outgrow the L2 cache"
    compare(claim, *crossing(distinct, TREE, INCREMENTAL, sizes))
    kept = {function: lines[TREE][sizes[-1]] / max(lines[TREE].values()) for function, lines in panels.items()}
    words = ", ".join(f"{share:.0%} ({function})" for function, share in kept.items())
    claim = "merge sort trees keep their speed as the input grows"
    compare(claim, f"at {sizes[-1]:,} rows the tree has of its peak {words}", min(kept.values()) > 0.5)


def figure11():
    data = lineitem()
    sizes = [*(size for size in (10, 100, 1_000, 10_000, 100_000) if size < len(data)), len(data)]
    lines = sweeps(sizes, lambda size: data, "median", lambda size: trailing(None if size == len(data) else size))
    show(f"Figure 11: framed median of {len(data):,} rows", "frame", sizes, lines)
    draw(11, {f"median of {len(data):,} rows": lines}, "rows of a frame; the last is all so far")
    spread = max(lines[TREE].values()) / min(lines[TREE].values())
    claim = "merge sort trees have one speed at all frames, the default frame of SQL included"
    compare(claim, f"the fastest frame over the slowest is {spread:.1f}", spread < 2.5)
    claim = "they overtake the incremental algorithm at frames of 700 rows"
    compare(claim, *crossing(lines, TREE, INCREMENTAL, sizes))
    claim = "they overtake order statistic trees at 20,000 rows, which on one thread do not depend on the frame"
    compare(claim, *crossing(lines, TREE, STATISTIC, sizes))
    slower = all(lines[TREE][size] > speed for size, speed in lines[DUCKDB].items())
    compare("DuckDB is not competitive at any frame", crossing(lines, TREE, DUCKDB, sizes)[0], slower)


def figure12():
    data, shares = lineitem(), (0.0, 0.1, 0.5, 1.0)

    def frame(m):
        back = (sash.col("jump") * m).cast("bigint")
        words = f"cast(floor({m} * jump) as bigint)"
        both = f"order by l_shipdate rows between {words} preceding and 500 - {words} following"
        return Window.orderBy("l_shipdate").rowsBetween(-back, 500 - back), both

    lines = sweeps(shares, lambda m: data, "median", frame)
    title = f"Figure 12: median of {len(data):,} rows, frames of 501 rows that go back and forth"
    show(title, "m", shares, lines, str)
    draw(12, {"median, frames of 501 rows": lines}, "m, how far frames jump", logarithmic=False)
    near, kept = lines[INCREMENTAL][0.0] / lines[TREE][0.0], lines[TREE][1.0] / lines[TREE][0.0]
    claim = "the incremental algorithm keeps up with the merge sort tree where frames only move forward (m = 0)"
    compare(claim, f"{near:.2f} times as fast", near > 0.5)
    claim = "the incremental algorithm falls behind as soon as frames go back"
    compare(claim, "Sash refuses it there, as it does the order statistic tree", None)
    compare("merge sort trees do not mind", f"{kept:.2f} of their speed is left at m = 1", kept > 0.5)


def figure13(rows=1_000_000):
    """One thread, outside the window operator, one run each: the build, and a rank for each row in frames of 5%."""
    os.environ["SASH_THREADS"] = "1"
    fanouts, samplings = (2, 4, 8, 16, 32, 64, 256), (1, 4, 16, 32, 128, 1024)
    values = np.random.default_rng(0).permutation(rows).astype(np.int32)
    hi = np.arange(1, rows + 1, dtype=np.int32)
    lo = np.maximum(hi - rows // 20, 0)
    times, answers = {}, set()

    def rank(fanout, sampling):
        answers.add(int(MergeSortTree(values, fanout, sampling).count(lo, hi, values).sum(dtype=np.int64)))

    rank(32, 32)
    for fanout in fanouts:
        for sampling in samplings:
            if fanout / sampling <= 64:  # a level of 64 pointers a row is 256 megabytes
                times[fanout, sampling] = once(lambda: rank(fanout, sampling))  # noqa: B023
    os.environ["SASH_THREADS"] = str(THREADS)
    if len(answers) != 1:
        raise AssertionError("the shape of a tree must not change its answers")
    lines = [[fanout, *(times.get((fanout, sampling)) for sampling in samplings)] for fanout in fanouts]
    table(f"Figure 13: seconds to build and ask, {rows:,} random integers", ["fan-out", *samplings], lines)
    best = min(times, key=times.__getitem__)
    over = {shape: times[shape] / times[best] for shape in ((16, 4), (32, 32), (2, 32), (256, 32), (32, 1024))}
    compare(
        "16/4 is the fastest (fan-out/sampling), 32/32 takes 1.2 times as long; "
        "fan-out 2 takes 1.6, 256/32 2.3 and 32/1024 1.7 times as long",
        f"{best[0]}/{best[1]} is the fastest; " + ", ".join(f"{f}/{k} {t:.2f}" for (f, k), t in over.items()),
        over[16, 4] < 1.25 and over[2, 32] > 1.25 and over[256, 32] > 1.5 and over[32, 1024] > 1.25,
    )
    _, (axis,), save = canvas(1, 6, 3.2)
    grid = np.array([[times.get((fanout, sampling), np.nan) for sampling in samplings] for fanout in fanouts])
    axis.pcolormesh(np.log(grid), cmap="YlGnBu", edgecolors="white")
    for (y, x), took in np.ndenumerate(grid):
        dark = np.log(took) > np.nanmean(np.log(grid)) + np.nanstd(np.log(grid))
        if not np.isnan(took):
            axis.text(x + 0.5, y + 0.5, f"{took:.2f}", ha="center", va="center", color="white" if dark else "black")
    axis.set(title="seconds to build and ask, one thread", xlabel="sampling of pointers", ylabel="fan-out")
    axis.set_xticks(np.arange(len(samplings)) + 0.5, map(str, samplings))
    axis.set_yticks(np.arange(len(fanouts)) + 0.5, map(str, fanouts))
    axis.invert_yaxis()
    axis.grid(visible=False)
    save("holistic-2022-figure13")


FIGURES = {f"figure{number}": globals()[f"figure{number}"] for number in range(9, 14)}


def main():
    os.environ["SASH_THREADS"] = str(THREADS)
    print(f"{machine()}, duckdb {duckdb.__version__}, scale factor {SCALE}")
    if float(SCALE) < 1:
        print("Below scale factor 1 there are too few rows to judge by: this is to try the code.")
    for name in sys.argv[1:] or FIGURES:
        start = time.perf_counter()
        FIGURES[name]()
        print(f"  {name} took {time.perf_counter() - start:.0f} s")


if __name__ == "__main__":
    main()
