"""With ``lateness``, late rows give answers again: the highest revision is what a batch of all rows gives."""

from datetime import datetime, timedelta

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from engine.streams.stream_oracle import ANSWERS, same, time_answers
from engine.streams.test_shards import Job, batches, limits, moved
from engine.streams.test_shards import disordered as arriving
from engine.streams.test_windows import SCHEMA, microseconds, queries, rows, table, time_board
from sash import functions as sf
from strategies import usually

lateness = st.sampled_from([0, 1, 3, 10, 1000])


def plain(answers):
    """Rows with their key, their end as a number, and their revision."""
    ends = answers["window_end"].cast(pa.int64()).to_pylist()
    for row, end in zip(answers.to_pylist(), ends, strict=True):
        row.pop("window_end")
        yield row.pop("k"), end, row.pop("revision"), row


def alike(mine, theirs):
    return mine.keys() == theirs.keys() and all(same(mine[name], theirs[name]) for name in mine)


class Known:
    """What was given so far: of each window, the last answer; every revision is one more, and another answer."""

    def __init__(self):
        self.last, self.number = {}, {}

    def take(self, answers):
        seen = set()
        for key, end, number, row in plain(answers):
            where = key, end
            assert where not in seen, "a window is given once a push"
            seen.add(where)
            assert number == self.number.get(where, -1) + 1
            assert number == 0 or not alike(self.last[where], row), "given again though nothing changed"
            self.last[where], self.number[where] = row, number

    def expect(self, expected):
        assert set(self.last) == set(expected)
        for where, row in expected.items():
            assert alike(self.last[where], row), (where, row, self.last[where])


def answers_of(events, asked):
    """What events give, of which each counts in the windows that end behind a time of its own."""
    found = {}
    for key in {event["k"] for event, _ in events}:
        mine = sorted((pair for pair in events if pair[0]["k"] == key and pair[0]["ts"] is not None),
                      key=lambda pair: pair[0]["ts"])  # fmt: skip
        ends = set()
        for event, shut in mine:
            for _, length, slide in asked.values():
                start = event["ts"] // slide * slide
                while start + length > event["ts"]:
                    ends |= {start + length} if start + length > shut else set()
                    start -= slide
        for end in ends:
            row, some = {}, False
            for name, (call, length, slide) in asked.items():
                inside = [event for event, shut in mine if end - length <= event["ts"] < end and end > shut]
                due = (end - length) % slide == 0
                row[name] = ANSWERS[call](inside) if due else None
                some |= due and bool(inside)
            if some:
                found[key, end] = row
    return found


@given(st.lists(rows, max_size=20), queries(), lateness)
def test_in_a_table_nothing_is_late_and_every_answer_is_the_first(events, asked, stay):
    board = time_board(table(events), asked, lateness=microseconds(stay))
    known = Known()
    known.take(board.results())
    known.expect(time_answers(events, asked))
    assert not any(known.number.values())


@st.composite
def disordered(draw):
    """Events in any order, the delay of the watermark, and where the stream is cut, and restarted."""
    events = draw(st.lists(rows, max_size=25))
    edges = sorted(draw(st.lists(st.tuples(st.integers(0, len(events)), st.booleans()), max_size=8)))
    every = draw(st.booleans())
    return events, draw(st.integers(0, 5)), [(k, True) for k in range(len(events))] if every else edges


@given(disordered(), queries(), lateness)
def test_the_highest_revision_is_what_all_rows_give_that_were_not_late(stream, asked, stay):
    events, delay, edges = stream
    board = time_board(SCHEMA, asked, watermark=microseconds(delay), lateness=microseconds(stay))
    operator, known, at, counting, watermark = board.open(), Known(), 0, [], None
    for edge, restart in [*edges, (len(events), False)]:
        part = events[at:edge]
        shut = -(10**9) if watermark is None else watermark - stay
        counting += [(event, shut) for event in part]
        known.take(operator.push(table(part)))
        watermark, at = moved(watermark, part, delay), edge
        if restart:
            state, operator = operator.snapshot(), board.open()
            operator.restore(state)
    known.take(operator.close())
    known.expect(answers_of(counting, asked))
    if stay == 1000:
        known.expect(time_answers(events, asked))
        assert operator.late_count == 0


@usually(60)
@given(arriving(), queries(), st.integers(1, 3), limits, lateness, st.integers(0, 30), st.booleans())
def test_shards_revise_the_same_whatever_batches_and_restarts(arrived, asked, shards, limits, stay, ahead, whole):
    events, _, cuts, restarts = arrived
    board = time_board(table([]), asked, watermark="1 hour", lateness=microseconds(stay))
    job, known, counting, watermark = Job(board, shards, limits=limits, late=whole), Known(), [], None
    before = None  # the watermark that says what is late is that of the batch before
    for part, restart in zip(batches(events, cuts), restarts, strict=True):
        if restart:
            job.restart()
        counting += [(event, -(10**9) if before is None else before - stay) for event in part]
        known.take(job.batch([table(part[::2]), table(part[1::2])], watermark)[0])
        before, watermark = watermark, moved(watermark, part, -ahead)
    known.take(job.batch([], 10**15)[0])
    known.expect(answers_of(counting, asked))


def ticking(*minutes):
    start = datetime(2026, 11, 16, 8)
    times = pa.array([start + timedelta(minutes=k) for k in minutes], pa.timestamp("us"))
    return pa.table({"ts": times, "v": pa.array([k % 4 for k in minutes], pa.int64())})


def watched(**settings):
    said = {"time": "ts", "watermark": "0 seconds", "lateness": "10 minutes"} | settings
    return sash.stream(ticking().schema, **said)


def shown(answers):
    return [(row["window_end"].minute, row["revision"], *list(row.values())[2:]) for row in answers.to_pylist()]


def test_a_late_row_gives_the_answer_again_with_all_columns_that_are_due():
    board = watched().query({"n": sf.count(), "top": sf.max("v")}, range="2 minutes")
    operator = board.open()
    assert shown(operator.push(ticking(0, 1, 3, 5))) == [(2, 0, 2, 1), (4, 0, 1, 3)]
    assert shown(operator.push(ticking(2))) == [(4, 1, 2, 3)]
    assert shown(operator.push(ticking(0, 0, 1, 2))) == [(2, 1, 5, 1), (4, 2, 3, 3)]
    assert shown(operator.push(ticking(14))) == [(6, 0, 1, 1)]
    assert shown(operator.push(ticking(0, 7))) == [(8, 0, 1, 3)], "one had no row before, the other has bygone"
    assert operator.late()["reason"].to_pylist() == ["late: its windows had ended"]


@pytest.mark.parametrize("before", [0, 1, 3])
def test_the_first_rows_of_keys_may_be_late(before):
    """Those of many keys, where cells are a forest that knows of fewer."""

    schema = pa.schema({"ts": pa.timestamp("us"), "k": pa.int64(), "v": pa.int64()})

    def of_keys(minute, keys):
        times, values = [datetime(2026, 1, 1, 0, minute)] * len(keys), [minute] * len(keys)
        return pa.table({"ts": times, "k": list(keys), "v": values}, schema)

    stream = sash.stream(schema, time="ts", key="k", watermark="0 seconds", lateness="10 minutes")
    operator = stream.query({"n": sf.count(), "top": sf.max("v")}, range="2 minutes").open()
    for minute in range(8):
        operator.push(of_keys(minute, range(before)))
    operator.advance(datetime(2026, 1, 1, 0, 6))
    operator.state.cells.planted()
    out = operator.push(of_keys(2, range(100, 20_100)))
    assert out["k"].to_pylist() == list(range(100, 20_100))
    assert {(row["revision"], row["n"], row["top"]) for row in out.to_pylist()} == {(0, 1, 2)}


def test_what_changes_nothing_is_not_given_again():
    operator = watched().query({"top": sf.max("v"), "kinds": sf.count_distinct("v")}, range="2 minutes").open()
    operator.push(ticking(3, 9))
    assert operator.push(ticking(3, 3)).num_rows == 0
    assert shown(operator.push(ticking(2))) == [(4, 1, 3, 2)]


def test_a_push_may_give_an_answer_for_the_first_time_and_others_again():
    operator = watched().query("n", sf.count(), range="4 minutes", slide="2 minutes").open()
    assert shown(operator.push(ticking(0, 4))) == [(2, 0, 1), (4, 0, 1)]
    assert shown(operator.push(ticking(1, 9))) == [(2, 1, 2), (4, 1, 2), (6, 0, 1), (8, 0, 1)]
    assert operator.late_count == 0


def test_revisions_lapse_with_their_windows_and_cost_nothing_where_no_row_is_late():
    operator = watched().query("n", sf.count(), range="1 minute").open()
    for minute in range(0, 600, 2):
        operator.push(ticking(minute + 1))
        operator.push(ticking(minute))
    assert len(operator.state.revisions.end) == 0, "a row for a window that had none is its first answer"
    for minute in range(600, 660):
        operator.push(ticking(minute))
        operator.push(ticking(minute - 3))
    assert 0 < len(operator.state.revisions.end) < 12
    assert len(operator.state.cells) < 24


def test_rows_that_are_late_are_told_by_what_they_missed():
    board = watched().query("a", sf.count(), range="2 minutes").query("b", sf.count(), range="20 minutes")
    operator = board.open()
    operator.push(ticking(0, 15))
    operator.push(ticking(1))
    assert operator.late()["reason"].to_pylist() == ["late for a: windows had ended"]


def test_what_has_no_revisions_is_refused_with_the_reason():
    with pytest.raises(sash.SashError, match="lateness must not be below zero, got '-1 hour'"):
        watched(lateness="-1 hour")
    for emit in ("changes", "updates"):
        with pytest.raises(sash.SashError, match='lateness needs emit="final"'):
            watched().query("n", sf.count(), range="1 minute").open(emit=emit)
    with pytest.raises(sash.SashError, match="fill is for windows that are answered once, got lateness="):
        watched().query("n", sf.count(), range="1 minute").open(fill=True)
    with pytest.raises(sash.SashError, match="lateness needs windows by time, or sessions, got count windows"):
        watched().query("n", sf.count(), range=5)
    with pytest.raises(sash.SashError, match="lateness is for events of one moment, got span="):
        watched(time=None, span=("ts", "ts")).query("n", sf.count(), range="1 minute")
    with pytest.raises(sash.SashError, match="the name of a query must be its own, got 'revision'"):
        watched().query("revision", sf.count(), range="1 minute").open()
    with pytest.raises(sash.SashError, match=r"cutty needs input in order, .* lateness allows disorder"):
        watched(slicer="cutty").query("n", sf.count(), range="1 minute")


def test_a_state_is_of_one_lateness():
    def board(stay):
        return watched(lateness=stay).query("n", sf.count(), range="1 minute")

    with pytest.raises(sash.SashError, match="this is of another"):
        board("1 hour").open().restore(board("2 hours").open().snapshot())
    job = Job(board("1 hour"), 1)
    job.batch([], 10)
    job.asked(board("2 hours"))
    with pytest.raises(sash.SashError, match="lateness is 2 hours and was 1 hour"):
        job.batch([], 20)
