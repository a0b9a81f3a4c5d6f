"""Frames of days in a zone: from the same time of the clocks so many days before, whatever zone the column has."""

from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from sash import Window
from sash import functions as sf
from sash.errors import SashError

CHANGES = {  # a zone, and a night of its clocks: of an hour, of half an hour, before 1970, of a whole day
    "Europe/Berlin": [datetime(2026, 3, 29), datetime(2026, 10, 25)],
    "Australia/Lord_Howe": [datetime(2026, 4, 5), datetime(2026, 10, 4)],
    "America/New_York": [datetime(1967, 4, 30), datetime(1967, 10, 29)],
    "Asia/Kolkata": [datetime(2026, 3, 29), datetime(1942, 9, 1)],
    "Pacific/Apia": [datetime(2011, 12, 30)],
}
NIGHTS = [(zone, night) for zone, nights in CHANGES.items() for night in nights]


def back(moment, days, zone):
    """The same time of the clocks so many days before; one that they skip, or show twice, as Spark has it."""
    clocks = moment.astimezone(ZoneInfo(zone))
    wanted = clocks.replace(tzinfo=None) - timedelta(days=days)
    there = [wanted.replace(tzinfo=ZoneInfo(zone), fold=fold) for fold in (0, 1)]
    same = [each for each in there if each.utcoffset() == clocks.utcoffset()]
    exists = [each for each in same if each.astimezone(UTC).astimezone(ZoneInfo(zone)).replace(tzinfo=None) == wanted]
    return (exists or there)[0].astimezone(UTC)


@given(st.sampled_from(NIGHTS), st.lists(st.integers(0, 4 * 48), min_size=1, max_size=40), st.integers(1, 2),
       st.sampled_from(["UTC", "Asia/Tokyo", None]))  # fmt: skip
def test_a_day_before_is_a_day_of_the_zones_clocks(night, steps, days, kept_in):
    zone, at = night
    first = at.replace(tzinfo=UTC) - timedelta(days=2)
    moments = sorted(first + timedelta(minutes=30 * step) for step in steps)
    times = pa.array(moments, pa.timestamp("us", "UTC"))
    times = times.cast(pa.timestamp("us", kept_in or "UTC"))
    times = times.cast(pa.timestamp("us")) if kept_in is None else times
    window = Window.orderBy("ts").rangeBetween(f"-{days} days", 0).zone(zone)
    counts = sash.withColumns(pa.table({"ts": times}), {"n": sf.count().over(window)})["n"].to_pylist()
    assert counts == [sum(back(moment, days, zone) <= other <= moment for other in moments) for moment in moments]


def test_a_zone_is_as_if_the_column_had_it():
    start = datetime(2026, 10, 23, tzinfo=UTC)
    moments = pa.array([start + timedelta(hours=k) for k in range(96)], pa.timestamp("us", "UTC"))
    for bounds in (("-1 day", 0), ("-1 month", "1 day"), (0, "2 days"), ("-24 hours", 0)):
        window = Window.orderBy("ts").rangeBetween(*bounds)
        mine = sash.withColumns(pa.table({"ts": moments}), {"n": sf.count().over(window.zone("Europe/Berlin"))})
        there = pa.table({"ts": moments.cast(pa.timestamp("us", "Europe/Berlin"))})
        assert mine["n"].equals(sash.withColumns(there, {"n": sf.count().over(window)})["n"])
    berlin, utc = (Window.orderBy("ts").rangeBetween("-1 day", 0).zone(zone) for zone in ("Europe/Berlin", "UTC"))
    both = sash.withColumns(pa.table({"ts": moments}), {"b": sf.count().over(berlin), "u": sf.count().over(utc)})
    assert max(both["b"].to_pylist()) == 26
    assert max(both["u"].to_pylist()) == 25


def test_frames_of_another_table_take_a_zone():
    days = pa.table({"ts": pa.array([datetime(2026, 10, 25, 23, tzinfo=UTC)], pa.timestamp("us", "UTC"))})
    start = datetime(2026, 10, 24, 20, tzinfo=UTC)
    hours = pa.table({"ts": pa.array([start + timedelta(hours=k) for k in range(40)], pa.timestamp("us", "UTC"))})
    past = Window.of(hours, at="ts").rangeBetween("-1 day", 0).closed("left")
    found = sash.withColumns(days, {"n": sf.count().over(past.zone("Europe/Berlin")), "u": sf.count().over(past)})
    assert found.select(["n", "u"]).to_pylist() == [{"n": 25, "u": 24}]


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda w: w.rowsBetween(-1, 0).zone("Europe/Berlin"), "zone is for rangeBetween with intervals"),
        (lambda w: w.zone("Europe/Berlin").rangeBetween(-1, 0), "zone is for rangeBetween with intervals"),
        (
            lambda w: w.rangeBetween(-sash.col("back"), 0).zone("Europe/Berlin"),
            "zone is for rangeBetween with intervals",
        ),
        (lambda w: w.zone("Europe/Nowhere"), "Europe/Nowhere"),
        (lambda w: w.zone(3), "zone must be a time zone such as 'Europe/Berlin', got 3"),
    ],
)
def test_bad_input_is_named(make, sentence):
    with pytest.raises(SashError, match=sentence):
        make(Window.orderBy("ts"))


def test_the_zone_of_the_options_is_that_of_frames_and_streams_that_name_none():
    start = datetime(2026, 10, 24, 22, tzinfo=UTC)
    hours = pa.table({"ts": pa.array([start + timedelta(hours=k) for k in range(49)], pa.timestamp("us", "UTC"))})
    window, text = Window.orderBy("ts").rangeBetween, "select count(*) over (order by ts {}) as n from hours"
    day = "range between interval 1 day preceding and current row"

    def counts(over):
        return max(sash.withColumns(hours, {"n": sf.count().over(over)})["n"].to_pylist())

    def days(**zone):
        return sash.stream(hours, time="ts", **zone).query("n", sf.count(), range="1 day").results()["n"].to_pylist()

    with sash.options.set(zone="Europe/Berlin"):
        before = window("-1 day", 0)
        assert counts(before.zone("UTC")) == counts(Window.zone("UTC").orderBy("ts").rangeBetween("-1 day", 0)) == 25
        assert counts(window("-24 hours", 0)) == 25
        assert counts(Window.orderBy("ts").rowsBetween(-1, 0)) == 2
        assert max(sash.sql(text.format(day), hours=hours, engine="local")["n"].to_pylist()) == 26
        assert days() == days(zone="Europe/Berlin") == [25, 24]
        assert days(zone="UTC") == [2, 24, 23]
        board = sash.stream(hours, time="ts").query("n", sf.count(), range="1 day")
    assert counts(before) == 26
    assert board.results()["n"].to_pylist() == [25, 24]
    assert counts(window("-1 day", 0)) == 25
    assert days() == [2, 24, 23]
