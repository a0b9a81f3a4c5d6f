"""Writes the SQL reference: an example of every function and frame with its answer, and who else understands it.

Everything is run, by Sash on Spark, by Spark and by DuckDB; PostgreSQL's column is what its documentation says of
version 18. ``python docs/reference.py`` writes docs/sql.md, ``--check`` says whether it is up to date.
"""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path

PAGE = Path(__file__).parent / "sql.md"

COLUMNS = "n int, sym string, trader string, price double, qty int, up boolean, day date, back int"
ROWS = [
    (1, "A", "ann", 5.0, 10, True, "2024-01-30", 0),
    (2, "A", "bob", 7.0, None, False, "2024-01-31", 1),
    (3, "B", "ann", 4.0, 5, True, "2024-02-15", 0),
    (4, "A", "cleo", 7.0, 1, True, "2024-02-29", 2),
    (5, "B", None, 6.0, 8, False, "2024-03-01", 1),
    (6, "A", "ann", 8.0, 5, True, "2024-03-31", 1),
]
LAST = "over (order by n rows 2 preceding)"

# by heading: calls, each over the last three rows
FUNCTIONS = {
    "Counting and adding up": [
        "count(*)", "count(qty)", "count(distinct trader)", "count_if(up)", "sum(qty)", "sum(distinct qty)",
        "avg(price)", "product(qty)", "geometric_mean(price)",
    ],
    "Comparing": [
        "min(price)", "max(price)", "min_count(price)", "max_count(price)", "min_by(trader, price)",
        "max_by(trader, price)", "arg_max(trader, price)", "argmax(price, trader)", "range(price)", "bool_and(up)",
        "bool_or(up)", "every(up)", "any(up)", "bit_and(qty)", "bit_or(qty)", "bit_xor(qty)",
    ],
    "Spread": [
        "var_pop(price)", "var_samp(price)", "stddev_pop(price)", "stddev_samp(price)", "stddev(price)",
        "skewness(price)", "kurtosis(price)", "mad(price)", "entropy(sym)", "covar_pop(price, qty)",
        "covar_samp(price, qty)", "corr(price, qty)", "regr_count(price, qty)", "regr_slope(price, n)",
        "regr_intercept(price, n)", "regr_r2(price, n)", "regr_avgx(price, qty)", "regr_avgy(price, qty)",
        "regr_sxx(price, n)", "regr_syy(price, n)", "regr_sxy(price, n)",
    ],
    "Quantiles and modes": [
        "median(price)", "percentile(price, 0.25)", "percentile_cont(0.25) within group (order by price)",
        "percentile_disc(0.25) within group (order by price)", "percentile_disc(0.25, order by price)",
        "percentile_cont(0.25 order by price desc)", "quantile_cont(price, 0.25)", "quantile_disc(price, 0.25)",
        "mode(sym)", "mode() within group (order by sym)", "ith_smallest(price, 2)",
    ],
    "Ranks": [
        "row_number()", "rank()", "dense_rank()", "percent_rank()", "cume_dist()", "ntile(2)",
        "rank(order by price desc)", "row_number(order by price, n)", "dense_rank(order by price)",
        "percent_rank(order by price)", "cume_dist(order by price)", "ntile(2 order by price, n)",
        "rank(6.5) within group (order by price)",
    ],
    "Values of other rows": [
        "first_value(qty)", "last_value(qty)", "nth_value(qty, 2)", "nth_value(qty, 1) from last",
        "first_value(qty) ignore nulls", "last_value(qty ignore nulls)", "first_value(trader order by price desc)",
        "lead(qty)", "lag(qty)", "lag(qty, 2, -1)", "lag(qty) ignore nulls", "lead(n order by price desc, n)",
        "first(qty)", "last(qty, true)", "any_value(sym)", "ith_youngest(price, 2)",
    ],
    "Lists": [
        "array_agg(qty)", "array_agg(n order by price desc, n)", "collect_list(qty)", "collect_set(sym)",
        "array_agg(distinct sym)", "listagg(trader, ', ') within group (order by n desc)",
        "string_agg(trader, ', ')", "string_agg(distinct sym, '-' order by sym)", "first_n(price, 2)",
        "last_n(price, 2)", "top_k(price, 2)",
    ],
    "Any of them": ["sum(qty) filter (where up)", "sum(qty) filter(up)", "rank(order by price) filter (where up)",
                    "median(price + qty)", "count(distinct sym, up)"],
}  # fmt: skip
FRAMES = [
    "sum(n) over ()",
    "sum(n) over (partition by sym)",
    "sum(n) over (order by price)",
    "sum(n) over (order by n desc)",
    "sum(n) over (order by qty nulls last)",
    "sum(n) over (order by n rows 1 preceding)",
    "sum(n) over (order by n rows between 1 preceding and 1 following)",
    "sum(n) over (order by n rows between unbounded preceding and 1 preceding)",
    "sum(n) over (order by n rows between back preceding and back following)",
    "sum(n) over (order by price range between 1 preceding and current row)",
    "sum(n) over (order by price desc range between 1.5 preceding and 0.5 following)",
    "sum(n) over (order by day range between interval '1' month preceding and current row)",
    "sum(n) over (order by day range between '15 days' preceding and '1 day' following)",
    "sum(n) over (order by n range between back preceding and current row)",
    "sum(n) over (order by price groups between 1 preceding and current row)",
    "sum(n) over (order by price groups between back preceding and unbounded following)",
    "sum(n) over (order by price groups between 1 preceding and 1 following exclude no others)",
    "sum(n) over (order by price groups between 1 preceding and 1 following exclude current row)",
    "sum(n) over (order by price groups between 1 preceding and 1 following exclude group)",
    "sum(n) over (order by price groups between 1 preceding and 1 following exclude ties)",
]
# what PostgreSQL 18 documents for window calls; everything else it does not have
POSTGRES_FUNCTIONS = frozenset(
    """count sum avg min max bool_and bool_or every bit_and bit_or bit_xor var_pop var_samp stddev_pop stddev_samp
    stddev covar_pop covar_samp corr regr_count regr_slope regr_intercept regr_r2 regr_avgx regr_avgy regr_sxx regr_syy
    regr_sxy row_number rank dense_rank percent_rank cume_dist ntile first_value last_value nth_value lead lag array_agg
    string_agg any_value""".split()
)


def postgres(expression: str) -> bool:
    """Whether PostgreSQL's documentation has a call: no DISTINCT, order or WITHIN GROUP in one over a window."""
    call, _, window = expression.partition(" over ")
    name = call.split("(")[0]
    refused = re.search(r"distinct|order by|within group|ignore nulls|from last|filter\(|, true\)", call)
    constant = "back preceding" not in window and "back following" not in window
    filtered = " filter (where" in call and name in ("rank", "row_number")
    several = call.startswith("count(distinct") or re.match(r"count\(\w+, ", call)
    return name in POSTGRES_FUNCTIONS and not refused and constant and not filtered and not several


def examples() -> dict[str, list[str]]:
    """Expressions by heading."""
    return {name: [f"{call} {LAST}" for call in calls] for name, calls in FUNCTIONS.items()} | {"Frames": FRAMES}


def answered(spark, expressions: list[str]) -> list[list]:
    """The answers of Sash, for all rows in order of ``n``."""
    import sash

    listed = ", ".join(f"{each} as c{place}" for place, each in enumerate(expressions))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        rows = sash.sql(f"select {listed} from trades order by n", trades=trades(spark)).collect()
    return [list(column) for column in zip(*rows, strict=True)]


def trades(spark):
    return spark.createDataFrame(ROWS, COLUMNS.replace("day date", "day string")).selectExpr(
        *(f"cast({name} as {kind}) as {name}" for name, kind in (each.split() for each in COLUMNS.split(", ")))
    )


def understood(run, expressions: list[str]) -> list[bool]:
    """Which expressions another engine takes."""
    found = []
    for each in expressions:
        try:
            run(f"select {each} as answer from trades")
            found.append(True)
        except Exception:
            found.append(False)
    return found


def shown(value) -> str:
    if value is None:
        return "NULL"
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return f"{value:.4g}"
    if isinstance(value, list):
        return f"[{' '.join(map(shown, value))}]"
    return str(value)


def tables(spark) -> str:
    """A table for each heading."""
    import duckdb

    connection = duckdb.connect()
    kinds = {"string": "varchar"}
    named = ", ".join(
        f"{name} {kinds.get(kind, kind)}" for name, kind in (each.split() for each in COLUMNS.split(", "))
    )
    connection.execute(f"create table trades ({named})")
    connection.executemany("insert into trades values (?, ?, ?, ?, ?, ?, ?, ?)", ROWS)
    trades(spark).createOrReplaceTempView("trades")
    parts = []
    every = [each for expressions in examples().values() for each in expressions]
    answers = dict(zip(every, answered(spark, every), strict=True))
    for heading, expressions in examples().items():
        sparks = understood(lambda query: spark.sql(query).collect(), expressions)
        ducks = understood(lambda query: connection.sql(query).fetchall(), expressions)
        lines = ["| example | answers, in order of `n` | Spark | DuckDB | PostgreSQL |", "|---|---|---|---|---|"]
        for each, by_spark, by_duck in zip(expressions, sparks, ducks, strict=True):
            text = each.removesuffix(f" {LAST}")
            marks = ["✓" if mark else "" for mark in (by_spark, by_duck, postgres(each))]
            answer = ", ".join(map(shown, answers[each])).replace("|", "\\|")
            lines.append(f"| `{text}` | {answer} | {' | '.join(marks)} |")
        parts.append(f"### {heading}\n\n" + "\n".join(lines))
    spark.catalog.dropTempView("trades")
    return "\n\n".join(parts)


def rebuilt(spark, text: str) -> str:
    """The page with the tables between its marks made anew."""
    mark = re.compile(r"(<!-- made: reference -->\n).*?(<!-- end -->)", re.DOTALL)
    return mark.sub(lambda found: f"{found[1]}{tables(spark)}\n{found[2]}", text)


def main() -> int:
    from sash.spark.queries import quiet_session

    before = PAGE.read_text()
    after = rebuilt(quiet_session(2), before)
    if "--check" not in sys.argv:
        PAGE.write_text(after)
    print(f"{PAGE.name} {'is up to date' if after == before else 'is stale' if '--check' in sys.argv else 'written'}")
    return int(after != before and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
