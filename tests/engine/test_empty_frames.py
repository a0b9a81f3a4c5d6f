"""What every function answers for a frame of no rows, and of none that it counts, on every path in the process."""

import datetime as dt
from dataclasses import replace
from decimal import Decimal

import pyarrow as pa
import pytest

import sash
from empty_answers import COUNTS, LISTS, RANKS, empty_answer, framed_calls, interpreted
from sash import Aggregate, SashError, Window
from sash import functions as sf
from sash.engine.spilling import answers

BY = Window.orderBy("i")
EMPTY = {
    "groups": BY.groupsBetween(-6, -5),
    "beyond the rows": BY.rowsBetween(5, 6),
    "beyond the keys": BY.rangeBetween(50, 60),
    "excluded": BY.rowsBetween(0, 0).exclude("group"),
    "of each row": BY.rowsBetween(sash.col("i"), -sash.col("i")),
    "of a partition": Window.partitionBy("i").orderBy("i").rowsBetween(-3, -1),
    "up to before": BY.rowsBetween(Window.unboundedPreceding, -9),
}
ROWS = pa.table({"x": [3, 1, None], "y": [1.5, 2.5, 0.5], "i": [1, 2, 3], "o": [True, None, False]})
FRAMED = framed_calls("x", "y", "o")
CHEAP = {
    name: FRAMED[name] for name in sorted(LISTS | COUNTS | RANKS | {"sum", "max", "median", "mode", "percentiles"})
}


def wrong(table, names):
    """Answers that are not those of empty frames, by name."""
    return {name: table[name] for name in names if table[name] != [empty_answer(name)] * len(table[name])}


@pytest.mark.parametrize("frame", EMPTY)
def test_functions_of_an_empty_frame(frame):
    found = sash.withColumns(ROWS, {name: call.over(EMPTY[frame]) for name, call in CHEAP.items()}).to_pydict()
    assert wrong(found, CHEAP) == {}


@pytest.mark.long
@pytest.mark.parametrize("frame", EMPTY)
def test_every_function_of_an_empty_frame(frame):
    asked = {name: call for name, call in FRAMED.items() if frame != "excluded" or name != "median distinct"}
    found = sash.withColumns(ROWS, {name: call.over(EMPTY[frame]) for name, call in asked.items()}).to_pydict()
    assert wrong(found, asked) == {}


@pytest.mark.parametrize("compiled", [False, pytest.param(True, marks=pytest.mark.long)])
def test_every_function_of_rows_that_a_filter_drops(compiled):
    window = Window.partitionBy("i").orderBy("i").rowsBetween(-3, 1)
    calls = FRAMED if compiled else {name: interpreted(name, call) for name, call in FRAMED.items()}
    filtered = {name: call.filter("i > 9").over(window) for name, call in calls.items()}
    assert wrong(sash.withColumns(ROWS, filtered).to_pydict(), filtered) == {}


def test_functions_of_empty_frames_through_files():
    columns = {name: call.over(EMPTY["of a partition"]) for name, call in CHEAP.items()}

    def evaluate(rows):
        return sash.withColumns(rows, columns).select(list(columns))

    found = answers(iter(ROWS.to_batches(max_chunksize=1)), evaluate, ["i"], budget=2000, bytes_per_row=1000)
    assert wrong(pa.Table.from_batches(list(found)).to_pydict(), CHEAP) == {}


def test_functions_of_nulls_alone():
    nulls = ROWS.set_column(0, "x", pa.nulls(3, pa.int64()))
    asked = {name: call.over(BY.rowsBetween(-1, 1)) for name, call in CHEAP.items() if name not in RANKS | {"count(*)"}}
    assert wrong(sash.withColumns(nulls, asked).to_pydict(), asked) == {}


@pytest.mark.parametrize(
    "values",
    [
        pa.array([2, 1, None], pa.int64()),
        pytest.param(pa.array([2.5, None, 1.0], pa.float32()), marks=pytest.mark.long),
        pytest.param(pa.array([Decimal("1.25"), None, Decimal("2.5")], pa.decimal128(10, 2)), marks=pytest.mark.long),
        pa.array([Decimal("1.25"), None, Decimal("2.5")], pa.decimal128(38, 2)),
        pytest.param(pa.array([dt.date(2024, 1, 1), None, dt.date(2024, 1, 2)]), marks=pytest.mark.long),
        pa.array([dt.datetime(2024, 1, 1), None, dt.datetime(2024, 1, 2)]),
        pytest.param(pa.array([dt.timedelta(1), None, dt.timedelta(2)]), marks=pytest.mark.long),
        pytest.param(pa.array([True, None, False]), marks=pytest.mark.long),
        pa.array(["b", None, "a"]),
        pa.array(["b", None, "a"]).dictionary_encode(),
    ],
    ids=lambda values: str(getattr(values, "type", values)),
)
def test_lists_of_every_type_are_empty(values):
    table = pa.table({"x": values, "i": [1, 2, 3]})
    lists = {"top_k": sf.top_k("x", 2), "first_n": sf.first_n("x", 2), "collect_set": sf.collect_set("x")}
    for name, call in lists.items():
        for window in (EMPTY["groups"], EMPTY["beyond the rows"]):
            got = sash.withColumns(table, {name: call.over(window)})[name]
            assert got.to_pylist() == [[]] * 3, (name, window)


@pytest.mark.parametrize(
    "using", ["recalc", "two_stacks", "daba", "flatfat", "flatfit", "b_int", "slide_side", "sba", "pba", "segment_tree"]
)
def test_top_k_is_empty_by_every_algorithm(using):
    window = BY.rowsBetween(2, 2)
    got = sash.withColumns(ROWS, {"top": sf.top_k("y", 2).over(window, using=using)})["top"]
    assert got.to_pylist() == [[0.5], [], []]


def test_an_aggregate_of_ones_own_that_is_not_compiled_has_its_empty_answer():
    best = Aggregate("best", lift=lambda x: (x, 1), combine=lambda a, b: max(a, b), compiled=False, empty=(0, 0))
    window = BY.rowsBetween(2, 2)
    got = sash.withColumns(ROWS, {"a": best("y").over(window)})["a"].to_pylist()
    assert [tuple(each.values()) if isinstance(each, dict) else tuple(each) for each in got] == [
        (0.5, 1),
        (0, 0),
        (0, 0),
    ]


def test_several_percentiles_of_the_windows_of_a_stream():
    """As many answers as windows, not as rows."""
    rows = pa.table({"t": [dt.datetime(2024, 1, 1, 0, minute) for minute in range(5)], "x": [1, 2, 3, 4, 5]})
    both = {"c": sf.percentile_cont("x", [0.25, 0.5]), "d": sf.percentile_disc("x", [0.5, 0.0])}
    slides = sash.stream(rows, time="t").query(both, range="2 minutes", slide="1 minute").results().to_pydict()
    assert slides["c"] == [[1.0, 1.0], [1.25, 1.5], [2.25, 2.5], [3.25, 3.5], [4.25, 4.5], [5.0, 5.0]]
    assert slides["d"] == [[1.0, 1.0], [1.0, 1.0], [2.0, 2.0], [3.0, 3.0], [4.0, 4.0], [5.0, 5.0]]
    tumbles = sash.stream(rows, time="t").query(both, range="5 minutes").results().to_pydict()
    assert (tumbles["c"], tumbles["d"]) == ([[2.0, 3.0]], [[3.0, 1.0]])


@pytest.mark.parametrize("kind", ["time", "count"])
def test_every_function_of_a_window_without_rows_that_it_counts(kind):
    """A window that is due, since another query of the board has rows there."""
    times = [dt.datetime(2024, 1, 1, 0, minute) for minute in range(3)]
    rows = ROWS.set_column(0, "x", pa.array([1, 2, 3])).append_column("t", pa.array(times))
    size = {"range": "2 minutes", "slide": "1 minute"} if kind == "time" else {"range": 2, "slide": 1}
    board = sash.stream(rows, time="t").query("n", sf.count(), **size)
    asked = []
    for name, call in CHEAP.items():
        try:
            board = board.query(name, call.filter("x > 9"), **size)
        except SashError:  # what streams do not answer
            continue
        asked.append(name)
    assert {"top_k", "collect_list", "count_distinct", "sum", "median"} <= set(asked)
    assert wrong(board.results().to_pydict(), asked) == {}


PLAIN = (
    sf.sum("x"), sf.moment_sketch("x"), sf.moment_quantile("x", 0.5), sf.bloom_filter("x"), sf.top_k("x", 2),
    sf.collect_list("x"), sf.first_n("x", 1), sf.collect_set("x"), sf.ith_youngest("x", 2), sf.geometric_mean("x"),
)  # fmt: skip


@pytest.mark.parametrize("call", PLAIN, ids=str)
@pytest.mark.parametrize("condition", ["i > 9", "x > 2"])
def test_plain_python_answers_as_compiled_functions_do_where_frames_are_empty(call, condition):
    window = BY.rowsBetween(-1, 0)
    plain = replace(call, aggregate=call.aggregate.but(compiled=False))
    columns = {"compiled": call.filter(condition).over(window), "plain": plain.filter(condition).over(window)}
    found = sash.withColumns(ROWS, columns)
    assert found["plain"].to_pylist() == found["compiled"].to_pylist()
