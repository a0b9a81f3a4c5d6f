"""Queries by function, frame and feature, in words that DuckDB understands as well."""

from __future__ import annotations

import itertools
import random
from datetime import date, timedelta

import pyarrow as pa

SEED = 7
ROWS = 40


def table(seed=SEED, rows=ROWS):
    """Keys, an order with ties and NULLs, a unique order, values with NULLs, a date, a text, and bounds."""
    draw = random.Random(seed)

    def some(values, nulls=0.15):
        return [None if draw.random() < nulls else draw.choice(values) for _ in range(rows)]

    unique = list(range(rows))
    draw.shuffle(unique)
    days = [date(2024, 1, 28) + timedelta(days=draw.randrange(45)) for _ in range(rows)]
    return pa.table(
        {
            "k": pa.array(some("abc", 0.1)),
            "o": pa.array(some(range(12)), pa.int64()),
            "u": pa.array(unique, pa.int64()),
            "x": pa.array(some(range(-5, 9)), pa.int64()),
            "v": pa.array([None if draw.random() < 0.1 else round(draw.gauss(0, 9), 3) for _ in range(rows)]),
            "d": pa.array(days, pa.date32()),
            "s": pa.array(some(["ant", "bee", "cat", "dog", "eel"])),
            "b": pa.array(some([True, False])),
            "n": pa.array([draw.randrange(4) for _ in range(rows)], pa.int64()),
        }
    )


AGGREGATES = [
    "count(*)",
    "count(x)",
    "count(distinct x)",
    "count(distinct s)",
    "sum(x)",
    "sum(distinct x)",
    "avg(x)",
    "avg(distinct x)",
    "min(x)",
    "max(v)",
    "max(s)",
    "min(d)",
    "var_pop(v)",
    "var_samp(v)",
    "stddev_pop(v)",
    "stddev_samp(x)",
    "median(x)",
    "median(v)",
    "quantile_disc(x, 0.3)",
    "quantile_cont(v, 0.9)",
    "bool_and(b)",
    "bool_or(b)",
    "bit_xor(x)",
    "max_by(s, u) filter (where s is not null)",
    "min_by(x, u) filter (where x is not null)",
    "arg_max(v, u) filter (where v is not null)",
    "covar_pop(v, x)",
    "regr_count(v, x)",
    "sum(x) filter (where b)",
    "count(distinct x) filter (where s > 'bee')",
    "median(x) filter (where u % 3 > 0)",
    "max(x + u)",
    "sum(case when b then x else 1 end)",
    "mad(v)",
]
PLACED = [  # these depend on the order of rows, which must have no ties
    "first_value(x)",
    "last_value(s)",
    "nth_value(x, 2)",
    "nth_value(x, 3)",
    "first_value(x ignore nulls)",
    "last_value(x ignore nulls)",
    "nth_value(s, 2 ignore nulls)",
    "string_agg(s, '-')",
    "array_agg(x) filter (where x is not null)",
    "first(v)",
    "last(v)",
]
RANKED = [
    "row_number()",
    "rank()",
    "dense_rank()",
    "percent_rank()",
    "cume_dist()",
    "ntile(3)",
    "ntile(100)",
    "lead(x)",
    "lag(x)",
    "lead(x, 3)",
    "lag(s, 2, 'none')",
    "lead(x, 0)",
    "lag(x, -1, u)",
    "lead(x ignore nulls)",
    "lag(s, 2 ignore nulls)",
]
OWN_ORDER = [  # with an order of their own, and so with the frame
    "rank(order by x desc nulls last)",
    "row_number(order by u desc)",
    "percent_rank(order by v nulls first)",
    "cume_dist(order by x nulls first)",
    "first_value(s order by u desc)",
    "last_value(x order by v nulls first, u)",
    "nth_value(x, 2 order by u desc)",
    "first_value(x order by u desc ignore nulls)",
    "lead(x order by u desc)",
    "lag(s, 2 order by u)",
    "string_agg(s, '-' order by u desc)",
    "ntile(3 order by u)",
]

BOUNDS = [
    ("unbounded preceding", "current row"),
    ("unbounded preceding", "unbounded following"),
    ("current row", "unbounded following"),
    ("2 preceding", "current row"),
    ("1 preceding", "2 following"),
    ("4 preceding", "2 preceding"),
    ("1 following", "3 following"),
    ("unbounded preceding", "1 preceding"),
    ("2 following", "unbounded following"),
]
EXCLUSIONS = ["", "exclude current row", "exclude group", "exclude ties"]
DAYS = [
    ("interval 7 days preceding", "current row"),
    ("interval 3 days preceding", "interval 3 days following"),
    ("interval 1 month preceding", "interval 1 day preceding"),
    ("current row", "interval 2 weeks following"),
]


def frames():
    """Windows, and whether the rows in them are in one order only."""
    for number, (start, end) in enumerate(BOUNDS):
        for exclude in EXCLUSIONS if number % 2 == 0 else EXCLUSIONS[:1]:
            by = "partition by k " if number % 3 else ""
            yield f"{by}order by u rows between {start} and {end} {exclude}".strip(), True
            ways = "o nulls first" if number % 2 else "o desc nulls last"
            yield f"{by}order by {ways} groups between {start} and {end} {exclude}".strip(), False
            yield f"{by}order by {ways} range between {start} and {end} {exclude}".strip(), False
    for start, end in DAYS:
        yield f"order by d range between {start} and {end}", False
        yield f"partition by k order by d desc range between {start} and {end} exclude ties", False
    yield "order by u rows between n preceding and n following", True
    yield "order by u rows between n following and 3 following", True
    yield "partition by k order by o nulls first groups between n preceding and current row", False
    yield "order by u range between n preceding and n * 2 following exclude current row", False
    yield "order by u rows 3 preceding", True
    yield "order by v + x nulls first, u", True
    yield "partition by k, b order by u desc", True
    yield "partition by s", False
    yield "", False


def statements():
    """Statements with many calls over one window each: the window, and the calls."""
    for number, (window, placed) in enumerate(frames()):
        calls = AGGREGATES if number % 4 == 0 else [each for each in AGGREGATES if hash_of(each) % 4 == number % 4]
        calls = [*calls, *(PLACED if placed else [])]
        if placed and "order by" in window:
            calls += RANKED if number % 3 == 0 else RANKED[number % 5 :: 5]
            own = [each for each in OWN_ORDER if _agreed(each, window)]
            calls += own if number % 2 == 0 else own[number % 4 :: 4]
        yield window, calls


def _agreed(call, window):
    """Whether DuckDB has an answer, and the same one: it ranks no row in a frame that the row is not in."""
    if call.split("(")[0] in ("first_value", "last_value", "nth_value", "string_agg"):
        return True
    ends = window.split(" between ")[-1].split(" and ")
    outside = "preceding" in ends[-1] or "following" in ends[0]
    return "exclude" not in window and not outside


def hash_of(text):
    """A number that is the same on every run."""
    return sum(map(ord, text))


def query(window, calls):
    """One statement of these calls, the window named."""
    listed = ",\n  ".join(f"{call} over w as c{place}" for place, call in enumerate(calls))
    return f"select u,\n  {listed}\nfrom t\nwindow w as ({window})\norder by u"


def number_of_queries():
    """How many window queries the statements hold."""
    return sum(len(calls) for _, calls in statements())


if __name__ == "__main__":
    print(sum(1 for _ in statements()), number_of_queries(), len(list(itertools.chain(AGGREGATES, PLACED))))
