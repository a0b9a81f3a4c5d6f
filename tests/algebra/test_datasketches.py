"""Sketches of the package datasketches: near the exact answers, merged without harm, and of any type."""

import datetime as dt
import math
import pickle
import sys
from collections import Counter
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from sash import Aggregate, SashError, Window
from sash import functions as sf
from sash.algebra import laws
from sash.algebra.catalogue import builtin
from sash.engine.evaluating import evaluate

pytest.importorskip("datasketches")

NAN = math.nan
CALLS = {
    "kll_percentile": sf.kll_percentile("x", 0.9),
    "kll_percentile of several": sf.kll_percentile("x", [0.25, 0.5]),
    "hll_count_distinct": sf.hll_count_distinct("x"),
    "frequent_items": sf.frequent_items("x", 5),
}
EACH = pytest.mark.parametrize("aggregate", [call.aggregate for call in CALLS.values()], ids=CALLS)
ROWS = Window.partitionBy("p").orderBy("i").rowsBetween(-3, 1)


def answered(call, column, window=ROWS, partitions=2):
    """The answers of a call over a column in a few partitions."""
    rows = len(column)
    table = pa.table({"x": column, "i": range(rows), "p": [i % partitions for i in range(rows)]})
    return sash.withColumns(table, {"answer": call.over(window)})["answer"].combine_chunks()


def frames(column, partitions=2, before=3, after=1):
    """The values of each row's frame, without NULLs."""
    for i in range(len(column)):
        group = list(range(i % partitions, len(column), partitions))
        place = group.index(i)
        inside = group[max(place - before, 0) : place + after + 1]
        yield [column[j] for j in inside if column[j] is not None]


def most_frequent(values, n):
    """The exact answer; of equally frequent values the smaller first."""
    best = sorted(Counter(values).items(), key=lambda item: (-item[1], item[0]))
    return [{"item": item, "count": count} for item, count in best[:n]] or None


# Small frames are answered exactly

TEXTS = st.lists(st.none() | st.sampled_from(["", "a", "b", "ä", "5"]), max_size=30)
DOUBLES = st.lists(st.none() | st.sampled_from([0.0, 1.5, -2.0, math.inf, NAN]), max_size=30)


@given(TEXTS)
def test_texts_in_frames(column):
    array = pa.array(column, pa.string())
    assert answered(sf.hll_count_distinct("x"), array).to_pylist() == [len(set(frame)) for frame in frames(column)]
    assert answered(sf.frequent_items("x", 2), array).to_pylist() == [most_frequent(f, 2) for f in frames(column)]


@given(DOUBLES, st.sampled_from([0, 0.25, 0.5, 1]))
def test_quantiles_in_frames(column, share):
    array = pa.array(column, pa.float64())
    expected = []
    for frame in frames(column):
        ordered = sorted(frame, key=lambda x: (math.isnan(x), x))  # NaN is above every number
        expected.append(ordered[max(math.ceil(share * len(ordered)), 1) - 1] if ordered else None)
    np.testing.assert_equal(answered(sf.kll_percentile("x", share), array).to_pylist(), expected)
    several = [None if answer is None else [answer] for answer in expected]
    np.testing.assert_equal(answered(sf.kll_percentile("x", [share]), array).to_pylist(), several)


DAY, STAMP = dt.date(2020, 1, 3), dt.datetime(1969, 1, 3, 4)
TYPES = {
    pa.int8(): [3, -1],
    pa.uint64(): [2**64 - 1, 2**64 - 2],  # the same as doubles
    pa.float16(): [1.5, -1.0],
    pa.float32(): [0.1, -0.1],
    pa.bool_(): [True, False],
    pa.decimal128(10, 2): [Decimal("1.10"), Decimal("2.00")],
    pa.string(): ["", "i1"],
    pa.large_string(): ["é", "e"],
    pa.binary(): [b"", b"\xff\x00"],
    pa.binary(2): [b"ab", b"ba"],
    pa.dictionary(pa.int8(), pa.string()): ["x", "y"],
    pa.date32(): [DAY, dt.date(1900, 1, 1)],
    pa.date64(): [DAY, dt.date(1900, 1, 1)],
    pa.timestamp("us"): [STAMP, dt.datetime(2020, 1, 1)],
    pa.timestamp("ns", "Europe/Berlin"): [1, 2],
    pa.time32("s"): [dt.time(3), dt.time(1)],
    pa.duration("ms"): [dt.timedelta(hours=-1), dt.timedelta(days=2)],
}


@pytest.mark.parametrize("kind", TYPES, ids=str)
def test_values_of_every_type(kind):
    often, seldom = pa.array(TYPES[kind], kind).to_pylist()
    column = pa.array([TYPES[kind][0], None, TYPES[kind][1], None, TYPES[kind][0]], kind)
    assert answered(sf.hll_count_distinct("x"), column, Window).to_pylist() == [2] * 5
    items = answered(sf.frequent_items("x", 2), column, Window)
    assert items[0].as_py() == [{"item": often, "count": 2}, {"item": seldom, "count": 1}]
    assert items.type.value_type.field("item").type == (kind.value_type if pa.types.is_dictionary(kind) else kind)


@pytest.mark.parametrize("kind", [pa.list_(pa.int8()), pa.struct({"a": pa.int8()}), pa.month_day_nano_interval()])
def test_other_types_are_refused(kind):
    for call in (sf.hll_count_distinct("x"), sf.frequent_items("x", 2)):
        with pytest.raises(SashError, match=r"takes a column of numbers, times, texts or bytes, got"):
            answered(call, pa.nulls(2, kind))
    with pytest.raises(SashError, match=r"kll_percentile takes columns of numbers, got string"):
        answered(CALLS["kll_percentile"], pa.array(["a"]))


def test_zeros_are_one_value_and_so_are_nans():
    column = pa.array([0.0, -0.0, NAN, -NAN, NAN])
    assert answered(sf.hll_count_distinct("x"), column, Window).to_pylist() == [2] * 5
    items = answered(sf.frequent_items("x", 2), column, Window)[0].as_py()
    np.testing.assert_equal(items, [{"item": NAN, "count": 3}, {"item": 0.0, "count": 2}])


@pytest.mark.parametrize("name", CALLS)
def test_empty_frames_and_tables_of_no_rows(name):
    ahead = Window.orderBy("i").rowsBetween(5, 6)
    some = answered(CALLS[name], pa.array([1, 2, 3]), ahead)
    assert some.to_pylist() == ([0] * 3 if name.startswith("hll") else [None] * 3)
    full = answered(CALLS[name], pa.array([1, 2, 3]))
    assert full.type == some.type
    empty = pa.table({"x": pa.array([], pa.int64()), "i": pa.array([], pa.int64()), "p": pa.array([], pa.int64())})
    assert evaluate(empty, {"answer": CALLS[name].over(ROWS)}).schema.field("answer").type == full.type


def test_filters_and_distinct_rows():
    column = pa.array(["a", "a", "b", "c", "a"])
    filtered = answered(sf.frequent_items("x", 1).filter("i > 1"), column, Window)
    assert filtered[0].as_py() == [{"item": "a", "count": 1}]
    once = answered(sf.frequent_items("x", 3).distinct(), column, Window)
    assert [item["count"] for item in once[0].as_py()] == [1, 1, 1]


# Large frames are answered within the error stated


def slices(column, rows=1000):
    return [column[i : i + rows] for i in range(0, len(column), rows)]


def folded(aggregate, column):
    """The partial of a column, of its slices at once."""
    partials = [aggregate.bulk(each) for each in slices(column)]
    while len(partials) > 1:
        partials = [aggregate.combine(*partials[:2]), *partials[2:]]
    return partials[0]


def test_quantiles_are_near_the_exact_ones():
    column = np.random.default_rng(1).normal(size=50_000)
    for share in (0.01, 0.5, 0.99):
        aggregate = builtin("kll_percentile", share)
        for state in (aggregate.bulk(column), folded(aggregate, column)):
            rank = np.count_nonzero(column <= aggregate.lower(state)) / len(column)
            assert abs(rank - share) < 3 * 0.0133  # the sketch draws lots: three times what 99 % keep to


def test_larger_sketches_of_quantiles_are_nearer():
    column = np.random.default_rng(2).permutation(50_000).astype(float)
    aggregate = builtin("kll_percentile", 0.5, 4000)
    assert abs(aggregate.lower(folded(aggregate, column)) - 25_000) < 3 * 0.0008 * 50_000


@pytest.mark.parametrize("kind", ["int64", "float64", "object"])
def test_distinct_counts_are_near_the_exact_ones(kind):
    numbers = np.random.default_rng(3).integers(0, 30_000, 60_000)
    column = np.array([f"user {number}" for number in numbers], object) if kind == "object" else numbers.astype(kind)
    exact = len(set(numbers.tolist()))
    for lg_k, error in ((12, 0.0163), (16, 0.0041)):
        aggregate = builtin("hll_count_distinct", lg_k)
        for state in (aggregate.bulk(column), folded(aggregate, column)):
            assert abs(aggregate.lower(state) - exact) < 3 * error * exact


@pytest.mark.parametrize("kind", ["int64", "object"])
def test_frequent_items_are_near_the_exact_ones(kind):
    numbers = np.random.default_rng(4).zipf(1.4, 60_000) % 100_000
    column = np.array([f"page {number}" for number in numbers], object) if kind == "object" else numbers
    exact = Counter(column.tolist())
    aggregate = builtin("frequent_items", 5)
    for state in (aggregate.bulk(column), folded(aggregate, column)):
        answer = aggregate.lower(state)
        assert list(answer) == [item for item, _ in exact.most_common(5)]
        for item, count in answer.items():
            assert abs(count - exact[item]) <= 3.5 / 2**10 * len(column)


def test_many_different_values_leave_no_frequent_item():
    aggregate = builtin("frequent_items", 3, 3)
    state = aggregate.bulk(np.arange(7))
    assert aggregate.lower(state) == {}  # all as rare, and more than the sketch counts
    assert aggregate.unpack(aggregate.pack(state)).rows == 7


# The algebra

MIXED = {
    "float64": np.array([3.0, 1.0, NAN, 3.0, -0.0, math.inf]),
    "int32": np.array([5, 5, -7, 2**31 - 1], np.int32),
    "uint64": np.array([2**64 - 1, 2**64 - 2, 2**63, 1], np.uint64),
    "bool": np.array([True, False, True]),
    "object": np.array(["", "a", "i5", "a"], object),
    "bytes": np.array([b"", b"\xff", b"a"], object),
    "none": np.array([], np.int64),
}


def columns_of(aggregate):
    return [column for column in MIXED.values() if aggregate.cast is None or column.dtype != object]


@EACH
def test_bulk_is_the_fold_of_rows(aggregate):
    for column in columns_of(aggregate):
        rows = (column if aggregate.cast is None else column.astype(aggregate.cast)).tolist()
        state = aggregate.bulk(column[:0])
        for row in rows:
            state = aggregate.combine(state, aggregate.lift(row))
        assert aggregate.bulk(column) == state
        assert repr(aggregate.lower(aggregate.bulk(column))) == repr(aggregate.lower(state))  # where NaN is NaN


@EACH
def test_combine_leaves_its_operands_alone(aggregate):
    numbers = np.random.default_rng(5).integers(0, 5000, 8000)
    for rows in (3, 8000):
        a, b = aggregate.bulk(numbers[:rows]), aggregate.bulk(numbers[:rows] + 2500)
        before = [aggregate.pack(a), aggregate.pack(b)]
        both = aggregate.combine(a, b)
        aggregate.combine(both, a)
        assert [aggregate.pack(a), aggregate.pack(b)] == before
        assert not both == a  # noqa: SIM201, what differs is told apart


@EACH
def test_packed_and_unpacked(aggregate):
    numbers = np.random.default_rng(6).integers(0, 5000, 8000)
    for column in (numbers[:0], numbers[:9], numbers):
        state = aggregate.bulk(column)
        data = aggregate.pack(state)
        assert isinstance(data, bytes)
        again = aggregate.unpack(data)
        assert again == state == pickle.loads(pickle.dumps(state))
        assert aggregate.lower(again) == aggregate.lower(state)
        grown = aggregate.combine(again, aggregate.bulk(numbers[:50]))
        assert grown == aggregate.combine(state, aggregate.bulk(numbers[:50]))


@pytest.mark.parametrize(
    "aggregate",
    [builtin("kll_percentile", 0.5, 8), builtin("hll_count_distinct", 4), builtin("frequent_items", 2, 3)],
    ids=lambda aggregate: aggregate.name,
)
def test_small_sketches_keep_the_laws_within_their_error(aggregate, monkeypatch):
    monkeypatch.setattr(laws, "TRIALS", 1000)
    report = sash.check(aggregate, np.arange(40.0))
    assert report, str(report)


def test_a_broken_merge_is_found(monkeypatch):
    monkeypatch.setattr(laws, "TRIALS", 100)
    for name, parameters in (("kll_percentile", (0.5,)), ("hll_count_distinct", ()), ("frequent_items", (2,))):
        aggregate = builtin(name, *parameters)
        wrong = aggregate.but(combine=lambda a, b: b)
        assert "commutative" in sash.check(wrong, [1.0, 2.0, 3.0]).counterexamples
        spoiling = aggregate.but(combine=lambda a, b: (a.sketch.update(*UPDATES[type(a).__name__]), a)[1])
        assert "changed what it was given" in str(sash.check(spoiling, [1.0, 2.0, 3.0]))


UPDATES = {"Quantiles": (9.0,), "Distinct": (9.0,), "Frequent": ("f9.0", 9)}


# What is refused


@pytest.mark.parametrize("call", [lambda: sf.kll_percentile("x", 0.5), lambda: sf.hll_count_distinct("x"),
                                  lambda: sf.frequent_items("x", 3)])  # fmt: skip
def test_a_missing_package_is_named(call, monkeypatch):
    monkeypatch.setitem(sys.modules, "datasketches", None)
    with pytest.raises(SashError, match=r"needs the package datasketches: pip install 'sash\[sketches\]'$"):
        call()


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: sf.kll_percentile("x", 1.5), "percentage must be between 0 and 1, got 1.5"),
        (lambda: sf.kll_percentile("x", [0.5, True]), "percentage must be between 0 and 1, got True"),
        (lambda: sf.kll_percentile("x", []), r"percentage must be one share or more, got \(\)"),
        (lambda: sf.kll_percentile("x", 0.5, k=7), "k must be a whole number, at least 8 and at most 65535, got 7"),
        (lambda: sf.hll_count_distinct("x", 22), "lg_k must be a whole number, at least 4 and at most 21, got 22"),
        (lambda: sf.frequent_items("x", 7, lg_k=3), "n must be a whole number, at least 1 and at most 6, got 7"),
        (lambda: sf.frequent_items("x", 7, lg_k=2), "lg_k must be a whole number, at least 3 and at most 26, got 2"),
    ],
)
def test_bad_parameters_are_named(wrong, message):
    with pytest.raises(SashError, match=message):
        wrong()


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"bulk": 5}, "bulk must be a function, got 5"),
        ({"bulk": lambda x, y: x}, "bulk must take 1 parameters, got a function of 2"),
        ({"pack": lambda s: b""}, "pack and unpack must be given together, got only pack"),
        ({"unpack": lambda s: 0}, "pack and unpack must be given together, got only unpack"),
        ({"pack": 5, "unpack": lambda s: 0}, "pack must be a function, got 5"),
        ({"pack": lambda s: b"", "unpack": lambda: 0}, "unpack must take 1 parameters, got a function of 0"),
    ],
)
def test_what_is_no_bulk_or_pack_is_refused(fields, message):
    with pytest.raises(SashError, match=message):
        Aggregate("total", lift=lambda x: x, combine=lambda a, b: a + b, **fields)
