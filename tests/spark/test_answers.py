"""Every function over every window on Spark, however the rows are spread, against the engine in this process."""

import pyarrow as pa
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from pyspark.sql import functions as F

import sash
from engine.test_frames import COLUMNS, FOLDS, TYPES, modified, ours, own_orders, windows
from every_function import NAMES, every_call
from frames_oracle import Call
from sash import SashError, Window
from sash import functions as sf
from sash.engine.evaluating import evaluate
from sash.spark import ranged
from spark import cases

pytestmark = pytest.mark.filterwarnings("ignore::sash.errors.SashWarning")

EXAMPLES = settings(
    max_examples=max(settings.default.max_examples // 7, 1),
    phases=[Phase.explicit, Phase.reuse, Phase.generate],  # to shrink would take thousands of queries
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)


@st.composite
def tables(draw):
    count = draw(st.integers(0, 40))
    values = {
        name: draw(st.lists(st.sampled_from(some if name in ("back", "ahead") else [None, *some]),
                            min_size=count, max_size=count))
        for name, some in COLUMNS.items()
    }  # fmt: skip
    return cases.numbered(pa.table(values, TYPES))


@st.composite
def ranks(draw):
    name = draw(st.sampled_from(["rank", "dense_rank", "row_number", "percent_rank", "cume_dist", "ntile"]))
    return draw(modified(Call(name), getattr(sf, name)(*([3] if name == "ntile" else [])), order=True))[1]


@st.composite
def values(draw):
    column, n = draw(st.sampled_from(["s", "v", "q"])), draw(st.integers(1, 4))
    ask = draw(st.sampled_from([sf.first_value(column), sf.last_value(column),
                                sf.nth_value(column, n, from_last=draw(st.booleans()))]))  # fmt: skip
    return draw(modified(Call(""), ask, order=True, nulls=True))[1]


@st.composite
def shifts(draw):
    function = draw(st.sampled_from([sf.lead, sf.lag]))
    ask = function("s", draw(st.integers(-1, 3)), draw(st.sampled_from([None, "none"])))
    return draw(modified(Call(""), ask, order=True, nulls=True))[1]


@st.composite
def holistic(draw):
    column = draw(st.sampled_from(["v", "q"]))
    share = draw(st.sampled_from([0.0, 0.07, 0.5, 1.0]))
    asks = [sf.median(column), sf.mad(column), sf.percentile_disc(column, share), sf.percentile_cont(column, share),
            sf.percentile_disc("s", share), sf.mode("s"), sf.mode(column), sf.entropy("s"), sf.count_distinct("s"),
            sf.count_distinct("s", "q"), sf.sum_distinct("q"), sf.rank(sash.col("q") + 1).order_by("q")]  # fmt: skip
    return draw(modified(Call(""), draw(st.sampled_from(asks))))[1]


@st.composite
def folds(draw):
    column, function, _ = FOLDS[draw(st.sampled_from(sorted(FOLDS)))]
    asks = [
        function(column),
        sf.min("s"),
        sf.max("v"),
        sf.max_by("s", "v"),
        sf.stddev("q"),
        sf.count(),
        sf.top_k("q", 2),
    ]
    return draw(modified(Call(""), draw(st.sampled_from(asks))))[1]


@st.composite
def lists(draw):
    asks = [sf.collect_list("s"), sf.listagg("s", ","), sf.collect_set("q"), sf.first_n("s", 2)]
    ask = draw(st.sampled_from(asks))
    return draw(modified(Call(""), ask, order=ask.aggregate.name in ("collect_list", "listagg")))[1]


@st.composite
def expressions(draw):
    """Some expressions of every family over a few windows; those that need an order have one."""
    some = draw(st.lists(windows(), min_size=3, max_size=3))
    for window in some:
        window.order = window.order or draw(own_orders)[:1]
    some.append(draw(windows(kinds=("range",))))
    families = [ranks(), values(), shifts(), holistic(), holistic(), folds(), folds(), lists()]
    found = {}
    for place, family in enumerate([*families, *families]):
        ask, window = draw(family), draw(st.sampled_from(some))
        if not window.order and ask.aggregate.name in ("row_number", "ntile", "lead", "lag"):
            window = some[0]
        found[f"answer {place}"] = ask.over(ours(window))
    return found


@EXAMPLES
@given(
    table=tables(),
    columns=expressions(),
    tasks=st.integers(1, 5),
    shuffled=st.booleans(),
    adaptive=st.booleans(),
    rows_a_piece=st.sampled_from([1, 5, 1 << 16]),
)
def test_everything_everywhere(spark, table, columns, tasks, shuffled, adaptive, rows_a_piece):
    frame = cases.in_tasks(spark, table, tasks, shuffled)
    with pytest.MonkeyPatch.context() as patch, cases.settings(spark, adaptive__enabled=adaptive):
        patch.setattr(ranged, "ROWS_A_PIECE", rows_a_piece)
        cases.check(frame, table, columns)


# Every function at least once

FEW = cases.numbered(
    pa.table(
        {
            "k": ["a", "b", "a", None, "a", "b", "a", "b", "b", "a", "a", None],
            "t": [1, 1, 2, 3, 3, 3, None, 4, 5, 6, 6, 7],
            "q": [3, None, -1, 7, 3, 100, 0, 7, 2, None, 5, 3],
            "v": [1.5, 2.0, 0.25, 8.0, None, 2.0, 4.0, 0.5, 1.0, 1.0, 3.0, 2.5],
            "s": ["b", None, "a", "zz", "b", "", "ä", "b", "a", "c", "c", "d"],
            "o": [True, None, False, True, None, False, True, True, False, False, True, True],
        }
    )
)
START, END = Window.unboundedPreceding, Window.unboundedFollowing


def every_expression(window):
    """Each function over a window, of the first column whose type it takes."""
    found = {}
    for column in ("q", "v", "o", "s"):
        for name, call in every_call(column, "v").items():
            if name not in found:
                over = call.over(window)
                try:
                    evaluate(FEW.slice(0, 0), {name: over})
                except SashError:
                    continue
                found[name] = over
    assert set(NAMES) <= set(found)
    return found


@pytest.mark.parametrize(
    "window",
    [
        Window.partitionBy("k").orderBy("t").rowsBetween(-3, 1),
        pytest.param(Window.partitionBy("k").orderBy("t desc"), marks=pytest.mark.long),
        # over every kind of frames they are in tests/engine/test_every_frame.py
        pytest.param(Window.orderBy("t").groupsBetween(-1, 1), marks=pytest.mark.long),
        # what is carried from piece to piece is in test_ranged.py, too, of fewer functions
        pytest.param(Window.orderBy("t desc nulls first").rowsBetween(START, 1), marks=pytest.mark.long),
        pytest.param(Window.orderBy("t").rangeBetween(START, END), marks=pytest.mark.long),
    ],
    ids=repr,
)
def test_every_function(spark, window, monkeypatch):
    monkeypatch.setattr(ranged, "ROWS_A_PIECE", 4)
    cases.check(cases.in_tasks(spark, FEW, 3), FEW, every_expression(window))


# Columns of PySpark, and names that need care


def test_columns_of_pyspark(spark):
    rows = cases.numbered(pa.table({"a": [5, 1, 4, 1, None, 3], "b": [1, 2, 3, 1, 1, 2], "n": [1, 0, 2, 1, 0, 3]}))
    in_a, in_b = F.col("a"), F.col("b")
    pairs = {
        "argument": (
            sf.max(in_a - in_b).over(Window.orderBy("id")),
            sf.max(sash.col("a") - sash.col("b")).over(Window.orderBy("id")),
        ),
        "order": (
            sf.collect_list("id").over(Window.orderBy(sf.desc(in_a - in_b), "id")),
            sf.collect_list("id").over(Window.orderBy(sf.desc(sash.col("a") - sash.col("b")), "id")),
        ),
        "own order": (
            sf.lead("id").order_by(sf.desc(in_a % 3), "id").over(Window.orderBy("id").rowsBetween(-3, 2)),
            sf.lead("id").order_by(sf.desc(sash.col("a") % 3), "id").over(Window.orderBy("id").rowsBetween(-3, 2)),
        ),
        "filter": (
            sf.count().filter((in_b > 1) & in_a.isNotNull()).over(Window.orderBy("id")),
            sf.count().filter("b > 1 and a is not null").over(Window.orderBy("id")),
        ),
        "partition": (
            sf.sum("id").over(Window.partitionBy(in_b % 2)),
            sf.sum("id").over(Window.partitionBy(sash.col("b") % 2)),
        ),
        "bounds of each row": (
            sf.sum("id").over(Window.orderBy("id").rowsBetween(-F.col("n"), in_b)),
            sf.sum("id").over(Window.orderBy("id").rowsBetween(-sash.col("n"), sash.col("b"))),
        ),
        "default": (
            sf.lag("a", 1, in_b * 100).over(Window.orderBy("id")),
            sf.lag("a", 1, sash.col("b") * 100).over(Window.orderBy("id")),
        ),
        "condition": (sf.count_if(in_a > in_b).over(Window), sf.count_if("a > b").over(Window)),
        "share": (
            sf.percentile_disc("id", in_b / 4).over(Window.partitionBy("b")),
            sf.percentile_disc("id", sash.col("b") / 4).over(Window.partitionBy("b")),
        ),
    }
    columns = {name: pair[0] for name, pair in pairs.items()}
    cases.check(cases.in_tasks(spark, rows, 3), rows, columns, {name: pair[1] for name, pair in pairs.items()})


def test_names(spark):
    values = [3, 1, 2, 5]
    names = [
        "a.b",
        "with space",
        "tick`ed",
        "größe",
        "MiXed",
        "__sash_answers",
        "__sash_row",
        "select",
        "c0",
        "a0",
        "'",
    ]
    rows = cases.numbered(pa.table(dict.fromkeys(names, values)))
    frame = cases.in_tasks(spark, rows, 2)
    columns = {}
    for name in names:
        quoted = "`" + name.replace("`", "``") + "`"
        columns[f"sum of {name}"] = sf.sum(name).over(Window.orderBy("id"))
        columns[f"`{name}`.x"] = sf.max("id").filter(f"{quoted} > 1").over(Window.partitionBy(sash.col(quoted)))
    columns["__sash_answers_"] = sf.sum("MIXED").over(Window.orderBy("ID"))
    columns["Ünïcode 雪"] = sf.count("mixed").over(Window.orderBy(sash.col("mixed")))
    cases.check(frame, rows, columns)
    assert sash.withColumns(frame, columns).columns == [*names, "id", *columns]


def test_names_that_sash_uses_itself(spark, monkeypatch):
    monkeypatch.setattr(ranged, "ROWS_A_PIECE", 2)
    names = [f"__sash_{word}" for word in ("answers", "own", "first", "last", "piece", "told", "row", "index_0")]
    rows = cases.numbered(pa.table({name: [2, 7, 1, 8, 2, 8] for name in names}))
    columns = {name + "!": sf.sum(name).over(Window.orderBy("id").rowsBetween(-1, 0)) for name in names}
    columns |= {name + "?": sf.sum(name).over(Window.orderBy(name)) for name in names[:2]}
    columns |= {name + "+": sf.sum("id").over(Window.partitionBy(name)) for name in names[:2]}
    cases.check(cases.in_tasks(spark, rows, 2), rows, columns)


def test_columns_of_one_name_are_carried_along(spark):
    rows = cases.numbered(pa.table({"a": [1, 2, 3], "twice": ["x", "y", "z"]}))
    frame = spark.createDataFrame(rows)
    frame = frame.select("*", F.upper("twice").alias("twice"))
    out = sash.withColumns(frame, {"sum": sf.sum("a").over(Window.orderBy("id"))})
    assert out.columns == ["a", "twice", "id", "twice", "sum"]
    assert sorted(map(tuple, out.collect())) == [(1, "x", 0, "X", 1), (2, "y", 1, "Y", 3), (3, "z", 2, "Z", 6)]
    with pytest.raises(SashError, match="ambiguous"):
        sash.withColumns(frame, {"max": sf.max("twice").over(Window.orderBy("id"))})
    with pytest.raises(SashError, match="cannot be replaced"):
        sash.withColumns(frame, {"twice": sf.max("a").over(Window.orderBy("id"))})


@pytest.mark.parametrize("partition", [(), ("k",)])
def test_an_answer_replaces_a_column_that_another_reads(spark, partition, monkeypatch):
    monkeypatch.setattr(ranged, "ROWS_A_PIECE", 1)
    rows = cases.numbered(pa.table({"k": [1, 2, 1, 2], "a": [1, 2, 3, 4], "b": [10, 20, 30, 40]}))
    by_id = Window.partitionBy(*partition).orderBy("id")
    columns = {
        "a": sf.sum("b").over(by_id),
        "b": sf.sum("a").over(by_id.rowsBetween(-1, 0)),
        "k": sf.max("k").over(Window.partitionBy("k")),
        "more": sf.sum(sash.col("a") + sash.col("b")).over(Window.orderBy(sf.desc("id"))),
    }
    out = sash.withColumns(cases.in_tasks(spark, rows, 2), columns)
    assert out.columns == ["k", "a", "b", "id", "more"]
    cases.check_answers(cases.collected(out), rows, columns)


def test_an_answer_replaces_a_column_whatever_its_case(spark):
    rows = cases.numbered(pa.table({"Price": [1, 2, 3]}))
    out = sash.withColumns(spark.createDataFrame(rows), {"price": sf.sum("PRICE").over(Window.orderBy("id"))})
    assert out.columns == spark.createDataFrame(rows).withColumn("price", F.lit(1)).columns
    assert cases.collected(out)[0].to_pylist() == [1, 3, 6]


def test_no_column_at_all_is_read(spark):
    rows = cases.numbered(pa.table({"a": [1, 2, 3]}))
    out = cases.collected(sash.withColumns(cases.in_tasks(spark, rows, 3), {"count": sf.count().over(Window)}))
    assert out["count"].to_pylist() == [3, 3, 3]
    assert sash.withColumns(spark.createDataFrame(rows), {}).columns == ["a", "id"]


def test_an_order_is_asked_for_where_rows_have_none(spark):
    frame = spark.createDataFrame(FEW)
    for ask in (sf.row_number(), sf.lag("q"), sf.ntile(2)):
        with pytest.raises(SashError, match="needs an orderBy on Spark"):
            sash.withColumns(frame, {"a": ask.over(Window.partitionBy("k"))})
    with pytest.raises(SashError, match="needs an orderBy on Spark"):
        sash.withColumns(frame, {"a": sf.sum("q").over(Window.rowsBetween(-1, 0))})
