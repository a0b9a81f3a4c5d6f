"""What was once wrong, each as the smallest stream that shows it."""

from datetime import date, datetime
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

import sash
from engine.streams.test_windows import SCHEMA, table
from sash import functions as sf
from sash.errors import SashError


def ticks(values, unit="us"):
    return pa.array(values, pa.timestamp(unit))


@pytest.mark.parametrize("first", [["x" * 40, "y" * 40], [Decimal("1.5"), Decimal("2.5")], [b"a" * 9, b"b" * 9]])
def test_keys_of_several_columns_stay_apart(first):
    events = pa.table({"a": first, "b": [1, 1], "v": [1, 10]})
    board = sash.stream(events.schema, key=["a", "b"]).query("s", sf.sum("v"), range=2, slide=1)
    operator = board.open()
    assert operator.push(events)["s"].to_pylist() == [1, 10]
    state = operator.snapshot()
    operator = board.open()
    operator.restore(state)
    assert operator.push(events.take([1, 0]))["s"].to_pylist() == [2, 20]


def test_a_table_out_of_order_is_answered_whatever_watermark_is_given():
    events = pa.table({"ts": ticks([5, 1, 3])})
    board = sash.stream(events, time="ts", watermark="0 seconds")
    out = board.query("n", sf.count(), range="7 microseconds", slide="3 microseconds").results()
    assert sum(out["n"].to_pylist()) == 7


def test_months_of_dates_that_stand_for_never():
    times = [
        datetime(1, 1, 1),
        datetime(1000, 5, 5),
        datetime(2020, 2, 2),
        datetime(6000, 1, 1),
        datetime(9999, 12, 31),
    ]
    out = sash.stream(pa.table({"ts": ticks(times)}), time="ts").query("n", sf.count(), range="1 month").results()
    assert out["n"].to_pylist() == [1] * 5
    assert out["window_end"].cast(pa.int64()).to_pylist() == sorted(out["window_end"].cast(pa.int64()).to_pylist())


@pytest.mark.parametrize("unit", ["us", "ns"])
def test_times_at_the_limits_are_set_aside(unit):
    events = pa.table({"ts": ticks([-(2**63) + 1, 5, 2**63 - 1], unit)})
    board = sash.stream(events, time="ts").query("n", sf.count(), range="2 seconds")
    assert board.results()["n"].to_pylist() == [1]
    assert board.late()["reason"].to_pylist() == ["ts is out of reach"] * 2


@pytest.mark.parametrize("year", [1800, 2200])
def test_nanoseconds_of_other_centuries(year):
    start = int(np.datetime64(f"{year}-01-01", "ns").astype(np.int64))
    schema = pa.schema({"ts": pa.timestamp("ns")})
    operator = sash.stream(schema, time="ts", watermark="0 seconds").query("n", sf.count(), range="10 seconds").open()
    answers = [operator.push(pa.table({"ts": ticks([start + k * 10**9], "ns")})) for k in range(12)]
    answers.append(operator.close())
    assert pa.concat_tables(answers)["n"].to_pylist() == [10, 2]


def test_cutty_and_times_that_are_not_known(monkeypatch):
    monkeypatch.setattr("sash.engine.streams.sources.CHUNK", 3)
    events = pa.table({"ts": ticks([-100, -90, None, -80, -70, -60])})
    board = sash.stream(events, time="ts", slicer="cutty")
    out = board.query("n", sf.count(), range="7 microseconds", slide="3 microseconds").results()
    assert sum(out["n"].to_pylist()) == 12
    assert board.query("n", sf.count(), range="7 microseconds").late().num_rows == 1


def plain(name, function):
    return sash.Aggregate(
        name,
        lift=lambda x: x,
        combine=lambda a, b: function(a, b),
        commutative=True,
        compiled=False,
        bulk=lambda values: function(*values.tolist()) if len(values) > 1 else values.tolist()[0],
        pack=lambda state: str(state).encode(),
        unpack=lambda body: int(body),
    )


def test_plain_aggregates_are_told_apart_and_have_a_type():
    largest, product = (
        plain("own", lambda *values: max(values)),
        sash.Aggregate("own", lift=lambda x: x, combine=lambda a, b: a * b, compiled=False),
    )
    events = pa.table({"x": [2, 3, 4, 5]})
    board = sash.stream(events).query("a", largest("x"), range=2).query("b", product("x"), range=2)
    board = board.query("c", plain("own", lambda *values: sum(values))("x"), range=2)
    out = board.results()
    assert out.to_pydict() == {"window_end": [2, 4], "a": [3, 5], "b": [6, 20], "c": [5, 9]}
    assert board.open().answer_schema == out.schema


def test_state_of_another_aggregate_of_the_same_name_is_refused():
    def board(combine):
        own = sash.Aggregate("g", lift=lambda x: x, combine=combine, commutative=True)
        return sash.stream(pa.schema({"x": pa.int64()})).query("n", own("x"), range=4)

    state = board(lambda a, b: a * b).open().snapshot()
    board(lambda a, b: a * b).open().restore(state)
    with pytest.raises(SashError, match="this is of another"):
        board(lambda a, b: a + b).open().restore(state)


@pytest.mark.parametrize("call", [sf.max_count("w"), sf.min_count("w"), sf.max("w"), sf.max_by("v", "w")])
def test_codes_of_one_batch_mean_nothing_in_the_next(call):
    events = [{"ts": k, "k": None, "v": k, "w": text} for k, text in enumerate("pqqap")]
    whole = sash.stream(table(events), time="ts").query("q", call, range="1 second").results()
    parts = [table(events[k : k + 1]) for k in range(5)]
    pushed = sash.stream(parts, time="ts", watermark="0 seconds").query("q", call, range="1 second").results()
    assert pa.concat_tables(list(pushed)).equals(whole)


def test_deltas_are_exact():
    far = pa.table({"d": pa.array([-(2**63), 0, 2**63 - 1]), "v": [1, 2, 4]})
    assert sash.stream(far).query("s", sf.sum("v"), range=sash.delta("d", 10)).results()["s"].to_pylist() == [1, 2, 4]
    assert sash.stream(far).query("s", sf.sum("v"), range=sash.delta("d", 10**30)).results()["s"].to_pylist()[1:] == [
        2,
        6,
    ]
    huge = pa.table({"d": pa.array([2**53, 2**53 + 1, 2**53 + 2]), "v": [1, 2, 4]})
    assert sash.stream(huge).query("s", sf.sum("v"), range=sash.delta("d", 1.5)).results()["s"].to_pylist() == [1, 3, 6]
    money = [Decimal("1000000000000000.01"), Decimal("1000000000000000.02"), Decimal("1000000000000000.04")]
    cents = pa.table({"d": pa.array(money, pa.decimal128(18, 2)), "v": [1, 2, 4]})
    out = sash.stream(cents).query("s", sf.sum("v"), range=sash.delta("d", 0.02)).results()
    assert out.to_pydict() == {"window_end": money, "s": [1, 3, 6]}
    unsigned = pa.table({"d": pa.array([2**63 - 1, 2**63, 2**64 - 1], pa.uint64()), "v": [1, 2, 4]})
    out = sash.stream(unsigned).query("s", sf.sum("v"), range=sash.delta("d", 1)).results()
    assert out.to_pydict() == {"window_end": [2**63 - 1, 2**63, 2**64 - 1], "s": [1, 3, 4]}


def test_batches_may_differ_in_whether_null_is_allowed():
    sure = pa.table({"v": pa.array([1, 2])}, schema=pa.schema([pa.field("v", pa.int64(), nullable=False)]))
    operator = sash.stream(pa.schema({"v": pa.int64()})).query("m", sf.median("v"), range=2).open()
    assert operator.push(sure)["m"].to_pylist() == [1.5]
    assert operator.push(pa.table({"v": [3, None]}))["m"].to_pylist() == [3.0]
    operator.restore(operator.snapshot())
    assert operator.late().num_rows == 0


def test_columns_do_not_hide_each_other():
    board = sash.stream(pa.table({"v": [1]})).query("q", sf.count(), range=1)
    with pytest.raises(SashError, match="there is a column q_start already"):
        board.query("q_start", sf.count(), range=2).results(starts=True)
    with pytest.raises(SashError, match="there is a column window_start already"):
        board.query("window_start", sf.count(), range=1).results(starts=True)
    with pytest.raises(SashError, match="there is a column late already"):
        board.query("late", sf.count(), range=1).results(late=True)
    with pytest.raises(SashError, match="starts are of windows by time and by count"):
        sash.stream(pa.table({"v": [1]})).query("q", sf.count(), range=sash.delta("v", 1)).results(starts=True)
    own = sash.Aggregate("own", lift=lambda x: x, combine=lambda a, b: [a, b])
    with pytest.raises(SashError, match=r"must return a state like lift's|cannot be compiled"):
        board.query("r", own("v"), range=1)
    with pytest.raises(SashError, match="key must not be named window_end"):
        sash.stream(pa.table({"window_end": [1]}), key="window_end")
    with pytest.raises(SashError, match="range must be within reach of timestamp"):
        sash.stream(pa.schema({"t": pa.timestamp("ns")}), time="t").query("n", sf.count(), range="300000 days")


def test_a_watermark_given_as_a_day():
    operator = sash.stream(SCHEMA, time="ts").query("n", sf.count(), range="1 day").open()
    operator.push(table([{"ts": 3, "k": "a", "v": 1, "w": None}]))
    assert operator.advance(date(1970, 1, 2))["n"].to_pylist() == [1]


def test_a_month_beside_a_second_takes_no_table_of_seconds():
    events = pa.table({"ts": [datetime(2025, 1, 1), datetime(2030, 1, 1)]})
    board = sash.stream(events, time="ts").query("m", sf.count(), range="1 month")
    out = board.query("s", sf.count(), range="1 second").results()
    assert out.num_rows == 4
    assert sum(n or 0 for n in out["s"].to_pylist()) == 2


def test_late_rows_of_two_boards_over_one_list():
    batches = [pa.table({"ts": ticks([9])}), pa.table({"ts": ticks([1])})]
    source = sash.stream(batches, time="ts", watermark="0 seconds")
    short = source.query("n", sf.count(), range="2 microseconds")
    long = source.query("n", sf.count(), range="1 second")
    assert [sum(t["n"].to_pylist()[0] for t in board.results()) for board in (short, long)] == [1, 2]
    assert [short.late().num_rows, long.late().num_rows] == [1, 0]


def test_explain_of_many_queries_counts_no_more_than_it_must():
    board = sash.stream(SCHEMA, time="ts")
    for k in range(60):
        board = board.query(f"q{k}", sf.max("v"), range=f"{k + 7} seconds", slide=f"{1 + k % 13} seconds")
    assert "at most" in str(board.explain())


def test_an_empty_batch_moves_no_watermark():
    rows = pa.table({"ts": pa.array([0, -1], pa.timestamp("us"))})
    operator = (
        sash.stream(rows.schema, time="ts", watermark="0 seconds").query("n", sf.count(), range="1 second").open()
    )
    operator.push(rows.slice(0, 0))
    operator.push(rows)
    assert operator.late_count == 0
