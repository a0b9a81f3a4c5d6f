"""Windows by delta and by punctuation: those that rows end."""

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from engine.streams.stream_oracle import ANSWERS, same
from engine.streams.test_windows import CALLS, disordered, names, table
from sash import functions as sf


def rows_of(answers):
    return {(row.pop("k"), row.pop("window_end")): row for row in answers.to_pylist()}


def compared(found, expected):
    assert set(found) == set(expected)
    for where, row in expected.items():
        for name, value in row.items():
            assert same(found[where][name], value), (where, name, found[where][name], value)


@given(
    disordered(),
    st.lists(st.tuples(names, st.integers(1, 6), st.one_of(st.none(), st.integers(1, 4))), min_size=1, max_size=3),
    st.booleans(),
)
def test_windows_by_delta_hold_the_rows_not_far_behind(stream, asked, by_rows):
    """Positions of the column are the times here, in order of arrival, so that some rows go back."""
    events, _, edges = stream
    board = sash.stream(table([]).schema.append(pa.field("d", pa.int64())), key="k")
    for k, (aggregate, size, slide) in enumerate(asked):
        step = None if slide is None else slide if by_rows else sash.delta("d", slide)
        board = board.query(f"q{k}", CALLS[aggregate], range=sash.delta("d", size), slide=step)
    expected, late, state = {}, 0, {}
    for event in events:
        kept, told = state.setdefault(event["k"], ([], {}))
        if kept and event["ts"] < kept[-1]["ts"]:
            late += 1
            continue
        kept.append(event)
        row, some = {}, False
        for k, (aggregate, size, slide) in enumerate(asked):
            if slide is None:
                due = True
            elif by_rows:
                due = len(kept) % slide == 0
            else:
                due = k not in told or event["ts"] - told[k] >= slide
            if due:
                told[k], some = event["ts"], True
            inside = [each for each in kept if event["ts"] - each["ts"] <= size]
            row[f"q{k}"] = ANSWERS[aggregate](inside) if due else None
        if some:
            expected[event["k"], len(kept)] = (event["ts"], row)
    operator, answers, at = board.open(), [], 0
    for edge, restart in [*edges, (len(events), True)]:
        batch = table(events[at:edge])
        answers.append(operator.push(batch.append_column("d", batch["ts"].cast(pa.int64()))))
        at = edge
        if restart:
            state = operator.snapshot()
            operator = board.open()
            operator.restore(state)
    answers.append(operator.close())
    assert operator.late_count == late == operator.late().num_rows
    found, seen = [], {}
    for row in pa.concat_tables(answers).to_pylist():
        found.append((row.pop("k"), row.pop("window_end"), row))
    for (key, _), (end, row) in expected.items():
        seen.setdefault(key, []).append((end, row))
    for key, wanted in seen.items():
        mine = [(end, row) for each, end, row in found if each == key]
        assert [end for end, _ in mine] == [end for end, _ in wanted]
        for (_, got), (_, want) in zip(mine, wanted, strict=True):
            assert all(same(got[name], want[name]) for name in want), (got, want)
    assert len(found) == len(expected)


@given(disordered(), st.lists(names, min_size=1, max_size=3), st.booleans())
def test_windows_by_punctuation_end_with_their_row(stream, asked, ordered):
    events, delay, edges = stream
    settings = {"time": "ts", "watermark": f"{delay} microseconds"} if ordered else {}
    board = sash.stream(table([]).schema, key="k", **settings)
    board = board.query({f"q{k}": CALLS[name] for k, name in enumerate(asked)}, range=sash.punctuation("w = 'x'"))
    expected, open_, counts = [], {}, {}
    for event in sorted(events, key=lambda event: event["ts"]) if ordered else events:
        open_.setdefault(event["k"], []).append(event)
        counts[event["k"]] = counts.get(event["k"], 0) + 1
        if event["w"] == "x":
            inside = open_.pop(event["k"])
            end = event["ts"] if ordered else counts[event["k"]]
            expected.append((event["k"], end, {f"q{k}": ANSWERS[name](inside) for k, name in enumerate(asked)}))
    operator, answers, at = board.open(), [], 0
    for edge, restart in [*edges, (len(events), True)]:
        answers.append(operator.push(table(events[at:edge])))
        at = edge
        if restart:
            state = operator.snapshot()
            operator = board.open()
            operator.restore(state)
    answers.append(operator.close())
    answers = pa.concat_tables(answers)
    ends = answers["window_end"].cast(pa.int64())
    found = [
        (row["k"], end, {name: row[name] for name in row if name.startswith("q")})
        for row, end in zip(answers.to_pylist(), ends.to_pylist(), strict=True)
    ]
    for key in {each[0] for each in expected}:
        mine, wanted = ([each for each in rows if each[0] == key] for rows in (found, expected))
        assert [each[1] for each in mine] == [each[1] for each in wanted]
        for (_, _, got), (_, _, want) in zip(mine, wanted, strict=True):
            assert all(same(got[name], want[name]) for name in want), (got, want)
    assert len(found) == len(expected)


def test_a_delta_window_at_a_row():
    trips = pa.table({"odometer": [0.0, 40.0, 100.0, 140.1, 140.1, 300.0], "fuel": [1, 2, 4, 8, 16, 32]})
    board = sash.stream(trips).query("used", sf.sum("fuel"), range=sash.delta("odometer", 100.0))
    assert board.results().to_pydict() == {
        "window_end": [0.0, 40.0, 100.0, 140.1, 140.1, 300.0],
        "used": [1, 3, 7, 12, 28, 32],
    }


def test_delta_keys_that_go_back_or_are_unknown_are_set_aside():
    trips = pa.table({"odometer": [5.0, 3.0, None, float("nan"), 7.0], "car": ["a"] * 5})
    board = sash.stream(trips, key="car").query("n", sf.count(), range=sash.delta("odometer", 10.0))
    assert board.results()["n"].to_pylist() == [1, 2]
    late = board.late()
    assert late["odometer"].to_pylist()[:2] == [3.0, None]
    assert set(late["reason"].to_pylist()) == {"odometer is NULL, not a number, or goes back"}


@pytest.mark.parametrize("kind", [sash.delta("v", 3), sash.punctuation("v = 0")])
def test_early_answers_need_ends_that_are_known(kind):
    board = sash.stream(pa.table({"v": [1]})).query("n", sf.count(), range=kind)
    with pytest.raises(sash.SashError, match='emit="updates" needs windows whose end is known'):
        board.results(emit="updates")
