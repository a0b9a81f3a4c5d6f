"""Frames in and out: pyarrow, pandas, polars; and what is refused, in words."""

import datetime as dt
from decimal import Decimal

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sash
from sash import SashError, Window
from sash import functions as sf
from sash.errors import Refused

ALL = Window.partitionBy()
BY_T = Window.orderBy("t")


def table():
    return pa.table({"t": [3, 1, 2, 4], "k": ["a", "b", "a", "a"], "v": [1.0, 2.0, None, 4.0]})


# pyarrow


def test_several_outputs_come_in_the_order_given_and_read_the_columns_as_they_were():
    out = sash.withColumns(
        table(), {"z": sf.max("v").over(BY_T), "v": sf.sum("t").over(BY_T), "a": sf.sum("v").over(BY_T)}
    )
    assert out.column_names == ["t", "k", "v", "z", "a"]
    assert out["z"].to_pylist() == [2.0, 2.0, 2.0, 4.0]
    assert out["v"].to_pylist() == [6, 1, 3, 10]
    assert out["a"].to_pylist() == [3.0, 2.0, 2.0, 7.0]
    assert out["t"].equals(table()["t"])
    assert out["k"].equals(table()["k"])


@pytest.mark.parametrize("ask", [sf.sum("v"), sf.max("k"), sf.lead("k"), sf.collect_list("v")], ids=str)
def test_chunks_and_slices_are_no_different(ask):
    window = Window.partitionBy("k").orderBy("t")
    expected = sash.withColumns(table(), {"a": ask.over(window)})["a"].to_pylist()
    chunked = pa.concat_tables([table().slice(0, 1), table().slice(1, 0), table().slice(1)])
    sliced = pa.concat_tables([table(), table(), table()]).combine_chunks().slice(4, 4)
    for same in (chunked, sliced):
        assert sash.withColumns(same, {"a": ask.over(window)})["a"].to_pylist() == expected


def test_dictionaries_may_differ_from_chunk_to_chunk():
    parts = [pa.array(some).dictionary_encode() for some in (["b", "a"], ["c", "a"])]
    out = sash.withColumns(pa.table({"x": pa.chunked_array(parts)}), {"a": sf.lead("x").over(Window.orderBy("x"))})
    assert out["a"].to_pylist() == ["c", "a", None, "b"]


def test_tables_without_rows_or_columns():
    count = {"n": sf.count().over(ALL)}
    assert sash.withColumns(pa.table({}), count).to_pydict() == {"n": []}
    assert sash.withColumns(table().select([]), count).to_pydict() == {"n": [4] * 4}
    assert sash.withColumns(table(), {}).equals(table())
    for ask in (sf.avg("m"), sf.sum("m"), sf.max("s"), sf.listagg("s"), sf.rank("m").order_by("m")):
        empty = pa.schema([("m", pa.decimal128(5, 2)), ("s", pa.string())]).empty_table()
        assert sash.withColumns(empty, {"a": ask.over(ALL)})["a"].to_pylist() == []


def test_a_record_batch_gives_a_record_batch():
    out = sash.withColumns(table().to_batches()[0], {"v": sf.sum("t").over(BY_T), "n": sf.count().over(ALL)})
    assert isinstance(out, pa.RecordBatch)
    assert out.to_pydict() == {"t": [3, 1, 2, 4], "k": ["a", "b", "a", "a"], "v": [6, 1, 3, 10], "n": [4] * 4}


def test_columns_that_are_not_used_may_be_of_any_type_and_name():
    odd = pa.Table.from_arrays(
        [pa.array([[("a", 1)], None], pa.map_(pa.string(), pa.int64())), pa.array([1, 2]), pa.array([1, 2])],
        ["m", "x", "x"],
    )
    out = sash.withColumns(odd, {"n": sf.count().over(ALL)})
    assert out.column_names == ["m", "x", "x", "n"]
    assert out.column(0).equals(odd.column(0))
    with pytest.raises(SashError, match="the column 'x' is ambiguous"):
        sash.withColumns(odd, {"n": sf.sum("x").over(ALL)})
    with pytest.raises(SashError, match="the column 'x' cannot be replaced: there are 2 of that name"):
        sash.withColumns(odd, {"x": sf.count().over(ALL)})


# pandas


def test_pandas_keeps_its_index_and_its_columns():
    frame = pd.DataFrame({"t": [3, 1, 2], "v": [1.0, 2.0, np.nan]}, index=pd.Index([7, 7, 5], name="id"))
    out = frame.pipe(sash.withColumns, {"v": sf.sum("t").over(BY_T), "n": sf.count("v").over(ALL)})
    assert out.index.equals(frame.index)
    assert out.index.name == "id"
    assert out.to_dict("list") == {"t": [3, 1, 2], "v": [6, 1, 3], "n": [2, 2, 2]}
    assert frame["v"].tolist()[:2] == [1.0, 2.0]


def test_pandas_integers_and_booleans_stay_what_they_are_beside_nulls():
    frame = pd.DataFrame({"i": [2**60 + 1, 2], "b": [True, False], "f": [1.5, 2.5], "s": ["x", "y"]})
    out = sash.withColumns(frame, {name: sf.lag(name).over(ALL) for name in frame})
    assert [str(dtype) for dtype in out.dtypes] == ["Int64", "boolean", "float64", "object"]
    assert out["i"][1] == 2**60 + 1
    assert out["i"].isna().tolist() == [True, False]


@pytest.mark.parametrize(("dtype", "values"), [
    ("Int64", [1, None]), ("Float64", [1.5, None]), ("boolean", [True, None]), ("string", ["x", None]),
    ("int64[pyarrow]", [1, None]), ("string[pyarrow]", ["x", None]), ("category", ["x", "y"]),
    ("datetime64[ns, Europe/Berlin]", ["2020-01-01", None]), ("timedelta64[ns]", [5, None]),
    ("period[M]", ["2020-01", "2020-02"]),
])  # fmt: skip
def test_pandas_types_are_kept(dtype, values):
    frame = pd.DataFrame({"x": pd.Series(values, dtype=dtype)})
    out = sash.withColumns(frame, {"a": sf.lag("x").over(ALL)})
    assert out["a"].dtype == frame["x"].dtype
    assert out["a"][1] == frame["x"][0]


def test_pandas_columns_without_string_names():
    frame = pd.DataFrame({0: [1, 2], 1: [3, 4]})
    out = sash.withColumns(frame, {"a": sf.sum("1").over(Window.orderBy("0"))})
    assert list(out.columns) == [0, 1, "a"]
    assert out["a"].tolist() == [3, 7]
    twice = pd.DataFrame([[1, 2, 3]], columns=["x", "x", "y"])
    assert sash.withColumns(twice, {"a": sf.sum("y").over(ALL)}).to_numpy().tolist() == [[1, 2, 3, 3]]


def test_pandas_objects_are_what_arrow_takes_them_for():
    frame = pd.DataFrame({"d": [dt.date(2020, 1, 2), None], "m": [Decimal("1.50"), Decimal("2.25")], "l": [[1], [2]]})
    out = sash.withColumns(frame, {"a": sf.max("d").over(ALL), "b": sf.sum("m").over(ALL), "c": sf.lead("l").over(ALL)})
    assert out["a"].tolist() == [dt.date(2020, 1, 2)] * 2
    assert out["b"].tolist() == [Decimal("3.75")] * 2
    assert list(out["c"][0]) == [2]
    assert out["c"][1] is None
    for bad in (["a", 1], [object(), None], [1j, 2j]):
        with pytest.raises(SashError, match="the column 'x' has no one type that Arrow has"):
            sash.withColumns(pd.DataFrame({"x": bad}), {"a": sf.lead("x").over(ALL)})


def test_pandas_subclasses_and_empty_frames():
    class Own(pd.DataFrame):
        _constructor = property(lambda self: Own)

    assert isinstance(sash.withColumns(Own({"t": [1]}), {"a": sf.count().over(ALL)}), Own)
    assert sash.withColumns(pd.DataFrame(), {"a": sf.count().over(ALL)})["a"].tolist() == []
    assert sash.withColumns(pd.DataFrame(index=[3, 4]), {"a": sf.count().over(ALL)})["a"].to_dict() == {3: 2, 4: 2}


# polars


def test_polars_types_are_kept():
    frame = pl.DataFrame({
        "c": pl.Series(["x", "y"], dtype=pl.Categorical),
        "e": pl.Series(["y", "x"], dtype=pl.Enum(["y", "x"])),
        "l": [[1], [2]],
        "a": pl.Series([[1, 2], [3, 4]], dtype=pl.Array(pl.Int64, 2)),
        "s": [{"p": 1}, {"p": 2}],
        "t": pl.Series([dt.datetime(2020, 1, 1), None], dtype=pl.Datetime("ms", "Europe/Berlin")),
        "d": [dt.timedelta(1), dt.timedelta(2)],
        "o": [dt.time(1), dt.time(2)],
        "u": pl.Series([1, 2], dtype=pl.UInt64),
        "m": pl.Series([Decimal("1.5"), Decimal("2.5")], dtype=pl.Decimal(10, 2)),
        "b": [b"a", b"b"],
        "n": [None, None],
    })  # fmt: skip
    out = sash.withColumns(frame, {f"{name}2": sf.lag(name).over(ALL) for name in frame.columns})
    for name in frame.columns:
        assert out[f"{name}2"].dtype == frame[name].dtype
        assert out[f"{name}2"].to_list() == [None, frame[name].to_list()[0]]


def test_polars_frames():
    frame = pl.DataFrame({"t": [3, 1, 2], "v": [1.0, float("nan"), None]})
    out = frame.pipe(sash.withColumns, {"v": sf.max("v").over(ALL), "n": sf.count("v").over(ALL)})
    assert out.columns == ["t", "v", "n"]
    assert out["n"].to_list() == [2, 2, 2]
    assert np.isnan(out["v"].to_numpy()).all()  # NaN is a number there, and above the others
    assert sash.withColumns(pl.DataFrame(), {"n": sf.count().over(ALL)}).schema == {"n": pl.Int64}
    assert sash.withColumns(frame, {}).equals(frame)
    whole = pl.DataFrame({"x": [1], "i": pl.Series([1], dtype=pl.Int128)})
    assert sash.withColumns(whole, {"n": sf.count().over(ALL)})["n"].to_list() == [1]
    with pytest.raises(SashError, match="the column 'i' of type Int128 has no type that Arrow has; cast it"):
        sash.withColumns(whole, {"n": sf.sum("i").over(ALL)})


# Refused


WORDS = pa.table({
    "t": [1, 2, 3], "q": [1, 2, 3], "s": ["x", "y", None], "d": pa.array([1, 2, 3], pa.date32()),
    "ts": pa.array([1, 2, 3], pa.timestamp("us")), "n": [None, 1, 2], "f": [0.5, 1.5, 2.5],
    "m": pa.array([[("a", 1)]] * 3, pa.map_(pa.string(), pa.int64())), "l": [[1], [2], [3]],
})  # fmt: skip
NO_COLUMN = "there is no column 'zz'; there are t, q, s"
REFUSED = [
    (lambda: sf.sum("zz").over(BY_T), NO_COLUMN),
    (lambda: sf.sum("q").over(Window.orderBy("zz")), NO_COLUMN),
    (lambda: sf.sum("q").over(Window.partitionBy("zz")), NO_COLUMN),
    (lambda: sf.sum("q").filter("zz > 0").over(BY_T), NO_COLUMN),
    (lambda: sf.rank().order_by("zz").over(BY_T), NO_COLUMN),
    (lambda: sf.lead("q", 1, sash.col("zz")).over(BY_T), NO_COLUMN),
    (lambda: sf.percentile_disc("q", sash.col("zz")).over(BY_T), NO_COLUMN),
    (lambda: sf.sum("q").over(BY_T.rowsBetween(-sash.col("zz"), 0)), NO_COLUMN),
    (lambda: sf.sum("s").over(BY_T), "sum takes columns of numbers, got string"),
    (lambda: sf.stddev("d").over(BY_T), "stddev takes columns of numbers, got date32"),
    (lambda: sf.corr("q", "s").over(BY_T), "corr takes columns of numbers, got string"),
    (lambda: sf.any("q").over(BY_T), "any takes a column of booleans, got int64"),
    (lambda: sf.bit_and("f").over(BY_T), "bit_and takes a column of integers, got double"),
    (lambda: sf.listagg("l").over(BY_T), "listagg takes a column of strings, or what can be cast to one, got list"),
    (lambda: sf.max("m").over(BY_T), "a column of type map<string, int64> cannot be ordered"),
    (lambda: sf.max_by("q", "l").over(BY_T), "a column of type list<.*> cannot be ordered"),
    (lambda: sf.count_distinct("m").over(BY_T), "values of type map<string, int64> cannot be compared"),
    (lambda: sf.count().over(Window.partitionBy("m")), "values of type map<string, int64> cannot be compared"),
    (lambda: sf.count().over(Window.orderBy("m")), "a column of type map<string, int64> cannot be ordered"),
    (lambda: sf.sum("q").filter("q").over(BY_T), "a filter must be boolean, got q of type bigint"),
    (lambda: sf.sum("q").filter("q >").over(BY_T), "cannot read 'q >' as a Spark SQL expression"),
    (lambda: sf.sum("q").filter(1), "filter must be such as"),
    (lambda: sf.count_if("q").over(BY_T), "must be boolean"),
    (lambda: sf.sum("q").over("w"), "over takes a window made with sash.Window, got 'w'"),
    (lambda: sf.sum("q"), r'a must be such as sf.max\("load"\).over\(window\), got sum\(q\)'),
    (lambda: "q", r'a must be such as sf.max\("load"\).over\(window\), got \'q\''),
    (lambda: sf.sum("q").over(BY_T, using="zz"), "using must be one of prefix, .*, got 'zz'"),
    (lambda: sf.sum("q").over(BY_T, using=3), "using must be the name of an algorithm, got 3"),
    (lambda: sf.percentile_disc("q", -0.1), "percentage must be between 0 and 1, got -0.1"),
    (lambda: sf.percentile_cont("q", [0.5, 2]), "percentage must be between 0 and 1, got 2"),
    (lambda: sf.percentile("q", float("nan")), "percentage must be between 0 and 1, got nan"),
    (lambda: sf.percentile_disc("q", sash.col("f")).over(BY_T), "percentage must be between 0 and 1 in every row"),
    (lambda: sf.ntile(0), "n must be a whole number, at least 1, got 0"),
    (lambda: sf.nth_value("q", 0), "offset must be a whole number, at least 1, got 0"),
    (lambda: sf.lead("q", 1.5), "offset must be a whole number, got 1.5"),
    (lambda: sf.top_k("q", 0), "k must be a whole number, at least 1 and at most 128, got 0"),
    (lambda: sf.sum("q").order_by("t"), "sum takes no order_by"),
    (lambda: sf.rank().order_by(), "order_by takes at least one order, got none"),
    (lambda: sf.max("q") - sf.min("q"), r"max\(q\) has answers over windows alone: compute with max\(q\).over\(…\)"),
    (lambda: -sf.max("q"), "has answers over windows alone"),
    (lambda: sf.rank().distinct(), "rank cannot be distinct"),
    (lambda: sf.max_by("q", "t").distinct(), "max_by cannot be distinct: its answer is one row"),
    (lambda: sf.count().distinct(), "count needs a column to be distinct"),
    (lambda: sf.sum("q").ignore_nulls(), "sum cannot be told how to treat NULLs"),
    (lambda: sf.rank("q").over(BY_T), "rank of given values needs order_by to say what they are ranked among"),
    (lambda: sf.rank("q", "t").order_by("q").over(BY_T), "rank takes a value for each order, got 2 for 1"),
    (lambda: sf.rank("d").order_by("q").over(BY_T), "d must be of the type of q, int64, got date32"),
    (lambda: sf.sum("q").over(BY_T.rangeBetween("-5 minutes", 0)), "start must be a number where the order key is of"),
    (lambda: sf.sum("q").over(Window.orderBy("ts").rangeBetween(-1, 0)), "start must be an interval such as '-5 min"),
    (lambda: sf.sum("q").over(Window.orderBy("s").rangeBetween(-1, 0)), "takes an order key of numbers, .* got one of"),
    (lambda: Window.orderBy("t", "q").rangeBetween(-1, 0), "needs exactly one order key, got 2"),
    (lambda: sf.sum("q").over(Window.rangeBetween(-1, 0)), "rangeBetween with an offset needs an orderBy"),
    (lambda: sf.sum("q").over(Window.groupsBetween(-1, 0)), "groupsBetween needs an orderBy"),
    (lambda: BY_T.rowsBetween(-1.5, 0), "rowsBetween: start must be a whole number or a column, got -1.5"),
    (lambda: BY_T.rowsBetween(1, 0), "start must not be after end, got 1 and 0"),
    (lambda: BY_T.exclude("me"), "exclude takes one of 'current row', 'group', 'ties', 'no others', got 'me'"),
    (lambda: sf.sum("q").over(BY_T.rowsBetween(-sash.col("n"), 0)), "rowsBetween: start must not be NULL, got a col"),
    (lambda: sf.sum("q").over(BY_T.rangeBetween(0, sash.col("n"))), "rangeBetween: end must not be NULL"),
    (lambda: sf.sum("q").over(BY_T.rowsBetween(-sash.col("f"), 0)), "start must be a column of whole numbers, got one"),
    (lambda: sf.lead("q", 1, "abc").over(BY_T), "default must be of the type of the column, int64, got string: 'abc'"),
    (lambda: sf.lead("q", 0, "abc").over(BY_T), "default must be of the type of the column"),  # though no row needs it
    (lambda: sf.lead("q", 1, dt.date(2020, 1, 1)).over(BY_T), "default must be .*: date cannot become bigint"),
    (lambda: sf.lead("l", 1, sash.col("q")).over(BY_T), "default must be of the type of the column, list"),
    (lambda: sf.lead("q", 1, [1]).over(BY_T), r"a literal is an int, .* got \[1\] of type list"),
    (lambda: sf.concat("s", 1), "separator must be a string, got 1"),
    (lambda: Window.partitionBy(1), "partitionBy takes column names and columns, got 1"),
    (lambda: Window.orderBy(1), "an order is a column's name"),
]  # fmt: skip


@pytest.mark.parametrize(("make", "words"), REFUSED, ids=lambda part: part[:40] if isinstance(part, str) else "")
def test_what_is_wrong_is_said_in_a_sentence(make, words):
    with pytest.raises(SashError, match=words) as caught:
        sash.withColumns(WORDS, {"a": make()})
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(("ask", "using", "words"), [
    (sf.max("q"), "subtract_on_evict", "subtract_on_evict needs an invertible aggregate; max has no inverse"),
    (sf.sum("f"), "prefix", "prefix needs an exact aggregate: no default path subtracts floats"),
    (sf.sum("q"), "sparse_table", "sparse_table needs a selective aggregate; sum keeps more than one of its inputs"),
    (sf.median("q"), "flatfat", "flatfat does not answer a select; there are block_sort, "),
    (sf.sum("q"), "wavelet_matrix", "wavelet_matrix does not answer a fold; there are "),
    (sf.rank(), "rank_bitset", "rank_bitset needs an order of the function's own"),
])  # fmt: skip
def test_an_algorithm_that_cannot_is_refused_by_name(ask, using, words):
    with pytest.raises(Refused, match=words):
        sash.withColumns(WORDS, {"a": ask.over(BY_T, using=using)})


def test_what_is_no_frame_and_what_are_no_columns():
    count = {"a": sf.count().over(ALL)}
    for wrong, name in (({"a": [1]}, "dict"), (pd.Series([1]), "Series"), (np.zeros(3), "ndarray")):
        with pytest.raises(SashError, match=f"frame must be a pyarrow Table, a pandas or a polars .*, got {name}"):
            sash.withColumns(wrong, count)
    for wrong in ([sf.count().over(ALL)], None):
        with pytest.raises(SashError, match="columns must map names to window expressions, got"):
            sash.withColumns(WORDS, wrong)
    for name in (1, ""):
        with pytest.raises(SashError, match="the name of a column must be a non-empty string, got"):
            sash.withColumns(WORDS, {name: sf.count().over(ALL)})
