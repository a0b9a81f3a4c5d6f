"""``session_id``: rows of a partition that are less than a gap apart have one number."""

from datetime import UTC, date, datetime, timedelta
from decimal import Decimal

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from sash import Window
from sash import functions as sf
from sash.sql.continuous import aggregate_of

BY = Window.partitionBy("u").orderBy("t")
DOWN = Window.partitionBy("u").orderBy("t desc")


def numbered(rows, gap, descending=False):
    """The oracle: sessions of each user as Flink merges them, window by window, numbered in time."""
    out = [None] * len(rows)
    for user in {row["u"] for row in rows}:
        sessions = []  # [start, end, members]
        for place, row in enumerate(rows):
            size = gap(row)
            if row["u"] != user or row["t"] is None or size is None or size <= size * 0:
                continue
            start, end, members = row["t"], row["t"] + size, [place]
            apart = []
            for other in sessions:
                if other[0] < end and start < other[1]:
                    start, end, members = min(start, other[0]), max(end, other[1]), members + other[2]
                else:
                    apart.append(other)
            sessions = [*apart, [start, end, members]]
        sessions.sort(key=lambda each: each[0], reverse=descending)
        for number, (_, _, members) in enumerate(sessions, 1):
            for place in members:
                out[place] = number
    return out


def table(rows):
    return pa.Table.from_pylist(rows, pa.schema([("u", pa.int32()), ("t", pa.int64()), ("g", pa.int64())]))


ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "u": st.integers(0, 2),
            "t": st.none() | st.integers(0, 60),
            "g": st.none() | st.integers(-2, 25),
        }
    ),
    max_size=40,
)


@given(rows=ROWS, gap=st.integers(1, 9))
def test_rows_less_than_a_gap_apart_are_one_session(rows, gap):
    answers = sash.withColumns(
        table(rows), {"up": sf.session_id(gap).over(BY), "down": sf.session_id(gap).over(DOWN)}
    ).to_pydict()
    assert answers["up"] == numbered(rows, lambda _: gap)
    assert answers["down"] == numbered(rows, lambda _: gap, descending=True)


@given(rows=ROWS)
def test_a_gap_of_each_rows_own(rows):
    own = sf.session_id(sash.col("g"))
    answers = sash.withColumns(table(rows), {"up": own.over(BY), "down": own.over(DOWN)}).to_pydict()
    assert answers["up"] == numbered(rows, lambda row: row["g"])
    assert answers["down"] == numbered(rows, lambda row: row["g"], descending=True)


@given(rows=ROWS, gap=st.integers(1, 9))
def test_filtered_rows_are_in_no_session(rows, gap):
    answers = sash.withColumns(table(rows), {"n": sf.session_id(gap).filter("g > 5").over(BY)})["n"].to_pylist()
    assert answers == numbered(rows, lambda row: gap if row["g"] is not None and row["g"] > 5 else None)


def test_duckdb_says_the_same():
    random = np.random.default_rng(7)
    visits = pa.table({"u": random.integers(0, 50, 5000), "t": random.integers(0, 100_000, 5000)})
    theirs = duckdb.sql(
        """
        with marked as (
            select u, t, coalesce(t - lag(t) over (partition by u order by t) >= 300, true) as starts from visits
        )
        select u, t, sum(starts::int) over (partition by u order by t) from marked
        """
    ).fetchall()
    ours = sash.withColumns(visits, {"n": sf.session_id(300).over(BY)})
    assert sorted(zip(*ours.to_pydict().values(), strict=True)) == sorted(theirs)


def sessions(times, gap, kind=None):
    rows = pa.table({"t": pa.array(times, kind)})
    return sash.withColumns(rows, {"n": sf.session_id(gap).over(Window.orderBy("t"))})["n"].to_pylist()


def minute(at):
    return datetime(2026, 1, 1, 8, at)


def test_a_gap_is_text_a_timedelta_or_a_number():
    times = [minute(0), minute(29), minute(59), minute(59)]
    for gap in ("30 minutes", timedelta(minutes=30)):  # rows exactly a gap apart are two sessions
        assert sessions(times, gap) == [1, 1, 2, 2]
    assert sessions([date(2024, 2, 27), date(2024, 2, 28), date(2024, 3, 1)], "2 days") == [1, 1, 2]
    assert sessions([date(2024, 2, 27), date(2024, 2, 28), date(2024, 3, 1)], 3) == [1, 1, 1]
    assert sessions([1.0, 1.5, 2.25, float("inf"), float("nan"), float("nan")], 0.75) == [1, 1, 2, 3, 4, 4]


def test_a_gap_between_two_units_is_rounded_up():
    """1 is less than 1.5, so that 1.5 is not 1 here, as it is in a RANGE frame."""
    assert sessions([1, 2, 4], 1.5) == [1, 1, 2]
    assert sessions([Decimal("1.0"), Decimal("1.1"), Decimal("1.3")], 0.15, pa.decimal128(4, 1)) == [1, 1, 2]
    assert sessions([minute(0), minute(0) + timedelta(seconds=1)], "1.5 seconds", pa.timestamp("s")) == [1, 1]
    rows = pa.table({"t": [1, 2, 4], "g": [1.5, 1.5, 1.5]})
    own = sf.session_id(sash.col("g")).over(Window.orderBy("t"))
    assert sash.withColumns(rows, {"n": own})["n"].to_pylist() == [1, 1, 2]


def test_a_day_is_one_of_the_clocks_of_the_column():
    """In Berlin the 31st of March 2024 has 23 hours."""
    night = datetime(2024, 3, 30, 22, 30, tzinfo=UTC)
    times = [night, night + timedelta(hours=23)]
    assert sessions(times, "1 day", pa.timestamp("us", "UTC")) == [1, 1]
    assert sessions(times, "1 day", pa.timestamp("us", "Europe/Berlin")) == [1, 2]
    assert sessions(times, "24 hours", pa.timestamp("us", "Europe/Berlin")) == [1, 1]


def test_gaps_of_a_column_may_be_spans_of_time():
    times = [minute(0), minute(10), minute(12), minute(30)]
    gaps = [timedelta(minutes=20), timedelta(0), timedelta(minutes=5), timedelta(minutes=1)]
    rows = pa.table({"t": times, "g": gaps})
    own = sf.session_id(sash.col("g")).over(Window.orderBy("t"))
    assert sash.withColumns(rows, {"n": own})["n"].to_pylist() == [1, None, 1, 2]


@pytest.mark.parametrize(
    ("gap", "sentence"),
    [
        (0, "gap must be above zero, got 0"),
        ("-1 day", "gap must be above zero, got '-1 day'"),
        ("1 day -1 hour", "gap must be above zero, got '1 day -1 hour'"),
        (None, "gap must be a number, a timedelta, an interval such as '30 minutes' or a column, got None"),
        (float("nan"), "gap must be a number"),
        ("user", "gap takes whole numbers of year"),
    ],
)
def test_a_gap_that_is_none_is_refused_when_it_is_given(gap, sentence):
    with pytest.raises(sash.SashError, match=f"^{sentence}"):
        sf.session_id(gap)


def test_what_has_no_times_is_refused():
    rows = pa.table({"t": [1], "s": ["a"]})
    with pytest.raises(sash.SashError, match=r"session_id\(5\) needs an orderBy whose first key is the time"):
        sash.withColumns(rows, {"n": sf.session_id(5).over(Window.partitionBy("t"))})
    with pytest.raises(sash.SashError, match="takes an order key of numbers, dates, times"):
        sash.withColumns(rows, {"n": sf.session_id(5).over(Window.orderBy("s"))})
    with pytest.raises(sash.SashError, match="gap must be a number where the order key is of type int64, got 5 days"):
        sash.withColumns(rows, {"n": sf.session_id("5 days").over(Window.orderBy("t"))})
    with pytest.raises(sash.SashError, match="gap must be a column of numbers or intervals, got one of type string"):
        sash.withColumns(rows, {"n": sf.session_id(sash.col("s")).over(Window.orderBy("t"))})


def test_a_stream_has_no_window_for_it():
    times = pa.table({"t": [minute(0)]})
    with pytest.raises(
        sash.SashError, match="session_id answers each row of a frame; a window of a stream has one answer"
    ):
        sash.stream(times, time="t").query("n", sf.session_id(5), range="1 hour")
    for gap in ("5", "interval '5' minutes", "'5 minutes'"):
        assert not aggregate_of(f"session_id({gap})").columns  # as pipelines and CQL read it
