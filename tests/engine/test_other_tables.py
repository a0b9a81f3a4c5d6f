"""Frames over the rows of another table: what is answered is what is answered for the rows that each row may see."""

from datetime import date, datetime, timedelta
from decimal import Decimal
from itertools import product

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from empty_answers import RANKS, empty_answer, framed_calls, interpreted
from sash import SashError, Window
from sash import functions as sf
from sash.errors import Refused
from sash.kernels.algorithm import DISTINCT, DISTINCT_FOLD, FOLD, SELECT
from sash.planner import algorithms
from spark import cases

OFTEN = st.sampled_from(["a", "a", "b", "c", None])
TIMES = st.sampled_from([None, *range(12)])
LEFT = pa.schema([("k", pa.string()), ("t", pa.int64()), ("p", pa.float64()), ("back", pa.int64()), ("n", pa.int64())])
RIGHT = pa.schema([("k", pa.string()), ("t", pa.int64()), ("x", pa.int64()), ("y", pa.float64()), ("o", pa.bool_())])


@st.composite
def tables(draw):
    """Rows that ask, and rows of another table, with ties, NULLs, and keys that only one side has."""

    def rows(schema, more):
        count = draw(st.integers(0, 12))
        made = {"k": OFTEN, "t": TIMES, **more}
        values = {name: draw(st.lists(each, min_size=count, max_size=count)) for name, each in made.items()}
        return pa.table(values, schema)

    numbers = st.sampled_from([None, -2, 0, 1, 1, 5])
    left = rows(LEFT, {"p": numbers.map(lambda n: n and float(n)), "back": st.integers(-5, 1), "n": st.integers(-4, 3)})
    flags = st.sampled_from([True, False, None])
    return left, rows(RIGHT, {"x": numbers, "y": numbers.map(lambda n: n and n / 2), "o": flags})


def low(row, name, bound):
    return row[name] + (row[bound] if isinstance(bound, str) else bound)


def seen(row, others, kind, start, end, closed="both", key=True):
    """The rows of another table that a row sees, in their order: the definition, word for word."""
    if row["t"] is None or (key and row["k"] is None):
        return []
    mine = [each for each in others if each["t"] is not None and (not key or each["k"] == row["k"])]
    mine.sort(key=lambda each: (each["t"], *((each[name] is not None, each[name] or 0) for name in ("o", "x", "y"))))
    if kind == "rows":
        last = sum(each["t"] <= row["t"] for each in mine) - 1
        return [each for place, each in enumerate(mine)
                if (start is None or place >= last + (row[start] if isinstance(start, str) else start))
                and (end is None or place <= last + (row[end] if isinstance(end, str) else end))]  # fmt: skip
    after = (lambda a, b: a > b) if closed in ("right", "neither") else (lambda a, b: a >= b)
    before = (lambda a, b: a < b) if closed in ("left", "neither") else (lambda a, b: a <= b)
    return [each for each in mine
            if (start is None or after(each["t"], low(row, "t", start)))
            and (end is None or before(each["t"], low(row, "t", end)))]  # fmt: skip


def bound(offset, unbounded):
    return unbounded if offset is None else sash.col(offset) if isinstance(offset, str) else offset


def framed(window, kind, start, end, closed="both"):
    between = window.rowsBetween if kind == "rows" else window.rangeBetween
    found = between(bound(start, Window.unboundedPreceding), bound(end, Window.unboundedFollowing))
    return found if closed == "both" else found.closed(closed)


FRAMES = [
    ("range", None, 0), ("range", -3, 0), ("range", -4, -1), ("range", 1, None), ("range", None, None),
    ("range", -2, 2), ("range", "back", 0), ("range", "n", "back"), ("range", 2, 6), ("rows", 0, 0),
    ("rows", -2, 0), ("rows", 1, 1), ("rows", None, 0), ("rows", None, None), ("rows", -3, -2),
    ("rows", "back", 1), ("rows", 2, None),
]  # fmt: skip


@given(tables(), st.sampled_from(FRAMES), st.sampled_from(["both", "left", "right", "neither"]), st.booleans())
def test_a_row_sees_the_rows_that_the_definition_says(both, frame, closed, key):
    left, right = both
    closed = "both" if frame[0] == "rows" else closed
    window = framed(Window.of(right, on="k" if key else None, at="t"), *frame, closed)
    out = sash.withColumns(left, {
        "rows": sf.count().over(window),
        "xs": sf.collect_list("x").over(window),
        "sum": sf.sum("x").over(window),
        "most": sf.max("y").filter("o").over(window),
        "median": sf.median("x").over(window),
        "values": sf.count_distinct("x").over(window),
        "first": sf.first_value("x").over(window),
        "last": sf.last_value("x").over(window),
        "rank": sf.rank(sash.col("p")).order_by("y desc").over(window),
        "dense": sf.dense_rank("p").order_by("x").filter("o").over(window),
    })  # fmt: skip
    assert out.select(LEFT.names).equals(left)
    others = right.to_pylist()
    for row in out.to_pylist():
        mine = seen(row, others, *frame, closed, key)
        xs = [each["x"] for each in mine if each["x"] is not None]
        ys = [each["y"] for each in mine if each["o"] and each["y"] is not None]
        assert row["rows"] == len(mine)
        assert row["xs"] == xs
        assert row["sum"] == (sum(xs) if xs else None)
        assert row["most"] == max(ys, default=None)
        assert row["median"] == (float(np.median(xs)) if xs else None)
        assert row["values"] == len(set(xs))
        assert row["first"] == (mine[0]["x"] if mine else None)
        assert row["last"] == (mine[-1]["x"] if mine else None)
        assert row["rank"] == 1 + sum(above(each["y"], row["p"]) for each in mine)
        less = {each["x"] for each in mine if each["o"] and above(row["p"], each["x"])}
        assert row["dense"] == 1 + len(less)


def above(value, other):
    """Whether a value is above another, NULL being below all."""
    return value is not None and (other is None or value > other)


ROWS = pa.table({
    "k": ["a", "b", "a", "a", "b", "a", "b", "a", "a", "b"],
    "t": [1, 1, 2, 3, 3, 5, 6, 8, 9, 9],
    "x": [3, 1, None, 7, 7, 2, None, 5, -4, 6],
    "y": [1.5, 2.5, 0.5, None, 4.0, -1.0, 8.0, 0.25, 4.0, 3.0],
    "o": [True, False, None, True, True, False, False, True, None, True],
})  # fmt: skip
ASKING = pa.table({
    "id": list(range(9)),
    "k": ["b", "a", "c", "a", "b", None, "a", "b", "a"],
    "t": [4, 9, 3, 2, 20, 4, 6, 0, None],
    "back": [-1, -3, -1, 0, -9, 0, -5, 1, 0],
    "n": [2, 0, 1, 5, 0, 0, -2, 9, 0],
})  # fmt: skip
NEED_THE_ROW = {*RANKS, "percent_rank", "cume_dist", "ntile"}  # without values; the first test has those
EVERY = {name: call for name, call in framed_calls("x", "y", "o").items() if name not in NEED_THE_ROW}


@pytest.mark.parametrize("frame", [("range", -4, 0), ("rows", -2, 0), ("range", "back", "n")], ids=str)
def test_every_function_answers_for_a_frame_what_it_answers_for_its_rows_alone(frame):
    window = framed(Window.of(ROWS, on="k", at="t"), *frame)
    asked = {}
    for name, call in EVERY.items():
        try:
            sash.explain(ASKING, {name: call.over(window)})
        except Refused:
            assert name == "median distinct", name  # needs frames that move forward
            continue
        asked[name] = interpreted(name, call)
    assert len(asked) >= len(EVERY) - 1
    others = ROWS.to_pylist()
    alone = [each | {"frame": row["id"]} for row in ASKING.to_pylist() for each in seen(row, others, *frame)]
    over = Window.partitionBy("frame").orderBy("t").rowsBetween(Window.unboundedPreceding, Window.unboundedFollowing)
    frames = pa.Table.from_pylist(alone, ROWS.schema.append(pa.field("frame", pa.int64())))
    wanted = sash.withColumns(frames, {name: call.over(over) for name, call in asked.items()}).to_pylist()
    by_frame = {row["frame"]: row for row in wanted}
    for row in sash.withColumns(ASKING, {name: call.over(window) for name, call in asked.items()}).to_pylist():
        for name in asked:
            want = by_frame[row["id"]][name] if row["id"] in by_frame else empty_answer(name)
            near = 1e-4 if name == "moment_quantile" else 1e-9  # which solves equations
            assert cases.same(row[name], want, near), (name, row["id"], row[name], want)


NAMED = {FOLD: [sf.sum("x"), sf.max("x")], SELECT: [sf.median("y"), sf.last_value("x")],
         DISTINCT: [sf.count_distinct("x")], DISTINCT_FOLD: [sf.sum("x").distinct()]}  # fmt: skip


@pytest.mark.parametrize("frame", [("range", -4, 0), ("range", "back", "n")], ids=str)
@pytest.mark.parametrize("operation", NAMED)
def test_every_algorithm_gives_the_same_answers(operation, frame):
    window, rng = Window.of(ROWS, on="k", at="t"), np.random.default_rng(5)
    many = pa.table({"k": np.array(["a", "b", "c"])[rng.integers(0, 3, 50)], "t": rng.integers(0, 12, 50),
                     "back": -rng.integers(0, 9, 50), "n": rng.integers(-2, 5, 50)})  # fmt: skip
    ran = set()
    for call, algorithm in product(NAMED[operation], algorithms(operation)):
        over = call.over(framed(window, *frame))
        try:
            named = sash.withColumns(many, {"v": call.over(framed(window, *frame), using=algorithm.name)})
        except Refused:
            continue
        ran.add(algorithm.name)
        want = sash.withColumns(many, {"v": over})["v"].to_pylist()
        assert cases.same(named["v"].to_pylist(), want), algorithm.name
    assert len(ran) >= 2


def of_many(count=4000, keys=40, seed=3):
    rng = np.random.default_rng(seed)
    at = np.datetime64("2026-01-01", "us") + rng.integers(0, 10**6, (2, count)).astype("timedelta64[s]")
    trades = pa.table({"sym": rng.integers(0, keys, count), "ts": at[0], "price": rng.integers(0, 500, count) / 4})
    quotes = pa.table({"symbol": rng.integers(0, keys + 5, count).astype(np.int32), "quoted_at": at[1],
                       "bid": rng.permutation(count) / 4, "venue": rng.integers(0, 9, count)})  # fmt: skip
    return trades.append_column("id", pa.array(range(count))), quotes


def test_an_as_of_join_is_duckdbs():
    trades, quotes = of_many()
    as_of = Window.of(quotes, on={"sym": "symbol"}, at=("ts", "quoted_at")).rowsBetween(0, 0)
    out = sash.withColumns(trades, {"bid": sf.last("bid").over(as_of), "venue": sf.last("venue").over(as_of)})
    want = duckdb.sql(
        "select id, bid, venue from trades asof left join quotes on sym = symbol and ts >= quoted_at order by id"
    ).to_arrow_table()
    assert out["bid"].to_pylist() == want["bid"].to_pylist()
    assert out["venue"].to_pylist() == want["venue"].to_pylist()


def test_frames_of_time_are_duckdbs_range_join():
    trades, quotes = of_many(1500, 12)
    near = (
        Window.of(quotes, on={"sym": "symbol"}, at=("ts", "quoted_at")).rangeBetween("-1 day", "1 hour").closed("left")
    )
    out = sash.withColumns(trades, {
        "n": sf.count().over(near),
        "bid": sf.median("bid").over(near),
        "venues": sf.count_distinct("venue").over(near),
        "dear": sf.sum("bid").filter("venue > 4").over(near),
        "below": sf.rank("price").order_by("bid").over(near),
    })  # fmt: skip
    want = duckdb.sql("""
        select id, count(symbol) as n, median(bid) as bid, count(distinct venue) as venues,
               sum(bid) filter (where venue > 4) as dear, 1 + count(*) filter (where bid < price) as below
        from trades left join quotes on sym = symbol
             and quoted_at >= ts - interval 1 day and quoted_at < ts + interval 1 hour
        group by id order by id
    """).to_arrow_table()
    for name in want.column_names:
        assert cases.same(out[name].to_pylist(), want[name].to_pylist()), name


@given(tables(), st.integers(0, 11))
def test_a_later_row_never_changes_an_earlier_answer(both, now):
    left, right = both
    left = left.filter(pa.array([t is not None and t <= now for t in left["t"].to_pylist()], pa.bool_()))

    def answers(others):
        past = Window.of(others, on="k", at="t").rangeBetween(-4, 0).closed("left")
        last = Window.of(others, on="k", at="t").rangeBetween(Window.unboundedPreceding, 0).closed("left")
        return sash.withColumns(left, {"n": sf.count().over(past), "x": sf.median("x").over(past),
                                       "last": sf.last("x").over(last)})  # fmt: skip

    later = pa.table(
        {"k": ["a", "b", "c"], "t": [now, now, now + 1], "x": [9, 9, 9], "y": [1.0] * 3, "o": [True] * 3}, RIGHT
    )
    assert answers(pa.concat_tables([right, later])).equals(answers(right))


def test_several_tables_and_ordinary_windows_go_together():
    labels = pa.table({"user": ["u", "v", "u"], "ts": [3, 4, 9], "price": [2.0, 9.0, 5.0]})
    visits = pl.DataFrame({"user": ["u", "u", "v"], "ts": [1, 8, 4], "shop": ["x", "y", "x"]})
    orders = pd.DataFrame({"who": ["u", "u"], "when": [2, 3], "amount": [10, 20]})
    seen_shops = Window.of(visits, on="user", at="ts").rangeBetween(-7, 0)
    spent = Window.of(orders, on={"user": "who"}, at=("ts", "when")).rangeBetween(Window.unboundedPreceding, 0)
    wanted = {
        "shops": sf.count_distinct("shop").over(seen_shops),
        "spent": sf.sum("amount").over(spent.closed("left")),
        "so far": sf.sum("price").over(Window.partitionBy("user").orderBy("ts")),
        "orders": sf.count().over(Window.of(orders, on={"user": "who"})),
    }
    expected = {"shops": [1, 1, 1], "spent": [10, None, 30], "so far": [2.0, 9.0, 7.0], "orders": [2, 0, 2]}
    out = sash.withColumns(labels, wanted)
    assert {name: out[name].to_pylist() for name in wanted} == expected
    assert sash.withColumns(pl.DataFrame(labels), wanted).select(*wanted).to_dict(as_series=False) == expected
    frame = labels.to_pandas()
    frame.index = [7, 5, 3]
    of_pandas = sash.withColumns(frame, wanted)
    assert list(of_pandas.index) == [7, 5, 3]
    assert of_pandas["shops"].tolist() == [1, 1, 1]
    plan = str(sash.explain(labels, wanted))
    assert "rows of another table" in plan
    assert sash.explain(labels, wanted).chosen.keys() == wanted.keys()


DAY = timedelta(days=1)
NOON = datetime(2026, 1, 5, 12)


@pytest.mark.parametrize(
    ("asks", "others", "start", "expected"),
    [
        ([5], [4.5, 5.0, 5.5], -0.5, 2),
        ([Decimal("5.25")], [5, 4, 6], -1, 1),
        ([float("nan")], [1.0, float("nan")], 0, 1),
        ([-0.0], [0.0, 1.0], 0, 1),
        ([date(2026, 1, 6)], [NOON, NOON + DAY], "-1 day", 1),
        ([NOON], [date(2026, 1, 5), date(2026, 1, 6)], "-12 hours", 1),
        (pa.array([NOON], pa.timestamp("ns")), pa.array([NOON, NOON + DAY], pa.timestamp("s")), "-1 hour", 1),
        ([datetime(2026, 3, 31)], [datetime(2026, 2, 28), datetime(2026, 2, 27)], "-1 month", 1),
        (pa.array(["b"]).dictionary_encode(), pa.array(["a", "b", "c"]), None, 2),
        (pa.array([2**63 - 1]), pa.array([2**63 - 1, 2**63 - 5]), -10, 2),
        (pa.array([3], pa.uint8()), pa.array([1, 2, 3], pa.int64()), -2, 3),
    ],
    ids=str,
)
def test_times_of_all_types_compare(asks, others, start, expected):
    left, right = pa.table({"t": asks}), pa.table({"u": others})
    window = Window.of(right, at=("t", "u")).rangeBetween(Window.unboundedPreceding if start is None else start, 0)
    assert sash.withColumns(left, {"n": sf.count().over(window)})["n"].to_pylist() == [expected]


def test_offsets_of_each_row_may_be_durations():
    left = pa.table({"t": [NOON, NOON, NOON], "back": [-DAY, timedelta(0), -2 * DAY]})
    right = pa.table({"u": [NOON - 2 * DAY, NOON - DAY, NOON, NOON + DAY]})
    window = Window.of(right, at=("t", "u")).rangeBetween(sash.col("back"), 0)
    assert sash.withColumns(left, {"n": sf.count().over(window)})["n"].to_pylist() == [2, 1, 3]


def test_keys_may_be_several_and_computed():
    left = pa.table({"a": ["x", "x", "y"], "b": [1, 2, None], "t": [1, 1, 1]})
    right = pa.table({"A": ["X", "X", "Y"], "c": [2, 4, 2], "t": [0, 1, 1]})
    by = {"a": sash.expressions.parsing.as_predicate("lower(A)"), "b": sash.col("c") / 2}
    out = sash.withColumns(left, {"n": sf.count().over(Window.of(right, on=by, at="t"))})
    assert out["n"].to_pylist() == [1, 1, 0]


def test_rows_of_one_time_are_told_apart_by_an_order_and_then_by_their_columns():
    left, right = pa.table({"t": [1]}), pa.table({"t": [1, 1, 1], "x": [5, 9, 7], "n": [3, 1, 2]})
    window = Window.of(right, at="t").rowsBetween(-1, 0)
    out = sash.withColumns(left, {"x": sf.collect_list("x").over(window)})
    assert out["x"].to_pylist() == [[7, 9]]
    out = sash.withColumns(left, {"x": sf.collect_list("x").over(window.orderBy("n"))})
    assert out["x"].to_pylist() == [[7, 5]]


def test_a_share_is_of_the_row_that_asks():
    left, right = pa.table({"t": [1, 1, 1], "share": [0.0, 0.5, 1.0]}), pa.table({"t": [0, 0, 1], "x": [1, 2, 3]})
    window = Window.of(right, at="t")
    out = sash.withColumns(left, {"x": sf.percentile_disc("x", sash.col("share")).over(window)})
    assert out["x"].to_pylist() == [1.0, 2.0, 3.0]


EVENTS = pa.table({"user": ["a"], "ts": [1], "x": [2.0]})
OF_EVENTS = Window.of(EVENTS, on="user", at="ts")


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: Window.of("events", on="user"), "table must be a pyarrow Table, .* got 'events' of type str"),
        (lambda: Window.of(EVENTS, on=7), "on must be a column's name, several in a list, or pairs .*, got 7"),
        (lambda: Window.of(EVENTS, on=[]), "on must be .*, got \\[\\]"),
        (lambda: Window.of(EVENTS, on={"user": 3}), "on must be .*, got 3 in on"),
        (lambda: Window.of(EVENTS, at=("ts", "ts", "ts")), "at must be a column's name, or a pair"),
        (lambda: Window.of(EVENTS, on="user").rangeBetween(-1, 0), "rangeBetween needs Window.of\\(table, on=..., at"),
        (lambda: Window.of(EVENTS, on="user").rowsBetween(-1, 0), "rowsBetween needs Window.of\\(table, on=..., at"),
        (lambda: Window.of(EVENTS, on="user").orderBy("x"), "orderBy needs Window.of\\(table, on=..., at"),
        (lambda: OF_EVENTS.exclude("ties"), "exclude does not go with Window.of"),
        (lambda: OF_EVENTS.partitionBy("user"), "partitionBy does not go with Window.of"),
        (lambda: OF_EVENTS.groupsBetween(-1, 0), "groupsBetween does not go with Window.of"),
        (lambda: OF_EVENTS.rowsBetween(-1, 0).closed("left"), "closed is for rangeBetween"),
    ],
)
def test_a_window_that_cannot_be_is_refused_when_it_is_written(make, sentence):
    with pytest.raises(SashError, match=sentence):
        make()


@pytest.mark.parametrize(
    ("over", "sentence"),
    [
        (sf.lag("x").over(OF_EVENTS), "lag\\(x.*\\) asks for a row of its own frame"),
        (sf.row_number().over(OF_EVENTS), "row_number\\(\\) asks for a row of its own frame"),
        (sf.rank().order_by("x").over(OF_EVENTS), "rank\\(order by x\\) asks for a row"),
        (sf.sum("y").over(OF_EVENTS), "in the table of Window.of, there is no column 'y'; there are user, ts, x"),
        (sf.sum("x").filter("p > 1").over(OF_EVENTS), "in the table of Window.of, there is no column 'p'"),
        (sf.sum("x").over(Window.of(EVENTS, on="who", at="ts")), "there is no column 'who'; there are user, ts, p"),
        (sf.sum("x").over(Window.of(EVENTS, on="user", at=("p", "at"))), "of Window.of, there is no column 'at'"),
        (sf.sum("x").over(Window.of(EVENTS, on={"ts": "user"})), "on must pair columns that compare, got ts of"),
        (sf.sum("x").over(Window.of(EVENTS, at=("p", "user"))), "at must be columns that compare, got types"),
        (sf.sum("x").over(OF_EVENTS.rangeBetween("-1 day", 0)), "rangeBetween: start must be a number where the order"),
        (sf.sum("x").over(Window.of(pl.LazyFrame({"x": [1]}))), "of Window.of, frame must be in memory, .*collect"),
    ],
    ids=str,
)
def test_what_a_table_cannot_answer_is_refused_when_the_query_is_built(over, sentence):
    with pytest.raises(SashError, match=sentence):
        sash.withColumns(pa.table({"user": ["a"], "ts": [date(2026, 1, 1)] if "compare, got ts" in sentence else [1],
                                   "p": [True] if "got types" in sentence else [1]}), {"v": over})  # fmt: skip


@pytest.mark.parametrize("kind", [pa.int64(), pa.float64(), pa.decimal128(12), pa.timestamp("s"), pa.date32()])
def test_a_key_that_the_other_table_does_not_have_finds_no_rows_of_the_next_one(kind):
    def numbers(values):
        whole = pa.array(values, pa.int32())
        return (whole.cast(pa.int64()) if pa.types.is_timestamp(kind) else whole).cast(kind)

    left = pa.table({"k": numbers([0, 2, 7]), "t": [9, 9, 9]})
    right = pa.table({"k": numbers([1, 2, 8]), "t": [1, 1, 1], "x": [10, 20, 80]})
    window = Window.of(right, on=["k"], at="t").rangeBetween(Window.unboundedPreceding, 0)
    out = sash.withColumns(left, {"m": sf.max("x").over(window), "c": sf.count("*").over(window)})
    assert (out["m"].to_pylist(), out["c"].to_pylist()) == ([None, 20, None], [0, 1, 0])
