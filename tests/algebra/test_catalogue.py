"""Every built-in aggregate: its answers by the oracle and by DuckDB, its promises by the papers' tables."""

import math
import statistics
from fractions import Fraction

import duckdb
import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from every_function import AGGREGATES
from oracle import oracle
from sash import functions as sf
from sash.algebra.catalogue import builtin
from sash.engine.placing import gathered
from sash.errors import Overflow
from sash.kernels.fifo import slide
from strategies import doubles

PARAMETERS = {
    "first_n": (2,),
    "last_n": (2,),
    "ith_youngest": (2,),
    "ith_smallest": (2,),
    "top_k": (3,),
    "moment_quantile": (0.5,),
    "kll_percentile": (0.5,),
    "frequent_items": (3,),
    "ewm_avg": (2,),
    "histogram": ((1.0, 30.0, 60.0),),
}
ALL = {name: builtin(name, *PARAMETERS.get(name, ())) for name in AGGREGATES}


def answers(aggregate, *columns, size, using="sba"):
    """Answers of the last ``size`` rows at each row, as Python values."""
    rows = len(columns[0])
    used = columns[len(columns) - aggregate.inputs :]
    if aggregate.returns != "value":
        got = slide(aggregate.but(finish=None), *used, size=size, rows=rows, using=using)
        return gathered(aggregate, pa.array(columns[0]), got.values, got.valid).to_pylist()
    got = slide(aggregate, *used, size=size, rows=rows, using=using)
    listed = got.values.to_pylist() if isinstance(got.values, pa.Array) else got.values.tolist()
    return [value if ok else None for value, ok in zip(listed, got.valid, strict=True)]


def close(a, b):
    if isinstance(a, list):
        return len(a) == len(b) and all(map(close, a, b))
    if isinstance(a, float) and isinstance(b, float | int):
        return a == b or (math.isnan(a) and math.isnan(b)) or math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)
    return a == b


# What nobody here wrote: DuckDB's words for the same functions

DUCKDB = {
    "count": "count(x)",
    "sum": "sum(x)",
    "product": "product(x)",
    "avg": "avg(x)",
    "geometric_mean": "geomean(x)",
    "min": "min(x)",
    "max": "max(x)",
    "max_by": "arg_max(y, x)",
    "min_by": "arg_min(y, x)",
    "range": "max(x) - min(x)",
    "any": "bool_or(x > 50)",
    "every": "bool_and(x > 50)",
    "bit_and": "bit_and(x::bigint)",
    "bit_or": "bit_or(x::bigint)",
    "bit_xor": "bit_xor(x::bigint)",
    "var_pop": "var_pop(x)",
    "var_samp": "var_samp(x)",
    "stddev_pop": "stddev_pop(x)",
    "stddev_samp": "stddev_samp(x)",
    "kurtosis": "kurtosis_pop(x)",
    "covar_pop": "covar_pop(x, y)",
    "covar_samp": "covar_samp(x, y)",
    "corr": "corr(x, y)",
    "regr_count": "regr_count(y, x)",
    "regr_r2": "regr_r2(y, x)",
    "regr_slope": "regr_slope(y, x)",
    "regr_intercept": "regr_intercept(y, x)",
    "regr_avgx": "regr_avgx(y, x)",
    "regr_avgy": "regr_avgy(y, x)",
    "regr_sxx": "regr_sxx(y, x)",
    "regr_syy": "regr_syy(y, x)",
    "regr_sxy": "regr_sxy(y, x)",
    "first": "first(x)",
    "last": "last(x)",
    "collect": "list(x)",
    "concat": "string_agg(s, '')",
    "top_k": "list_reverse(list_sort(list(x)))[:3]",
    "ith_smallest": "list_sort(list(x))[2]",
    "first_n": "list(x)[:2]",
    "last_n": "list(x)[-2:]",
    "collect_distinct": "list_sort(list_distinct(list(x)))",
    "max_count": "len(list_filter(list(x), lambda e: e = list_max(list(x))))",
    "min_count": "len(list_filter(list(x), lambda e: e = list_min(list(x))))",
}


@pytest.fixture(scope="module")
def table():
    random = np.random.default_rng(7)
    return {
        "x": random.integers(1, 100, 300).astype(np.float64),
        "y": random.normal(size=300).round(3),
        "s": random.choice(["a", "bb", "", "é"], 300),
    }


def columns_of(name, table):
    if name in ("any", "every"):
        return (table["x"] > 50,)
    if name.startswith("bit_"):
        return (table["x"].astype(np.int64),)
    if name == "concat":
        return (table["s"],)
    if name in ("max_by", "min_by") or name.startswith("regr_"):
        return table["y"], table["x"]
    return (table["x"], table["y"]) if ALL[name].inputs == 2 else (table["x"],)


@pytest.mark.parametrize("size", [1, 7])
@pytest.mark.parametrize("name", list(DUCKDB))
def test_duckdb_says_the_same(name, size, table):
    readings = pa.table({"place": np.arange(300), **table})  # noqa: F841, read by DuckDB
    window = f"over (order by place rows between {size - 1} preceding and current row)"
    parts = DUCKDB[name]
    if "list" in parts:
        lists = f"(select place, list(x) {window} as xs from readings)"
        query = f"select {parts.replace('list(x)', 'xs')} from {lists} order by place"
    elif name == "range":
        query = f"select max(x) {window} - min(x) {window} from readings order by place"
    elif name == "kurtosis":
        values = f"(select place, unnest(list(x) {window}) as x from readings)"
        query = f"select kurtosis_pop(x) from {values} group by place order by place"
    else:
        query = f"select {parts} {window} from readings order by place"
    theirs = [row[0] for row in duckdb.sql(query).fetchall()]
    ours = answers(ALL[name], *columns_of(name, table), size=size)
    if name == "collect_distinct":
        ours = [sorted(values) for values in ours]
    if ALL[name].inputs == 2 or name == "kurtosis":  # DuckDB gives NaN, Spark NULL, where nothing varies
        theirs = [None if value is None or math.isnan(value) else value for value in theirs]
    wrong = [(row, a, b) for row, (a, b) in enumerate(zip(ours, theirs, strict=True)) if not close(a, b)]
    assert not wrong


SAME = {"some": "any", "bool_or": "any", "bool_and": "every", "arg_max": "max_by", "arg_min": "min_by"}


@pytest.mark.parametrize("name", [n for n in ALL if not n.startswith(("moment", "bloom"))])
def test_the_oracle_says_the_same(name, table):
    aggregate, columns = ALL[name], columns_of(SAME.get(name, name), table)
    used = columns[len(columns) - aggregate.inputs :]
    definition = aggregate.of(tuple(column.dtype for column in used))
    got = slide(definition.but(typed=None, finish=None), *used, size=5, rows=300)
    cast = [c.astype(definition.cast) if definition.cast else c for c in used]
    frames = [(max(0, end - 5), end) for end in range(1, 301)]
    expected = oracle(definition, [c.tolist() for c in cast], frames, rows=300)
    ours = [v if ok else None for v, ok in zip(got.values.tolist(), got.valid, strict=True)]
    flat = [None if e is None else _flat(e) for e in expected]
    assert all(close(_flat(a) if a is not None else None, b) for a, b in zip(ours, flat, strict=True))


def _flat(value):
    """A nested tuple as a flat list; a scalar as it is."""
    if not isinstance(value, tuple):
        return value
    return [s for item in value for s in (_flat(item) if isinstance(item, tuple) else [item])]


# The papers' tables

TABLE_2 = {  # reactive-aggregator-2015: (invertible, commutative)
    "count": (True, True),
    "sum": (True, True),
    "max": (False, True),
    "min": (False, True),
    "avg": (True, True),
    "geometric_mean": (True, True),
    "max_count": (False, True),
    "min_count": (False, True),
    "stddev_samp": (True, True),
    "stddev_pop": (True, True),
    "arg_max": (False, False),
    "arg_min": (False, False),
    "collect": (True, False),
}
SELECTIVE = ["max", "min", "arg_max", "arg_min"]  # spanning-event-slicing-2021, Table 1
CUMULATIVE = ["count", "sum", "avg", "stddev_samp", "max_count", "min_count", "collect", "concat"]


@pytest.mark.parametrize("name", list(TABLE_2))
def test_properties_are_those_of_table_2(name):
    assert (ALL[name].invertible, ALL[name].commutative) == TABLE_2[name]


def test_selective_and_cumulative_are_those_of_table_1():
    assert all(ALL[name].selective for name in SELECTIVE)
    assert all(ALL[name].cumulative for name in CUMULATIVE)


def test_ith_youngest_and_ith_smallest_are_not_selective_here():
    """Table 1 calls them so for their answer; their partials hold several rows, so a duplicate does harm."""
    assert ALL["ith_youngest"].cumulative
    assert ALL["ith_smallest"].cumulative


# Semantics


@given(column=doubles(30))
def test_extremes_put_nan_above_every_number(column):
    key = [(math.isnan(v), 0.0 if math.isnan(v) else v) for v in column]
    most = [max(key[max(0, end - 4) : end]) for end in range(1, 31)]
    least = [min(key[max(0, end - 4) : end]) for end in range(1, 31)]
    for name, expected in (("max", most), ("min", least)):
        got = answers(builtin(name), column, size=4)
        assert all(math.isnan(g) if nan else g == value for g, (nan, value) in zip(got, expected, strict=True))


@pytest.mark.parametrize("using", ["sba", "two_stacks", "flatfat", "daba", "subtract_on_evict"])
def test_variance_survives_a_large_mean(using):
    """A sum of squares would have no digit left; (n, mean, M2) keeps most of them."""
    column = 1e9 + np.random.default_rng(3).normal(size=400)
    exact = [statistics.pvariance(map(Fraction, column[max(0, end - 50) : end])) for end in range(1, 401)]
    got = answers(builtin("var_pop"), column, size=50, using=using)
    assert np.allclose(got, np.array(exact, float), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize(("mean", "spread"), [(1.7e15, 231.0), (1.7e12, 0.3), (1.7e9, 3e-4)])
def test_a_spread_that_is_small_beside_the_mean_is_no_rounding(mean, spread):
    """Found by a user: moments since 1970 had no spread in windows of thousands of rows."""
    column = mean + spread * np.random.default_rng(1).normal(size=60_000)
    for rows in (1_000, 60_000):
        exact = float(statistics.variance(map(Fraction, column[:rows]))) ** 0.5
        assert answers(builtin("stddev"), column[:rows], size=rows)[-1] == pytest.approx(exact, rel=0.01)


@pytest.mark.parametrize("using", ["sba", "two_stacks", "recalc"])
def test_a_variance_beyond_all_numbers_is_infinite(using):
    for column in ([4e200, 3e200, 8e200], [1e200, 1.0, 2.0]):
        assert answers(builtin("stddev"), np.array(column), size=3, using=using)[-1] == math.inf


def test_averages_of_regression_take_infinite_values():
    y, x = np.array([math.inf, 1.0, 2.0]), np.array([-math.inf, 5.0, 6.0])
    assert answers(builtin("regr_avgy"), y, x, size=3)[-1] == math.inf
    assert answers(builtin("regr_avgx"), y, x, size=3)[-1] == -math.inf


@pytest.mark.parametrize("value", [7.7, 0.1, 1000000.1, -3.0])
@pytest.mark.parametrize(
    "using", ["sba", *(pytest.param(name, marks=pytest.mark.long) for name in ("two_stacks", "flatfat"))]
)
def test_columns_that_do_not_vary_have_no_spread(value, using):
    still, moving = np.full(200, value), np.arange(200.0)
    for name in ("var_pop", "stddev_samp"):
        assert answers(builtin(name), still, size=50, using=using)[-1] == 0.0
    for name, columns in (
        ("skewness", (still,)),
        ("kurtosis", (still,)),
        ("corr", (still, moving)),
        ("corr", (moving, still)),
        ("regr_slope", (moving, still)),
        ("regr_intercept", (moving, still)),
        ("regr_r2", (moving, still)),
    ):
        assert answers(builtin(name), *columns, size=50, using=using)[-1] is None


def test_integer_sums_raise_where_the_frame_overflows_and_only_there():
    big = 2**62
    fine = np.array([big, big, -big, -big, big], np.int64)  # prefixes overflow, frames of three do not
    assert answers(sf.sum("x").aggregate, fine[1:], size=3) == [big, 0, -big, -big]
    with pytest.raises(Overflow, match="does not fit 64 bits"):
        answers(sf.sum("x").aggregate, fine, size=2)
    assert answers(sf.sum("x").aggregate, np.array([-(2**63), 2**63 - 1, 1]), size=3) == [-(2**63), -1, 0]


@pytest.mark.parametrize(
    ("kind", "name", "out"),
    [("int8", "sum", "int64"), ("int32", "sum", "int64"), ("float32", "sum", "float64"), ("int32", "avg", "float64"),
     ("float32", "max", "float32"), ("int16", "min", "int16"), ("bool", "count", "int64"), ("int16", "bit_or", "int16"),
     ("int32", "product", "float64"), ("float32", "stddev", "float64"), ("int8", "max_count", "int64")],
)  # fmt: skip
def test_types_out_are_those_spark_gives(kind, name, out):
    aggregate = builtin(name)
    column = np.array([1, 0, 1], kind)
    got = slide(aggregate, *([column] if aggregate.inputs else []), size=2, rows=3)
    assert got.values.dtype == np.dtype(out)


def test_first_and_last_and_collect_take_columns_of_any_type():
    names = pa.array(["ann", None, "bob", "cleo"])
    for name, expected in (("first", ["ann", "ann", None, "bob"]), ("last", ["ann", None, "bob", "cleo"])):
        got = slide(builtin(name), size=2, rows=4)
        assert gathered(builtin(name), names, got.values, got.valid).to_pylist() == expected
    nested = pa.array([[1], [2, 3], None, []])
    got = slide(builtin("collect").but(finish=None), size=2, rows=4)
    assert gathered(builtin("collect"), nested, got.values, got.valid).to_pylist()[1] == [[1], [2, 3]]


def test_empty_frames_collect_nothing_and_have_no_first():
    column = pa.array(["a", "b"])
    for name, empty in (("collect", []), ("collect_distinct", []), ("concat", None), ("first", None)):
        got = slide(builtin(name).but(finish=None), lo=[0, 1], hi=[0, 2], rows=2, using="two_stacks")
        assert gathered(builtin(name), column, got.values, got.valid).to_pylist()[0] == empty


def test_distinct_zeros_and_nans_count_once():
    column = np.array([0.0, -0.0, math.nan, math.nan, 1.0])
    got = answers(builtin("collect_set"), column, size=5)[-1]
    assert len(got) == 3


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: sf.top_k("x", 0), "k must be a whole number, at least 1 and at most 128, got 0"),
        (lambda: sf.first_n("x", 1.5), "n must be a whole number, at least 1, got 1.5"),
        (lambda: sf.concat("x", 3), "separator must be a string, got 3"),
        (lambda: builtin("nonsense"), "name must be a built-in function, got 'nonsense'"),
        (lambda: ALL["avg"]("a", "b"), "avg takes 1 columns, got 2"),
        (lambda: ALL["max_by"]("a"), "max_by takes 2 columns, got 1"),
    ],
)
def test_bad_parameters_are_named(wrong, message):
    with pytest.raises(sash.SashError, match=message):
        wrong()


@pytest.mark.parametrize("compiled", [True, False], ids=["compiled", "python"])
def test_answers_are_finished_where_frames_are_empty_too(compiled):
    column, lo, hi = np.array([2**62, 2**62, 7]), [0, 1, 2], [0, 2, 2]
    for name, parameters, expected in (
        ("sum", (), [0, 2**62, 0]),
        ("top_k", (2,), [[], [2**62], []]),
        ("range", (), [0] * 3),
    ):
        got = slide(builtin(name, *parameters).but(compiled=compiled), column, lo=lo, hi=hi, using="two_stacks")
        listed = got.values.to_pylist() if isinstance(got.values, pa.Array) else got.values.tolist()
        assert listed == expected
        assert got.valid.tolist() == [name == "top_k", True, name == "top_k"]


def test_a_changed_aggregate_stays_changed_for_its_types():
    changed = builtin("sum").but(name="total", compiled=False)
    definition = changed.of((np.dtype("int32"),))
    assert (definition.name, definition.compiled) == ("total", False)


@given(st.data())
def test_windows_of_no_rows_at_all(data):
    name = data.draw(st.sampled_from(["max", "avg", "stddev"]))
    assert answers(builtin(name), np.array([]), size=3) == []
