"""Partials kept: whatever the rows were folded from, and however they are put together, the answers are the rows'."""

import random
from datetime import datetime, timedelta
from functools import partial
from itertools import pairwise

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from engine.streams import test_spans
from engine.streams.stream_oracle import ANSWERS, time_answers
from engine.streams.test_windows import CALLS, SCHEMA, check, queries, rows, sizes, table, time_board
from every_function import every_call
from sash import SashError
from sash import functions as sf
from sash.engine.streams.bounded import answer_partials
from sash.engine.streams.limits import Limits
from sash.engine.streams.partial_reading import PartialReader, take_entry

IN_ANY_ORDER = [name for name in ANSWERS if name not in ("first", "last", "list", "digits", "best", "mode", "top")]
AS_FRAMES = {"pyarrow": lambda rows: rows, "pandas": pa.Table.to_pandas, "polars": pl.from_arrow}


def parts_of(events, cuts):
    """Events in several tables, as they follow each other."""
    edges = [0, *sorted(cut % (len(events) + 1) for cut in cuts), len(events)]
    return [events[lo:hi] for lo, hi in pairwise(edges)]


@given(st.lists(rows, max_size=25), queries(), st.integers(-5, 5), st.lists(st.integers(0, 25), max_size=3),
       st.sampled_from([None, "panes", "pairs"]))  # fmt: skip
def test_partials_of_appended_tables_answer_what_all_rows_do(events, asked, offset, cuts, slicer):
    partials = [time_board(table(part), asked, offset, slicer=slicer).partials() for part in parts_of(events, cuts)]
    check(time_board(SCHEMA, asked, offset).answer(partials), time_answers(events, asked, offset))


@given(st.lists(rows, max_size=25), queries(st.sampled_from(IN_ANY_ORDER)), st.randoms())
def test_many_jobs_may_have_rows_of_the_same_slices(events, asked, choice):
    jobs = [[], [], []]
    for event in events:
        choice.choice(jobs).append(event)
    board = time_board(table(events), asked)
    check(board.answer(time_board(table(part), asked).partials() for part in jobs), time_answers(events, asked))


@given(st.lists(rows, min_size=1, max_size=25), st.sampled_from(["count", "sum", "avg", "max", "stddev", "positive"]),
       sizes, st.integers(1, 4), st.integers(1, 4))  # fmt: skip
def test_coarser_windows_are_made_of_finer_slices(events, aggregate, pane, times, slides):
    partials = time_board(table(events), {"q": (aggregate, pane, pane)}).partials()
    asked = {"other": (aggregate, times * pane, slides * pane)}
    check(time_board(SCHEMA, asked).answer(partials), time_answers(events, asked))


def hour(minute):
    return datetime(2026, 1, 1, minute // 60, minute % 60)


MINUTES = pa.table({
    "ts": [hour(minute) for minute in (0, 5, 10, 59, 60, 130)],
    "plug": ["a", "b", "a", "a", "b", "a"],
    "load": [1.0, 2.0, None, 4.0, 5.0, float("nan")],
    "watts": [10, None, 30, 2**60 + 1, 50, 2**60 + 1],
})  # fmt: skip


def of(source, *calls, length="1 hour", slide="30 minutes", key="plug", **settings):
    board = sash.stream(source, time="ts", key=key, **settings)
    return board.query({f"q{k}": call for k, call in enumerate(calls)}, range=length, slide=slide)


def test_a_row_is_of_a_key_and_a_slice():
    partials = of(MINUTES, sf.max("watts"), length="30 minutes").partials()
    name = partials.column_names[3]
    assert partials.column_names == ["plug", "slice_start", "slice_end", name]
    assert name.startswith("max_watts_v1_")
    assert partials.drop_columns([name]).to_pylist() == [
        {"plug": "a", "slice_start": hour(0), "slice_end": hour(30)},
        {"plug": "b", "slice_start": hour(0), "slice_end": hour(30)},
        {"plug": "a", "slice_start": hour(30), "slice_end": hour(60)},
        {"plug": "b", "slice_start": hour(60), "slice_end": hour(90)},
        {"plug": "a", "slice_start": hour(120), "slice_end": hour(150)},
    ]
    assert partials[name].to_pylist() == [30, None, 2**60 + 1, 50, 2**60 + 1]
    assert partials.schema.field(name).metadata == {
        b"sash.partial": b'{"aggregate": "max", "of": "max(watts)", "format": 1}'
    }


def test_what_queries_share_answers_others():
    def answers(asked, partials):
        expected = of(MINUTES, asked).results()
        assert of(MINUTES.schema, asked).answer(partials).to_pandas().equals(expected.to_pandas())

    rows = MINUTES.set_column(2, "load", pa.array([1.0, 2.0, 3.0, 4.0, 5.0, 6.0]))
    for made, asked in (("avg", "sum"), ("avg", "count"), ("stddev", "variance"), ("skewness", "stddev_pop"),
                        ("range", "min"), ("max_count", "max")):  # fmt: skip
        board = of(rows.schema, getattr(sf, asked)("load"))
        found = board.answer(of(rows, getattr(sf, made)("load")).partials()).to_pandas()
        expected = of(rows, getattr(sf, asked)("load")).results().to_pandas()
        pd.testing.assert_frame_equal(found, expected, obj=f"{asked} of {made}")
    answers(sf.avg("load"), of(MINUTES, sf.sum("load"), sf.count("load")).partials())
    answers(sf.avg("watts"), of(MINUTES, sf.sum("watts"), sf.count("watts")).partials())
    answers(sf.max("load"), of(MINUTES, sf.median("load")).partials())  # of rows in lists
    answers(sf.max("load").filter("watts > 20"), of(MINUTES, sf.median("load"), sf.mode("watts")).partials())


def test_a_key_more_is_folded_away():
    rooms = MINUTES.append_column("room", pa.array([1, 1, 2, 2, 1, 1]))
    partials = of(rooms, sf.count(), sf.avg("watts"), key=["plug", "room"]).partials()
    expected = of(rooms, sf.count(), sf.avg("watts"), key="plug").results()
    assert of(rooms.schema, sf.count(), sf.avg("watts"), key="plug").answer(partials).equals(expected)


@pytest.mark.parametrize("library", AS_FRAMES)
def test_the_same_library_comes_back_from_files_that_it_writes(library, tmp_path):
    frame = AS_FRAMES[library](MINUTES)
    board = of(frame, sf.max("watts"), sf.sum("watts"), sf.avg("load"), sf.median("load"), sf.count_distinct("watts"),
               sf.hll_count_distinct("watts"))  # fmt: skip
    partials, path = board.partials(), str(tmp_path / "partials.parquet")
    assert type(partials) is type(frame)
    if library == "pyarrow":
        pq.write_table(partials, path)
        back = pq.read_table(path)
        assert back.schema.equals(partials.schema, check_metadata=True)
    elif library == "pandas":
        partials.to_parquet(path)
        back = pq.read_table(path).replace_schema_metadata(None).to_pandas(types_mapper=pd.ArrowDtype)
    else:
        partials.write_parquet(path)
        back = pl.read_parquet(path)
    for each in (partials, back):
        answers, expected = board.answer(each), board.results()
        assert type(answers) is type(frame)
        if library == "pyarrow":
            assert answers.to_pandas().equals(expected.to_pandas())
        else:
            assert answers.equals(expected)


def test_integers_that_became_floats_are_refused():
    board = of(MINUTES, sf.max("watts"))
    with pytest.raises(SashError, match=r"max_watts_v1_\w+ must be whole numbers, got floats above 2\*\*53"):
        board.answer(board.partials().to_pandas())


@pytest.mark.long
def test_every_function_answers_from_partials():
    generator = np.random.default_rng(5)
    rows = pa.table({
        "ts": pa.array(generator.integers(0, 7200, 200) * 10**6).cast(pa.timestamp("us")),
        "plug": pa.array(generator.integers(0, 2, 200)),
        "v": pa.array(generator.integers(0, 20, 200), mask=generator.random(200) < 0.1),
    })  # fmt: skip
    tried = 0
    for name, call in every_call("v").items():
        try:
            board = of(rows, call)
            expected = board.results()
        except SashError:  # not of windows of streams
            continue
        halves = [of(rows.slice(0, 90), call).partials(), of(rows.slice(90), call).partials()]
        answers = board.answer(halves).sort_by([("window_end", "ascending"), ("plug", "ascending")])
        expected = expected.sort_by([("window_end", "ascending"), ("plug", "ascending")])
        tried += 1
        if pa.types.is_floating(answers["q0"].type):
            both = (each["q0"].to_numpy(zero_copy_only=False) for each in (answers, expected))
            np.testing.assert_allclose(*both, rtol=1e-6, err_msg=name)
        elif name not in ("bloom_filter", "kll_sketch", "frequent_items") and "sketch" not in name:
            assert answers.equals(expected), name
    assert tried >= 80


def test_months_of_a_zone_are_slices_too():
    generator = random.Random(2)
    times = [generator.randrange(0, 400 * 86400) * 10**6 for _ in range(300)]
    rows = pa.table({"ts": pa.array(times, pa.timestamp("us", "Europe/Berlin")), "v": list(range(300))})

    def board(source):
        return (sash.stream(source, time="ts").query("month", sf.sum("v"), range="1 month")
                .query("quarter", sf.max("v"), range="3 months", slide="1 month"))  # fmt: skip

    partials = [board(rows.slice(0, 150)).partials(), board(rows.slice(150)).partials()]
    assert board(rows.schema).answer(partials).equals(board(rows).results())


@given(st.lists(st.tuples(st.integers(0, 40), st.integers(0, 20), st.sampled_from("ab"), st.integers(-5, 9)),
                max_size=20), st.integers(0, 20))  # fmt: skip
def test_partials_of_events_that_last(events, cut):
    events = [(start, start + length, key, value) for start, length, key, value in events]

    def board(source):
        return sash.stream(source, span=("start", "end"), key="k").query(
            {"n": sf.count(), "most": sf.max("v"), "sum": sf.sum("v"), "median": sf.median("v")},
            range="12 microseconds", slide="4 microseconds",
        )  # fmt: skip

    parts = [test_spans.table(events[:cut]), test_spans.table(events[cut:])]
    answers = board(test_spans.SCHEMA).answer([board(part).partials() for part in parts])
    expected = board(test_spans.table(events)).results()
    order = [("window_end", "ascending"), ("k", "ascending")]
    assert answers.sort_by(order).equals(expected.sort_by(order))


def test_duckdb_says_the_same_of_a_year_of_daily_files(tmp_path):
    generator = np.random.default_rng(9)
    board = of(MINUTES.schema, sf.avg("load"), sf.max("watts"), sf.count(), length="7 days", slide="1 day")
    for day in range(30):
        times = np.sort(generator.integers(0, 86400, 500)) + day * 86400
        rows = pa.table({"ts": pa.array(times * 10**6).cast(pa.timestamp("us")),
                         "plug": generator.choice(["a", "b", "c"], 500), "load": generator.random(500),
                         "watts": generator.integers(0, 10**6, 500)})  # fmt: skip
        pq.write_table(rows, tmp_path / f"rows_{day:02}.parquet")
        day_board = of(rows, sf.avg("load"), sf.max("watts"), sf.count(), length="7 days", slide="1 day")
        pq.write_table(day_board.partials(), tmp_path / f"partials_{day:02}.parquet")
    files = [pq.read_table(path) for path in sorted(tmp_path.glob("partials_*.parquet"))]
    answers = board.answer(files).sort_by([("window_end", "ascending"), ("plug", "ascending")]).to_pandas()
    expected = duckdb.sql(f"""
        select plug, window_end, avg(load) q0, max(watts) q1, count(*) q2
        from '{tmp_path}/rows_*.parquet',
             (select unnest(generate_series(timestamp '1970-01-02', timestamp '1970-02-06', interval 1 day)) window_end)
        where ts >= window_end - interval 7 days and ts < window_end
        group by all order by window_end, plug
    """).df()
    pd.testing.assert_frame_equal(answers, expected, check_dtype=False, rtol=1e-12)


def test_batches_of_an_iterator_give_partials_as_slices_close():
    board = of(iter(MINUTES.to_batches(max_chunksize=1)), sf.count(), length="30 minutes", watermark="0 seconds")
    tables = list(board.partials())
    assert [part["slice_end"].to_pylist() for part in tables] == [
        [hour(30), hour(30)], [hour(60)], [hour(90)], [hour(150)]
    ]  # fmt: skip
    expected = of(MINUTES, sf.count(), length="30 minutes")
    assert expected.answer(tables).equals(expected.results())


def test_a_row_of_a_slice_that_was_given_is_late():
    late = pa.table({"ts": [hour(m) for m in (0, 40, 5)], "plug": ["a", "a", "a"]})
    board = of(late.to_batches(max_chunksize=1), sf.count(), length="2 hours", watermark="0 seconds")
    tables = list(board.partials())
    assert sum(sum(part[part.column_names[3]].to_pylist()) for part in tables) == 2
    assert board.late()["reason"].to_pylist() == ["late: its windows had ended"]


DAY = of(MINUTES, sf.max("load")).partials()
REFUSED = {
    "min": (lambda: of(MINUTES, sf.min("load")).answer(DAY), r"partials must have min\(load\) to answer this board"),
    "filter": (lambda: of(MINUTES, sf.max("load").filter("load > 2")).answer(DAY),
               r"max\(load\) where load > 2 .*got max_load_v1_\w+: the same words with another ending"),
    "median": (lambda: of(MINUTES, sf.median("load")).answer(DAY), "partials must have row times, values load"),
    "finer": (lambda: of(MINUTES, sf.max("load"), length="20 minutes", slide="20 minutes").answer(DAY),
              "no window of the board starts or ends, got one from 2026-01-01 00:00:00.000000 to 2026-01-01 00:30:00"),
    "key": (lambda: of(MINUTES, sf.max("load"), key="watts").answer(DAY), "got none named watts: plug, slice_start"),
    "frame": (lambda: of(MINUTES, sf.max("load")).answer(7), "a frame or several, got int"),
    "none": (lambda: of(MINUTES, sf.max("load")).answer([]), "at least one frame, got none"),
    "mixed": (lambda: of(MINUTES, sf.max("load")).answer([DAY, 7]), "got a int among them"),
    "rows": (lambda: of(MINUTES, sf.max("load")).answer(MINUTES), "got none named slice_start"),
    "format": (lambda: of(MINUTES, sf.max("load")).answer(
        DAY.rename_columns([name.replace("_v1_", "_v7_") for name in DAY.column_names])),
        r"partials of max\(load\) are of format 7 in the column max_load_v7_\w+, and this Sash has format 1"),
    "zone": (lambda: of(MINUTES, sf.max("load")).answer(
        DAY.set_column(1, "slice_start", DAY["slice_start"].cast(pa.timestamp("us", "UTC")))),
        r"slice_start must be of type timestamp\[us\] as the times of the board are, got timestamp\[us, tz=UTC\]"),
    "type": (lambda: of(MINUTES, sf.max("load")).answer(
        DAY.set_column(3, DAY.column_names[3], pa.array(["x"] * 5))), "must be of type double, got string"),
    "turned": (lambda: of(MINUTES, sf.max("load")).answer(
        DAY.rename_columns([DAY.column_names[k] for k in (0, 2, 1, 3)])), "slice_end must be after slice_start"),
    "null": (lambda: of(MINUTES, sf.max("load")).answer(
        DAY.set_column(1, "slice_start", pa.nulls(5, pa.timestamp("us")))), "slice_start must be known in every row"),
    "counts": (lambda: sash.stream(MINUTES).query("q", sf.max("load"), range=3).partials(),
               "partials are of slices of time, got windows by count in q"),
    "delta": (lambda: sash.stream(MINUTES).query("q", sf.max("load"), range=sash.delta("watts", 3)).partials(),
              "partials are of slices of time, got windows by delta in q"),
    "named": (lambda: sash.stream(MINUTES.rename_columns(["ts", "slice_end", "a", "b"]), time="ts", key="slice_end")
              .query("q", sf.count(), range="1 hour").partials(), "key must not be named slice_end"),
    "emit": (lambda: of(MINUTES, sf.max("load")).results(emit="partials"), "emit must be one of final, changes"),
    "no query": (lambda: sash.stream(MINUTES, time="ts").partials(), "the board has no query"),
    "schema": (lambda: of(MINUTES.schema, sf.max("load")).partials(), "a stream of a schema has no rows"),
}  # fmt: skip


@pytest.mark.parametrize("what", REFUSED)
def test_what_does_not_fit_is_said(what):
    ask, sentence = REFUSED[what]
    with pytest.raises(SashError, match=sentence):
        ask()


def test_changes_and_starts_are_answered_too():
    board = of(MINUTES, sf.count(), length="1 hour", slide="10 minutes")
    partials = board.partials()
    assert board.answer(partials, emit="changes").equals(board.results(emit="changes"))
    assert board.answer(partials, starts=True).equals(board.results(starts=True))


def test_names_outlive_the_process():
    """Files of years ago must be found by these names: a new name here is a new format."""
    calls = [sf.max("load"), sf.avg("load"), sf.stddev("load"), sf.count(), sf.sum("watts"), CALLS["positive"]]
    source = MINUTES.append_column("v", MINUTES["watts"])
    assert of(source, *calls).partials().column_names[3:] == NAMES


NAMES = [
    "max_load_v1_7d7853f5fc",
    "avg_load_v1_682983d564",
    "var_pop_load_v2_57008a847e",
    "count_v1_8701d7a780",
    "sum_watts_v1_7c4d65a5d2",
    "sum_v_where_v_0_v1_6501fed58e",
]


@pytest.mark.parametrize("call", [sf.avg("load"), sf.median("load")], ids=["partials", "rows"])
def test_a_task_of_spark_answers_partials_some_keys_at_a_time(call):
    """What ``board.answer`` of DataFrames does there, in memory that does not suffice for all keys."""
    times = [datetime(2026, 1, 1) + timedelta(hours=hour) for hour in range(72) for _ in "abc"]
    rows = pa.table({"ts": times, "plug": ["a", "b", None] * 72, "load": [float(k % 7) for k in range(216)]})
    board = sash.stream(rows, time="ts", key="plug").query("q", call, range="30 hours", slide="6 hours")
    kept = board.partials()
    reader = PartialReader(board._scheme, kept.column_names)
    parts = [kept.slice(0, 20).select(reader.columns), kept.slice(20).select(reader.columns)]
    opened = partial(board._cold, "final")
    found = pa.concat_tables(answer_partials(map(reader.entry, parts), opened, Limits(memory=30_000), take_entry))
    assert sorted(map(str, found.to_pylist())) == sorted(map(str, board.results().to_pylist()))
