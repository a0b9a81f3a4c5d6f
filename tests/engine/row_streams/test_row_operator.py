"""Rows that leave a stream have the answers of a batch over all rows that were not late."""

from datetime import datetime, timedelta

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from engine.row_streams.histories import BY_KEY, COLUMNS, RECENT, SO_FAR, expected, history, rows_of, same
from sash import SashError, Window, col
from sash import functions as sf
from sash.engine.row_streams.row_operator import RowOperator
from sash.engine.row_streams.row_scheme import RowScheme
from sash.windows.intervals import Interval
from strategies import usually

SCHEMA = pa.schema({"ts": pa.timestamp("us"), "k": pa.string(), "v": pa.int64()})
START = datetime(2026, 1, 1, 8)


def table(*rows):
    """Rows of a second, a key and a value."""
    made = [{"ts": None if at is None else START + timedelta(seconds=at), "k": k, "v": v} for at, k, v in rows]
    return pa.Table.from_pylist(made, SCHEMA)


def run(history, emit="final"):
    """All rows that leave, and those that were late, with restarts on the way."""
    scheme = history.scheme(emit)
    operator, out, late = RowOperator(scheme), [], []
    for batch in history.batches:
        out.append(operator.push(batch))
        late.append(operator.late())
        if history.random.random() < 0.5:
            state = operator.snapshot()
            operator = RowOperator(scheme)
            operator.restore(state)
    out.append(operator.close())
    return pa.concat_tables(out), pa.concat_tables([*late, operator.late()])


@usually(60)
@given(st.integers(0, 10**6))
def test_each_row_leaves_once_with_the_answers_of_a_batch(seed):
    made = history(seed)
    found, late = run(made)
    same(found, expected(made, late), made.columns)


@usually(30)
@given(st.integers(0, 10**6))
def test_answers_do_not_depend_on_how_rows_come(seed):
    """In any order, as long as none is late, and split in any way."""
    made = history(seed, many=60)
    made.seconds = 1000
    shuffled = made.rows.to_pylist()
    made.random.shuffle(shuffled)
    parts = [shuffled[at : at + 7] for at in range(0, len(shuffled), 7)]
    again = history(seed, many=60)
    again.seconds, again.batches = 1000, [pa.Table.from_pylist(part, made.rows.schema) for part in parts]
    same(run(again)[0], run(made)[0], made.columns)


@usually(20)
@given(st.integers(0, 10**6))
def test_early_rows_leave_as_they_come_with_answers_from_what_is_there(seed):
    made = history(seed, many=60, ties=False)
    operator, came, gone = RowOperator(made.scheme("early")), [], []
    for batch in made.batches:
        found = operator.push(batch)
        late = set(operator.late()["name"].to_pylist())
        here = batch.filter(pa.array([name not in late for name in batch["name"].to_pylist()], pa.bool_()))
        came, gone = [*came, here], [*gone, *late]
        wanted = expected(type(made)(came, made.columns, 0, made.random), here.slice(0, 0))
        names = set(here["name"].to_pylist())
        wanted = wanted.filter(pa.array([name in names for name in wanted["name"].to_pylist()], pa.bool_()))
        same(found, wanted, made.columns)
    assert not operator.close().num_rows
    assert sum(map(len, came)) + len(gone) == made.rows.num_rows


def test_a_row_leaves_when_the_watermark_is_later_than_all_it_waits_for():
    around = BY_KEY.rangeBetween("-1 second", "2 seconds")
    operator = sash.withColumns(SCHEMA, {"n": sf.count().over(around)}, watermark="3 seconds")
    assert operator.push(table((0, "a", 1), (2, "a", 1))).num_rows == 0
    assert operator.push(table((5, "b", 1))).num_rows == 0  # the watermark is at 2, and a row of 2 may still come
    assert operator.push(table((2, "a", 1))).num_rows == 0
    assert operator.push(table((6, "b", 1)))["n"].to_pylist() == [3]
    assert operator.advance(START + timedelta(seconds=5))["n"].to_pylist() == [2, 2]
    assert operator.close()["n"].to_pylist() == [2, 2]
    assert operator.late().num_rows == 0


def test_late_rows_are_set_aside_with_the_reason():
    columns = {"n": sf.count().over(RECENT)}
    batches = [table((10, "a", 1), (None, "a", 2)), table((4, "a", 3), (5, "a", 4)), table((99, "a", 5))]
    found = pa.concat_tables(sash.withColumns(iter(batches), columns, watermark="5 seconds", late=True))
    late = [row["late"] for row in found.to_pylist() if row["late"]]
    assert [(row["reason"], row["row"]["v"]) for row in late] == [
        ("ts is NULL", 2),
        ("late: the watermark had passed it", 3),
    ]
    assert [(row["v"], row["n"]) for row in found.to_pylist() if not row["late"]] == [(4, 1), (1, 2), (5, 1)]


@pytest.mark.parametrize("unit", ["s", "ms", "us", "ns"])
def test_times_of_today_are_within_reach_in_any_unit(unit):
    """As many nanoseconds as there have been since 1970, too: pandas has these."""
    schema = SCHEMA.set(0, pa.field("ts", pa.timestamp(unit)))
    columns = {"n": sf.count().over(RECENT), "total": sf.sum("v").over(SO_FAR)}
    operator = RowOperator(RowScheme(schema, columns, Interval(0, 0, 10**6)))
    out = [operator.push(table((0, "a", 1), (3, "a", 2)).cast(schema))]
    again = RowOperator(operator.scheme)
    again.restore(operator.snapshot())
    out += [again.push(table((9, "a", 4)).cast(schema)), again.close()]
    assert pa.concat_tables(out)["total"].to_pylist() == [1, 3, 7]
    assert again.late_count == 0


def test_batches_in_a_list_or_a_reader_and_without_a_watermark():
    batches = [table((0, "a", 1)), table((2, "a", 2), (1, "b", 3))]
    columns = {"total": sf.sum("v").over(SO_FAR)}
    reader = pa.RecordBatchReader.from_batches(SCHEMA, [part for batch in batches for part in batch.to_batches()])
    for source in (batches, iter(batches), reader):
        (found,) = sash.withColumns(source, columns)  # all of it at the end
        assert found["total"].to_pylist() == [1, 3, 3]


def test_state_is_of_what_frames_reach():
    """A thousand times the reach: what is kept of rows does not grow, and of keys one partial each."""
    columns = {"n": sf.count().over(RECENT), "last": sf.lag("v").over(BY_KEY), "sum": sf.sum("v").over(SO_FAR)}
    operator = sash.withColumns(SCHEMA, columns, watermark="1 second")
    sizes = []
    for start in range(0, 10_000, 100):
        operator.push(table(*((start + at, "ab"[at % 2], at) for at in range(100))))
        sizes.append(len(operator.snapshot()))
    assert max(sizes[5:]) < 1.2 * min(sizes[5:])


def test_keys_of_which_nothing_is_left_are_let_go():
    operator = sash.withColumns(SCHEMA, {"n": sf.count().over(RECENT)}, watermark="0 seconds")
    for start in range(0, 40_000, 1000):
        operator.push(table(*((start + at, f"key {start + at}", at) for at in range(1000))))
    assert len(operator._keys) < 5000


def test_state_does_not_grow_by_restarts_alone():
    operator, states = sash.withColumns(SCHEMA, {"n": sf.count().over(RECENT)}, watermark="0 seconds"), []
    for at in (9, 1):
        operator.push(table((at, "a", 1)))
    for _ in range(4):
        states.append(operator.snapshot())
        operator.restore(states[-1])
    assert len(set(map(len, states))) == 1
    assert operator.late().num_rows == 1


def test_snapshots_are_sealed_and_of_their_columns():
    operator = sash.withColumns(SCHEMA, {"n": sf.sum("v").over(SO_FAR)})
    state = operator.snapshot()
    with pytest.raises(SashError, match="damaged"):
        operator.restore(state[:-1] + bytes([state[-1] ^ 1]))
    other = sash.withColumns(SCHEMA, {"n": sf.max("v").over(SO_FAR)})
    with pytest.raises(SashError, match="of the same columns"):
        other.restore(state)
    early = sash.withColumns(SCHEMA, {"n": sf.sum("v").over(SO_FAR)}, emit="early")
    with pytest.raises(SashError, match="emit"):
        early.restore(state)


ROWS = Window.partitionBy("k").orderBy("ts")
REFUSED = {
    "needs rows that follow by number": sf.lead("v").over(ROWS),
    "which may never come": sf.sum("v").over(ROWS.rowsBetween(0, 1)),
    "a stream has no last one": sf.sum("v").over(ROWS.rangeBetween(0, Window.unboundedFollowing)),
    "needs all rows that follow": sf.percent_rank().over(ROWS),
    "keeps no more than partials": sf.median("v").over(SO_FAR),
    "bounds must be the same for all rows": sf.sum("v").over(ROWS.rowsBetween(col("v"), 0)),
    "orderBy of the event time": sf.sum("v").over(Window.partitionBy("k")),
    "ascending, on a stream": sf.sum("v").over(Window.orderBy("ts desc").rangeBetween("-1 second", 0)),
    "must be a column of timestamps": sf.sum("v").over(Window.orderBy("v").rangeBetween(-1, 0)),
    "whose rows are all there": sf.sum("v").over(Window.of(table(), on="k", at="ts").rangeBetween("-1 second", 0)),
}


@pytest.mark.parametrize("said", REFUSED)
def test_what_rows_of_a_stream_cannot_be_asked_is_refused(said):
    with pytest.raises(SashError, match=said):
        sash.withColumns(SCHEMA, {"x": REFUSED[said]})


def test_arguments_are_of_streams():
    columns = {"n": sf.count().over(RECENT)}
    for name, value in {"watermark": "1 second", "emit": "early", "late": True}.items():
        with pytest.raises(SashError, match=f"{name} is for streams"):
            sash.withColumns(table(), columns, **{name: value})
    with pytest.raises(SashError, match="emit must be one of final, early"):
        sash.withColumns(SCHEMA, columns, emit="changes")
    with pytest.raises(SashError, match="watermark must not be below zero"):
        sash.withColumns(SCHEMA, columns, watermark="-1 second")
    with pytest.raises(SashError, match="late must be True or False"):
        sash.withColumns(SCHEMA, columns, late="yes")
    with pytest.raises(SashError, match="is the time of the other columns"):
        sash.withColumns(SCHEMA, columns | {"m": sf.count().over(Window.orderBy("k", "ts"))})


def test_every_column_is_drawn_somewhere():
    """The histories ask all that they have."""
    drawn = {name for seed in range(40) for name in history(seed).columns}
    assert drawn == set(COLUMNS)
    assert rows_of(history(3).rows)


def test_answers_are_expressions():
    rows = table((0, "a", 1), (1, "a", 4), (2, "a", 7))
    columns = {"off": col("v") - sf.avg("v").over(RECENT), "two": sf.sum("v").over(RECENT, min_samples=2)}
    (out,) = sash.withColumns([rows], columns)
    assert out.equals(sash.withColumns(rows, columns))
    with pytest.raises(SashError, match="columns of a stream must be of windows over its rows, got none"):
        sash.withColumns([rows], {"v": col("v") + 1})
