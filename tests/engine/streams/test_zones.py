"""With a zone, windows of days, weeks and months are those of its clocks; hours are time that passes."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from sash import functions as sf

ZONES = ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "Asia/Kathmandu", "Pacific/Apia",
         "America/St_Johns", "UTC"]  # fmt: skip
HOUR = timedelta(hours=1)
MOMENTS = st.datetimes(datetime(1950, 1, 1), datetime(2036, 1, 1))
NEAR = st.builds(  # around both changes of clocks in Berlin, Lord Howe and New York
    lambda day, hours: day + timedelta(minutes=30 * hours),
    st.sampled_from([datetime(2026, 3, 28, 12), datetime(2026, 10, 24, 12), datetime(2026, 4, 4, 6),
                     datetime(2026, 10, 3, 6), datetime(2026, 3, 7, 12), datetime(1969, 10, 25, 12)]),
    st.integers(0, 100),
)  # fmt: skip


def table(moments, unit="us", zone="UTC"):
    return pa.table({"ts": pa.array([each.replace(tzinfo=UTC) for each in moments], pa.timestamp(unit, zone))})


def instant(clock, zone):
    """When clocks show a time: the first of two, and the end of the gap where they never do."""
    moment = clock.replace(tzinfo=zone).astimezone(UTC)
    if moment.astimezone(zone).replace(tzinfo=None) == clock:
        return moment
    before = clock.replace(tzinfo=zone, fold=0).utcoffset()
    after = clock.replace(tzinfo=zone, fold=1).utcoffset()
    low, high = sorted([clock - before, clock - after])
    while high - low > timedelta(microseconds=1):
        middle = low + (high - low) // 2
        if middle.replace(tzinfo=UTC).astimezone(zone).replace(tzinfo=None) < clock:
            low = middle
        else:
            high = middle
    return high.replace(tzinfo=UTC)


def days_of(moments, days, length, zone, offset):
    """Windows of so many days that hold a moment, by their ends: starts and counts."""
    first = datetime(1969, 12, 29) if days % 7 == 0 else datetime(1970, 1, 1)
    found = {}
    for moment in moments:
        k = (moment - first).days // days - length // days - 3
        for window in range(k, k + length // days + 7):
            start = first + timedelta(days=window * days) + offset
            begin, end = instant(start, zone), instant(start + timedelta(days=length), zone)
            count = sum(begin <= each.replace(tzinfo=UTC) < end for each in moments)
            if count:
                found[end] = (begin, count)
    return found


@given(
    st.lists(st.one_of(MOMENTS, NEAR), max_size=4),
    st.sampled_from([1, 2, 3, 7, 14]),
    st.sampled_from([1, 2, 7, 10]),
    st.sampled_from(ZONES),
    st.sampled_from([0, 6, 2.5, -3]),
)
def test_days_begin_when_clocks_say(moments, days, length, zone, hours):
    board = sash.stream(table(moments), time="ts", zone=zone, offset=timedelta(hours=hours))
    out = board.query("n", sf.count(), range=f"{length} days", slide=f"{days} days").results(starts=True)
    found = {row["window_end"]: (row["window_start"], row["n"]) for row in out.to_pylist()}
    assert found == days_of(moments, days, length, ZoneInfo(zone), timedelta(hours=hours))


@given(st.lists(st.one_of(MOMENTS, NEAR), max_size=6), st.sampled_from(ZONES), st.sampled_from([1, 2, 12, 24]),
       st.integers(0, 6))  # fmt: skip
def test_a_day_grows_by_hours_that_pass(moments, name, hours, cut):
    """As often as the day has such hours: 23, 24 or 25 of one; the last step ends with the day."""
    zone, expected = ZoneInfo(name), {}
    for moment in moments:
        day = (
            moment.replace(tzinfo=UTC).astimezone(zone).replace(tzinfo=None, hour=0, minute=0, second=0, microsecond=0)
        )
        start, stop, step = instant(day, zone), instant(day + timedelta(days=1), zone), timedelta(hours=hours)
        end = start
        while end < stop:
            end = min(end + step, stop)
            count = sum(start <= each.replace(tzinfo=UTC) < end for each in moments)
            if count:
                expected[end] = (start, count)
    moments.sort()
    board = sash.stream(table([]).schema, time="ts", zone=name, watermark="0 seconds")
    board = board.query("n", sf.count(), range=sash.cumulate("1 day", step=f"{hours} hours"))
    operator, answers = board.open(starts=True), []
    for part in (moments[:cut], moments[cut:]):
        answers.append(operator.push(table(part)))
        state = operator.snapshot()
        operator = board.open(starts=True)
        operator.restore(state)
    out = pa.concat_tables([*answers, operator.close()])
    assert {row["window_end"]: (row["window_start"], row["n"]) for row in out.to_pylist()} == expected


@pytest.mark.parametrize(
    ("zone", "day", "hours"),
    [
        ("Europe/Berlin", datetime(2026, 3, 29), 23),
        ("Europe/Berlin", datetime(2026, 10, 25), 25),
        ("Australia/Lord_Howe", datetime(2026, 4, 5), 24.5),
        ("Australia/Lord_Howe", datetime(2026, 10, 4), 23.5),
        ("Europe/London", datetime(1968, 2, 18), 23),
    ],
)
def test_a_day_is_as_long_as_its_clocks_say(zone, day, hours):
    moments = [instant(day, ZoneInfo(zone)).replace(tzinfo=None) + timedelta(minutes=15 + 30 * k) for k in range(60)]
    board = sash.stream(table(moments), time="ts", zone=zone)
    out = board.query("n", sf.count(), range="1 day").query("h", sf.count(), range="1 hour")
    daily = [each for each in out.results()["n"].to_pylist() if each is not None]
    assert daily[0] == 2 * hours
    elapsed = board.query("n", sf.count(), range="24 hours").results(starts=True)["window_start"].to_pylist()
    assert all(start.astimezone(UTC).hour == 0 for start in elapsed)


def test_a_week_begins_on_monday_and_a_month_on_the_first_where_the_clocks_are():
    board = sash.stream(table([datetime(2026, 3, 31, 23, 30)]), time="ts", zone="Europe/Berlin")
    out = board.query("w", sf.count(), range="1 week").query("m", sf.count(), range="1 month").results(starts=True)
    berlin = ZoneInfo("Europe/Berlin")
    starts = {row["w_start"] or row["m_start"] for row in out.to_pylist()}
    assert starts == {datetime(2026, 3, 30, tzinfo=berlin), datetime(2026, 4, 1, tzinfo=berlin)}


def test_the_zone_comes_before_that_of_the_column_and_times_without_one_are_in_utc():
    for zone in ("Asia/Tokyo", None):
        rows = (
            table([datetime(2026, 1, 1, 22, 30)], zone=zone)
            if zone
            else pa.table({"ts": [datetime(2026, 1, 1, 22, 30)]})
        )
        out = sash.stream(rows, time="ts", zone="Asia/Kolkata").query("n", sf.count(), range="1 day").results()
        assert out["window_end"].cast(pa.int64()).to_pylist() == [
            int(datetime(2026, 1, 2, 18, 30, tzinfo=UTC).timestamp() * 10**6)
        ]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_every_unit_of_time_has_the_same_days(unit):
    rows = table([datetime(2026, 3, 29, 12), datetime(2026, 3, 29, 22, 30)], unit)
    out = sash.stream(rows, time="ts", zone="Europe/Berlin").query("n", sf.count(), range="1 day").results()
    assert out["n"].to_pylist() == [1, 1]


def test_rows_thousands_of_years_away_are_set_aside():
    rows = pa.table({"ts": pa.array([0, 2**62, -(2**62)], pa.timestamp("us", "UTC"))})
    board = sash.stream(rows, time="ts", zone="Europe/Berlin").query("n", sf.count(), range="1 day")
    assert board.results()["n"].to_pylist() == [1]
    assert board.late()["reason"].to_pylist() == ["ts is out of reach"] * 2


def test_what_a_zone_cannot_do_is_named():
    for zone in ("Europe/Nowhere", 3, ""):
        with pytest.raises(sash.SashError, match="zone"):
            sash.stream(table([]), time="ts", zone=zone)
    board = sash.stream(table([]), time="ts", zone="Europe/Berlin")
    with pytest.raises(sash.SashError, match="range of days needs a slide of days in a zone, where days differ"):
        board.query("n", sf.count(), range="1 day", slide="1 hour")
    with pytest.raises(sash.SashError, match="slide must be of whole days or of less than days in a zone"):
        board.query("n", sf.count(), range="1 day 2 hours")
