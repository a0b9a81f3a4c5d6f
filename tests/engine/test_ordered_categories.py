"""Ordered categoricals of pandas, Enums of polars, ordered dictionaries of Arrow: answers as of their codes."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import sash
from sash import SashError, Window, col
from sash import functions as sf

ORDER = ["small", "medium", "large", "huge"]  # which is not the order of the texts
RNG = np.random.default_rng(3)
COUNT = 80
CODES = pa.array([None if n == 4 else n for n in RNG.integers(0, 5, COUNT).tolist()], pa.int8())
ROWS = pa.table({"t": RNG.permutation(COUNT), "k": RNG.integers(0, 3, COUNT), "x": RNG.integers(0, 9, COUNT)})
CODED = ROWS.append_column("size", CODES)
SIZES = ROWS.append_column("size", pa.DictionaryArray.from_arrays(CODES, pa.array(ORDER), ordered=True))
FRAMES = {
    "arrow": lambda: SIZES,
    "chunks": lambda: pa.concat_tables([SIZES.slice(0, 20), SIZES.slice(20)]),
    "pandas": lambda: ROWS.to_pandas().assign(
        size=pd.Categorical(SIZES["size"].to_pylist(), categories=ORDER, ordered=True)
    ),
    "polars": lambda: pl.from_arrow(ROWS).with_columns(size=pl.Series(SIZES["size"].to_pylist(), dtype=pl.Enum(ORDER))),
}
NEAR = Window.partitionBy("k").orderBy("t").rowsBetween(-4, 1)
BY_SIZE = Window.partitionBy("k").orderBy("size", "t")
ASKS = {
    "min": sf.min("size").over(NEAR),
    "max": sf.max("size").over(NEAR.exclude("current row")),
    "range": sf.max("size").over(Window.orderBy("t").rangeBetween(-9, 3)),
    "rank": sf.rank().over(Window.orderBy("size desc nulls last")),
    "own order": sf.first_value("size").order_by("size desc", "t").over(NEAR),
    "running": sf.sum("x").over(BY_SIZE),
    "peers": sf.count().over(Window.orderBy("size")),
    "groups": sf.sum("x").over(Window.orderBy("size").groupsBetween(-1, 0)),
    "middle": sf.percentile_disc("size", 0.5).over(NEAR),
    "best": sf.max_by("x", "size").over(NEAR.rowsBetween(-2, 0)),
    "mode": sf.mode("size").over(NEAR),
    "kinds": sf.count_distinct("size").over(NEAR),
    "list": sf.collect_list("size").order_by("size", "t").over(NEAR),
    "previous": sf.lag("size").over(BY_SIZE),
    "place": sf.rank("size").order_by("size").over(NEAR),
    "by it": sf.sum("x").over(Window.partitionBy("size")),
    "twice": sf.max(sf.min("size").over(NEAR)).over(Window.partitionBy("k")),
}
COMPARED = {
    "above": lambda size, medium: col(size) > medium,
    "at most": lambda size, medium: col(size) <= medium,
    "filtered": lambda size, medium: sf.count().filter(col(size) >= medium).over(NEAR),
    "two": lambda size, _: sf.lag(size).over(NEAR) < col(size),
    "equal": lambda size, medium: col(size) == medium,
}


def column(frame):
    values = frame["a"].to_list() if isinstance(frame, pl.DataFrame) else list(frame["a"])
    values = [each.as_py() if isinstance(each, pa.Scalar) else each for each in values]
    return [None if each is pd.NA or (isinstance(each, float) and each != each) else each for each in values]


def coded(value):
    if isinstance(value, list | np.ndarray | pl.Series):
        return [coded(each) for each in value]
    return ORDER.index(value) if isinstance(value, str) else value


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("ask", ASKS)
def test_ordered_categories_are_in_their_own_order(kind, ask):
    got = column(sash.withColumns(FRAMES[kind](), {"a": ASKS[ask]}))
    want = sash.withColumns(CODED, {"a": ASKS[ask]})["a"].to_pylist()
    assert [coded(each) for each in got] == want


@pytest.mark.parametrize("kind", FRAMES)
@pytest.mark.parametrize("ask", COMPARED)
def test_they_compare_in_their_own_order(kind, ask):
    got = column(sash.withColumns(FRAMES[kind](), {"a": COMPARED[ask]("size", "medium")}))
    assert got == sash.withColumns(CODED, {"a": COMPARED[ask]("size", 1)})["a"].to_pylist()


def test_answers_are_of_the_same_categories():
    out = sash.withColumns(FRAMES["pandas"](), {"a": ASKS["max"]})
    assert out["a"].dtype == out["size"].dtype
    out = sash.withColumns(FRAMES["polars"](), {"a": ASKS["max"]})
    assert out["a"].dtype == pl.Enum(ORDER)


def test_pandas_and_polars_say_the_same():
    frame = FRAMES["pandas"]()
    got = sash.withColumns(frame, {"a": sf.rank().over(Window.orderBy("size"))})
    kept = frame["size"].notna()
    nulls = int((~kept).sum())  # first, as in Spark
    assert (got["a"][kept] - nulls).tolist() == frame["size"].rank(method="min")[kept].tolist()
    frame = FRAMES["polars"]()
    got = sash.withColumns(frame, {"a": sf.max("size").over(Window.partitionBy("k"))})
    assert got["a"].to_list() == frame.select(pl.col("size").max().over("k"))["size"].to_list()


def test_categories_without_an_order_are_texts():
    values = ["low", "high", "mid"]
    for frame in (pd.DataFrame({"c": pd.Categorical(values, categories=["low", "mid", "high"])}),
                  pl.DataFrame({"c": pl.Series(values, dtype=pl.Categorical)})):  # fmt: skip
        out = sash.withColumns(frame, {"a": sf.rank().over(Window.orderBy("c"))})
        assert dict(zip(values, column(out), strict=True)) == {"high": 1, "low": 2, "mid": 3}


@pytest.mark.parametrize("kind", ["arrow", "pandas", "polars"])
def test_a_stream_has_the_same_order(kind):
    board = sash.stream(FRAMES[kind](), key="k").query("a", sf.max("size"), range=10, slide=5)
    plain = sash.stream(CODED, key="k").query("a", sf.max("size"), range=10, slide=5)
    assert [coded(each) for each in column(board.results())] == plain.results()["a"].to_pylist()


def test_what_has_no_one_order_is_refused():
    other = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), pa.array(["large", "small"]), ordered=True)
    first = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), pa.array(["small", "large"]), ordered=True)
    table = pa.table({"size": pa.chunked_array([first, other])})
    with pytest.raises(SashError, match="ordered categories of a column must be the same in all its chunks"):
        sash.withColumns(table, {"a": sf.max("size").over(Window)})
    twice = pa.DictionaryArray.from_arrays(pa.array([0, 1], pa.int8()), pa.array(["a", "a"]), ordered=True)
    with pytest.raises(SashError, match="must differ from each other, got one of them twice"):
        sash.withColumns(pa.table({"size": twice}), {"a": sf.max("size").over(Window)})
    with pytest.raises(SashError, match="'tiny' is none of the ordered categories 'small', 'medium', 'large', 'huge'"):
        sash.withColumns(SIZES, {"a": col("size") > "tiny"})
    both = pa.table({"size": first, "other": other, "text": ["a", "b"]})
    for column_of, words in (("other", "the same ones only; cast both to string"), ("text", "cast them to string")):
        with pytest.raises(SashError, match=words):
            sash.withColumns(both, {"a": col("size") < col(column_of)})
    assert sash.withColumns(both, {"a": col("size").cast("string") > col("text")})["a"].to_pylist() == [True, True]
