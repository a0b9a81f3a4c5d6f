"""Figure 9 (6.2): a framed median on 20,000 tuples of lineitem, 1,000 rows a frame, against traditional SQL.

The paper runs a correlated subquery and a self join on DuckDB, Hyper and PostgreSQL, and Tableau's own median. Here
both formulations run on DuckDB alone; all of them, and every algorithm, must give the same medians.
"""

from __future__ import annotations

from bench.harness import Bench
from bench.papers.holistic_2022._common import (
    DUCKDB,
    INCREMENTAL,
    NAIVE,
    SASH,
    SPEED,
    STATISTIC,
    TREE,
    Duck,
    agree,
    lineitem,
    queries,
    trailing,
)

TITLE = "Figure 9: framed median of 20,000 rows against traditional SQL"
NAMES = (SASH, TREE, NAIVE, INCREMENTAL, STATISTIC)
LIMIT = 10.0  # seconds a query of DuckDB may take

NUMBERED = "with numbered as (select *, row_number() over (order by {order}) as rn from lineitem) "
SUBQUERY = """select (select quantile_disc(l2.l_extendedprice, 0.5) from numbered l2
    where l2.rn between l1.rn - {before} and l1.rn) as answer from numbered l1"""
SELF_JOIN = """select quantile_disc(l2.l_extendedprice, 0.5) as answer
    from numbered l1 join numbered l2 on l2.rn between l1.rn - {before} and l1.rn group by l1.rn"""
TRADITIONAL = {"DuckDB, correlated subquery": SUBQUERY, "DuckDB, self join": SELF_JOIN}


def run(bench: Bench) -> None:
    data, size = lineitem(bench, bench.pick(20_000, 1_500)), bench.pick(1_000, 100)
    unique = "l_shipdate, id"
    agree(data, "median", trailing(size, unique), NAMES, *traditional(size, unique).values())
    for function in ("rank", "distinct count"):
        agree(data, function, trailing(size, unique), (SASH, TREE, NAIVE))
    duck = Duck("lineitem", data, 1.5 * LIMIT)
    tasks = queries(data, "median", trailing(size), NAMES, duck)
    old = {name: lambda query=query: duck.answer(query) for name, query in traditional(size).items()}
    timings = bench.measure(tasks | old, patience=LIMIT)
    speeds = {name: len(data) / timing.median / 1e6 for name, timing in timings.items()}
    bench.bars(f"Framed median of {len(data):,} rows, {size:,} a frame", speeds, SPEED, log=True)
    fastest = max((speeds[name] for name in TRADITIONAL if name in speeds), default=len(data) / LIMIT / 1e6)
    over = {name: speeds[name] / fastest for name in (*NAMES, DUCKDB) if name in speeds}
    claims(bench, over, speeds)


def claims(bench: Bench, over: dict[str, float], speeds: dict[str, float]) -> None:
    bench.claim(
        "merge sort trees are 63 times as fast as the fastest traditional formulation",
        ", ".join(f"{name} {ratio:.1f}" for name, ratio in over.items()) + " times",
        over[TREE] > 10,
    )
    bench.claim(
        "even the naive algorithm is 3 times as fast as the fastest traditional formulation",
        f"{over[NAIVE]:.1f} times",
        over[NAIVE] > 1,
    )
    bench.claim(
        "traditional formulations differ by an order of magnitude between database systems; Tableau's own median is "
        "slower than those of DuckDB and Hyper, and 15 times as slow as the naive algorithm",
        ", ".join(f"{name} {speeds[name]:.3g} {SPEED}" for name in TRADITIONAL if name in speeds),
        None,
        "of these systems only DuckDB is here",
    )


def traditional(size: int, order: str = "l_shipdate") -> dict[str, str]:
    """The paper's traditional formulations, by name."""
    return {name: NUMBERED.format(order=order) + query.format(before=size - 1) for name, query in TRADITIONAL.items()}
