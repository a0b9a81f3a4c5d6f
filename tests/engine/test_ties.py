"""Rows that are equal in the order of their window: in the order of what is computed, however they come."""

import struct
from collections import defaultdict

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sash import Aggregate, SashError, Window, col
from sash import functions as sf
from sash.engine.encoding import tie_keys
from sash.engine.evaluating import evaluate
from strategies import usually

PARTITIONED = Window.partitionBy("p").orderBy("o")
AROUND = PARTITIONED.rowsBetween(-2, 1)
ALL = Window.partitionBy("p")
LATEST = Aggregate("latest", lift=lambda x: x, combine=lambda a, b: b)

EXPRESSIONS = {
    "number": sf.row_number().over(PARTITIONED),
    "tile": sf.ntile(3).over(PARTITIONED),
    "next": sf.lead("text", 1, "none").over(PARTITIONED),
    "before": sf.lag("list").over(PARTITIONED),
    "sum": sf.sum("real").over(AROUND),
    "mean": sf.avg("real").over(PARTITIONED.rangeBetween(-1, 1)),
    "first": sf.first("struct").over(AROUND),
    "last": sf.last_value("map").over(PARTITIONED),
    "smallest": sf.min("real").over(PARTITIONED),
    "best": sf.max_by("text", "whole").over(AROUND),
    "texts": sf.collect_list("text").over(PARTITIONED.groupsBetween(-1, 0)),
    "set": sf.collect_set("real").over(PARTITIONED.exclude("ties")),
    "filtered": sf.nth_value("whole", 2).filter("flag").over(AROUND),
    "own": sf.row_number().order_by("whole desc").over(PARTITIONED),
    "first own": sf.first_value("text").order_by("whole").over(AROUND),
    "bounded": sf.count("whole").over(PARTITIONED.rowsBetween(col("back"), 0)),
    "latest": LATEST("whole").over(PARTITIONED),
    "all": sf.sum("real").over(ALL),
    "any": sf.any_value("text").over(ALL),
    "counted": sf.count_distinct("text").over(ALL.orderBy("real")),
    "median": sf.median("whole").over(ALL.orderBy("real", "o")),
    "entropy": sf.entropy("text").over(Window),
}

FLOATS = st.sampled_from([None, 0.0, -0.0, 0.1, 0.2, 1e16, -1e16, float("nan")])
ROWS = st.lists(
    st.fixed_dictionaries(
        {
            "p": st.integers(0, 1),
            "o": st.none() | st.integers(0, 2),
            "whole": st.none() | st.integers(0, 2),
            "real": FLOATS,
            "text": st.sampled_from([None, "", "a", "a text too long for one word", "a text too long for two words"]),
            "flag": st.sampled_from([None, True, False]),
            "back": st.integers(-2, 0),
            "list": st.none() | st.lists(st.none() | st.integers(0, 1), max_size=2),
            "struct": st.none() | st.fixed_dictionaries({"x": FLOATS, "y": st.sampled_from(["", "a"])}),
            "map": st.none() | st.dictionaries(st.sampled_from("ab"), st.integers(0, 1)).map(lambda d: list(d.items())),
        }
    ),
    max_size=25,
)
SCHEMA = pa.schema(
    {
        "p": pa.int32(),
        "o": pa.int64(),
        "whole": pa.int64(),
        "real": pa.float64(),
        "text": pa.string(),
        "flag": pa.bool_(),
        "back": pa.int32(),
        "list": pa.list_(pa.int64()),
        "struct": pa.struct({"x": pa.float64(), "y": pa.string()}),
        "map": pa.map_(pa.string(), pa.int64()),
    }
)


def exactly(value):
    """A value so that equal is the same, to the bit."""
    if isinstance(value, float):
        return struct.pack("<d", value).hex()
    if isinstance(value, dict):
        return exactly(list(value.items()))
    return tuple(map(exactly, value)) if isinstance(value, list | tuple) else repr(value)


def by_row(table, names, used=SCHEMA.names):
    """The answers of all rows that are the same row, sorted, since these rows are interchangeable."""
    groups = defaultdict(list)
    for row in table.to_pylist():
        groups[exactly([row[name] for name in used])].append(exactly([row[name] for name in names]))
    return {key: sorted(group, key=repr) for key, group in groups.items()}


def answers(rows, names):
    table = pa.Table.from_pylist(rows, SCHEMA)
    return by_row(evaluate(table, {name: EXPRESSIONS[name] for name in names}, arrival=False), names)


@usually(30)
@given(rows=ROWS, data=st.data())
def test_answers_do_not_depend_on_the_order_in_which_rows_come(rows, data):
    shuffled = data.draw(st.permutations(rows))
    assert answers(rows, EXPRESSIONS) == answers(shuffled, EXPRESSIONS)


@given(rows=ROWS, name=st.sampled_from(sorted(EXPRESSIONS)), data=st.data())
def test_each_expression_alone_does_not_depend_on_it_either(rows, name, data):
    used = {"p", "o", *(part for part in SCHEMA.names if part in repr(EXPRESSIONS[name]))}
    plain = [{key: value if key in used else None for key, value in row.items()} for row in rows]
    assert answers(plain, [name]) == answers(data.draw(st.permutations(plain)), [name])


@given(rows=ROWS, data=st.data())
def test_ties_are_in_the_order_of_the_columns_used_by_their_names(rows, data):
    columns = {
        "number": sf.row_number().over(PARTITIONED),
        "texts": sf.collect_list("text").over(AROUND),
        "ints": sf.sum("whole").filter("flag").over(PARTITIONED),
    }

    def key(row):
        return [(row[name] is not None, row[name] or 0 if name != "text" else row[name] or "") for name in used]

    used, all_used = ["flag", "text", "whole"], ["p", "o", "flag", "text", "whole"]
    as_arrived = evaluate(pa.Table.from_pylist(sorted(rows, key=key), SCHEMA), columns)
    settled = evaluate(pa.Table.from_pylist(data.draw(st.permutations(rows)), SCHEMA), columns, arrival=False)
    assert by_row(as_arrived, columns, all_used) == by_row(settled, columns, all_used)


@given(rows=ROWS)
def test_without_ties_arrival_does_not_matter(rows):
    table = pa.Table.from_pylist([row | {"back": -i} for i, row in enumerate(rows)], SCHEMA)
    window = ALL.orderBy("back").rowsBetween(-1, 1)
    columns = {"texts": sf.collect_list("text").over(window), "number": sf.row_number().over(window)}
    names = list(columns)
    assert evaluate(table, columns, arrival=False).select(names).equals(evaluate(table, columns).select(names))


MAPS = pa.array([[("a", 1)], None, [("a", 2)], [], [("b", 0)], [("a", 1), ("b", 1)]], pa.map_(pa.string(), pa.int8()))
INTERVALS = pa.array([pa.MonthDayNano([m, d, n]) for m in (0, 1) for d in (0, 1) for n in (0, -1)])
UNION = pa.UnionArray.from_sparse(pa.array([0, 1, 0], pa.int8()), [pa.array([2, 9, 1]), pa.array(["x", "b", "y"])])


@pytest.mark.parametrize(
    "values",
    [
        MAPS,
        MAPS[1:],
        INTERVALS,
        UNION,
        pa.array([[[("a", 1)]], [], None, [None], [[("a", 0)]]], pa.list_(MAPS.type)),
        pa.array([{"m": [("a", 1)]}, {"m": None}, None, {"m": []}], pa.struct({"m": MAPS.type})),
        pa.array([[-0.0], [0.0], [float("nan")], [None]], pa.list_(pa.float32())),
        pa.array([-0.0, 0.0, None, 1.0], pa.float16()),
        pa.array(["b", "a", None]).dictionary_encode(),
        pa.array([b"ab", b"cd", None], pa.binary(2)),
        pa.array([[1, 2], [1, 3], None], pa.list_(pa.int64(), 2)),
        pa.array([[1, 2], [1, 3], None, []], pa.list_view(pa.int64())),
    ],
    ids=lambda values: str(values.type),
)
def test_values_of_every_type_are_told_apart(values):
    twice = values.take(pa.array([*range(len(values)), *range(len(values))])) if values is not UNION else values
    rows = list(zip(*(key.tolist() for key in tie_keys(twice)), strict=True))
    assert len(set(rows)) == len(values)
    assert len(twice) == len(values) or rows[: len(values)] == rows[len(values) :]
    assert all(len(key) == 0 for key in tie_keys(values[:0]))


def test_a_window_cannot_be_ordered_by_what_only_breaks_ties():
    table = pa.table({"map": MAPS, "struct": pa.array([{"x": 1}] * len(MAPS))})
    for name in ("map", "struct"):
        with pytest.raises(SashError, match="cannot be ordered"):
            evaluate(table, {"n": sf.row_number().over(Window.orderBy(name))}, arrival=False)


def test_keys_of_repetitive_texts_do_not_depend_on_the_order_of_rows():
    texts = np.array([f"{i:040}" for i in range(40)]).repeat(250)
    shuffled = np.random.default_rng(0).permutation(texts)
    first, second = (tie_keys(pa.array(values))[0] for values in (texts, shuffled))
    assert dict(zip(texts, first, strict=True)) == dict(zip(shuffled, second, strict=True))
