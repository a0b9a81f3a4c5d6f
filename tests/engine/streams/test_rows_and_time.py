"""The last so many rows at steps of time, and the last so much time at steps of rows, found in plain lists of rows."""

from datetime import datetime, timedelta

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from engine.streams.stream_oracle import ANSWERS, by_key
from engine.streams.test_shards import Job, limits, run
from engine.streams.test_shards import disordered as arriving
from engine.streams.test_windows import CALLS, SCHEMA, check, disordered, microseconds, names, pushed, rows, table
from sash import functions as sf
from strategies import usually


@st.composite
def queries(draw):
    """Queries of one of the two kinds: (aggregate, range, slide), of which one is a number of rows."""
    some = [(draw(names), draw(st.integers(1, 12)), draw(st.integers(1, 12))) for _ in range(draw(st.integers(1, 3)))]
    return draw(st.sampled_from(["rows", "time"])), {f"q{k}": each for k, each in enumerate(some)}


def board_of(source, asked, **settings):
    kind, some = asked
    board = sash.stream(source, time="ts", key="k", **settings)
    for name, (aggregate, length, slide) in some.items():
        window = (length, microseconds(slide)) if kind == "rows" else (microseconds(length), slide)
        board = board.query(name, CALLS[aggregate], range=window[0], slide=window[1])
    return board


def expected(events, asked):
    kind, some = asked
    found = {}
    for key, mine in by_key([row for row in events if row["ts"] is not None], True).items():
        mine = sorted(mine, key=lambda row: row["ts"])
        if kind == "rows":
            ends = {row["ts"] // slide * slide + slide for _, _, slide in some.values() for row in mine}
            for end in ends:
                before = [row for row in mine if row["ts"] < end]
                found[key, end] = {name: ANSWERS[aggregate](before[-length:]) if end % slide == 0 else None
                                   for name, (aggregate, length, slide) in some.items()}  # fmt: skip
            continue
        for number, last in enumerate(mine, 1):
            due = {name for name, (_, _, slide) in some.items() if number % slide == 0}
            if due:
                found[key, last["ts"]] = {
                    name: ANSWERS[aggregate]([row for row in mine[:number] if row["ts"] > last["ts"] - length])
                    if name in due
                    else None
                    for name, (aggregate, length, _) in some.items()
                }
    return found


def apart(events):
    """The same with no two rows of one time, of which two windows might end at once."""
    return [row | {"ts": row["ts"] * 32 + place} for place, row in enumerate(events)]


@given(st.lists(rows, max_size=25), queries())
def test_a_table_gives_what_its_windows_hold(events, asked):
    events = events if asked[0] == "rows" else apart(events)
    check(board_of(table(events), asked).results(), expected(events, asked))


@given(disordered(), queries())
def test_disorder_splits_and_restarts_change_nothing(stream, asked):
    events, delay, edges = stream
    events = events if asked[0] == "rows" else apart(events)
    delay = delay if asked[0] == "rows" else 32 * delay + 32
    check(pushed(board_of(SCHEMA, asked, watermark=microseconds(delay)).open, events, edges), expected(events, asked))


@usually(60)
@given(arriving(), queries(), st.integers(1, 3), limits)
def test_shards_give_the_same(arrived, asked, shards, limits):
    job = Job(board_of(SCHEMA, asked, watermark=microseconds(arrived[1])), shards, limits=limits)
    check(run(job, arrived), expected(arrived[0], asked))


@given(disordered(), queries())
def test_changes_are_answers_that_differ_from_the_last(stream, asked):
    events, delay, edges = stream
    events = apart(events)
    board = board_of(SCHEMA, asked, watermark=microseconds(32 * delay + 32))
    out = pushed(lambda: board.open("changes"), events, edges).to_pylist()
    whole = expected(events, asked)
    last = {}
    for key, end in sorted(whole, key=lambda where: where[1]):
        said = [row for row in out if row["k"] == key and round(row["window_end"].timestamp() * 1e6) == end]
        answers = {name: repr(value) for name, value in whole[key, end].items() if value is not None}
        differs = any(last.get((key, name), "nothing") != value for name, value in answers.items())
        assert differs <= bool(said)
        last |= {(key, name): value for name, value in answers.items()}
    assert len(out) <= len(whole)


def ticking(*seconds):
    return pa.table(
        {"ts": pa.array([datetime(2026, 1, 1) + timedelta(seconds=s) for s in seconds], pa.timestamp("us"))}
    )


def test_only_the_last_rows_are_kept_and_rows_behind_a_step_are_late():
    board = sash.stream(ticking().schema, time="ts", watermark="0 seconds")
    live = board.query("n", sf.count(), range=3, slide="10 seconds").open(starts=True)
    assert live.push(ticking(1, 2, 3, 4, 5, 12))["n"].to_pylist() == [3]
    assert len(live.state.buffer) == 4
    assert live.push(ticking(11, 47))["n"].to_pylist() == [3]
    assert live.push(ticking(19)).num_rows == 0
    assert live.late()["reason"].to_pylist() == ["late: its windows had ended"]
    (last,) = live.close().to_pylist()
    assert (last["window_start"].second, last["window_end"].second, last["n"]) == (11, 50, 3)


@pytest.mark.parametrize(
    ("ask", "sentence"),
    [
        (lambda board: board.query("n", sf.count(), range=5, slide="1 hour").query("m", sf.count(), range="1 hour"),
         "must have windows of one kind, got rows by time in n and time in m"),
        (lambda board: board.query("n", sf.count(), range="1 hour", slide=5).query("m", sf.count(), range=5),
         "must have windows of one kind, got time by rows in n and count in m"),
        (lambda board: board.query("n", sf.count(), range=5, slide="1 hour").open("updates"), "needs windows whose"),
        (lambda board: board.query("n", sf.count(), range="1 hour", slide=5).open("updates"), "needs windows whose"),
        (lambda board: board.query("n", sf.count(), range=5, slide="1 hour").open(fill=True), "fill needs windows"),
    ],
)  # fmt: skip
def test_what_makes_no_sense_is_refused(ask, sentence):
    with pytest.raises(sash.SashError, match=sentence):
        ask(sash.stream(SCHEMA, time="ts", key="k"))


def test_late_rows_would_change_all_windows_that_follow():
    for window in ({"range": 5, "slide": "1 hour"}, {"range": "1 hour", "slide": 5}):
        with pytest.raises(sash.SashError, match="lateness needs windows"):
            sash.stream(SCHEMA, time="ts", lateness="1 hour").query("n", sf.count(), **window)
