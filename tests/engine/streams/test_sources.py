"""A stream comes from frames of three libraries, from batches, and by hand; answers go back the same way."""

from datetime import datetime

import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sash
from sash import functions as sf
from sash.errors import SashError

EVENTS = pa.table(
    {
        "ts": [datetime(2026, 1, 1, 0, *divmod(second, 60)) for second in (0, 10, 20, 61, 70, 130)],
        "a": pa.array([1, None, 1, 2, 2, 1]),
        "b": ["x", "y", "x", "y", "x", "x"],
        "v": [5, 3, 8, 1, 9, 2],
    }
)


def asked(source, **settings):
    board = sash.stream(source, time="ts", key=["a", "b"], **settings)
    return board.query("s", sf.sum("v"), range="1 minute").query("m", sf.median("v"), range="1 minute")


EXPECTED = asked(EVENTS).results()


def test_several_columns_are_a_key_and_null_is_a_value():
    assert EXPECTED.column_names == ["a", "b", "window_end", "s", "m"]
    first = [row for row in EXPECTED.to_pylist() if row["window_end"].minute == 1]
    assert [(row["a"], row["b"], row["s"]) for row in first] == [(1, "x", 13), (None, "y", 3)]


def test_frames_of_other_libraries_give_frames_of_these():
    found = asked(pl.from_arrow(EVENTS)).results()
    assert isinstance(found, pl.DataFrame)
    assert found.to_arrow().cast(EXPECTED.schema).equals(EXPECTED)
    found = asked(EVENTS.to_pandas(types_mapper=pd.ArrowDtype)).results()
    assert isinstance(found, pd.DataFrame)
    assert found["s"].tolist() == EXPECTED["s"].to_pylist()


@pytest.mark.parametrize("size", [1, 2, 100])
def test_batches_give_answers_as_windows_end(size):
    batches = EVENTS.to_batches(max_chunksize=size)
    for source in (iter(batches), batches, pa.RecordBatchReader.from_batches(EVENTS.schema, batches)):
        tables = list(asked(source, watermark="0 seconds").results())
        assert len(tables) == (3 if size < 100 else 2)
        assert pa.concat_tables(tables).equals(EXPECTED)


def test_an_endless_iterator_is_answered_as_it_goes():
    def endless():
        minute = 0
        while True:
            yield pa.table(
                {"ts": [datetime(2026, 1, 1, minute // 60 % 24, minute % 60)], "a": [1], "b": ["x"], "v": [1]}
            )
            minute += 1

    answers = asked(endless(), watermark="0 seconds").results()
    assert [next(answers)["s"].to_pylist() for _ in range(3)] == [[1], [1], [1]]


def test_results_of_an_iterator_are_read_once():
    board = asked(iter(EVENTS.to_batches()))
    with pytest.raises(SashError, match=r"late\(\) of an iterator is of what its results have read"):
        board.late()
    assert pa.concat_tables(list(board.results())).equals(EXPECTED)
    assert board.late().num_rows == 0
    with pytest.raises(SashError, match="the results of an iterator can be read once"):
        board.results()
    again = asked(EVENTS.to_batches())
    assert list(again.results()) == list(again.results())


def test_types_are_the_same_whatever_the_rows():
    empty = asked(EVENTS.slice(0, 0)).results()
    assert empty.schema == EXPECTED.schema
    assert empty.num_rows == 0
    assert asked(EVENTS.schema).open().answer_schema == EXPECTED.schema
    assert asked(EVENTS.schema).open().close().schema == EXPECTED.schema


def test_keys_of_all_types_come_back_as_they_were():
    texts = ["a", "b" * 100, None, "a"]
    columns = {
        "float": pa.array([0.0, float("nan"), None, -0.0]),
        "text": pa.array(texts),
        "coded": pa.array(texts).dictionary_encode(),
        "flag": pa.array([True, False, None, True]),
        "day": pa.array([1, 2, None, 1], pa.int32()).cast(pa.date32()),
        "money": pa.array([1, 2, None, 1]).cast(pa.decimal128(22, 2)),
        "time": pa.array([1, 2, None, 1]).cast(pa.timestamp("ns", "UTC")),
    }
    for name, array in columns.items():
        out = sash.stream(pa.table({name: array}), key=name).query("n", sf.count(), range=2, slide=1).results()
        assert out.schema.field(name).type == array.type
        assert sorted(out["n"].to_pylist()) == [1, 1, 1, 2], name


def test_a_schema_is_pushed_by_hand():
    board = asked(EVENTS.schema)
    with pytest.raises(SashError, match=r"open\(\) it, and push batches"):
        board.results()
    operator = board.open()
    shuffled = EVENTS.select(["v", "b", "a", "ts"])
    assert operator.push(shuffled).num_rows == 0
    assert operator.close().equals(EXPECTED)
    with pytest.raises(SashError, match="the stream is closed"):
        operator.push(EVENTS)


def test_state_of_another_stream_or_damaged_is_refused():
    operator = asked(EVENTS.schema).open()
    operator.push(EVENTS)
    state = operator.snapshot()
    other = sash.stream(EVENTS.schema, time="ts").query("s", sf.sum("v"), range="1 minute").open()
    with pytest.raises(SashError, match="of a stream of the same columns, queries and settings"):
        other.restore(state)
    with pytest.raises(SashError, match="these bytes are damaged"):
        operator.restore(state[:-20] + bytes(20))
    with pytest.raises(SashError, match="got 3 other bytes"):
        operator.restore(b"abc")
    with pytest.raises(SashError, match="got version 9"):
        operator.restore(state[:9] + b"\x09\x00" + state[11:])
    assert operator.close().equals(EXPECTED)


@pytest.mark.parametrize(
    ("columns", "settings", "emit", "told"),
    [
        ({}, {}, "changes", "which has emit final, here changes"),
        ({"extra": pa.int8()}, {}, "final", "which has columns ts: .*, here ts: .*, extra: int8"),
        (
            {},
            {"watermark": "7 seconds"},
            "final",
            "which has settings or queries .*watermark=None.*, here .*watermark=.*=7000000",
        ),
        (
            {},
            {"offset": "3 seconds"},
            "final",
            "which has settings or queries …microseconds=0.*, here …microseconds=3000000",
        ),
        ({}, {"zone": "Europe/Berlin"}, "final", "settings without, here in Europe/Berlin"),
        ({}, {"lateness": "1 hour"}, "final", "settings without, here late by 1 hour"),
    ],
)
def test_a_snapshot_that_is_refused_says_what_differs(columns, settings, emit, told):
    def opened(columns, settings, emit):
        schema = pa.schema([("ts", pa.timestamp("us")), ("v", pa.int64()), *columns.items()])
        board = sash.stream(schema, time="ts", **settings)
        return board.query("s", sf.sum("v"), range="1 minute").open(emit=emit)

    state = opened({}, {}, "final").snapshot()
    with pytest.raises(SashError, match=told):
        opened(columns, settings, emit).restore(state)


@pytest.mark.parametrize("name", ["late", "starts"])
def test_flags_are_true_or_false(name):
    with pytest.raises(SashError, match=f"{name} must be True or False, got 'no'"):
        asked(EVENTS.schema).results(**{name: "no"})


@pytest.mark.parametrize("ticks", [2**70, -(2**63) - 1])
def test_a_watermark_beyond_64_bits_is_refused(ticks):
    operator = asked(EVENTS.schema).open()
    with pytest.raises(SashError, match=f"watermark must be a time, or ticks of .* in 64 bits, got {ticks}"):
        operator.advance(ticks)


def test_an_iterator_stays_read_when_its_board_is_gone():
    source = sash.stream(iter(EVENTS.to_batches()), time="ts")
    assert list(source.query("n", sf.count(), range="1 minute").results())
    with pytest.raises(SashError, match="the results of an iterator can be read once"):
        source.query("n", sf.count(), range="1 minute").results()


def test_rows_without_columns_are_counted():
    rows = pd.DataFrame(index=range(5))
    assert sash.stream(rows).query("n", sf.count(), range=2).results()["n"].tolist() == [2, 2]
