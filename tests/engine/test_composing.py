"""Expressions of answers: what a second step computes of the answers, on every kind of frame."""

import random

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from sash import SashError, Window, col
from sash import functions as sf
from sash.engine.composing import composition
from sash.expressions.columns import Column
from sash.expressions.evaluation import evaluate as computed
from sash.expressions.spark_names import FUNCTIONS

RNG = np.random.default_rng(5)
COUNT = 60
TABLE = pa.table({
    "k": RNG.integers(0, 4, COUNT),
    "t": RNG.permutation(COUNT),
    "x": pa.array([None if n % 7 == 0 else float(n) / 4 for n in RNG.integers(-40, 40, COUNT).tolist()], pa.float64()),
    "q": pa.array([None if n % 5 == 0 else n for n in RNG.integers(1, 30, COUNT).tolist()], pa.int64()),
    "name": RNG.choice(["alder", "Birch", "cedar"], COUNT),
})  # fmt: skip
BY_K = Window.partitionBy("k").orderBy("t")
NEAR = BY_K.rowsBetween(-3, 0)
ALL = Window.orderBy("t").rangeBetween(-9, 2)
CALLS = [
    sf.avg("x").over(NEAR), sf.sum("q").over(BY_K), sf.lag("x").over(BY_K), sf.max("x").over(ALL),
    sf.count("x").over(NEAR), sf.rank().over(Window.orderBy("q")), sf.median("q").over(ALL), sf.min("q").over(NEAR),
]  # fmt: skip
FRAMES = {
    "arrow": (lambda table: table, lambda frame: frame),
    "pandas": (
        lambda table: table.to_pandas(types_mapper=pd.ArrowDtype),
        lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    ),
    "polars": (pl.from_arrow, lambda frame: frame.to_arrow()),
    "lazy": (lambda table: pl.from_arrow(table).lazy(), lambda frame: frame.collect().to_arrow()),
}
MANY = {
    "z": (col("x") - sf.avg("x").over(NEAR)) / sf.stddev("x").over(NEAR).nullif(0),
    "share": sf.sum("q").over(NEAR) / sf.sum("q").over(BY_K),
    "over": sf.max("x").over(NEAR) > sf.avg("x").over(ALL),
    "side": sash.when(sf.lag("x").over(BY_K) < col("x"), "up").when("x is null", "none").otherwise("down"),
    "whole": sf.avg("q").over(NEAR).cast("bigint"),
    "x": sf.last("x", ignorenulls=True).over(NEAR),
    "again": -sf.avg("x").over(NEAR).round(1),
    "plain": col("q") % 2,
}


@st.composite
def expressions(draw, depth=3):
    """A number: of answers, columns and constants, and the same with names in the place of answers."""
    form = draw(st.integers(0, 9)) if depth else draw(st.integers(0, 4))
    if form < 3:
        number = draw(st.integers(0, len(CALLS) - 1))
        return CALLS[number], col(f"answer{number}")
    if form == 3:
        return col("x"), col("x")
    if form == 4:
        number = draw(st.integers(-3, 3))
        return col("q") + number, col("q") + number
    one, two = draw(expressions(depth=depth - 1)), draw(expressions(depth=depth - 1))
    apply = [
        lambda a, b: a + b,
        lambda a, b: a - b * 0.5,
        lambda a, b: a.coalesce(b),
        lambda a, b: sash.when(a > b, a).otherwise(-b.alias("unused")),
        lambda a, b: (a.greatest(b)).round(1).abs(),
    ][form - 5]
    return apply(one[0], two[0]), apply(one[1], two[1])


@given(st.lists(expressions(), min_size=1, max_size=4))
def test_an_expression_of_answers_is_what_a_second_step_computes(pairs):
    asked = {f"c{place}": of_answers for place, (of_answers, _) in enumerate(pairs)}
    got = sash.withColumns(TABLE, asked)
    steps = TABLE
    for number, call in enumerate(CALLS):  # each alone, so that nothing is shared
        steps = sash.withColumns(steps, {f"answer{number}": call})
    for place, (_, of_names) in enumerate(pairs):
        assert got[f"c{place}"].to_pylist() == computed(of_names, steps).to_pylist()


@pytest.mark.parametrize("kind", FRAMES)
def test_every_kind_of_frame_has_the_same_expressions(kind):
    made, arrow = FRAMES[kind]
    want, got = sash.withColumns(TABLE, MANY), arrow(sash.withColumns(made(TABLE), MANY))
    assert got.column_names == [*TABLE.column_names, *(name for name in MANY if name != "x")]
    for name in want.column_names:
        left, right = want[name].to_pylist(), got[name].to_pylist()
        assert [str(each) for each in left] == [str(each) if each == each else "None" for each in right]


def test_duckdb_has_the_same_answers():
    names = ("z", "share", "over", "side")
    got = sash.select(TABLE, "t", {name: MANY[name] for name in names})
    near = "(partition by k order by t rows between 3 preceding and current row)"
    want = duckdb.from_arrow(TABLE).query("frame", f"""
        select t, (x - avg(x) over n) / nullif(stddev(x) over n, 0) as z, sum(q) over n / sum(q) over k as share,
               max(x) over n > avg(x) over (order by t range between 9 preceding and 2 following) as over,
               case when lag(x) over k < x then 'up' when x is null then 'none' else 'down' end as side
        from frame window n as {near}, k as (partition by k order by t) order by t
    """).to_arrow_table()  # fmt: skip
    rows = got.sort_by("t").to_pylist()
    assert [row["side"] for row in rows] == want["side"].to_pylist()
    assert [row["over"] for row in rows] == want["over"].to_pylist()
    for name in ("z", "share"):
        assert [row[name] for row in rows] == pytest.approx(want[name].to_pylist(), nan_ok=True)


def test_answers_of_answers_are_taken_in_turn():
    gaps = col("t") - sf.lag("t").over(BY_K)
    first_of_visit = sash.when(gaps > 5, 1).otherwise(0)
    visit = sf.sum(first_of_visit).over(BY_K)
    got = sash.withColumns(TABLE, {"mean": sf.avg(gaps).over(BY_K), "visit": visit,
                                   "n": sf.count().over(Window.partitionBy("k", visit)),
                                   "late": sf.count().filter(gaps > 5).over(BY_K)})  # fmt: skip
    want = duckdb.from_arrow(TABLE).query("frame", """
        with gaps as (select *, t - lag(t) over (partition by k order by t) as gap from frame),
             visits as (select *, sum(case when gap > 5 then 1 else 0 end) over w as visit, avg(gap) over w as mean,
                               count(*) filter (where gap > 5) over w as late
                        from gaps window w as (partition by k order by t))
        select t, mean, visit, count(*) over (partition by k, visit) as n, late from visits order by t
    """).to_arrow_table()  # fmt: skip
    ordered = got.sort_by("t")
    for name in ("visit", "n", "late"):
        assert ordered[name].to_pylist() == want[name].to_pylist()
    assert ordered["mean"].to_pylist() == pytest.approx(want["mean"].to_pylist())
    assert sash.explain(TABLE, {"visit": visit}).chosen == {"visit": "window_order, prefix"}


def test_what_expressions_share_is_answered_once():
    mean = sf.avg("x").over(NEAR)
    asked = {"a": col("x") - mean, "b": mean * 2, "c": sf.avg("x").over(BY_K.rowsBetween(-3, 0)), "d": mean}
    whole = composition(asked, TABLE.column_names)
    assert [list(stage) for stage in whole.stages] == [["a#1"]]
    plan = sash.explain(TABLE, asked)
    assert set(plan.chosen) == set(asked)
    assert str(plan).count("= avg(x)\n") == 1
    assert "a = x - avg(x) over (partition by k order by t rows between 3 preceding and current row), of a#1" in str(
        plan
    )
    others = {"f": sf.avg("x").filter("q > 3").over(NEAR), "u": sf.sum("x").distinct().over(NEAR), "m": mean,
              "n": sf.avg("x").over(NEAR.exclude("group")), "s": sf.avg("x").over(NEAR, using="recalc"),
              "3": sf.ntile(3).over(BY_K), "4": sf.ntile(4).over(BY_K), "w": sf.sum("x").over(NEAR)}  # fmt: skip
    assert len(composition(others | {"again": -mean}, TABLE.column_names).answers) == len(others)


def test_own_aggregates_of_one_name_are_not_shared():
    def total(times):
        return sash.Aggregate("total", lift=lambda x: x * times, combine=lambda a, b: a + b, compiled=False)

    got = sash.withColumns(TABLE, {"a": total(2)("t").over(BY_K) - total(1)("t").over(BY_K)})
    assert got["a"].to_pylist() == sash.withColumns(TABLE, {"a": sf.sum("t").over(BY_K)})["a"].to_pylist()


@given(st.integers(0, 6), st.sampled_from(["x", "q"]), st.sampled_from([None, "q > 8"]), st.integers(0, 2**32 - 1))
def test_min_samples_counts_the_rows_that_the_function_counts(least, name, condition, seed):
    picks = random.Random(seed)
    back, ahead = picks.randint(0, 5), picks.randint(0, 2)
    window = BY_K.rowsBetween(-back, ahead).exclude(picks.choice(["no others", "current row", "ties"]))

    def asked(make, columns):
        call = make(*columns)
        return call if condition is None else call.filter(condition)

    for make, columns, counted in ((sf.avg, [name], [name]), (sf.median, [name], [name]), (sf.corr, ["x", "q"], "xq"),
                                   (sf.first, [name], []), (sf.count, [name], [name]), (sf.count, [], []),
                                   (sf.collect_list, [name], [name]), (sf.max_by, ["name", name], [name]),
                                   (sf.count_distinct, [name], [name])):  # fmt: skip
        call, number = asked(make, columns), sf.count()
        known = " and ".join(f"{each} is not null" for each in counted)
        both = " and ".join(filter(None, [known, condition]))
        number = number.filter(both) if both else number
        got = sash.withColumns(TABLE, {"a": call.over(window, min_samples=least)})["a"].to_pylist()
        plain = sash.withColumns(TABLE, {"a": call.over(window), "n": number.over(window)})
        rows = zip(plain["a"].to_pylist(), plain["n"].to_pylist(), strict=True)
        assert list(map(repr, got)) == [repr(answer if count >= least else None) for answer, count in rows]


def test_min_samples_is_that_of_pandas_and_polars():
    frame = TABLE.sort_by("t").to_pandas()
    for least in (1, 2, 4):
        got = sash.withColumns(
            frame, {"a": sf.avg("x").over(Window.orderBy("t").rowsBetween(-3, 0), min_samples=least)}
        )
        assert got["a"].to_numpy() == pytest.approx(frame["x"].rolling(4, min_periods=least).mean(), nan_ok=True)
        series = pl.from_arrow(TABLE.sort_by("t"))["x"]
        assert got["a"].to_numpy() == pytest.approx(
            series.rolling_mean(4, min_samples=least).to_numpy(), nan_ok=True)  # fmt: skip


@pytest.mark.parametrize("kind", FRAMES)
def test_select_gives_only_what_is_asked(kind):
    made, arrow = FRAMES[kind]
    mean = sf.avg("x").over(NEAR)
    got = arrow(
        sash.select(made(TABLE), "name", col("x").alias("x0"), {"x": mean}, (col("q") + 1).alias("next"), ["t"])
    )
    assert got.column_names == ["name", "x0", "x", "next", "t"]
    want = sash.withColumns(TABLE, {"m": mean, "n": col("q") + 1})
    for name, source in (("x0", "x"), ("x", "m"), ("next", "n"), ("t", "t")):
        left, right = got[name].to_pylist(), want[source].to_pylist()
        assert [None if each != each else each for each in left] == right
    assert arrow(sash.select(made(TABLE), "*")).column_names == TABLE.column_names
    assert arrow(sash.select(made(TABLE), sf.max("x").over(NEAR))).column_names == [repr(sf.max("x").over(NEAR))]


def test_a_pandas_frame_keeps_its_index_and_types():
    frame = TABLE.to_pandas().set_index(pd.Index(range(100, 100 + COUNT), name="id"))
    frame["name"] = frame["name"].astype("category")
    out = sash.select(frame, "name", {"n": sf.count().over(BY_K) + 1})
    assert out.index.equals(frame.index)
    assert out["name"].dtype == frame["name"].dtype


def test_a_lazy_frame_is_answered_when_it_is_collected():
    rows = []

    def seen(frame):
        rows.append(len(frame))
        return frame

    frame = pl.from_arrow(TABLE).lazy().map_batches(seen, schema=pl.from_arrow(TABLE).schema)
    out = sash.withColumns(frame, {"n": sf.count().over(BY_K)})
    assert isinstance(out, pl.LazyFrame)
    assert rows == []
    assert out.filter(pl.col("n") == 1).select("n").collect().height == 4
    assert rows == [COUNT]
    with pytest.raises(SashError, match="there is no column 'nothing'"):  # at once
        sash.withColumns(frame, {"n": sf.count("nothing").over(BY_K)})
    assert sash.explain(frame, {"n": sf.count().over(BY_K)}).chosen == {"n": "prefix"}


def test_every_function_that_is_evaluated_is_a_method():
    missing = {name for name in FUNCTIONS if not callable(getattr(Column, name, None))}
    assert missing == {"if"}  # sash.when


METHODS = [
    (col("x").abs(), "abs(x)"), (col("x").round(1), "round(x, 1)"), (col("x").ceil(), "ceil(x)"),
    (col("x").floor(), "floor(x)"), (col("q").sqrt(), "sqrt(q)"), (col("x").exp(), "exp(x)"), (col("q").ln(), "ln(q)"),
    (col("q").log(10), "log10(q)"), (col("q") ** 2, "pow(q, 2)"), (col("x").sign(), "sign(x)"),
    (col("x").coalesce(col("q"), 0), "coalesce(x, q, 0)"), (col("q").nullif(3), "nullif(q, 3)"),
    (col("x").isnan(), "coalesce(isnan(x), false)"), (col("x").greatest(col("q"), 1), "greatest(x, q, 1)"),
    (col("x").least(0), "least(x, 0)"), (col("name").upper(), "upper(name)"), (col("name").lower(), "lower(name)"),
    (col("name").length(), "length(name)"), (col("name").substring(2, 3), "substring(name, 2, 3)"),
    (col("name").concat("-", col("name")), "concat(name, '-', name)"), (col("name").like("%r%"), "name like '%r%'"),
    (col("came").year(), "year(came)"), (col("came").month(), "month(came)"), (col("came").day(), "day(came)"),
    (col("came").hour(), "hour(came)"), (col("came").minute(), "minute(came)"), (abs(col("x")), "abs(x)"),
    (col("came").date_trunc("hour"), "date_trunc('hour', came)"), (col("came").second().cast("int"), "second(came)"),
    (col("later").datediff(col("came").cast("date")), "later - came::date"),
    (col("name").substring(2), "substring(name, 2)"),
]  # fmt: skip


@pytest.mark.parametrize(("expression", "sql"), METHODS, ids=str)
def test_methods_are_the_functions_of_their_names(expression, sql):
    times = pa.array([86_400_000_000 * n + 3_661_000_000 * n for n in range(COUNT)], pa.timestamp("us"))
    table = TABLE.append_column("came", times).append_column("later", pa.array(range(0, 7 * COUNT, 7), pa.date32()))
    got = sash.select(table, {"a": expression})["a"].to_pylist()
    want = duckdb.from_arrow(table).query("frame", f"select {sql} as a from frame").fetchall()
    assert got == [pytest.approx(each) if isinstance(each, float) else each for (each,) in want]


def test_what_is_wrong_is_told_at_once():
    mean = sf.avg("x").over(NEAR)
    for asked, words in (
        ({"a": sf.avg("x")}, "over\\(window\\) is missing"),
        ({"a": mean - col("nothing")}, "there is no column 'nothing'"),
        ({"a": sf.avg("nothing").over(NEAR) * 2}, "there is no column 'nothing'; there are k, t, x, q, name"),
        ({"a": mean + col("name")}, "name"),
    ):
        with pytest.raises(SashError, match=words):
            sash.withColumns(TABLE, asked)
    with pytest.raises(SashError, match=r"avg\(x\) needs a window to be computed with: \.over"):
        mean - sf.avg("x")
    with pytest.raises(SashError, match=r"min_samples must be a whole number, at least 0, got 1\.5"):
        sf.avg("x").over(NEAR, min_samples=1.5)
    with pytest.raises(SashError, match="min_samples counts the rows of a frame, and lag"):
        sf.lag("x").over(NEAR, min_samples=2)
    with pytest.raises(SashError, match="select takes one column of each name, got 2 called 'x'"):
        sash.select(TABLE, "x", mean.alias("x"))
    with pytest.raises(SashError, match="select takes at least one column"):
        sash.select(TABLE)
    with pytest.raises(SashError, match="alias takes a name, got 3"):
        mean.alias(3)
    with pytest.raises(SashError, match="is an answer to rows of a table"):
        sash.stream(TABLE).query("a", sf.max(mean), range=3).results()
    with pytest.raises(SashError) as caught:
        sash.withColumns(TABLE, {"fine": mean, "wrong": -sf.sum("name").over(NEAR)})
    assert caught.value.column == "wrong"


def test_errors_call_answers_by_what_these_are_of():
    rows = pa.table({"t": [1, 2], "x": [0, 0]})
    with pytest.raises(SashError, match=r"division by zero, in x / avg\(x\) over \(order by t\)$"):
        sash.withColumns(rows, {"share": col("x") / sf.avg("x").over(Window.orderBy("t"))})
