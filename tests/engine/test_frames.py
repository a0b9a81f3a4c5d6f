"""Every window function over every frame, against the oracle and against DuckDB."""

import math

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

import frames_oracle as oracle
import sash
from sash import SashError, Window
from sash import functions as sf
from sash.algebra.catalogue.ranks import METHODS
from sash.errors import Overflow
from strategies import usually

NAN, INF = float("nan"), float("inf")
TYPES = pa.schema(
    [
        ("k", pa.string()),
        ("t", pa.int64()),
        ("x", pa.float64()),
        ("v", pa.float64()),
        ("s", pa.string()),
        ("q", pa.int64()),
        ("back", pa.int64()),
        ("ahead", pa.int64()),
    ]
)
COLUMNS = {
    "k": ["a", "b"],
    "t": [0, 1, 2, 3, 4, 5, 6],
    "x": [NAN, INF, -INF, -0.0, 0.0, 0.5, 1.0, 2.5],
    "v": [NAN, -1.5, 0.0, -0.0, 1.0, 1.0, 2.0, 7.25],
    "s": ["", "a", "b", "ä", "zz"],
    "q": [-3, -2, -1, 0, 1, 2, 3, 4, 5],
    "back": [-4, -3, -2, -1, 0, 1],
    "ahead": [-1, 0, 1, 2, 3, 4],
}


@st.composite
def tables(draw, known=()):
    """Small tables with ties, NULLs, NaN; ``known`` columns have no NULL."""
    count = draw(st.integers(0, 14))
    values = {}
    for name, some in COLUMNS.items():
        choice = some if name in (*known, "back", "ahead") else [None, *some]
        values[name] = draw(st.lists(st.sampled_from(choice), min_size=count, max_size=count))
    return pa.table(values, TYPES)


one_order = st.tuples(st.sampled_from(["t", "x", "s"]), st.booleans(), st.booleans())
own_orders = st.one_of(
    one_order.map(lambda order: (order,)),
    st.tuples(one_order, one_order).filter(lambda pair: pair[0][0] != pair[1][0]),
)
orders = st.one_of(st.just(()), own_orders)


EXCLUDES = ("no others", "no others", "current row", "group", "ties")
CLOSED = ("both", "both", "left", "right", "neither")


@st.composite
def windows(draw, kinds=("rows", "range", "groups"), per_row=True, excludes=EXCLUDES, closed=True):
    """Windows of every kind."""
    partition = draw(st.sampled_from([(), ("k",)]))
    kind = draw(st.sampled_from(kinds))
    order = draw(orders)
    if kind == "groups":
        order = order or (("t", False, True),)
    if kind == "range" and draw(st.booleans()):
        order = (draw(st.tuples(st.sampled_from(["t", "x"]), st.booleans(), st.booleans())),)
        offsets = draw(st.tuples(st.integers(-3, 2), st.integers(-2, 3)))
    elif kind == "range":
        offsets = (0, 0)
    else:
        offsets = draw(st.tuples(st.integers(-4, 2), st.integers(-2, 4)))
    start, end = min(offsets), max(offsets)
    if per_row and kind == "rows" and draw(st.integers(0, 3)) == 0:
        start, end = draw(st.sampled_from([("back", "ahead"), ("back", 1), (-1, "ahead"), (None, "ahead")]))
    unbounded = draw(st.integers(0, 5))
    start, end = (None if unbounded in (0, 2) else start), (None if unbounded in (1, 2) else end)
    exclude = draw(st.sampled_from(excludes))
    closed = draw(st.sampled_from(CLOSED)) if closed and kind == "range" and order else "both"
    return oracle.Window(partition, order, kind, start, end, exclude, closed)


def words(order):
    name, descending, nulls_first = order
    return f"{name} {'desc' if descending else 'asc'} nulls {'first' if nulls_first else 'last'}"


def ours(window):
    """The window as a user writes it."""
    spec = Window.partitionBy(*window.partition).orderBy(*map(words, window.order))
    between = {"rows": spec.rowsBetween, "range": spec.rangeBetween, "groups": spec.groupsBetween}[window.kind]
    start = Window.unboundedPreceding if window.start is None else window.start
    end = Window.unboundedFollowing if window.end is None else window.end
    start, end = (sash.col(bound) if isinstance(bound, str) else bound for bound in (start, end))
    return between(start, end).exclude(window.exclude).closed(window.closed)


def rows_of(table):
    return table.to_pylist()


def same(got, expected):
    """Whether answers agree, NaN being equal to itself and floats being close."""
    if isinstance(expected, (list, tuple)) and isinstance(got, (list, tuple)):
        return len(got) == len(expected) and all(map(same, got, expected))
    if isinstance(expected, float) and isinstance(got, (int, float)):
        if math.isnan(expected) or math.isnan(got):
            return math.isnan(expected) and math.isnan(got)
        return got == expected or math.isclose(got, expected, rel_tol=1e-9, abs_tol=1e-7)
    return got == expected


def check(table, window, call, ask, **how):
    expected = oracle.answers(rows_of(table), window, call)
    got = sash.withColumns(table, {"answer": ask.over(ours(window), **how)})["answer"].to_pylist()
    assert all(map(same, got, expected)), f"{ask} over {ours(window)}:\n got {got}\nwant {expected}"


@st.composite
def modified(draw, call, ask, *, order=False, nulls=False):
    """A call, perhaps with a filter, an order of its own, and NULLs ignored."""
    if draw(st.booleans()):
        call.condition = lambda row: row["q"] is not None and row["q"] > 0
        ask = ask.filter("q > 0" if draw(st.booleans()) else sash.col("q") > 0)
    if order and draw(st.integers(0, 3)):
        call.order = draw(own_orders)
        ask = ask.order_by(*map(words, call.order))
    if nulls and draw(st.booleans()):
        call.ignore_nulls, ask = True, ask.ignore_nulls()
    return call, ask


@pytest.mark.parametrize("name", ["rank", "dense_rank", "row_number", "percent_rank", "cume_dist", "ntile"])
@given(data=st.data(), table=tables(), window=windows())
def test_ranks(name, data, table, window):
    constants = (data.draw(st.integers(1, 4)),) if name == "ntile" else ()
    call, ask = data.draw(modified(oracle.Call(name, constants=constants), getattr(sf, name)(*constants), order=True))
    check(table, window, call, ask)


@given(data=st.data(), table=tables(), window=windows())
def test_ranks_of_equal_rows(data, table, window):
    method = data.draw(st.sampled_from(sorted(METHODS)))
    call, ask = data.draw(modified(oracle.Call("rank", constants=(method,)), sf.rank(method=method), order=True))
    check(table, window, call, ask)


@given(data=st.data(), table=tables(), window=windows(), column=st.sampled_from(["v", "q"]))
def test_quantiles_of_rows_that_count_several_times(data, table, window, column):
    name = data.draw(st.sampled_from(["median", "percentile_disc", "percentile_cont"]))
    constants = () if name == "median" else (data.draw(st.sampled_from([0.0, 0.07, 0.25, 0.5, 0.9, 1.0])),)
    ask = getattr(sf, name)(column, *constants, weight=sash.col("q") * sash.col("q") % 5)
    call, ask = data.draw(modified(oracle.Call(name, (column, "q"), constants), ask))
    call.weight = lambda row: row["q"] ** 2 % 5
    check(table, window, call, ask)


@given(data=st.data(), table=tables(), window=windows(), column=st.sampled_from(["s", "v", "q"]))
def test_values_of_other_rows(data, table, window, column):
    name = data.draw(st.sampled_from(["first_value", "last_value", "nth_value"]))
    n, from_last = data.draw(st.integers(1, 4)), data.draw(st.booleans())
    ask = sf.nth_value(column, n, from_last=from_last) if name == "nth_value" else getattr(sf, name)(column)
    call, ask = data.draw(modified(oracle.Call(name, (column,), (n, from_last)), ask, order=True, nulls=True))
    check(table, window, call, ask)


@given(data=st.data(), table=tables(), window=windows(), name=st.sampled_from(["lead", "lag"]))
def test_lead_and_lag(data, table, window, name):
    offset, default = data.draw(st.integers(-1, 3)), data.draw(st.sampled_from([None, "none"]))
    ask = getattr(sf, name)("s", offset, default)
    call, ask = data.draw(modified(oracle.Call(name, ("s",), (offset, default)), ask, order=True, nulls=True))
    check(table, window, call, ask)


@given(data=st.data(), table=tables(), window=windows(), column=st.sampled_from(["v", "q"]))
def test_quantiles(data, table, window, column):
    name = data.draw(st.sampled_from(["median", "percentile_disc", "percentile_cont", "mad"]))
    share = data.draw(st.sampled_from([0.0, 0.07, 0.25, 0.5, 0.9, 1.0]))
    constants = () if name in ("median", "mad") else (share,)
    call, ask = data.draw(modified(oracle.Call(name, (column,), constants), getattr(sf, name)(column, *constants)))
    forward = window.exclude == "no others" and not isinstance(window.start, str) and not isinstance(window.end, str)
    if name != "mad" and forward and data.draw(st.booleans()):
        call.distinct, ask = True, ask.distinct()
    check(table, window, call, ask)


@given(data=st.data(), table=tables(), window=windows())
def test_a_quantile_of_anything_that_has_an_order(data, table, window):
    share = data.draw(st.sampled_from([0.0, 0.3, 0.5, 1.0]))
    call, ask = data.draw(modified(oracle.Call("percentile_disc", ("s",), (share,)), sf.percentile_disc("s", share)))
    check(table, window, call, ask)


@given(data=st.data(), table=tables(), window=windows(), columns=st.sampled_from([("s",), ("v",), ("s", "q")]))
def test_distinct_counts(data, table, window, columns):
    call, ask = data.draw(modified(oracle.Call("count_distinct", columns), sf.count_distinct(*columns)))
    check(table, window, call, ask)


@given(data=st.data(), table=tables(), window=windows(), column=st.sampled_from(["s", "v"]))
def test_how_often_values_occur(data, table, window, column):
    name = data.draw(st.sampled_from(["mode", "entropy"]))
    call, ask = data.draw(modified(oracle.Call(name, (column,)), getattr(sf, name)(column)))
    check(table, window, call, ask)


AFFINE = sash.Aggregate(  # composition of maps x -> a x + b: associative, not commutative
    "affine",
    lift=lambda q: (q % 3, q),
    combine=lambda f, g: ((g[0] * f[0]) % 7, (g[0] * f[1] + g[1]) % 7),
    lower=lambda f: f[0] * 10 + f[1],
)
FOLDS = {
    "count": ("q", lambda c: sf.count(c), (lambda x: 1, lambda a, b: a + b, lambda s: s)),
    "sum": ("q", sf.sum, (lambda x: x, lambda a, b: a + b, lambda s: s)),
    "sum of doubles": ("v", sf.sum, (lambda x: x, lambda a, b: a + b, lambda s: s)),
    "avg": ("q", sf.avg, (lambda x: (x, 1), lambda a, b: (a[0] + b[0], a[1] + b[1]), lambda s: s[0] / s[1])),
    "affine": ("q", AFFINE, (AFFINE.lift, AFFINE.combine, AFFINE.lower)),
}


@pytest.mark.parametrize("name", FOLDS)
@given(data=st.data(), table=tables(), window=windows())
def test_aggregates(name, data, table, window):
    column, function, definition = FOLDS[name]
    call, ask = data.draw(modified(oracle.Call(name.split()[0], (column,), fold=definition), function(column)))
    if name != "affine" and data.draw(st.booleans()):
        call.distinct, ask = True, ask.distinct()
    check(table, window, call, ask)


@pytest.mark.parametrize("name", ["min", "max"])
@given(data=st.data(), table=tables(), window=windows(), column=st.sampled_from(["v", "s", "q"]))
def test_extremes_of_any_type(name, data, table, window, column):
    call, ask = data.draw(modified(oracle.Call(name, (column,)), getattr(sf, name)(column)))
    check(table, window, call, ask)


@given(
    data=st.data(), table=tables(), window=windows(), name=st.sampled_from(["collect_list", "collect_set", "listagg"])
)
def test_lists(data, table, window, name):
    constants = (",",) if name == "listagg" else ()
    call, ask = data.draw(
        modified(oracle.Call(name, ("s",), constants), getattr(sf, name)("s", *constants), order=True)
    )
    call.distinct = name == "collect_set"
    if name != "collect_set" and data.draw(st.booleans()):
        call.distinct, ask = True, ask.distinct()
    assume(not (call.distinct and call.order))  # which of equal values stays is not said
    check(table, window, call, ask)


@given(table=tables(known=("q",)), window=windows(), share=st.sampled_from([0.0, 0.5, 1.0]))
def test_a_share_from_a_column(table, window, share):
    table = table.append_column("p", pa.array([share] * len(table), pa.float64()))
    call = oracle.Call("percentile_disc", ("q",), (share,))
    check(table, window, call, sf.percentile_disc("q", sash.col("p")))


@given(table=tables(known=("q", "t")), window=windows())
def test_the_rank_a_value_would_have(table, window):
    ask = sf.rank(sash.col("q") + 1).order_by("q")
    got = sash.withColumns(table, {"answer": ask.over(ours(window))})["answer"].to_pylist()
    rows = rows_of(table)
    expected = [None] * len(rows)
    for part in oracle.partitions(rows, window):
        for i, number in enumerate(part):
            inside = [rows[part[j]]["q"] for j in oracle.frame(rows, part, i, window)]
            expected[number] = 1 + sum(value < rows[number]["q"] + 1 for value in inside)
    assert got == expected


# DuckDB as the second opinion


def edge(offset, side):
    if offset is None:
        return f"unbounded {side}"
    return f"{abs(offset)} {'preceding' if offset < 0 else 'following'}"


def in_duckdb(table, window, expression, mode):
    """What DuckDB answers, by its usual algorithms or by each frame on its own."""
    partition = f"partition by {', '.join(window.partition)}" if window.partition else ""
    order = ", ".join(f"{words(o)}" for o in (*window.order, ("id", False, True)))
    start, end = edge(window.start, "preceding"), edge(window.end, "following")
    frame = f"{window.kind} between {start} and {end} exclude {window.exclude}"
    connection = duckdb.connect(config={"threads": 1})
    connection.execute(f"set debug_window_mode = '{mode}'")
    connection.register("data", table)
    query = f"select {expression} over ({partition} order by {order} {frame}) as answer from data order by id"
    return [row[0] for row in connection.execute(query).fetchall()]


DUCK = {
    "sum(q)": sf.sum("q"),
    "avg(q)": sf.avg("q"),
    "count(distinct s)": sf.count_distinct("s"),
    "sum(distinct q)": sf.sum("q").distinct(),
    "max(s)": sf.max("s"),
    "median(q)": sf.median("q"),
    "quantile_disc(q, 0.3)": sf.percentile_disc("q", 0.3),
    "quantile_cont(q, 0.3)": sf.percentile_cont("q", 0.3),
    "mad(q)": sf.mad("q"),
    "rank(order by q nulls first)": sf.rank().order_by("q"),
    "row_number(order by q desc nulls last, id)": sf.row_number().order_by("q desc", "id"),
    "first_value(s order by q desc nulls last, id)": sf.first_value("s").order_by("q desc", "id"),
    "lead(s, 1 order by q nulls first, id)": sf.lead("s").order_by("q", "id"),
    "list(s) filter (where s is not null)": sf.collect_list("s"),
    "stddev_samp(q)": sf.stddev("q"),
}


@pytest.mark.parametrize("expression", DUCK)
@usually(25)
@given(data=st.data(), table=tables())
def test_duckdb_agrees(expression, data, table):
    unable = expression.startswith(("rank", "row_number", "lead"))  # with EXCLUDE
    excludes = ("no others",) if unable else ("no others", "current row")
    window = data.draw(windows(kinds=("rows",), per_row=False, excludes=excludes))  # a tie-breaker changes peers
    window.order = tuple(order for order in window.order if order[0] != "x")
    table = table.append_column("id", pa.array(np.arange(len(table))))
    expected = in_duckdb(table, window, expression, data.draw(st.sampled_from(["window", "separate"])))
    spec = ours(window).orderBy(*map(words, window.order), "id")
    got = sash.withColumns(table, {"answer": DUCK[expression].over(spec)})["answer"].to_pylist()
    got = [None if isinstance(value, list) and not value else value for value in got]
    assert all(map(same, got, [float(e) if isinstance(e, float) else e for e in expected])), (got, expected)


# Edges


ASKED = [sf.median("v"), sf.rank().order_by("v"), sf.count_distinct("v"), sf.sum("v"), sf.mode("v"),
         sf.collect_list("v"), sf.lead("v").order_by("v"), sf.max("s"), sf.dense_rank(), sf.mad("v")]  # fmt: skip


@pytest.mark.parametrize("ask", ASKED, ids=str)
def test_no_rows_and_one_row(ask):
    empty = TYPES.empty_table()
    assert sash.withColumns(empty, {"a": ask.over(Window.orderBy("t"))})["a"].to_pylist() == []
    one = pa.table({name: [None] for name in COLUMNS}, TYPES)
    assert len(sash.withColumns(one, {"a": ask.over(Window.partitionBy("k").orderBy("t"))})) == 1


def test_integer_sums_raise_where_the_frame_overflows_and_not_where_a_prefix_would():
    table = pa.table({"t": [1, 2, 3], "q": [2**62, 2**62, 1]})
    one = Window.orderBy("t").rowsBetween(0, 0)
    assert sash.withColumns(table, {"a": sf.sum("q").over(one)})["a"].to_pylist() == [2**62, 2**62, 1]
    with pytest.raises(Overflow, match="does not fit 64 bits"):
        sash.withColumns(table, {"a": sf.sum("q").over(Window.orderBy("t"))})


def test_a_pyspark_window_is_refused():
    class WindowSpec:
        __module__ = "pyspark.sql.window"

    with pytest.raises(SashError, match="got a PySpark WindowSpec; write `from sash import Window`"):
        sf.sum("q").over(WindowSpec())


def test_several_quantiles_of_anything_that_has_an_order():
    table = pa.table({"t": [1, 2, 3], "s": ["b", None, "a"], "v": [1.0, 2.0, 4.0]})
    asked = {"s": sf.percentile_disc("s", [0.0, 1.0]), "v": sf.percentile("v", [0.5, 1.0])}
    out = sash.withColumns(
        table, {name: ask.over(Window.orderBy("t").rowsBetween(-1, 0)) for name, ask in asked.items()}
    )
    assert out["s"].to_pylist() == [["b", "b"], ["b", "b"], ["a", "a"]]
    assert out["v"].to_pylist() == [[1.0, 1.0], [1.5, 2.0], [3.0, 4.0]]


def test_an_offset_beyond_all_rows_is_beyond_them():
    table = pa.table({"t": [1, 2], "q": [5, 6]})
    for ask in (sf.lead("q", 2**70), sf.lag("q", -(2**63)), sf.lead("q", 2**70).order_by("q")):
        assert sash.withColumns(table, {"a": ask.over(Window.orderBy("t"))})["a"].to_pylist() == [None, None]


def test_a_users_aggregate_is_not_taken_for_a_built_in_one_of_its_name():
    table = pa.table({"t": [1, 2, 3], "q": [5, 6, 6]})
    newest = sash.Aggregate("first", lift=lambda row: row, combine=lambda a, b: b, rows=True, returns="row")
    twice = sash.Aggregate("count", lift=lambda x: 2, combine=lambda a, b: a + b, commutative=True)
    out = sash.withColumns(table, {"a": newest("q").over(Window), "b": twice("q").distinct().over(Window)})
    assert out["a"].to_pylist() == [6, 6, 6]
    assert out["b"].to_pylist() == [4, 4, 4]


ANOTHER = [sf.mode("q"), sf.median("q").distinct(), sf.percentile_disc("q", 0.5), sf.collect_list("q").distinct(),
           sf.collect_set("q")]  # fmt: skip


@pytest.mark.parametrize("ask", ANOTHER, ids=str)
def test_another_order_is_refused_where_equal_values_must_be_equal_in_it(ask):
    with pytest.raises(SashError, match="the order must be of q itself, got t"):
        sash.withColumns(TYPES.empty_table(), {"a": ask.order_by("t").over(Window.orderBy("t"))})


def test_which_of_several_modes_is_said_by_the_order():
    table = pa.table({"t": [1, 2, 3], "q": [5, 6, 7]})
    out = sash.withColumns(table, {"a": sf.mode("q").order_by("q desc").over(Window), "b": sf.mode("q").over(Window)})
    assert (out["a"].to_pylist(), out["b"].to_pylist()) == ([7, 7, 7], [5, 5, 5])


def test_lists_that_no_array_can_hold_are_refused_before_they_are_made():
    table = pa.table({"q": np.arange(70_000)})
    with pytest.raises(SashError, match="2,450,035,000 values, more than one array can"):
        sash.withColumns(table, {"a": sf.collect_set("q").over(Window.orderBy("q"))})


def test_a_condition_is_counted_beside_a_filter():
    table = pa.table({"t": [1, 2, 3], "q": [5, 6, None]})
    out = sash.withColumns(table, {"a": sf.count_if("q > 5").filter("t < 3").over(Window)})
    assert out["a"].to_pylist() == [1, 1, 1]


def test_lift_sees_no_null_and_lower_no_empty_frame():
    seen, lowered = [], []
    own = sash.Aggregate(
        "own",
        lift=lambda x: seen.append(x) or x,
        combine=lambda a, b: a + b,
        lower=lambda s: lowered.append(s) or s,
        empty=-1,
        compiled=False,
    )
    table = pa.table({"t": [1, 2, 3, 4], "q": [None, 5, None, None]})
    out = sash.withColumns(table, {"a": own("q").over(Window.orderBy("t").rowsBetween(-1, 0))})
    assert out["a"].to_pylist() == [-1, 5, 5, -1]
    assert set(seen) == {5}
    assert set(lowered) == {5}
