"""Windows that grow by steps, in order or not, after any restart, beside others that share their slices."""

from datetime import datetime

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from engine.streams.stream_oracle import ANSWERS, by_key
from engine.streams.test_windows import CALLS, SCHEMA, check, disordered, microseconds, names, pushed, rows, table
from sash import functions as sf


def cumulative_answers(events, queries, offset=0):
    """Answers by key and end, of queries by name: (aggregate, size, step), or (aggregate, range, slide, True)."""
    found = {}
    for key, mine in by_key([row for row in events if row["ts"] is not None], True).items():
        for name, (aggregate, size, step, *plain) in queries.items():
            for event in mine:
                start = event["ts"] - (event["ts"] - offset) % size
                windows = [(start, end) for end in range(start + step, start + size + 1, step) if end > event["ts"]]
                if plain:
                    first = event["ts"] - (event["ts"] - offset) % step
                    windows = [(at, at + size) for at in range(first, event["ts"] - size, -step)]
                for begin, end in windows:
                    inside = [each for each in mine if begin <= each["ts"] < end]
                    row = found.setdefault((key, end), dict.fromkeys(queries))
                    row[name] = ANSWERS[aggregate](inside)
        # a window of another query that is due there answers for no rows
        for (of, end), row in found.items():
            for name, (aggregate, size, step, *plain) in queries.items():
                if of == key and row[name] is None and (end - offset - (size if plain else 0)) % step == 0:
                    row[name] = ANSWERS[aggregate]([])
    return found


@st.composite
def queries(draw):
    found = {}
    for k in range(draw(st.integers(1, 3))):
        step = draw(st.integers(1, 5))
        if draw(st.booleans()):
            found[f"q{k}"] = (draw(names), step * draw(st.integers(1, 5)), step)
        else:
            found[f"q{k}"] = (draw(names), draw(st.integers(1, 8)), step, True)
    return found


def board_of(source, queries, offset=0, **settings):
    board = sash.stream(source, time="ts", key="k", offset=microseconds(offset), **settings)
    for name, (aggregate, size, step, *plain) in queries.items():
        length = microseconds(size) if plain else sash.cumulate(microseconds(size), step=microseconds(step))
        board = board.query(name, CALLS[aggregate], range=length, slide=microseconds(step) if plain else None)
    return board


@given(st.lists(rows, max_size=20), queries(), st.integers(-4, 4), st.sampled_from([None, "panes", "pairs"]))
def test_a_table_gives_what_its_windows_hold(events, asked, offset, slicer):
    check(board_of(table(events), asked, offset, slicer=slicer).results(), cumulative_answers(events, asked, offset))


@given(disordered(), queries())
def test_disorder_splits_and_restarts_change_nothing(stream, asked):
    events, delay, edges = stream
    board = board_of(SCHEMA, asked, watermark=microseconds(delay))
    check(pushed(board.open, events, edges), cumulative_answers(events, asked))


@given(disordered(), queries(), st.sampled_from(["changes", "updates"]))
def test_what_changes_and_early_answers_end_where_the_last_answers_do(stream, asked, emit):
    events, delay, edges = stream
    board = board_of(SCHEMA, asked, watermark=microseconds(delay))
    out = pushed(lambda: board.open(emit), events, edges).to_pylist()
    expected = cumulative_answers(events, asked)
    last = {(row["k"], round(row["window_end"].timestamp() * 1e6)): row for row in out}
    if emit == "updates":
        assert set(last) == set(expected)
    assert set(last) <= set(expected)


def test_flinks_example_of_cumulate():
    """CUMULATE(TABLE Bid, DESCRIPTOR(bidtime), INTERVAL '2' MINUTES, INTERVAL '10' MINUTES), as Flink documents it."""
    bids = pa.table({
        "bidtime": [datetime(2020, 4, 15, 8, minute) for minute in (5, 7, 9, 11, 13, 17)],
        "price": [4.0, 2.0, 5.0, 3.0, 1.0, 6.0],
    })  # fmt: skip
    board = sash.stream(bids, time="bidtime")
    board = board.query("total", sf.sum("price"), range=sash.cumulate("10 minutes", step="2 minutes"))
    out = [(row["window_start"].minute, row["window_end"].minute, row["total"])
           for row in board.results(starts=True).to_pylist()]  # fmt: skip
    assert out == [(0, 6, 4.0), (0, 8, 6.0), (0, 10, 11.0), (10, 12, 3.0), (10, 14, 4.0), (10, 16, 4.0),
                   (10, 18, 10.0), (10, 20, 10.0)]  # fmt: skip


@pytest.mark.parametrize(
    ("make", "sentence"),
    [
        (lambda: sash.cumulate("1 day", step="7 hours"), "step of cumulate must divide its size, 1 day, got 7 hours"),
        (lambda: sash.cumulate("1 month", step="1 day"), "size of cumulate must be in weeks, days or less"),
        (lambda: sash.cumulate("0 seconds", step="1 day"), "size of cumulate must be longer than zero"),
        (lambda: sash.cumulate("1 day", step=5), "step of cumulate must be an interval"),
        (
            lambda: sash.stream(SCHEMA, time="ts").query(
                "n", sf.count(), range=sash.cumulate("1 day", step="1 hour"), slide="1 hour"
            ),
            "slide cannot be given with cumulate",
        ),
        (
            lambda: sash.stream(SCHEMA).query("n", sf.count(), range=sash.cumulate("1 day", step="1 hour")),
            "time must be given for windows by time",
        ),
    ],
)
def test_bad_input_is_named(make, sentence):
    with pytest.raises(sash.SashError, match=sentence):
        make()
