"""Windows of months and years follow the calendar of the time zone; all others last as long as they say."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from sash import functions as sf

BERLIN = ZoneInfo("Europe/Berlin")


def stream(times, zone=None, unit="us"):
    return sash.stream(pa.table({"ts": pa.array(times, pa.timestamp(unit, zone))}), time="ts")


def month(number):
    return datetime(1970 + number // 12, number % 12 + 1, 1)


@given(
    st.lists(st.datetimes(datetime(1965, 1, 1), datetime(2034, 1, 1)), max_size=8),
    st.integers(1, 14),
    st.integers(1, 30),
    st.sampled_from([None, "UTC", "Europe/Berlin", "America/Sao_Paulo"]),
)
def test_months_begin_at_midnight_where_the_clocks_are(times, slide, length, zone):
    board = stream([time.replace(tzinfo=ZoneInfo(zone)) if zone else time for time in times], zone)
    out = board.query("n", sf.count(), range=f"{length} months", slide=f"{slide} months").results(starts=True)
    expected = {}
    instants = [time.replace(tzinfo=ZoneInfo(zone)) if zone else time for time in times]
    for k in range(-12 * 8 // slide - length, 12 * 72 // slide + 2):
        start, end = month(k * slide), month(k * slide + length)
        if zone:
            start, end = (naive.replace(tzinfo=ZoneInfo(zone)).astimezone(UTC) for naive in (start, end))
        inside = sum(start <= instant < end for instant in instants)
        if inside:
            expected[end] = (start, inside)
    found = {row["window_end"]: (row["window_start"], row["n"]) for row in out.to_pylist()}
    assert found == expected


def test_a_month_of_days_samples_the_month():
    times = [datetime(2024, 2, 3), datetime(2024, 2, 9), datetime(2024, 3, 1)]
    out = stream(times).query("n", sf.count(), range="7 days", slide="1 month").results()
    assert out.to_pydict() == {"window_end": [datetime(2024, 2, 8), datetime(2024, 3, 8)], "n": [1, 1]}


def test_an_offset_moves_the_starts_of_months():
    out = stream([datetime(2024, 2, 14)]).query("n", sf.count(), range="1 month")
    moved = sash.stream(out._source.frame, time="ts", offset="14 days").query("n", sf.count(), range="1 month")
    assert moved.results(starts=True)["window_start"].to_pylist() == [datetime(2024, 1, 15)]


@pytest.mark.parametrize(("day", "hours"), [(datetime(2026, 3, 29), 23), (datetime(2026, 10, 25), 25)])
def test_days_and_hours_last_as_long_when_clocks_change(day, hours):
    """As Spark's window(): a day is 24 hours from midnight in UTC, whatever clocks show; months follow the clocks."""
    start = day.replace(tzinfo=BERLIN).astimezone(UTC)
    times = [start + timedelta(minutes=30 * k) for k in range(2 * hours)]
    hourly = stream(times, "Europe/Berlin").query("n", sf.count(), range="1 hour").results()
    assert hourly["n"].to_pylist() == [2] * hours
    daily = stream(times, "Europe/Berlin").query("n", sf.count(), range="1 day").results()
    ends = [end.astimezone(UTC) for end in daily["window_end"].to_pylist()]
    assert all(end.hour == 0 for end in ends)
    assert sum(daily["n"].to_pylist()) == 2 * hours
    monthly = stream(times, "Europe/Berlin").query("n", sf.count(), range="1 month").results(starts=True)
    assert monthly["window_start"].to_pylist()[0] == day.replace(day=1, tzinfo=BERLIN)
    first, end = day.replace(day=1, tzinfo=BERLIN).astimezone(UTC), monthly["window_end"].to_pylist()[0]
    assert end.astimezone(UTC) - first == timedelta(days=31, hours=hours - 24)


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_every_unit_of_time_has_the_same_windows(unit):
    times = np.array([0, 59, 60, 61], "M8[s]").astype(f"M8[{unit}]")
    out = sash.stream(pa.table({"ts": times}), time="ts").query("n", sf.count(), range="1 minute", slide="0.5 seconds")
    first = out.results()
    assert first.num_rows == 60 * 2 + 60 * 2 + 2
    assert str(first.schema.field("window_end").type) == ("timestamp[ns]" if unit == "ns" else "timestamp[us]")


def test_dates_are_their_midnight():
    days = pa.table({"day": pa.array([0, 1, 1], pa.int32()).cast(pa.date32())})
    out = sash.stream(days, time="day").query("n", sf.count(), range="1 day").results()
    assert out.to_pydict() == {"window_end": [datetime(1970, 1, 2), datetime(1970, 1, 3)], "n": [1, 2]}


def test_a_range_of_months_needs_a_slide_of_months():
    with pytest.raises(sash.SashError, match="range of months needs a slide of months"):
        stream([]).query("n", sf.count(), range="1 month", slide="1 day")
    with pytest.raises(sash.SashError, match="panes needs windows of fixed length"):
        sash.stream(pa.schema({"ts": pa.timestamp("us")}), time="ts", slicer="panes").query(
            "n", sf.count(), range="1 month"
        ).open()
