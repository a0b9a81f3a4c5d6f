"""A board that starts warm gives what one gives that had all rows from the beginning."""

from datetime import datetime, timedelta

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from sash import SashError
from sash import functions as sf
from strategies import usually

START = datetime(2026, 1, 1)
PARTIALS = {"n": sf.count(), "peak": sf.max("v"), "mean": sf.avg("v")}
HOLISTIC = {"mid": sf.median("v"), "kinds": sf.count_distinct("v")}


def rows(seed, count, disorder=4):
    """Rows about a second apart."""
    draw = np.random.default_rng(seed)
    at = np.arange(count) + draw.integers(-disorder, disorder + 1, count)
    times = [START + timedelta(seconds=int(second) + 100) for second in at]
    return pa.table({"ts": times, "k": draw.integers(0, 3, count), "v": draw.integers(0, 9, count)})


def board(source, queries, **more):
    asked = sash.stream(source, time="ts", key="k", **more)
    return asked.query(queries, range="20 seconds", slide="5 seconds").query("sum", sf.sum("v"), range="7 seconds")


def later(table, end):
    return table.filter(pc.greater_equal(table["ts"], pa.scalar(end, pa.timestamp("us"))))


def in_order(answers):
    return answers.sort_by([("window_end", "ascending"), ("k", "ascending")])


@usually(25)
@given(st.integers(0, 10**6), st.integers(1, 80), st.integers(1, 80), st.booleans(), st.integers(1, 3))
def test_it_goes_on_where_the_history_ends(seed, before, after, holistic, days):
    queries = PARTIALS | (HOLISTIC if holistic else {})
    table = rows(seed, before + after)
    kept, rest = table.slice(0, before), table.slice(before)
    history = [board(kept.slice(k * before // days, (k + 1) * before // days - k * before // days), queries).partials()
               for k in range(days)]  # fmt: skip
    end = max(max(part["slice_end"].to_pylist(), default=START) for part in history)
    whole = board(pa.concat_tables([kept, later(rest, end)]), queries).results()
    wanted = in_order(whole.filter(pc.greater(whole["window_end"], pa.scalar(end, pa.timestamp("us")))))
    batches = [rest.slice(at, 7) for at in range(0, rest.num_rows, 7)]
    warm = board(batches, queries, watermark="1 hour", history=history)
    assert in_order(pa.concat_tables([wanted.slice(0, 0), *warm.results()])).equals(wanted)
    assert warm.late().num_rows == rest.num_rows - later(rest, end).num_rows
    at_once = board(rest, queries, history=history)
    assert in_order(at_once.results(late=True).filter(pc.field("late").is_null()).drop_columns("late")).equals(wanted)


def test_answers_of_the_history_and_of_the_stream_are_those_of_all():
    """Where the history ends with a slice, no row is lost between the two."""
    table = rows(1, 200, disorder=0)
    whole, epoch = board(table, PARTIALS), datetime(1970, 1, 1)
    end = epoch + timedelta(seconds=35 * (int((START - epoch).total_seconds() + 220) // 35))
    history = board(table.filter(pc.less(table["ts"], pa.scalar(end, pa.timestamp("us")))), PARTIALS).partials()
    assert max(history["slice_end"].to_pylist()) == end
    first = board(table.schema, PARTIALS).answer(history)
    ended = first.filter(pc.less_equal(first["window_end"], pa.scalar(end, pa.timestamp("us"))))
    rest = later(table, end)
    both = pa.concat_tables([ended, board(rest, PARTIALS, history=history).results()])
    assert in_order(both).equals(in_order(whole.results()))


def test_a_snapshot_goes_on_with_the_same_history_alone():
    table = rows(3, 120)
    history = board(table.slice(0, 60), PARTIALS).partials()
    warm = board(table.schema, PARTIALS, watermark="10 seconds", history=history)
    one, other = warm.open(), warm.open()
    first = one.push(table.slice(60, 30))
    other.restore(one.snapshot())
    assert other.push(table.slice(90)).equals(one.push(table.slice(90)))
    assert first.num_rows
    with pytest.raises(SashError, match="state must be of a stream of the same columns, queries and settings"):
        board(table.schema, PARTIALS, watermark="10 seconds").open().restore(one.snapshot())


def test_what_is_late_says_that_the_history_has_it():
    table = rows(3, 60)
    history = board(table, PARTIALS).partials()
    operator = board(table.schema, PARTIALS, watermark="10 seconds", history=history).open()
    operator.push(table.slice(0, 1))
    (row,) = operator.late().to_pylist()
    assert "late: before the end of the history" in row.values()


def test_what_is_refused():
    table = rows(3, 60)
    history = board(table, PARTIALS).partials()
    with pytest.raises(SashError, match=r"partials must have row times, values v to answer this board"):
        board(table.schema, HOLISTIC, history=history)
    with pytest.raises(SashError, match=r"partials must be what board\.partials"):
        sash.stream(table.schema, time="ts", key="k", history=3)
    with pytest.raises(SashError, match="fill is not for a board with history="):
        board(table, PARTIALS, history=history).results(fill=True)


def test_events_that_last_have_no_history():
    calls = pa.schema({"a": pa.timestamp("us"), "b": pa.timestamp("us")})
    history = board(rows(3, 60), PARTIALS).partials()
    plain = sash.stream(calls, span=("a", "b"), postpone="1 hour").query("n", sf.count(), range="1 minute")
    assert plain.open().close().num_rows == 0
    with pytest.raises(SashError, match="history is for events of one moment"):
        sash.stream(calls, span=("a", "b"), postpone="1 hour", history=history).query("n", sf.count(), range="1 minute")
