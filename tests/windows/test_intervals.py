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
        ("5m", (0, 0, 300 * SECOND)),
        ("5 mins", (0, 0, 300 * SECOND)),
        ("5min", (0, 0, 300 * SECOND)),
        ("-1h", (0, 0, -3600 * SECOND)),
        ("2d", (0, 2, 0)),
        ("1D", (0, 1, 0)),
        ("2h30m", (0, 0, 9000 * SECOND)),
        ("1mo2w", (1, 14, 0)),
        ("3q", (9, 0, 0)),
        ("1y", (12, 0, 0)),
        ("90s", (0, 0, 90 * SECOND)),
        ("1.5s", (0, 0, 1500000)),
        ("20 secs", (0, 0, 20 * SECOND)),
        ("2 hrs", (0, 0, 7200 * SECOND)),
        ("250ms", (0, 0, 250000)),
        ("7us", (0, 0, 7)),
        ("INTERVAL '5' MINUTE", (0, 0, 300 * SECOND)),
        ("interval '5 minutes'", (0, 0, 300 * SECOND)),
        ("INTERVAL '1-2' YEAR TO MONTH", (14, 0, 0)),
        ("INTERVAL '1 02:03:04' DAY TO SECOND", (0, 1, 7384 * SECOND)),
        ("INTERVAL '-02:30' HOUR TO MINUTE", (0, 0, -9000 * SECOND)),
    ],
)
def test_text_is_months_days_and_microseconds(text, parts):
    assert Interval.parse(text).parts == parts


@pytest.mark.parametrize(
    "text",
    [
        "",
        "interval",
        "5",
        "minutes",
        "1.5 days",
        "3 fortnights",
        "1 day x",
        "1 day 2",
        f"{2**31} months",
        "1.5h",
        "5 ds",
        "5i",
        "PT5H",
    ],
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


def test_what_may_be_months_or_minutes_is_refused_with_the_spellings():
    for text in ("1M", "5 M", "1h 2M"):
        with pytest.raises(SashError, match="range takes '1mo' for a month and '1m' for a minute, got"):
            Interval.parse(text, "range")
    assert Interval.parse("5 MINUTES") == Interval.parse("5m")


def test_every_argument_reads_every_spelling():
    import pyarrow as pa

    import sash
    from sash import Window
    from sash import functions as sf

    schema = pa.schema({"ts": pa.timestamp("us"), "x": pa.int64()})

    def board(length):
        stream = sash.stream(schema, time="ts", watermark=length, offset=length)
        return str(stream.query("n", sf.count(), range=length, slide=length).explain())

    want_frame = repr(Window.orderBy("ts").rangeBetween("-5 minutes", 0))
    for text in ("5m", "5 mins", "5min", "INTERVAL '5' MINUTE", timedelta(minutes=5)):
        back = -text if isinstance(text, timedelta) else text.replace("5", "-5", 1)
        assert repr(Window.orderBy("ts").rangeBetween(back, 0)) == want_frame
        assert board(text) == board("5 minutes")
        assert sf.session_id(text).aggregate.parameters == sf.session_id("5 minutes").aggregate.parameters
