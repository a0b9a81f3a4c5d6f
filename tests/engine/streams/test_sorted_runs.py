"""Holistic queries answered from sorted runs give what all rows of their windows give, and sort only what comes."""

import re
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from engine.streams.stream_oracle import time_answers
from engine.streams.test_shards import Job, run
from engine.streams.test_shards import disordered as arrivals
from engine.streams.test_windows import SCHEMA as ROWS
from engine.streams.test_windows import check, disordered, microseconds, pushed, queries, time_board
from sash import functions as sf
from sash.engine.streams import run_answers, sorted_runs
from sash.engine.streams.run_columns import OccurringColumn, OrderedColumn
from strategies import usually

SHAPES = st.tuples(st.integers(0, 3), st.integers(1, 3))  # logarithms: of the shortest runs, and of how many are merged


@contextmanager
def runs(few, low, step):
    """Runs of these sizes, always where few is large, and never where it is small."""
    before = run_answers.FEW, sorted_runs.LOW, sorted_runs.STEP
    run_answers.FEW, sorted_runs.LOW, sorted_runs.STEP = few, low, step
    try:
        yield
    finally:
        run_answers.FEW, sorted_runs.LOW, sorted_runs.STEP = before


ALWAYS, NEVER = 10**6, -(10**6)


@given(disordered(), queries(st.sampled_from(["median", "distinct", "count", "list"])), SHAPES)
def test_disorder_splits_and_restarts_change_nothing(stream, asked, shape):
    events, delay, edges = stream
    board = time_board(ROWS, asked, watermark=microseconds(delay))
    with runs(ALWAYS, *shape):
        check(pushed(board.open, events, edges), time_answers(events, asked))


SCHEMA = pa.schema({
    "ts": pa.timestamp("us"), "k": pa.string(), "x": pa.float64(), "u": pa.uint64(), "d": pa.decimal128(20, 2),
    "s": pa.string(), "t": pa.timestamp("us", "UTC"), "b": pa.bool_(), "lasts": pa.duration("us"),
    "c": pa.dictionary(pa.int8(), pa.string()),
})  # fmt: skip
CALLS = {
    "median": sf.median("x"), "quarter": sf.percentile_cont("x", 0.25), "most": sf.percentile_disc("x", 0.9),
    "several": sf.percentile("x", (0.0, 0.5, 0.99)), "down": sf.percentile_cont("x", 0.3).order_by("x desc"),
    "some": sf.median("x").filter("x > 0"), "wide": sf.percentile_disc("u", 0.5), "money": sf.median("d"),
    "when": sf.percentile_disc("t", 0.5), "true": sf.median("b"), "long": sf.median("lasts"), "day": sf.median("t"),
    "last": sf.percentile_disc("t", 0.2).order_by("t desc"), "sum_of": sf.median(sash.col("x") + 1.0),
    "users": sf.count_distinct("s"), "numbers": sf.count_distinct("x"), "pairs": sf.count_distinct("s", "u", "x"),
    "amounts": sf.count_distinct("d"), "few": sf.count_distinct("u").filter("x > 0"), "cats": sf.count_distinct("c"),
    "by_rows": sf.median("s"), "n": sf.count(),
}  # fmt: skip
EPOCH = datetime(2026, 1, 1, tzinfo=UTC)


def maybe(values):
    return st.one_of(st.none(), st.sampled_from(values))


events = st.fixed_dictionaries({
    "ts": st.integers(0, 40), "k": maybe(["a", "b"]),
    "x": maybe([0.0, -0.0, 1.5, -2.5, 7.0, float("nan"), float("inf"), float("-inf"), 1e300]),
    "u": maybe([0, 1, 2**63, 2**64 - 1]), "d": maybe([Decimal("1.25"), Decimal("-3.10"), Decimal(10) ** 17]),
    "s": maybe(["", "a", "b", "ab", "é", "a longer text"]), "t": maybe([EPOCH, EPOCH - timedelta(days=70_000)]),
    "b": maybe([True, False]), "lasts": maybe([timedelta(0), timedelta(seconds=-5), timedelta(days=3)]),
    "c": maybe(["x", "y"]),
})  # fmt: skip


def arrow(rows):
    columns = {field.name: [row[field.name] for row in rows] for field in SCHEMA}
    columns["ts"] = pa.array(columns["ts"], pa.int64()).cast(pa.timestamp("us"))
    return pa.table({f.name: columns[f.name] if f.name == "ts" else pa.array(columns[f.name], f.type) for f in SCHEMA})


def ordered(answers):
    """Rows in one order; -0.0 equals 0.0."""
    return sorted(re.sub(r"-0\.0(?!\d)", "0.0", repr(row)) for row in answers.to_pylist())


@usually(60)
@given(st.lists(events, max_size=40), st.data(), SHAPES)
def test_values_of_all_types_as_a_table_answers_them(rows, data, shape):
    late = data.draw(st.integers(0, 10))
    rows.sort(key=lambda row: row["ts"] + len(repr(row)) % (late + 1))
    names = data.draw(st.lists(st.sampled_from(list(CALLS)), min_size=1, max_size=4, unique=True))
    extents = {name: (data.draw(st.integers(1, 15)), data.draw(st.integers(1, 6))) for name in names}

    def board(source, **settings):
        stream = sash.stream(source, time="ts", key="k", **settings)
        for name, (length, slide) in extents.items():
            stream = stream.query(name, CALLS[name], range=microseconds(length), slide=microseconds(slide))
        return stream

    live = board(SCHEMA, watermark=microseconds(late))
    step, restarts, answers = data.draw(st.integers(1, 6)), data.draw(st.booleans()), []
    with runs(ALWAYS, *shape):
        operator = live.open()
        for at in range(0, len(rows), step):
            answers.append(operator.push(arrow(rows[at : at + step])))
            if restarts:
                state, operator = operator.snapshot(), live.open()
                operator.restore(state)
        answers.append(operator.close())
    assert operator.late_count == 0
    expected = board(arrow(rows)).results()
    got = pa.concat_tables(answers)
    assert got.schema == expected.schema
    assert ordered(got) == ordered(expected)


@given(st.lists(st.tuples(st.integers(0, 30), st.integers(0, 30), st.integers(0, 9)), max_size=40), SHAPES)
def test_rows_that_are_late_for_some_windows_count_in_the_others(rows, shape):
    """Without a watermark that waits, what comes behind it joins the windows that are open."""
    came = sorted(rows, key=lambda row: row[0])
    parts = [pa.table({"ts": pa.array([max(at - back, 0)], pa.timestamp("us")), "v": [v]}) for at, back, v in came]
    answers = {}
    for few in (ALWAYS, NEVER):
        stream = sash.stream(pa.schema({"ts": pa.timestamp("us"), "v": pa.int64()}), time="ts", watermark="0 seconds")
        stream = stream.query({"m": sf.median("v"), "n": sf.count_distinct("v")}, range=microseconds(12),
                              slide=microseconds(2))  # fmt: skip
        with runs(few, *shape):
            operator = stream.open()
            answers[few] = pa.concat_tables([*map(operator.push, parts), operator.close()]), operator.late()
    assert answers[ALWAYS] == answers[NEVER]


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize(("low", "step"), [(0, 1), (1, 2), (5, 3)])
def test_runs_are_what_all_of_their_rows_are(seed, low, step):
    """Rows come at the end and in between, and leave in front, for some keys more than for others."""
    rng = np.random.default_rng(seed)
    schema = pa.schema({"ts": pa.timestamp("us"), "v": pa.int64()})
    board = sash.stream(schema, time="ts").query({"m": sf.median("v"), "n": sf.count_distinct("v")}, range="1 second")
    queries = run_answers.run_queries(board.open().scheme)
    columns = {query.column: query.make(query.planned.question.over) for query in queries.values()}
    order, occurrences = columns.values()
    assert isinstance(order, OrderedColumn)
    assert isinstance(occurrences, OccurringColumn)
    held, reached = [], 0
    with runs(ALWAYS, low, step):
        kept = sorted_runs.SortedRuns(columns)
        for turn in range(150):
            count = int(rng.integers(1, 60))
            reached += int(rng.integers(0, 12))
            key, at = (
                rng.integers(0, 1 + turn % 3, count),
                reached + rng.integers(-20 if turn % 4 == 0 else 0, 9, count),
            )
            values = rng.integers(0, 30, count)
            nulls = (rng.random(count) < 0.1) & (turn > 40)
            kept.wait(pa.table({"ts": pa.array(at, pa.timestamp("us")), "v": pa.array(values, mask=nulls)}), key, at)
            held += zip(key.tolist(), at.tolist(), np.where(nulls, -1, values).tolist(), strict=True)
            if turn % 5 == 0:
                cut = reached - int(rng.integers(20, 120))
                kept.let_go(np.array([cut]))
                held = [row for row in held if row[1] >= cut]
            assert len(kept) == len(held)
            kept.settled().know(3)
            keys = rng.integers(0, 3, 9)
            starts = reached - rng.integers(0, 120, 9)
            ends = starts + rng.integers(0, 150, 9)
            lo, hi, _ = kept.ranges(keys, starts, ends)
            sizes, some = order.counts(kept.rings, keys, lo, hi), []
            for k, start, end in zip(keys.tolist(), starts, ends, strict=True):
                some.append(sorted(v for key, at, v in held if key == k and start <= at < end and v >= 0))
            assert sizes.tolist() == [len(each) for each in some]
            assert kept.count_smaller(occurrences, keys, lo, hi, lo).tolist() == [len(set(each)) for each in some]
            wanted = np.where(sizes > 0, rng.integers(0, 1000, 9) % np.maximum(sizes, 1), -1)
            pairs = wanted + 1 < sizes
            first, second = kept.select(order, keys, lo, hi, wanted, pairs)
            for i, each in enumerate(some):
                if wanted[i] >= 0:
                    assert order.values(first[i : i + 1])[0] == each[wanted[i]]
                    assert not pairs[i] or order.values(second[i : i + 1])[0] == each[wanted[i] + 1]


@pytest.mark.parametrize("late", [0, 50])
def test_a_push_sorts_in_proportion_to_what_it_brings(late):
    """A row is sorted once, and merged once a level, however many rows the window holds."""
    rng = np.random.default_rng(0)

    def moved(window):
        count = 2 * window
        at = np.argsort(np.arange(count) + rng.integers(0, late + 1, count), kind="stable") * 1_000_000
        rows = pa.table({"ts": pa.array(at, pa.timestamp("us")), "v": rng.normal(size=count)})
        stream = sash.stream(rows.schema, time="ts", watermark=f"{late} seconds")
        operator = stream.query("m", sf.median("v"), range=f"{window} seconds", slide="1 second").open()
        operator.push(rows.slice(0, window))
        operator.push(rows.slice(window, 10))
        kept = operator.state.buffer.runs
        before = kept.moved
        for place in range(window + 10, count, 10):
            operator.push(rows.slice(place, 10))
        assert operator.state.buffer.runs is kept
        return (kept.moved - before) / (count - window - 10)

    few, many = moved(3_000), moved(12_000)
    # the log of four times as many rows; a shortest run is sorted again where a row comes before its end
    assert 1 <= many < 1.5 * few < 1.5 * (1 + late) * 10


def test_a_push_that_brings_the_window_anew_sorts_it_at_once():
    rows = pa.table({"ts": pa.array(np.arange(60_000) * 1_000_000, pa.timestamp("us")), "v": np.arange(60_000.0)})
    stream = sash.stream(rows.schema, time="ts", watermark="0 seconds")
    operator = stream.query("m", sf.median("v"), range="10000 seconds", slide="1 second").open()
    operator.push(rows.slice(0, 10_000))
    operator.push(rows.slice(10_000, 10))
    assert operator.state.buffer.runs is not None
    answers = operator.push(rows.slice(10_010, 30_000))
    assert operator.state.buffer.runs is None
    assert len(answers) == 30_000
    operator.push(rows.slice(40_010, 10))
    assert operator.state.buffer.runs is None  # not worth it until more have come
    for place in range(40_020, 45_000, 100):
        operator.push(rows.slice(place, 100))
    assert operator.state.buffer.runs is not None


def test_a_row_far_behind_has_all_rows_sorted_anew():
    rows = pa.table({"ts": pa.array(np.arange(20_000) * 1_000_000, pa.timestamp("us")), "v": np.arange(20_000.0)})
    stream = sash.stream(rows.schema, time="ts", watermark="0 seconds")
    operator = stream.query("m", sf.median("v"), range="16000 seconds", slide="1 second").open()
    for place, count in ((0, 16_000), (16_000, 10)):
        operator.push(rows.slice(place, count))
    kept = operator.state.buffer.runs
    operator.push(pa.concat_tables([rows.slice(16_010, 10), rows.slice(15_900, 1)]))
    assert operator.state.buffer.runs is kept
    answers = operator.push(pa.concat_tables([rows.slice(16_020, 10), rows.slice(100, 1)]))
    assert operator.state.buffer.runs is None
    assert len(operator.late()) == 2
    held = np.sort(np.concatenate([np.arange(29.0, 16_029.0), [100.0, 15_900.0]]))
    assert answers["m"].to_pylist()[-1] == np.median(held)


def test_rows_that_left_go_from_memory_too():
    rows = pa.table({"ts": pa.array(np.arange(40_000) * 1_000_000, pa.timestamp("us")),
                     "u": [f"user {k}" for k in range(40_000)]})  # fmt: skip
    stream = sash.stream(rows.schema, time="ts", watermark="0 seconds")
    operator = stream.query("n", sf.count_distinct("u"), range="3000 seconds", slide="1 second").open()
    operator.push(rows.slice(0, 3_000))
    sizes = []
    for place in range(3_000, 40_000, 50):
        assert operator.push(rows.slice(place, 50))["n"].to_pylist()[-1] == 3_000
        sizes.append(operator.size)
    assert max(sizes) < 4 * sizes[1]
    assert len(operator.state.buffer) < 6_000


def test_the_plan_says_which_way_goes():
    board = sash.stream(SCHEMA, time="ts", watermark="1 second")
    board = board.query("m", sf.median("x"), range="1 hour", slide="1 minute")
    board = board.query("s", sf.median("s"), range="1 hour", slide="1 minute")
    board = board.query("w", sf.median("x"), range="1 hour", slide="1 minute", using="wavelet_matrix")
    told = {line.split(" = ")[0].strip(): line for line in str(board.explain()).splitlines() if "rows of its" in line}
    assert len([line for line in str(board.explain()).splitlines() if "sorted runs" in line]) == 1, told


@usually(25)
@given(arrivals(), queries(st.sampled_from(["median", "distinct", "count"])), st.integers(1, 2), SHAPES)
def test_shards_in_memory_go_on_and_cold_ones_make_runs_anew(arrived, asked, shards, shape):
    job = Job(time_board(ROWS, asked, watermark=microseconds(arrived[1])), shards)
    with runs(ALWAYS, *shape):
        check(run(job, arrived), time_answers(arrived[0], asked))


def test_a_shard_keeps_its_runs_from_batch_to_batch():
    count = 6_000
    rows = pa.table({"ts": pa.array(np.arange(count) * 1_000_000, pa.timestamp("us")), "k": ["a", "b"] * (count // 2),
                     "v": np.arange(count) % 97, "w": ["x"] * count}, schema=ROWS)  # fmt: skip

    def board(source, **settings):
        stream = sash.stream(source, time="ts", key="k", **settings)
        return stream.query(
            {"m": sf.median("v"), "n": sf.count_distinct("w")}, range="4000 seconds", slide="100 seconds"
        )

    job, answers, kept = Job(board(ROWS, watermark="0 seconds"), 1), [], []
    for place in range(0, count, 200):
        if place == 5_000:
            job.restart()
        answers.append(job.batch([rows.slice(place, 200)], place * 1_000_000 if place else None)[0])
        kept += [bucket.operator.state.buffer.runs for bucket in job.shards[0].buckets.values()]
    answers.append(job.batch([], 10**15)[0])
    assert ordered(pa.concat_tables(answers)) == ordered(board(rows).results())
    assert kept[-1] is not None
    assert kept[20] is kept[24]
