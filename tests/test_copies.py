"""What the engine knows of a function it knows by its traits: a copy under another name answers the same everywhere."""

import datetime as dt
from dataclasses import replace
from decimal import Decimal

import pyarrow as pa
import pytest

import sash
from copies import copied, copy_of
from engine.summaries.cutting import answered, by_rows, cut
from every_function import every_call
from sash import Window
from sash import functions as sf
from sash.algebra import Aggregate
from sash.engine import SlidingWindow
from sash.engine.evaluating import evaluate
from sash.engine.summaries import is_summarised

START, END = Window.unboundedPreceding, Window.unboundedFollowing
DAYS = [dt.datetime(2020, 1, day) for day in (2, 1, 5, 3)]
VALUES = {
    pa.int64(): [3, None, 1, 2, 3, 7],
    pa.float64(): [3.5, None, 1.0, 2.0, 3.5, float("nan")],
    pa.decimal128(10, 2): [Decimal("3.25"), None, Decimal(1), Decimal(2), Decimal("3.25"), Decimal(7)],
    pa.string(): ["b", None, "a", "c", "b", "z"],
    pa.bool_(): [True, None, False, True, False, True],
    pa.timestamp("us"): [DAYS[0], None, *DAYS[1:], DAYS[0]],
}
LONG = (pa.int64(), pa.bool_(), pa.timestamp("us"))  # whose like is tried in any case
TYPES = [pytest.param(kind, id=str(kind), marks=[pytest.mark.long] * (kind in LONG)) for kind in VALUES]
FRAMES = [Window.orderBy("k").rowsBetween(START, 0), Window.orderBy("k").rangeBetween(-1, 1).exclude("ties")]


def table(kind):
    values = pa.array(VALUES[kind], kind)
    return pa.table({"x": values, "k": [1, 2, 2, 3, 4, 5], "at": [dt.datetime(2026, 1, 1, 0, k) for k in range(6)]})


def outcome(ask):
    """What comes out, or why nothing does, without the name that a function goes by."""
    try:
        return ask()
    except sash.SashError as error:
        return type(error), str(error).replace("own_", "").partition("; takes=")[0]


def same(one, two):
    """Whether two tables are equal, NaN being equal to itself."""
    return str(one) == str(two) if not isinstance(one, tuple) else one == two


@pytest.mark.parametrize("kind", TYPES)
@pytest.mark.parametrize("window", FRAMES, ids=["so far", "ties excluded"])
def test_over_frames(kind, window):
    rows = table(kind)
    for name, call in every_call("x", "k").items():
        built_in = outcome(lambda call=call: evaluate(rows, {"a": call.over(window)})["a"].to_pylist())
        own = outcome(lambda call=call: evaluate(rows, {"a": copy_of(call).over(window)})["a"].to_pylist())
        assert same(own, built_in), name


@pytest.mark.parametrize("kind", TYPES)
def test_over_pieces(kind):
    rows, window = table(kind), Window.orderBy("k")
    places = cut(rows, window, [1, 3], by_rows(0))
    for name, call in every_call("x", "k").items():
        over = call.over(window.rowsBetween(START, 0))
        own = copy_of(call).over(window.rowsBetween(START, 0))
        assert is_summarised(own) == is_summarised(over), name
        if is_summarised(over) and not isinstance(outcome(lambda over=over: evaluate(rows, {"a": over})), tuple):
            found, _ = answered(rows, {"a": over, "b": own}, places, together=True, arrival=False)
            assert same(found["a"], found["b"]), name


@pytest.mark.parametrize("kind", TYPES)
def test_over_windows_of_a_stream(kind):
    rows = table(kind)

    def board(call):
        return sash.stream(rows, time="at").query("a", call, range="3 minutes", slide="1 minute")

    for name, call in every_call("x", "k").items():
        if getattr(call.aggregate, "nth", None) is not None:
            continue  # of rows that came at the same time any may be first
        built_in, own = (outcome(lambda each=each: board(each).results()["a"].to_pylist())
                         for each in (call, copy_of(call)))  # fmt: skip
        assert same(own, built_in), name


@pytest.mark.parametrize("kind", TYPES)
def test_in_a_sliding_window(kind):
    rows = table(kind)

    def slid(call):
        if isinstance(call.aggregate, Aggregate):  # as plain Python: to compile all of them takes minutes
            call = replace(call, aggregate=call.aggregate.but(compiled=False))
        window = SlidingWindow(call, rows.schema)
        window.insert(rows)
        return window.query()

    for name, call in every_call("x", "k").items():
        built_in, own = (outcome(lambda each=each: slid(each)) for each in (call, copy_of(call)))
        assert same(own, built_in), name


def test_a_copy_is_not_told_from_an_aggregate_of_a_users_own():
    largest = copied(sf.max("x").aggregate)
    assert (largest.origin, largest.name) == (None, "own_max")
    assert largest("x").over(Window.orderBy("k")).call.aggregate is largest


FEW = {  # aggregates of a user's own that say which rows alone matter
    "first": sash.Aggregate("f", lift=lambda x: x, combine=lambda a, b: a, selective=True, few=("first", 1)),
    "last": sash.Aggregate("l", lift=lambda x: x, combine=lambda a, b: b, selective=True, few=("last", 1)),
    "largest": sash.Aggregate("m", lift=lambda x: x, combine=lambda a, b: max(a, b), commutative=True, selective=True,
                              few=("largest", 1)),
    "row": sash.Aggregate("r", lift=lambda row, x: row, combine=lambda a, b: a, selective=True, rows=True,
                          returns="row", few=("first", 1)),
    "by place": sash.Aggregate("p", lift=lambda row: (row, row + 1), combine=lambda a, b: (a[0], b[1]), rows=True,
                               returns="rows", by_place=True,
                               lower=lambda s: (s[1] - 2, s[1]) if s[1] - s[0] >= 4 else (s[0], s[0])),
}  # fmt: skip


@pytest.mark.parametrize("name", FEW)
def test_few_rows_of_a_users_own_aggregate_over_pieces(name):
    rows = pa.table({"x": pa.array([None, 5, 3, None, 4, 9, 1, 2], pa.int64()), "k": range(8)})
    columns = ["x"] * (2 if name == "row" else 1)  # the row's value, and what is lifted
    over = FEW[name](*columns).over(Window.orderBy("k").rowsBetween(START, 0))
    whole = evaluate(rows, {"a": over})
    if is_summarised(over):
        found, _ = answered(rows, {"a": over}, cut(rows, Window.orderBy("k"), [2, 5], by_rows(0)), together=True)
        assert str(found["a"]) == str(whole["a"].to_pylist())
    assert is_summarised(over) == (name != "by place")
