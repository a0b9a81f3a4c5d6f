from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sash.errors import SashError
from sash.windows.intervals import Interval

SECOND = 10**6


@pytest.mark.parametrize(
    ("text", "parts"),
    [
        ("-5 minutes", (0, 0, -300 * SECOND)),
        ("interval 1 day", (0, 1, 0)),
        ("INTERVAL '2' MONTH", (2, 0, 0)),
        ("2 hours 30 minutes", (0, 0, 9000 * SECOND)),
        ("-1 month 3 days", (-1, 3, 0)),
        ("1 year 1 quarter 1 month 1 week", (16, 7, 0)),
        ("1.5 seconds 1 millisecond -1 microsecond", (0, 0, 1500999)),
        ("- 1 day +1 day", (0, 0, 0)),
        ("-0.25 second", (0, 0, -250000)),
        ("25 hours", (0, 0, 90000 * SECOND)),
    ],
)
def test_text_is_months_days_and_microseconds(text, parts):
    assert Interval.parse(text).parts == parts


@pytest.mark.parametrize(
    "text", ["", "interval", "5", "minutes", "1.5 days", "3 fortnights", "1 day x", "1 day 2", f"{2**31} months"]
)
def test_other_text_is_refused(text):
    with pytest.raises(SashError, match=r"start takes whole numbers of year, .*, got "):
        Interval.parse(text, "start")


@given(st.builds(Interval, *[st.integers(-5000, 5000)] * 2, st.integers(-(10**12), 10**12)))
def test_an_interval_reads_as_it_is_written(interval):
    assert Interval.parse(str(interval)) == interval
    assert (-interval).parts == tuple(-part for part in interval.parts)
    assert bool(interval) == any(interval.parts)


@given(st.timedeltas(timedelta(-500), timedelta(500)))
def test_a_timedelta_keeps_its_length_and_sign(span):
    interval = Interval.of(span)
    assert timedelta(interval.days, 0, interval.microseconds) == span
    assert not interval.months
    assert interval.days * interval.microseconds >= 0
    assert interval.backward == (span <= timedelta(0))


def test_only_what_is_longer_by_any_calendar_is_after():
    assert Interval(1, 0, 0).surely_after(Interval())
    assert not Interval(1, 0, 0).surely_after(Interval(0, 28, 0))
    assert not Interval(1, 0, 0).surely_after(Interval(1, 0, 0))
