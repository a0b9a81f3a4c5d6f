"""Answers put together from pieces, against those over the whole table."""

import datetime as dt
import random
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from engine.summaries.cutting import answered, by_groups, by_range, by_rows, check, cut
from sash import Aggregate, Window, col
from sash import functions as sf
from sash.engine.evaluating import evaluate
from sash.engine.summaries import Summaries, evaluate_pieces, is_summarised, may_split, summarise
from sash.errors import Overflow, SashError
from strategies import usually

NAN, START, END = float("nan"), Window.unboundedPreceding, Window.unboundedFollowing

# x after y: the last value, and how far each was from the one before, weighted by where it stands; not commutative
STEPS = Aggregate(
    "steps",
    lift=lambda x: (x, x, 0, 1),
    combine=lambda a, b: (a[0], b[1], a[2] + b[2] + a[3] * (b[0] - a[1]), a[3] + b[3]),
    lower=lambda s: None if s[3] == 2 else s[2] * 100 + s[1],
)
# The determinant-one matrices of 2 x 2 are a group: the product of all in order
TURNS = Aggregate(
    "turns",
    lift=lambda x: ((1, x), (0, 1)) if x % 2 else ((1, 0), (x, 1)),
    combine=lambda a, b: (
        (
            (a[0][0] * b[0][0] + a[0][1] * b[1][0]) % 1009,
            (a[0][0] * b[0][1] + a[0][1] * b[1][1]) % 1009,
        ),
        (
            (a[1][0] * b[0][0] + a[1][1] * b[1][0]) % 1009,
            (a[1][0] * b[0][1] + a[1][1] * b[1][1]) % 1009,
        ),
    ),
    lower=lambda s: s[0][0] + 1009 * s[0][1] + 1018081 * s[1][0],
)

STATES = [
    sf.count(), sf.count("f"), sf.sum("x"), sf.avg("f"), sf.sum("d"), TURNS("x"), sf.max("x").distinct(),
    sf.ewm_avg("x", 2), sf.ewm_avg("x", 1.5, by="k"), sf.time_weighted_avg("x", by="t"), sf.histogram("x", [-2, 0, 3]),
]  # fmt: skip
ROWS = [
    sf.min("s"), sf.max("f"), sf.max("d"), sf.min("t"), sf.max("b"), sf.max_by("s", "f"), sf.min_by("x", "s"),
    sf.first("x"), sf.last("s").ignore_nulls(), sf.any_value("f").ignore_nulls(), sf.first_value("d"),
    sf.last_value("t"), sf.nth_value("x", 3), sf.nth_value("s", 2).ignore_nulls(), sf.first_value("s").order_by("x"),
    sf.top_k("x", 3), sf.ith_smallest("s", 2), sf.first_n("x", 3), sf.last_n("s", 2), sf.ith_youngest("x", 3),
]  # fmt: skip
COUNTS = [sf.row_number(), sf.rank(), sf.dense_rank(), sf.percent_rank(), sf.cume_dist(), sf.ntile(3), sf.ntile(2**70),
          sf.rank(method="max"), sf.rank(method="average")]  # fmt: skip
CALLS = STATES + ROWS + COUNTS
KEPT = "x is null or x > -2"

FRAMES = [
    (lambda w: w, by_rows(0)),
    (lambda w: w.rangeBetween(START, END), by_rows(0)),
    (lambda w: w.rowsBetween(START, 0), by_rows(0)),
    (lambda w: w.rowsBetween(0, END), by_rows(0)),
    (lambda w: w.rowsBetween(START, 3), by_rows(3)),
    (lambda w: w.rowsBetween(START, -2), by_rows(2)),
    (lambda w: w.rowsBetween(-2, END), by_rows(2)),
    (lambda w: w.rowsBetween(1, END), by_rows(1)),
    (lambda w: w.groupsBetween(START, 1), by_groups(1)),
    (lambda w: w.groupsBetween(-1, END), by_groups(1)),
    (lambda w: w.rangeBetween(START, -2), "range"),
    (lambda w: w.rangeBetween(START, 2), "range"),
    (lambda w: w.rangeBetween(-2, END), "range"),
    (lambda w: w.closed("left"), by_rows(0)),
    (lambda w: w.rangeBetween(START, -2).closed("left"), "range"),
    (lambda w: w.rangeBetween(START, 2).closed("neither"), "range"),
    (lambda w: w.rangeBetween(-2, END).closed("right"), "range"),
]
EXCLUSIONS = ["no others", "current row", "group", "ties"]

values = {
    "k": st.one_of(st.none(), st.integers(0, 8)),
    "x": st.one_of(st.none(), st.integers(-5, 5)),
    "f": st.one_of(st.none(), st.sampled_from([NAN, -0.0, 0.0, 1.5, -2.25, 7.0])),
    "s": st.one_of(st.none(), st.sampled_from(["", "a", "ab", "abcdefghijk", "abcdefghijl", "é"])),
    "d": st.one_of(st.none(), st.integers(-(10**20), 10**20).map(lambda n: Decimal(n).scaleb(-2))),
    "t": st.one_of(st.none(), st.integers(-3, 3).map(lambda n: dt.datetime(2020, 1, 1) + dt.timedelta(hours=n))),
    "b": st.one_of(st.none(), st.booleans()),
    "p": st.one_of(st.none(), st.sampled_from(["", "u", "v"])),
    "q": st.one_of(st.none(), st.sampled_from([NAN, -0.0, 0.0, 2.5])),
}
kinds = {"k": pa.int32(), "x": pa.int64(), "f": pa.float64(), "s": pa.string(), "d": pa.decimal128(24, 2),
         "t": pa.timestamp("us"), "b": pa.bool_(), "p": pa.string(), "q": pa.float64()}  # fmt: skip
rows = st.fixed_dictionaries(values)
tables = st.lists(rows, max_size=30).map(
    lambda found: pa.table({name: pa.array([row[name] for row in found], kind) for name, kind in kinds.items()})
)
lows = st.one_of(st.lists(st.integers(0, 60), max_size=4), st.just(list(range(9))))
windows = st.sampled_from([Window.orderBy("k"), Window.orderBy("k"), Window.partitionBy("p").orderBy("k"),
                           Window.partitionBy("q", "p").orderBy("k")])  # fmt: skip


def expressions(window, frame, exclusion, calls, filtered):
    over = frame(window).exclude(exclusion)
    calls = [call.filter(KEPT) if filtered else call for call in calls]
    return {f"{place} {call}": call.over(over) for place, call in enumerate(calls)}


@usually(20)
@given(
    tables,
    windows,
    st.sampled_from(FRAMES),
    st.sampled_from(EXCLUSIONS),
    st.lists(st.sampled_from(CALLS), min_size=1, max_size=4),
    st.booleans(),
    lows,
    st.integers(0, 2),
    st.booleans(),
)
def test_pieces_together_answer_as_the_whole(table, window, how, exclusion, calls, filtered, lows, more, together):
    frame, reach = how
    columns = expressions(window, frame, exclusion, calls, filtered)
    if reach == "range":
        reach = by_range(2, len(window.partition))
    assert all(map(is_summarised, columns.values()))
    found, types = answered(table, columns, cut(table, window, lows, reach, more), together)
    check(evaluate(table, columns), found, types)


MORE = [sf.stddev("f"), sf.bool_or(col("x") > 3), sf.bit_and("x")]


def test_states_of_every_shape():
    some = random.Random(5)
    size = 30
    table = pa.table({
        "k": pa.array([some.randrange(12) for _ in range(size)]),
        "x": pa.array([some.choice([None, 1, 2, 3, 4]) for _ in range(size)], pa.int32()),
        "f": pa.array([some.choice([None, 1.5, 2.5, -4.0]) for _ in range(size)]),
    })  # fmt: skip
    window = Window.orderBy("k").rowsBetween(START, 1)
    columns = {str(call): call.over(window, using="segment_tree") for call in MORE}
    places = cut(table, window, [2, 3, 3, 7], by_rows(1))
    check(evaluate(table, columns), *answered(table, columns, places, together=True))


@usually(20)
@given(
    tables, st.sampled_from(FRAMES[:8]), st.lists(st.sampled_from(CALLS), min_size=1, max_size=4), lows, st.randoms()
)
def test_answers_do_not_depend_on_arrival_nor_on_who_summarised(table, how, calls, lows, some):
    frame, reach = how
    window = Window.orderBy("k")
    table = table.append_column("i", pa.array(some.sample(range(len(table)), len(table)), pa.int64()))
    calls = [*calls, sf.max("i")]  # which tells rows apart that are equal in the window's order
    columns = expressions(window, frame, "no others", calls, filtered=False)
    places = cut(table, window, lows, reach)
    tasks = np.array([some.randrange(3) for _ in range(len(table))], np.int32) if may_split(columns) else None
    found = answered(table, columns, places, True, tasks, arrival=False, shuffle=some)
    check(evaluate(table, columns, arrival=False), *found)


def test_bounded_frames_may_be_in_the_same_call():
    some = random.Random(7)
    table = pa.table({name: pa.array([some.choice([None, *range(6)]) for _ in range(40)]) for name in ("k", "p", "x")})
    window = Window.partitionBy("p").orderBy("k")
    near = window.rowsBetween(-1, 1)
    columns = {
        "min": sf.min("x").over(window),
        "sum": sf.sum("x").over(window),
        "lag": sf.lag("x").over(window),
        "lead": sf.lead("x", 2).over(window),
        "median": sf.median("x").over(near),
        "near": sf.sum("x").over(near.exclude("ties")),
        "distinct": sf.count_distinct("x").over(near),
    }
    assert [name for name, over in columns.items() if is_summarised(over)] == ["min", "sum"]
    for lows in ([4, 9, 13], list(range(30))):
        places = cut(table, window, lows, by_rows(2))
        check(evaluate(table, columns), *answered(table, columns, places, together=False))


LARGE = 2**63 - 1


@pytest.mark.parametrize(("values", "fits"), [([5, LARGE, -9, 3, -9], True), ([5, LARGE, 9, 3, -9], False)])
def test_only_sums_of_frames_overflow(values, fits):
    """A partial that does not fit, and the frames of rows that are there for others, raise nothing."""
    table = pa.table({"k": range(5), "x": pa.array(values, pa.int64())})
    window = Window.orderBy("k")
    columns = {"far": sf.sum("x").over(window.rangeBetween(START, END))}
    columns |= {"near": sf.sum("x").over(window.rowsBetween(-2, 2).exclude("current row"))} if fits else {}
    places = cut(table, window, [1, 2, 3, 4], by_rows(2))
    if fits:
        return check(evaluate(table, columns), *answered(table, columns, places, together=False))
    with pytest.raises(Overflow):
        answered(table, columns, cut(table, window, [1, 2, 3, 4], by_rows(0)), together=False)
    return None


@pytest.mark.parametrize(
    "call",
    [
        sf.count_distinct("x"), sf.sum("x").distinct(), sf.median("x"), sf.mode("x"), sf.collect_list("x"),
        sf.concat("s"), sf.lag("x"), sf.nth_value("x", 1000), sf.first_n("x", 1000), sf.top_k("x", 2).distinct(),
        sf.min_count("x"), sf.rank().order_by("x"), sf.ntile(2).order_by("x"), sf.entropy("x"),
        Aggregate("place", lift=lambda row, x: row, combine=lambda a, b: max(a, b), rows=True)("x"),
        Aggregate("any object", lift=lambda x: [x], combine=lambda a, b: a + b, compiled=False)("x"),
    ],
)  # fmt: skip
def test_what_does_not_carry(call):
    assert not is_summarised(call.over(Window.orderBy("k")))


def test_frames_that_do_not_carry():
    window = Window.orderBy("k")
    assert not is_summarised(sf.sum("x").over(window.rowsBetween(-2, 2)))
    assert not is_summarised(sf.sum("x").over(window.rowsBetween(START, col("x"))))
    assert is_summarised(sf.row_number().over(window.rowsBetween(-2, 2)))  # whatever the frame


def test_what_may_be_split():
    window = Window.orderBy("k")
    commutative = {"a": sf.sum("x").over(window), "b": sf.first("x").over(window), "c": sf.rank().over(window)}
    assert may_split(commutative)
    assert not may_split({"a": TURNS("x").over(window)})
    assert not may_split({"a": sf.dense_rank().over(window)})
    assert not may_split({"a": sf.sum("x").over(Window.partitionBy("p").orderBy("k"))})


def test_nothing_to_carry():
    table = pa.table({"k": [1, 2], "x": [3, 4]})
    columns = {"a": sf.sum("x").over(Window.orderBy("k")), "b": sf.max("x").over(Window.orderBy("k"))}
    none = np.zeros(0, np.int32)
    assert summarise(table.slice(0, 0), columns, none, none, none) == b""
    answers = evaluate_pieces(table, columns, [0, 0], [0, 0], Summaries([b""]))
    assert {name: answer.to_pylist() for name, answer in answers.items()} == {"a": [3, 7], "b": [3, 4]}
    answers = evaluate_pieces(table.slice(0, 0), columns, none, none, Summaries([]))
    assert {name: answer.to_pylist() for name, answer in answers.items()} == {"a": [], "b": []}


def test_columns_of_two_orders_are_refused():
    columns = {"a": sf.sum("x").over(Window.orderBy("k")), "b": sf.sum("x").over(Window.orderBy("x"))}
    with pytest.raises(SashError, match="one partition and order, got 2"):
        summarise(pa.table({"k": [1], "x": [1]}), columns, [0], [0], [0])
