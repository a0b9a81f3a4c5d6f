import calendar
import re
from datetime import UTC, date, datetime, timedelta
from zoneinfo import ZoneInfo

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import sash
from sash.windows import calendars
from sash.windows.calendars import has_fixed_days, saturated_sum, shifted_dates, shifted_times

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
ZONES = ["Europe/Berlin", "America/New_York", "Australia/Lord_Howe", "Asia/Kolkata", "UTC", "+05:30"]
NEAR_CHANGES = st.datetimes(datetime(2024, 3, 8), datetime(2024, 4, 9)) | st.datetimes(
    datetime(2024, 10, 4), datetime(2024, 11, 5)
)


def months_on(day, months):
    year, month = divmod(day.year * 12 + day.month - 1 + months, 12)
    return day.replace(year=year, month=month + 1, day=min(day.day, calendar.monthrange(year, month + 1)[1]))


def clocks_on(time, zone, move):
    """As java.time moves a time on the clocks of a zone."""
    here = time.astimezone(zone)
    wanted = move(here.replace(tzinfo=None, fold=0))
    kept = (wanted - here.utcoffset()).replace(tzinfo=UTC)
    if kept.astimezone(zone).replace(tzinfo=None, fold=0) == wanted:
        return kept
    return wanted.replace(tzinfo=zone).astimezone(UTC)  # fold 0: the offset before the change


def microseconds(time):
    return (time - EPOCH) // timedelta(microseconds=1)


def bounded(number):
    return min(max(number, -(2**63)), 2**63 - 1)


@given(st.lists(st.dates(date(1900, 1, 1), date(2100, 1, 1)), max_size=20), st.integers(-30, 30), st.integers(-40, 40))
def test_dates_move_by_months_cut_at_the_end_of_the_month_and_then_by_days(dates, months, days):
    numbers = np.array(dates, "M8[D]").astype(np.int64)
    want = [months_on(day, months) + timedelta(days) for day in dates]
    for amounts in ((months, days), (np.full(len(dates), months), np.full(len(dates), days))):
        assert shifted_dates(numbers, *amounts).astype("M8[D]").tolist() == want


@given(st.lists(NEAR_CHANGES, min_size=1, max_size=8), st.sampled_from(ZONES), st.integers(-7, 7), st.integers(-9, 9))
@example([datetime(2024, 3, 30, 19)], "+05:30", 1, 0)  # the 31st there
def test_in_a_zone_months_and_days_keep_the_time_on_the_clock(times, name, months, days):
    times = [time.replace(tzinfo=UTC) for time in times]
    zone = ZoneInfo(name) if name[0] != "+" else datetime.fromisoformat(f"2024-01-01T00:00{name}").tzinfo
    want = []
    for time in times:
        for move in (lambda t: months_on(t, months), lambda t: t + timedelta(days)):
            time = clocks_on(time, zone, move)
        want.append(microseconds(time) + 5)
    numbers = np.array([microseconds(time) for time in times])
    assert shifted_times(numbers, "us", name, months, days, 5).tolist() == want
    each = (np.full(len(times), amount) for amount in (months, days, 5))
    assert shifted_times(numbers, "us", name, *each).tolist() == want


@pytest.mark.parametrize("unit", ["s", "us", "ns"])
def test_many_times_move_as_few_do(unit, monkeypatch):
    random = np.random.default_rng(3)
    years = np.array(["2021", "2024"], "M8[Y]").astype(f"M8[{unit}]").astype(np.int64)
    times = random.integers(*years, 12_000)
    many = shifted_times(times, unit, "Europe/Berlin", -1, 1)
    monkeypatch.setattr(calendars, "_MANY", len(times))
    assert (many == shifted_times(times, unit, "Europe/Berlin", -1, 1)).all()


@pytest.mark.parametrize("edge", [-(2**63), 2**63 - 1])
def test_sums_stay_at_the_edge(edge):
    side = 1 if edge > 0 else -1
    assert saturated_sum(np.array([edge - 3 * side, 0]), 5 * side).tolist() == [edge, 5 * side]
    assert shifted_times(np.array([edge - 3 * side]), "ns", None, 0, side).tolist() == [edge]
    assert shifted_times(np.array([edge]), "ns", None, 0, 0, -side).tolist() == [edge - side]
    assert shifted_times(np.array([edge]), "us", None, 0, -side).tolist() == [edge - side * 86_400_000_000]


WINTER = {  # seconds ahead of UTC: before there were time zones, and since 2024
    "Europe/Berlin": (3208, 3600),
    "Asia/Tokyo": (33539, 32400),
    "America/New_York": (-17762, -18000),
}


@pytest.mark.parametrize("name", WINTER)
@pytest.mark.parametrize("side", [-1, 1])
@pytest.mark.parametrize(("unit", "per_day"), [("us", 86_400 * 10**6), ("ns", 86_400 * 10**9)])
@given(st.lists(st.integers(0, 86_399), min_size=1, max_size=5), st.integers(-3, 3))
def test_in_a_zone_times_stay_at_the_edge(name, side, unit, per_day, seconds, days):
    second = per_day // 86_400
    before, now = (ahead * second for ahead in WINTER[name])
    january = 19_730 * per_day  # 2024-01-08
    times = np.array([january + at * second for at in seconds])

    far = side * (2**63 // per_day) + days - 19_730
    change = now - (before if side < 0 else now)
    assert shifted_times(times, unit, name, 0, far).tolist() == [
        bounded(int(time) + far * per_day + change) for time in times
    ]
    edge = bounded(side * 2**63)
    assert shifted_times(times, unit, name, side * 2_000_000_000).tolist() == [edge] * len(times)
    assert shifted_times(times, unit, name, 0, side * 2_000_000_000).tolist() == [edge] * len(times)

    last = np.array([edge - side * at * second for at in seconds])
    assert shifted_times(last, unit, name, 0, days).tolist() == [bounded(int(time) + days * per_day) for time in last]


def test_four_centuries_of_nanoseconds_reach_the_edge_and_back():
    times = np.array(["2024-01-01", "2024-06-03"], "M8[ns]").astype(np.int64)
    for name in WINTER:
        assert shifted_times(times, "ns", name, -4800).tolist() == [-(2**63)] * 2
        assert shifted_times(times, "ns", name, 4800).tolist() == [2**63 - 1] * 2
        assert shifted_times(times, "ns", name, np.array([4800, 0])).tolist() == [2**63 - 1, times[1]]


@pytest.mark.parametrize("name", ["Nowhere/Land", "Europe/berlin", "+99:99"])
def test_a_zone_that_nobody_knows_is_refused_by_name(name):
    with pytest.raises(sash.SashError, match=re.escape(f"got {name!r}")):
        shifted_times(np.array([0]), "us", name, 1)


def test_only_zones_without_rules_have_days_of_24_hours():
    assert has_fixed_days(None)
    assert has_fixed_days("UTC")
    assert has_fixed_days("-03:00")
    assert not has_fixed_days("Europe/Berlin")
