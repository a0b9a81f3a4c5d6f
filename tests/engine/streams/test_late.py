"""What comes too late, or has no place, is set aside with the reason; nothing is lost in silence."""

import warnings

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from engine.streams.stream_oracle import ANSWERS, same
from engine.streams.test_windows import SCHEMA, microseconds, queries, rows, table, time_board
from sash import functions as sf
from sash.errors import SashWarning


@given(st.lists(st.lists(rows, max_size=6), max_size=6), queries(), st.integers(0, 10))
def test_late_rows_count_in_windows_still_open_and_are_reported_with_what_they_missed(batches, asked, delay):
    """The oracle keeps the rows of every window, and a watermark that moves after each batch."""
    operator = time_board(SCHEMA, asked, watermark=microseconds(delay)).open()
    watermark, held, missed, answers = None, {}, [], []
    for batch in batches:
        for event in batch:
            late, folded = [], False
            for name, (_, length, slide) in asked.items():
                k = event["ts"] // slide
                while k * slide + length > event["ts"]:
                    end = k * slide + length
                    k -= 1
                    if watermark is not None and end <= watermark:
                        late.append(name)
                    else:
                        folded = True
                        held.setdefault((event["k"], name, end), []).append(event)
            if late:
                names = ", ".join(name for name in asked if name in late)
                missed.append(
                    (event["ts"], f"late for {names}: windows had ended" if folded else "late: its windows had ended")
                )
        answers.append(operator.push(table(batch)))
        if batch:
            latest = max(event["ts"] for event in batch) - delay
            watermark = latest if watermark is None else max(watermark, latest)
    answers.append(operator.close())
    aside = operator.late()
    assert sorted(zip(aside["ts"].cast(pa.int64()).to_pylist(), aside["reason"].to_pylist(), strict=True)) == sorted(
        missed
    )
    assert operator.late_count == len(missed)
    answers = pa.concat_tables(answers)
    ends = answers["window_end"].cast(pa.int64()).to_pylist()
    found = {}
    for row, end in zip(answers.to_pylist(), ends, strict=True):
        assert (row["k"], end) not in found
        found[row["k"], end] = row
    assert set(found) == {(key, end) for key, _, end in held}
    for (key, name, end), events in held.items():
        events.sort(key=lambda event: event["ts"])
        assert same(found[key, end][name], ANSWERS[asked[name][0]](events))


def test_rows_without_a_time_are_set_aside():
    events = pa.table({"ts": pa.array([None, 1], pa.timestamp("us")), "reason": ["a", "b"]})
    board = sash.stream(events, time="ts").query("n", sf.count(), range="1 second")
    assert board.results()["n"].to_pylist() == [1]
    assert board.late().to_pydict() == {"ts": [None], "reason": ["a"], "late_reason": ["ts is NULL"]}


def test_late_rows_beside_the_answers():
    events = pa.table({"ts": pa.array([None, 1], pa.timestamp("us")), "v": [7, 8]})
    out = sash.stream(events, time="ts").query("s", sf.sum("v"), range="1 second").results(late=True)
    assert out.column_names == ["window_end", "s", "late"]
    assert out["s"].to_pylist() == [8, None]
    assert out["late"].to_pylist() == [None, {"reason": "ts is NULL", "row": {"ts": None, "v": 7}}]


def test_windows_that_count_rows_in_order_of_time_set_late_ones_aside():
    board = sash.stream(SCHEMA, time="ts", watermark="2 microseconds").query("n", sf.count(), range=2)
    operator = board.open()
    row = {"k": "a", "v": 1, "w": None}
    assert operator.push(table([{"ts": 9, **row}, {"ts": 8, **row}])).num_rows == 0
    assert operator.push(table([{"ts": 20, **row}])).num_rows == 1
    operator.push(table([{"ts": 3, **row}]))
    assert operator.late()["reason"].to_pylist() == ["late: the watermark had passed it"]


def test_a_watermark_moved_by_hand_ends_windows():
    operator = sash.stream(SCHEMA, time="ts").query("n", sf.count(), range="10 microseconds").open()
    operator.push(table([{"ts": 3, "k": "a", "v": 1, "w": None}]))
    assert operator.advance(9).num_rows == 0
    assert operator.advance(10)["n"].to_pylist() == [1]
    assert operator.advance(5).num_rows == 0
    operator.push(table([{"ts": 3, "k": "a", "v": 1, "w": None}]))
    assert operator.late_count == 1
    assert operator.close().num_rows == 0


def test_keys_of_which_nothing_is_left_are_let_go():
    board = sash.stream(SCHEMA, time="ts", key="k", watermark="0 seconds")
    operator = board.query("n", sf.count(), range="10 microseconds", slide="5 microseconds").open()
    answers, row = [], {"v": 1, "w": None}
    for start in range(0, 100_000, 5_000):
        answers.append(operator.push(table([{"ts": start + k, "k": f"key {start + k}", **row} for k in range(5_000)])))
        assert len(operator.state.keys) < 12_000
    answers.append(operator.close())
    found = pa.concat_tables(answers)
    assert found.num_rows == 200_000
    assert found["k"].value_counts().field("counts").unique().to_pylist() == [2]


def test_an_operator_that_failed_half_way_says_so():
    board = sash.stream(SCHEMA, time="ts", watermark="0 seconds").query("s", sf.sum("v"), range="2 microseconds")
    operator = board.open()
    big = {"k": "a", "v": 2**62, "w": None}
    state = operator.snapshot()
    with pytest.raises(sash.SashError, match="does not fit 64 bits"):
        operator.push(table([{"ts": 0, **big}, {"ts": 1, **big}, {"ts": 9, **big}]))
    with pytest.raises(sash.SashError, match="an earlier call stopped half-way"):
        operator.push(table([]))
    operator.restore(state)
    assert operator.push(table([{"ts": 0, **big}, {"ts": 9, **big}]))["s"].to_pylist() == [2**62]


def test_state_does_not_grow_by_restarts_alone():
    board = sash.stream(SCHEMA, time="ts", watermark="0 seconds").query("n", sf.count(), range="2 microseconds")
    operator, row = board.open(), {"k": "a", "v": 1, "w": None}
    for at in (9, 1, 2):
        operator.push(table([{"ts": at, **row}]))
    states = []
    for _ in range(4):
        states.append(operator.snapshot())
        operator = board.open()
        operator.restore(states[-1])
    assert len(set(map(len, states))) == 1
    assert operator.late().num_rows == 2


def test_results_say_how_many_rows_are_in_none_of_them():
    loads = pa.table({"ts": pa.array([1, None, 2, None], pa.timestamp("us")), "load": [1, 2, 3, 4]})
    board = sash.stream(loads, time="ts").query("n", sf.count(), range="1 minute")
    with pytest.warns(SashWarning, match=r"^2 rows are in no window, and so in no answer; board\.late\(\) has them"):
        assert board.results()["n"].to_pylist() == [2]
    assert board.late().num_rows == 2
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert board.results(late=True).num_rows == 3
        assert sash.stream(loads.slice(0, 1), time="ts").query("n", sf.count(), range="1 minute").results().num_rows
