"""What the clock decides: which rows are too far in the future, and when a source has been quiet for long."""

from datetime import UTC, datetime, timedelta

import pyarrow as pa
import pytest

import sash
from sash import functions as sf

START = datetime(2026, 11, 16, 8)


def at(minute):
    return START + timedelta(minutes=minute)


def ticking(*minutes):
    return pa.table({"ts": pa.array([at(k) for k in minutes], pa.timestamp("us")), "v": pa.array(minutes, pa.int64())})


def watched(**settings):
    said = {"time": "ts", "watermark": "0 seconds"} | settings
    return sash.stream(ticking(0).schema, **said).query("n", sf.count(), range="1 minute")


def ends(answers):
    return [(row["window_end"] - START) // timedelta(minutes=1) for row in answers.to_pylist()]


def test_a_row_of_the_future_is_set_aside_and_moves_no_watermark():
    operator = watched(ahead="1 hour").open()
    assert ends(operator.push(ticking(0, 61, 2), clock=at(0))) == [1]
    assert operator.late().drop_columns("ts").to_pylist() == [
        {"v": 61, "reason": "ts is more than 1 hour ahead of the clock"}
    ]
    assert ends(operator.push(ticking(61), clock=at(1))) == [3]
    assert operator.late_count == 1


def test_the_clock_is_that_of_this_machine_unless_it_is_given():
    soon = datetime.now(UTC) + timedelta(minutes=5)
    for dtype in (pa.timestamp("us", "UTC"), pa.timestamp("ns", "Europe/Berlin")):
        events = pa.table({"ts": pa.array([soon, soon + timedelta(days=2)]).cast(dtype)})
        board = sash.stream(events, time="ts", ahead="1 day").query("n", sf.count(), range="1 minute")
        assert board.results(late=True)["n"].to_pylist() == [1, None]
        assert board.late()["reason"].to_pylist() == ["ts is more than 1 day ahead of the clock"]


def test_events_that_last_are_of_the_future_where_either_end_is():
    spans = pa.table({"a": [at(0), at(0), at(90)], "b": [at(1), at(90), at(30)]})
    board = sash.stream(spans.schema, span=("a", "b"), ahead="1 hour").query("n", sf.count(), range="2 minutes")
    operator = board.open()
    operator.push(spans, clock=at(0))
    assert len(operator.late()) == 2
    assert operator.close()["n"].to_pylist() == [1]


def test_a_quiet_source_lets_the_clock_move_the_watermark():
    operator = watched(watermark="1 minute", idle="2 minutes").open()
    assert ends(operator.push(ticking(0, 5), clock=at(10))) == [1]
    watermark = operator.watermark
    assert ends(operator.tick(clock=at(11))) == []
    assert operator.watermark == watermark
    assert ends(operator.tick(clock=at(12))) == [6], "the watermark was at 4 minutes, and the clock has moved by 2"
    assert ends(operator.push(ticking(4, 7, 20), clock=at(13))) == [8]
    assert operator.late()["reason"].to_pylist() == ["late: its windows had ended"]
    assert ends(operator.push(ticking(), clock=at(14))) == []
    assert ends(operator.push(ticking(), clock=at(15))) == [21]


def test_a_quiet_source_is_still_quiet_after_a_restart():
    board = watched(idle="2 minutes")
    operator, again = board.open(), board.open()
    operator.push(ticking(0, 5), clock=at(10))
    again.restore(operator.snapshot())
    assert ends(again.tick(clock=at(12))) == [6]
    fresh = board.open()
    fresh.restore(watched().open().snapshot())
    assert ends(fresh.tick(clock=at(100))) == [], "nothing has come yet"


def test_what_makes_no_sense_is_refused():
    with pytest.raises(sash.SashError, match=r"clock is for ahead= and idle= of sash.stream"):
        watched().open().push(ticking(0), clock=at(0))
    with pytest.raises(sash.SashError, match="tick needs idle="):
        watched().open().tick()
    with pytest.raises(sash.SashError, match="clock must have a time zone where the time column has one"):
        watched(ahead="1 day").open().push(ticking(0), clock=datetime(2026, 1, 1, tzinfo=UTC))
    with pytest.raises(sash.SashError, match="idle needs time= and watermark="):
        watched(watermark=None, idle="1 minute")
    with pytest.raises(sash.SashError, match="idle must be more than zero"):
        watched(idle="0 seconds")
    with pytest.raises(sash.SashError, match="ahead must not be below zero"):
        watched(ahead="-1 day")
    with pytest.raises(sash.SashError, match="ahead needs time="):
        sash.stream(ticking(0), ahead="1 day").query("n", sf.count(), range=2)
    with pytest.raises(sash.SashError, match="ahead is for rows that have their times"):
        watched(time=None, span=("ts", "ts"), longest="1 day", pair="v", ahead="1 day")
