"""Writes the SQL reference: an example of every function and frame with its answer, and who else understands it.

Everything is run, by Sash on Spark, by Spark and by DuckDB; PostgreSQL's column is what its documentation says of
version 18. ``python docs/reference.py`` writes docs/sql.md, ``--check`` says whether it is up to date.
"""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path

from sash.algebra.catalogue import FUNCTIONS

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
LONGEST = 40  # characters of an answer that are shown

HEADINGS = ("Counting and adding up", "Comparing", "Spread", "Quantiles and modes", "Ranks", "Values of other rows",
            "Averages over time", "Sessions", "Lists", "Sketches")  # fmt: skip
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


def postgres(expression: str) -> bool:
    """Whether PostgreSQL's documentation has a call: no DISTINCT, order or WITHIN GROUP in one over a window."""
    call, _, window = expression.partition(" over ")
    name = call.split("(")[0]
    refused = re.search(r"distinct|order by|within group|ignore nulls|from last|filter\(|, true\)", call)
    constant = "back preceding" not in window and "back following" not in window
    filtered = " filter (where" in call and name in ("rank", "row_number")
    several = call.startswith("count(distinct") or re.match(r"count\(\w+, ", call)
    known = name in FUNCTIONS and FUNCTIONS[name].postgres
    return known and not refused and constant and not filtered and not several


def examples() -> dict[str, list[str]]:
    """Expressions by heading: the examples of all functions over the last three rows, then frames."""
    calls = {
        heading: [call for each in FUNCTIONS.values() if each.heading == heading and not each.spans
                  for call in each.examples]
        for heading in HEADINGS
    }  # fmt: skip
    return {name: [f"{call} {LAST}" for call in dict.fromkeys(each)] for name, each in calls.items()} | {
        "Frames": FRAMES
    }


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
    text = str(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"


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
    from sash.spark.local import quiet_session

    before = PAGE.read_text()
    after = rebuilt(quiet_session(), before)
    if "--check" not in sys.argv:
        PAGE.write_text(after)
    print(f"{PAGE.name} {'is up to date' if after == before else 'is stale' if '--check' in sys.argv else 'written'}")
    return int(after != before and "--check" in sys.argv)


if __name__ == "__main__":
    sys.exit(main())
