"""Tables of no rows: every answer has the type that it has of rows, and what is refused is refused as well."""

import datetime as dt
import os
from decimal import Decimal

import numpy as np
import pyarrow as pa
import pytest

from every_function import every_call
from sash import Aggregate, SashError, Window
from sash import functions as sf
from sash.engine.evaluating import evaluate

DAYS = [dt.datetime(2020, 1, 2), dt.datetime(2020, 1, 1), None, dt.datetime(2020, 1, 3)]
WHOLE, BROKEN = [3, None, 1, 2], [3.5, None, 1.0, 2.0]
DECIMALS = [Decimal("3.25"), None, Decimal(1), Decimal(2)]
VALUES = {
    pa.int8(): WHOLE,
    pa.int16(): WHOLE,
    pa.int32(): WHOLE,
    pa.int64(): WHOLE,
    pa.float32(): BROKEN,
    pa.float64(): BROKEN,
    pa.decimal128(10, 2): DECIMALS,
    pa.decimal128(38, 10): DECIMALS,
    pa.string(): ["b", None, "a", "c"],
    pa.binary(): [b"b", None, b"a", b"c"],
    pa.bool_(): [True, None, False, True],
    pa.date32(): [day and day.date() for day in DAYS],
    pa.timestamp("us"): DAYS,
    pa.timestamp("us", "UTC"): DAYS,
    pa.struct({"a": pa.int32(), "b": pa.string()}): [{"a": 1, "b": "x"}, None, {"a": 2, "b": None}, {"a": 1, "b": "x"}],
    pa.list_(pa.int64()): [[1], None, [], [2, None]],
    pa.map_(pa.string(), pa.int32()): [[("a", 1)], None, [], [("b", 2)]],
    pa.null(): [None] * 4,
}
ALL = int(os.environ.get("SASH_TEST_EXAMPLES", "100")) > 100
COMPILED = {"sum", "avg", "min", "top_k", "stddev", "moment_quantile", "max_by", "any", "bit_or", "count"}
ALIKE = {pa.int8(), pa.int16(), pa.float32(), pa.decimal128(38, 10)}  # others of their kind are always tried
FEW = {"sum", "min"}  # of the types that NumPy has: each function is compiled for each of them
ROWS = Window.orderBy("i").rowsBetween(-1, 1)


def tables(kind):
    """A table of rows, and those that should be like it: of no rows, of no chunks, of NULLs alone."""
    values = pa.array(VALUES[kind], kind)
    rows = pa.table({"x": values, "y": values, "i": [1, 2, 3, 4]})
    nulls = pa.table({"x": pa.nulls(4, kind), "y": pa.nulls(4, kind), "i": [1, 2, 3, 4]})
    return rows, [rows.schema.empty_table(), pa.Table.from_batches([], rows.schema), nulls]


def kind_of_answer(table, over, **how):
    """The type of an answer, or why there is none."""
    try:
        return evaluate(table, {"answer": over}, **how).schema.field("answer").type
    except SashError as error:
        return type(error), str(error)


def asked(kind):
    """The compiled functions that stand for the others."""
    return FEW if pa.types.is_primitive(kind) and kind != pa.float64() else COMPILED


def is_compiled(call):
    """Whether a function is compiled for the type of its column."""
    return isinstance(call.aggregate, Aggregate) and call.aggregate.returns == "value"


@pytest.mark.parametrize(
    "kind", [pytest.param(kind, marks=pytest.mark.long if kind in ALIKE else ()) for kind in VALUES], ids=str
)
def test_answers_of_no_rows_have_the_type_of_answers_of_rows(kind):
    rows, others = tables(kind)
    calls = every_call("x", "y")
    names = [name for name, call in calls.items() if ALL or name in asked(kind) or not is_compiled(call)]
    expected = {name: kind_of_answer(rows, calls[name].over(ROWS)) for name in names}
    for other in others:
        assert {name: kind_of_answer(other, calls[name].over(ROWS), arrival=False) for name in names} == expected
    for name in ("min", "sum"):
        assert kind_of_answer(others[0], calls[name].over(Window)) == expected[name]


def larger(a, b):
    return b if b > a else a


MINE = {
    "a float": Aggregate("halved", lift=lambda x: x / 2, combine=lambda a, b: a + b),
    "an integer": Aggregate("doubled", lift=lambda x: x * 2, combine=lambda a, b: a + b),
    "a flag": Aggregate("positive", lift=lambda x: x > 0, combine=lambda a, b: a or b),
    "NULL or not": Aggregate("some", lift=lambda x: x, combine=larger, lower=lambda s: None if s > 2 else s),
    "several": Aggregate("both", lift=lambda x: (x, 0.5), combine=lambda a, b: (a[0] + b[0], b[1])),
    "a row": Aggregate(
        "newest", lift=lambda row, x: (x, row), combine=larger, lower=lambda s: s[1], rows=True, returns="row"
    ),
    "cast": Aggregate("cast", lift=lambda x: x, combine=larger, cast="float64"),
    "finished": Aggregate(
        "text", lift=lambda x: x, combine=larger, finish=lambda answers: pa.array(answers).cast("string")
    ),
}
MINE_ALIKE = {"an integer", "a flag"}


@pytest.mark.parametrize(
    "what", [pytest.param(what, marks=pytest.mark.long if what in MINE_ALIKE else ()) for what in sorted(MINE)]
)
def test_answers_of_an_aggregate_of_ones_own_have_their_type(what):
    rows, others = tables(pa.int32())
    over = MINE[what]("x", "y") if what == "a row" else MINE[what]("x")
    expected = kind_of_answer(rows, over.over(ROWS))
    assert isinstance(expected, pa.DataType)
    assert [kind_of_answer(other, over.over(ROWS)) for other in others] == [expected] * len(others)


@pytest.mark.parametrize(
    "lift", [lambda x: object(), lambda x: x.upper(), lambda x: np.fft.fft(x)], ids=["object", "method", "unknown"]
)
def test_an_aggregate_that_does_not_compile_is_refused_without_rows(lift):
    rows, (empty, *_) = tables(pa.int64())
    over = Aggregate("wrong", lift=lift, combine=lambda a, b: a)("x").over(ROWS)
    expected = kind_of_answer(rows, over)
    assert isinstance(expected, tuple)
    assert kind_of_answer(empty, over) == expected


def test_frames_and_orders_are_checked_without_rows():
    rows, (empty, *_) = tables(pa.string())
    for over in (
        sf.count().over(Window.orderBy("x").rangeBetween(-1, 0)),
        sf.count().over(Window.orderBy("i").rangeBetween("-1 minute", 0)),
        sf.count().filter("y").over(Window),
        sf.rank("x", "y").order_by("i").over(Window),
        sf.sum("x").over(Window.partitionBy("x").rowsBetween(sf.lit("x"), 0)),
    ):
        why = kind_of_answer(rows, over)
        assert isinstance(why, tuple)
        assert kind_of_answer(empty, over) == why
