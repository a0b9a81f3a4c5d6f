"""What of the answers is given: changes, early answers, starts."""

import pyarrow as pa
import pytest
from hypothesis import given

import sash
from engine.streams.stream_oracle import same, time_answers
from engine.streams.test_windows import SCHEMA, disordered, microseconds, queries, table, time_board
from sash import functions as sf


def plain(answers):
    """Rows with their key and their end as a number."""
    ends = answers["window_end"].cast(pa.int64()).to_pylist()
    return [(row.pop("k"), end, row) for row, end in zip(answers.to_pylist(), ends, strict=True)
            if row.pop("window_end", 1)]  # fmt: skip


def alike(mine, theirs):
    return mine.keys() == theirs.keys() and all(same(mine[name], theirs[name]) for name in mine)


def fed(make, events, edges):
    """What each push gives, and the end; restarted at some edges."""
    operator, at = make(), 0
    for edge, restart in edges:
        yield events[:edge], operator.push(table(events[at:edge]))
        at = edge
        if restart:
            state, operator = operator.snapshot(), make()
            operator.restore(state)
    yield events, operator.push(table(events[at:]))
    yield events, operator.close()


@given(disordered(), queries())
def test_changes_are_the_answers_that_differ_from_the_last_of_their_key(stream, asked):
    events, delay, edges = stream
    board = time_board(SCHEMA, asked, watermark=microseconds(delay))
    found = [row for _, answers in fed(lambda: board.open(emit="changes"), events, edges) for row in plain(answers)]
    expected, last = [], {}
    for (key, end), row in sorted(time_answers(events, asked).items(), key=lambda item: item[0][1]):
        differs = False
        for name, (_, length, slide) in asked.items():
            if (end - length) % slide == 0:
                differs = differs or (key, name) not in last or not same(last[key, name], row[name])
                last[key, name] = row[name]
        if differs:
            expected.append((key, end, row))
    assert len(found) == len(expected)
    for key in {each[0] for each in expected}:
        mine, theirs = ([each for each in rows if each[0] == key] for rows in (found, expected))
        assert [each[1] for each in mine] == [each[1] for each in theirs]
        assert all(alike(a[2], b[2]) for a, b in zip(mine, theirs, strict=True))


@given(disordered(), queries())
def test_updates_tell_each_window_whenever_it_changes(stream, asked):
    events, delay, edges = stream
    board = time_board(SCHEMA, asked, watermark=microseconds(delay))
    told = {}
    for so_far, answers in fed(lambda: board.open(emit="updates"), events, edges):
        for key, end, row in plain(answers):
            assert (key, end) not in told or not alike(told[key, end], row), "told again though nothing changed"
            told[key, end] = row
        expected = time_answers(so_far, asked)
        assert set(told) == set(expected)
        assert all(alike(told[where], expected[where]) for where in expected)


def test_updates_of_counts_tell_of_windows_that_are_not_full():
    operator = sash.stream(pa.schema({"v": pa.int64()})).query("s", sf.sum("v"), range=3).open(emit="updates")
    assert operator.push(pa.table({"v": [1, 2]})).to_pydict() == {"window_end": [3], "s": [3]}
    assert operator.push(pa.table({"v": [4, 8]})).to_pydict() == {"window_end": [3, 6], "s": [7, 8]}
    assert operator.close().num_rows == 0


def test_windows_that_are_alike_have_one_start():
    events = pa.table({"ts": pa.array([61_000_000, 121_000_000], pa.timestamp("us")), "v": [1, 2]})
    board = sash.stream(events, time="ts").query({"n": sf.count(), "s": sf.sum("v")}, range="1 minute")
    for emit in ("final", "changes", "updates"):
        out = board.results(emit=emit, starts=True)
        assert out.column_names == ["window_start", "window_end", "n", "s"]
        assert out["window_start"].cast(pa.int64()).to_pylist() == [60_000_000, 120_000_000]


def test_starts_are_those_of_each_query():
    events = pa.table({"ts": pa.array([61_000_000], pa.timestamp("us"))})
    board = sash.stream(events, time="ts").query("a", sf.count(), range="1 minute")
    board = board.query("b", sf.count(), range="2 minutes", slide="1 minute")
    out = board.results(starts=True)
    assert out.column_names == ["window_end", "a_start", "a", "b_start", "b"]
    assert out["a_start"].cast(pa.int64()).to_pylist() == [60_000_000, 120_000_000]
    assert out["b_start"].cast(pa.int64()).to_pylist() == [0, 60_000_000]
    assert out["a"].to_pylist() == [1, 0]


def test_emit_is_one_of_three():
    board = sash.stream(pa.table({"v": [1]})).query("n", sf.count(), range=1)
    with pytest.raises(sash.SashError, match="emit must be one of final, changes, updates, got 'all'"):
        board.results(emit="all")
