"""What Spark 4.3 answers: types and values as it gave them, over frames with NULL, NaN, -0.0 and ties."""

import datetime as dt
import math
from decimal import Decimal

import pyarrow as pa
import pytest

import sash
from sash import SashError, Window
from sash import functions as sf

D, NAN, INF = Decimal, float("nan"), float("inf")
JANUARY, MORNING = dt.date(2020, 1, 31), dt.datetime(2020, 1, 1)
MINUTE = dt.timedelta(minutes=1)
ROWS = pa.table(
    {
        "i": pa.array([1, 2, 3, 4, 4, 5], pa.int32()),
        "k": ["a", "a", "a", "a", "b", "b"],
        "b": pa.array([3, None, -1, 7, 3, 100], pa.int8()),
        "f": pa.array([2.5, None, -1.25, 0.1, NAN, 3.5], pa.float32()),
        "d": pa.array([1.5, NAN, -0.0, 0.0, INF, None], pa.float64()),
        "m": pa.array(
            [D("3.25"), None, D("-1.10"), D("999.99"), D("0.01"), D("0.02")], pa.decimal128(5, 2)
        ),
        "s": ["b", None, "a", "zz", "b", ""],
        "dt": [JANUARY, None, dt.date(2020, 2, 29), dt.date(2020, 3, 31), dt.date(1969, 12, 31), JANUARY],
        "ts": [MORNING, None, MORNING + 4 * MINUTE, MORNING + 6 * MINUTE, MORNING + 6 * MINUTE, MORNING + 30 * MINUTE],
        "o": [True, None, False, True, None, False],
        "y": [b"\x01\x02", None, b"\x01", b"\xff", b"", None],
    }
)  # fmt: skip
LAST_3 = Window.orderBy("i", "k").rowsBetween(-2, Window.currentRow)
BY_K = Window.partitionBy("k").orderBy("i")
NEAR = Window.orderBy("i").rangeBetween(-1, 1)


def at(*minutes):
    return [MORNING + minute * MINUTE for minute in minutes]


def days(*texts):
    return [None if text is None else dt.date.fromisoformat(text) for text in texts]


def numbers(*texts):
    return [None if text is None else D(text) for text in texts]


SPARK = [
    (sf.sum("b"), LAST_3, pa.int64(), [3, 3, 2, 6, 9, 110]),
    (sf.avg("b"), LAST_3, pa.float64(), [3.0, 3.0, 1.0, 3.0, 3.0, 36.666666666666664]),
    (sf.min("b"), LAST_3, pa.int8(), [3, 3, -1, -1, -1, 3]),
    (sf.max("b"), LAST_3, pa.int8(), [3, 3, 3, 7, 7, 100]),
    (sf.stddev("b"), LAST_3, pa.float64(),
     [None, None, 2.8284271247461903, 5.656854249492381, 4.0, 54.884727687520986]),
    (sf.sum("f"), LAST_3, pa.float64(), [2.5, 2.5, 1.25, -1.1499999985098839, NAN, NAN]),
    (sf.avg("f"), LAST_3, pa.float64(), [2.5, 2.5, 0.625, -0.5749999992549419, NAN, NAN]),
    (sf.max("f"), LAST_3, pa.float32(), [2.5, 2.5, 2.5, 0.10000000149011612, NAN, NAN]),
    (sf.stddev("f"), LAST_3, pa.float64(), [None, None, 2.6516504294495533, 0.9545941556555103, NAN, NAN]),
    (sf.sum("d"), LAST_3, pa.float64(), [1.5, NAN, NAN, NAN, INF, INF]),
    (sf.avg("d"), LAST_3, pa.float64(), [1.5, NAN, NAN, NAN, INF, INF]),
    (sf.min("d"), LAST_3, pa.float64(), [1.5, 1.5, -0.0, -0.0, -0.0, 0.0]),
    (sf.max("d"), LAST_3, pa.float64(), [1.5, NAN, NAN, NAN, INF, INF]),
    (sf.stddev("d"), LAST_3, pa.float64(), [None, NAN, NAN, NAN, NAN, NAN]),
    (sf.sum("m"), LAST_3, pa.decimal128(15, 2), numbers("3.25", "3.25", "2.15", "998.89", "998.90", "1000.02")),
    (sf.avg("m"), LAST_3, pa.decimal128(9, 6),
     numbers("3.250000", "3.250000", "1.075000", "499.445000", "332.966667", "333.340000")),
    (sf.min("m"), LAST_3, pa.decimal128(5, 2), numbers("3.25", "3.25", "-1.10", "-1.10", "-1.10", "0.01")),
    (sf.max("m"), LAST_3, pa.decimal128(5, 2), numbers("3.25", "3.25", "3.25", "999.99", "999.99", "999.99")),
    (sf.stddev("m"), LAST_3, pa.float64(),
     [None, None, 3.0759144981614814, 707.8775275780408, 577.6594181984168, 577.3358354545472]),
    (sf.min("s"), LAST_3, pa.string(), ["b", "b", "a", "a", "a", ""]),
    (sf.max("s"), LAST_3, pa.string(), ["b", "b", "b", "zz", "zz", "zz"]),
    (sf.count("s"), LAST_3, pa.int64(), [1, 1, 2, 2, 3, 3]),
    (sf.min("dt"), LAST_3, pa.date32(),
     days("2020-01-31", "2020-01-31", "2020-01-31", "2020-02-29", "1969-12-31", "1969-12-31")),
    (sf.max("dt"), LAST_3, pa.date32(),
     days("2020-01-31", "2020-01-31", "2020-02-29", "2020-03-31", "2020-03-31", "2020-03-31")),
    (sf.count("dt"), LAST_3, pa.int64(), [1, 1, 2, 2, 3, 3]),
    (sf.min("ts"), LAST_3, pa.timestamp("us"), at(0, 0, 0, 4, 4, 6)),
    (sf.count("ts"), LAST_3, pa.int64(), [1, 1, 2, 2, 3, 3]),
    (sf.max("o"), LAST_3, pa.bool_(), [True, True, True, True, True, True]),
    (sf.count("o"), LAST_3, pa.int64(), [1, 1, 2, 2, 2, 2]),
    (sf.min("y"), LAST_3, pa.binary(), [b"\x01\x02", b"\x01\x02", b"\x01", b"\x01", b"", b""]),
    (sf.max("y"), LAST_3, pa.binary(), [b"\x01\x02", b"\x01\x02", b"\x01\x02", b"\xff", b"\xff", b"\xff"]),
    (sf.count("y"), LAST_3, pa.int64(), [1, 1, 2, 2, 3, 2]),
    (sf.bit_and("b"), LAST_3, pa.int8(), [3, 3, 3, 7, 3, 0]),
    (sf.bit_xor("b"), LAST_3, pa.int8(), [3, 3, -4, -8, -5, 96]),
    (sf.bool_or("o"), LAST_3, pa.bool_(), [True, True, True, True, True, True]),
    (sf.max_by("s", "d"), LAST_3, pa.string(), ["b", None, None, None, "b", "b"]),
    (sf.mode("b"), LAST_3, pa.int8(), [3, 3, -1, -1, -1, 3]),
    (sf.collect_list("s"), LAST_3, pa.list_(pa.string()),
     [["b"], ["b"], ["b", "a"], ["a", "zz"], ["a", "zz", "b"], ["zz", "b", ""]]),
    (sf.first("s"), LAST_3, pa.string(), ["b", "b", "b", None, "a", "zz"]),
    (sf.last("s"), LAST_3, pa.string(), ["b", None, "a", "zz", "b", ""]),
    (sf.last("s", ignorenulls=True), LAST_3, pa.string(), ["b", "b", "a", "zz", "b", ""]),
    (sf.nth_value("s", 2), LAST_3, pa.string(), [None, None, None, "a", "zz", "b"]),
    (sf.percentile("b", [0.1, 0.9]), LAST_3, pa.list_(pa.float64()),
     [[3.0, 3.0], [3.0, 3.0], [-0.6, 2.6], [-0.19999999999999996, 6.2], [-0.19999999999999996, 6.2], [3.8, 81.4]]),
    (sf.count_if("o"), LAST_3, pa.int64(), [1, 1, 1, 1, 1, 1]),
    (sf.var_pop("m"), LAST_3, pa.float64(),
     [0.0, 0.0, 4.730624999999999, 250545.297025, 222460.2689555556, 222211.11126666667]),
    (sf.skewness("b"), LAST_3, pa.float64(), [None, None, 0.0, 0.0, 0.0, 0.7028838495407046]),
    (sf.corr("b", "d"), LAST_3, pa.float64(), [None, None, 1.0, None, NAN, NAN]),
    (sf.listagg("s", ","), LAST_3, pa.string(), ["b", "b", "b,a", "a,zz", "a,zz,b", "zz,b,"]),
    (sf.any_value("s"), LAST_3, pa.string(), ["b", "b", "b", None, "a", "zz"]),
    (sf.count(), LAST_3, pa.int64(), [1, 2, 3, 3, 3, 3]),
    (sf.rank(), BY_K, pa.int32(), [1, 2, 3, 4, 1, 2]),
    (sf.dense_rank(), BY_K, pa.int32(), [1, 2, 3, 4, 1, 2]),
    (sf.row_number(), BY_K, pa.int32(), [1, 2, 3, 4, 1, 2]),
    (sf.percent_rank(), BY_K, pa.float64(), [0.0, 0.3333333333333333, 0.6666666666666666, 1.0, 0.0, 1.0]),
    (sf.cume_dist(), BY_K, pa.float64(), [0.25, 0.5, 0.75, 1.0, 0.5, 1.0]),
    (sf.ntile(2), BY_K, pa.int32(), [1, 1, 2, 2, 1, 2]),
    (sf.lead("s"), BY_K, pa.string(), [None, "a", "zz", None, "", None]),
    (sf.lag("s", 1, "none"), BY_K, pa.string(), ["none", "b", None, "a", "none", "b"]),
    (sf.lead("b", 1, 0), BY_K, pa.int8(), [None, -1, 7, 0, 100, 0]),
    (sf.lag("b", 2, 9), BY_K, pa.int8(), [9, 9, 3, None, 9, 9]),
    (sf.lead("m", 1, Decimal("0.5")), BY_K, pa.decimal128(5, 2),
     numbers(None, "-1.10", "999.99", "0.50", "0.02", "0.50")),
    (sf.lag("b", 1, Decimal("1.5")), BY_K, pa.int8(), [1, 3, None, -1, 1, 3]),
    (sf.lead("b", 1, "5"), BY_K, pa.int8(), [None, -1, 7, 5, 100, 5]),
    (sf.lead("dt", 1, "2020-01-01"), BY_K, pa.date32(),
     days(None, "2020-02-29", "2020-03-31", "2020-01-01", "2020-01-31", "2020-01-01")),
    (sf.lead("s", 1, 5), BY_K, pa.string(), [None, "a", "zz", "5", "", "5"]),
    (sf.lead("s").ignore_nulls(), BY_K, pa.string(), ["a", "a", "zz", None, "", None]),
    (sf.lag("s", -1), BY_K, pa.string(), [None, "a", "zz", None, "", None]),
    (sf.nth_value("s", 2, ignoreNulls=True), BY_K, pa.string(), [None, None, "a", "a", None, ""]),
    (sf.first_value("s", ignoreNulls=True), BY_K, pa.string(), ["b", "b", "b", "b", "b", "b"]),
    (sf.sum("b"), NEAR, pa.int64(), [3, 2, 9, 109, 109, 110]),
    (sf.avg("m"), NEAR, pa.decimal128(9, 6),
     numbers("3.250000", "1.075000", "332.966667", "249.730000", "249.730000", "333.340000")),
    (sf.count(), NEAR, pa.int64(), [2, 3, 4, 4, 4, 3]),
    (sf.min("s"), NEAR, pa.string(), ["b", "a", "a", "", "", ""]),
    (sf.collect_list("i"), NEAR, pa.list_(pa.int32()),
     [[1, 2], [1, 2, 3], [2, 3, 4, 4], [3, 4, 4, 5], [3, 4, 4, 5], [4, 4, 5]]),
    (sf.max("d"), NEAR, pa.float64(), [NAN, NAN, NAN, INF, INF, INF]),
    (sf.sum("b"), Window.orderBy("ts").rangeBetween("-5 minutes", 0), pa.int64(), [3, None, 2, 9, 9, 100]),
    (sf.collect_list("i"), Window.orderBy("dt").rangeBetween("-1 month", 0), pa.list_(pa.int32()),
     [[1, 5], [2], [1, 5, 3], [3, 4], [4], [1, 5]]),
    (sf.collect_list("i"), Window.orderBy("d").rangeBetween(-1, 1), pa.list_(pa.int32()),
     [[1], [2], [3, 4], [3, 4], [4], [5]]),
    (sf.collect_list("i"), Window.orderBy("d desc").rangeBetween(-1, 0), pa.list_(pa.int32()),
     [[1], [2], [3, 4], [3, 4], [4], [5]]),
    (sf.rank(), Window.orderBy("d"), pa.int32(), [4, 6, 2, 2, 5, 1]),
    (sf.dense_rank(), Window.orderBy("d desc"), pa.int32(), [3, 1, 4, 4, 2, 5]),
    (sf.sum("b"), Window.orderBy("m").rangeBetween(-1, 1), pa.int64(), [3, None, -1, 7, 103, 103]),
    (sf.collect_list("i"), Window.partitionBy("d").orderBy("i"), pa.list_(pa.int32()),
     [[1], [2], [3], [3, 4], [4], [5]]),
    (sf.sum(None), LAST_3, pa.float64(), [None, None, None, None, None, None]),
    (sf.min(None), LAST_3, pa.null(), [None, None, None, None, None, None]),
    (sf.avg(None), LAST_3, pa.float64(), [None, None, None, None, None, None]),
    (sf.sum(sash.col("m").cast("decimal(38,2)")), LAST_3, pa.decimal128(38, 2),
     numbers("3.25", "3.25", "2.15", "998.89", "998.90", "1000.02")),
    (sf.avg(sash.col("m").cast("decimal(38,2)")), LAST_3, pa.decimal128(38, 6),
     numbers("3.250000", "3.250000", "1.075000", "499.445000", "332.966667", "333.340000")),
    (sf.mode("s").order_by("s desc"), LAST_3, pa.string(), ["b", "b", "b", "zz", "zz", "zz"]),
    (sf.listagg("b"), LAST_3, pa.string(), ["3", "3", "3-1", "-17", "-173", "73100"]),
    (sf.listagg("y"), LAST_3, pa.binary(),
     [b"\x01\x02", b"\x01\x02", b"\x01\x02\x01", b"\x01\xff", b"\x01\xff", b"\xff"]),
]  # fmt: skip


def same(got, expected):
    if isinstance(expected, list) and isinstance(got, list):
        return len(got) == len(expected) and all(map(same, got, expected))
    if isinstance(expected, float) and isinstance(got, float):
        signs = math.copysign(1, got) == math.copysign(1, expected)
        near = math.isclose(got, expected, rel_tol=1e-12, abs_tol=1e-14)
        return (math.isnan(got) and math.isnan(expected)) or got == expected == 0 or (near and signs)
    return got == expected and type(got) is type(expected)


def test_spark_gives_the_same_types_and_values():
    columns = {str(place): ask.over(window) for place, (ask, window, _, _) in enumerate(SPARK)}
    out = sash.withColumns(ROWS, columns)
    wrong = []
    for place, (ask, window, kind, values) in enumerate(SPARK):
        answer = out[str(place)]
        if answer.type != kind or not same(answer.to_pylist(), values):
            wrong.append(f"{ask} over ({window}): got {answer.to_pylist()} of {answer.type}, Spark {values} of {kind}")
    assert not wrong, "\n".join(wrong)


def test_what_spark_refuses_is_refused():
    for ask, words in (
        (sf.bit_and("o"), "bit_and takes a column of integers, got bool"),
        (sf.bit_and("d"), "bit_and takes a column of integers, got double"),
        (sf.bool_or("b"), "bool_or takes a column of booleans, got int8"),
        (sf.sum("dt"), "sum takes columns of numbers, got date32"),
        (sf.sum("s"), "sum takes columns of numbers, got string"),
        (sf.lag("i", 1, 500_000_000_000), "default must be of the type of the column, int32, got int64: a value does"),
    ):
        with pytest.raises(SashError, match=words):
            sash.withColumns(ROWS, {"a": ask.over(BY_K)})
