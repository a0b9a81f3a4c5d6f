"""With ``fill``, a key has a row for each window between the first and the last that hold an event."""

from datetime import date, datetime, timedelta

import polars
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from engine.streams.stream_oracle import ANSWERS, time_answers
from engine.streams.test_emits import fed
from engine.streams.test_shards import Job, limits, run
from engine.streams.test_shards import disordered as arriving
from engine.streams.test_windows import SCHEMA, check, disordered, microseconds, queries, rows, table, time_board
from sash import functions as sf
from strategies import usually

PREVIOUS = "previous"


def holds(rows, key, end, length):
    return any(row["k"] == key and row["ts"] is not None and end - length <= row["ts"] < end for row in rows)


def filled(rows, asked, fill, offset=0):
    """The answers of the oracle, and those between the first and the last end of each key."""
    answers = time_answers(rows, asked, offset)
    for key in {key for key, _ in answers}:
        ends = [end for each, end in answers if each == key]
        last = {}
        for end in range(min(ends), max(ends) + 1):
            due = {name: query for name, query in asked.items() if (end - query[1] - offset) % query[2] == 0}
            if not due:
                continue
            row = answers.setdefault((key, end), {name: ANSWERS[asked[name][0]]([]) if name in due else None
                                                  for name in asked})  # fmt: skip
            for name, (_, length, _) in due.items():
                if holds(rows, key, end, length):
                    last[name] = row[name]
                elif fill == PREVIOUS:
                    row[name] = last.get(name, row[name])
    return answers


fills = st.sampled_from([True, PREVIOUS])


@given(st.lists(rows, max_size=20), queries(), st.integers(-5, 5), fills)
def test_a_table_has_a_row_for_each_window_between(events, asked, offset, fill):
    check(time_board(table(events), asked, offset).results(fill=fill), filled(events, asked, fill, offset))


@given(disordered(), queries(), fills)
def test_pushes_give_the_same_however_they_are_cut_and_restarted(stream, asked, fill):
    events, delay, edges = stream
    board = time_board(SCHEMA, asked, watermark=microseconds(delay))
    answers = [each for _, each in fed(lambda: board.open(fill=fill), events, edges)]
    check(pa.concat_tables(answers), filled(events, asked, fill))


@usually(40)
@given(arriving(), queries(), st.integers(1, 3), limits, fills)
def test_shards_give_the_same_whatever_batches_and_restarts(arrived, asked, shards, limits, fill):
    board = time_board(table([]), asked, watermark="1 hour")
    check(run(Job(board, shards, limits=limits, fill=fill), arrived), filled(arrived[0], asked, fill))


def ticking(*minutes):
    start = datetime(2026, 11, 16, 8)
    return pa.table({"ts": [start + timedelta(minutes=k) for k in minutes], "v": list(range(len(minutes)))})


def test_counts_are_0_and_the_rest_is_null_or_what_it_was():
    board = sash.stream(ticking(0, 3, 4), time="ts").query({"n": sf.count(), "s": sf.sum("v")}, range="1 minute")
    assert board.results()["n"].to_pylist() == [1, 1, 1]
    out = board.results(fill=True)
    assert out.select(["n", "s"]).to_pydict() == {"n": [1, 0, 0, 1, 1], "s": [0, None, None, 1, 2]}
    assert board.results(fill="previous").select(["n", "s"]).to_pydict() == {"n": [1, 1, 1, 1, 1], "s": [0, 0, 0, 1, 2]}
    assert board.results(fill=True, starts=True)["window_start"].to_pylist() == sorted(
        datetime(2026, 11, 16, 8, minute) for minute in range(5)
    )


def test_the_rows_are_those_that_polars_has_when_it_upsamples():
    events = ticking(*(k * k for k in range(12)))
    mine = sash.stream(events, time="ts").query("n", sf.count(), range="5 minutes").results(fill=True, starts=True)
    grouped = polars.from_arrow(events).group_by_dynamic("ts", every="5m").agg(polars.len().alias("n"))
    theirs = grouped.upsample("ts", every="5m").with_columns(polars.col("n").fill_null(0))
    assert mine["window_start"].to_pylist() == theirs["ts"].to_list()
    assert mine["n"].to_pylist() == theirs["n"].to_list()


def test_an_answer_that_is_null_is_repeated_too_since_its_window_holds_an_event():
    events = ticking(0, 1, 3).set_column(1, "v", pa.array([7, None, 9]))
    board = sash.stream(events, time="ts").query("s", sf.sum("v"), range="1 minute")
    assert board.results(fill="previous")["s"].to_pylist() == [7, None, None, 9]


def test_months_and_days_where_clocks_change_are_filled_once_each():
    events = pa.table({"ts": [date(2026, 1, 5), date(2026, 12, 24)]})
    board = sash.stream(events, time="ts", zone="Europe/Berlin")
    assert board.query("n", sf.count(), range="1 month").results(fill=True)["n"].to_pylist() == [1, *[0] * 10, 1]
    assert len(board.query("n", sf.count(), range="1 day").results(fill=True)) == 354
    grown = board.query("n", sf.count(), range=sash.cumulate("1 day", step="1 hour")).results(fill=True)
    assert len(set(grown["window_end"].to_pylist())) == len(grown) == 353 * 24 + 23


def test_the_rows_of_a_gap_come_when_it_ends():
    board = sash.stream(ticking(0).schema, time="ts", watermark="0 seconds").query("n", sf.count(), range="1 minute")
    operator = board.open(fill=True)
    assert operator.push(ticking(0, 1))["n"].to_pylist() == [1]
    assert operator.advance(datetime(2026, 11, 16, 8, 5))["n"].to_pylist() == [1]
    assert operator.push(ticking(6, 7))["n"].to_pylist() == [0, 0, 0, 0, 1]
    assert operator.close()["n"].to_pylist() == [1]


def test_partials_answer_the_same():
    board = sash.stream(ticking(0, 3, 9), time="ts").query("n", sf.count(), range="2 minutes", slide="1 minute")
    assert board.answer(board.partials(), fill=True).equals(board.results(fill=True))


def test_what_cannot_be_filled_is_refused_with_the_reason():
    events = ticking(0, 1)
    by_time = sash.stream(events, time="ts").query("n", sf.count(), range="1 minute")
    with pytest.raises(sash.SashError, match="fill must be True, False or \"previous\", got 'next'"):
        by_time.results(fill="next")
    for emit in ("changes", "updates"):
        with pytest.raises(sash.SashError, match='fill needs emit="final"'):
            by_time.results(emit=emit, fill=True)
    with pytest.raises(sash.SashError, match="fill needs windows that are there without events, got count windows"):
        sash.stream(events, time="ts").query("n", sf.count(), range=2).results(fill=True)
    with pytest.raises(sash.SashError, match="fill needs windows that are there without events, got session windows"):
        sash.stream(events, time="ts").query("n", sf.count(), range=sash.session("1 hour")).results(fill=True)
    with pytest.raises(sash.SashError, match="fill is for events of one moment"):
        sash.stream(events, span=("ts", "ts")).query("n", sf.count(), range="1 minute").results(fill=True)
    far = pa.table({"ts": [datetime(1970, 1, 1), datetime(2026, 1, 1)]})
    with pytest.raises(sash.SashError, match=r"fill would add 1,767,225,599 rows at once"):
        sash.stream(far, time="ts").query("n", sf.count(), range="1 second").results(fill=True)


def test_a_state_is_of_one_way_of_filling():
    board = sash.stream(ticking(0).schema, time="ts").query("n", sf.count(), range="1 minute")
    with pytest.raises(sash.SashError, match="this is of another"):
        board.open(fill=True).restore(board.open().snapshot())


def test_a_checkpoint_is_of_one_way_of_filling():
    board = time_board(table([]), {"n": ("count", 5, 5)}, watermark="1 hour")
    job = Job(board, 1, fill=True)
    job.batch([], 10)
    job.fill = False
    job.asked(board)
    with pytest.raises(sash.SashError, match="fill is None and was True"):
        job.batch([], 20)
