"""Every type: what is carried, compared and ordered; what adds up; and decimals that stay exact."""

import datetime as dt
import math
from decimal import ROUND_HALF_UP, Context, Decimal, localcontext

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sash
from sash import SashError, Window
from sash import functions as sf
from sash.errors import Overflow

EXACT = Context(prec=100)
D, NAN = Decimal, float("nan")

# Every type, by what only needs order or equality


DAYS = [dt.date(2020, 1, 3), None, dt.date(1969, 12, 31), dt.date(2020, 1, 3), dt.date(2021, 5, 5)]
STAMPS = [None if day is None else dt.datetime(day.year, day.month, day.day, 4) for day in DAYS]
TIMES = [dt.time(3), None, dt.time(1), dt.time(3), dt.time(23)]
SPANS = [dt.timedelta(hours=3), None, dt.timedelta(hours=-1), dt.timedelta(hours=3), dt.timedelta(days=2)]
WHOLE, SIGNED = [3, None, 1, 3, 7], [3, None, -1, 3, 7]
TEXTS, BYTES = ["c", None, "a", "c", "zz"], [b"cc", None, b"aa", b"cc", b"zz"]
NUMBERS = [
    *((kind, SIGNED) for kind in (pa.int8(), pa.int16(), pa.int32(), pa.int64())),
    *((kind, WHOLE) for kind in (pa.uint8(), pa.uint16(), pa.uint32())),
    (pa.uint64(), [2**64 - 1, None, 1, 2**64 - 1, 2**63]),
    *((kind, [3.5, None, -1.0, 3.5, NAN]) for kind in (pa.float16(), pa.float32(), pa.float64())),
]  # fmt: skip
DECIMALS = [
    (kind, [D("3.25"), None, D("-1.10"), D("3.25"), D("7.00")])
    for kind in (pa.decimal32(5, 2), pa.decimal64(12, 2), pa.decimal128(38, 2), pa.decimal256(50, 2))
]
OTHERS = [
    (pa.bool_(), [False, None, True, False, True]),
    *((kind, DAYS) for kind in (pa.date32(), pa.date64())),
    *((pa.timestamp(unit), STAMPS) for unit in ("s", "ms", "us", "ns")),
    *((pa.timestamp(unit, "Europe/Berlin"), STAMPS) for unit in ("s", "ns")),
    *((kind, TIMES) for kind in (pa.time32("s"), pa.time32("ms"), pa.time64("us"), pa.time64("ns"))),
    *((pa.duration(unit), SPANS) for unit in ("s", "ms", "us", "ns")),
    *((kind, TEXTS) for kind in (pa.string(), pa.large_string(), pa.string_view())),
    (pa.dictionary(pa.int8(), pa.string()), TEXTS),
    *((kind, BYTES) for kind in (pa.binary(), pa.large_binary(), pa.binary_view(), pa.binary(2))),
]  # fmt: skip
COMPARED = [
    (pa.list_(pa.int64()), [[1, 2], None, [], [1, 2], [None]]),
    (pa.large_list(pa.int64()), [[1, 2], None, [], [1, 2], [None]]),
    (pa.list_(pa.int64(), 2), [[1, 2], None, [0, 1], [1, 2], [None, 1]]),
    (pa.struct([("a", pa.int64()), ("b", pa.string())]),
     [{"a": 1, "b": "x"}, None, {"a": None, "b": "y"}, {"a": 1, "b": "x"}, {"a": 2, "b": None}]),
]  # fmt: skip
CARRIED = [
    (pa.map_(pa.string(), pa.int64()), [[("a", 1)], None, [], [("a", 1)], [("b", 2)]]),
    (pa.month_day_nano_interval(), [(1, 2, 3), None, (0, 0, 1), (1, 2, 3), (5, 5, 5)]),
]
BACKWARD = Window.orderBy(sf.desc("i"))
SAME = {pa.string_view(): pa.string(), pa.binary_view(): pa.binary()}  # views are answered as plain strings


def rows_of(kind, values):
    """Five rows, the first and the fourth alike, the second NULL; and the values as Arrow has them."""
    array = pa.array(values, kind.value_type).cast(kind) if pa.types.is_dictionary(kind) else pa.array(values, kind)
    table = pa.table({"i": [1, 2, 3, 4, 5], "x": array})
    return table, array.to_pylist()


def check(table, answers, kind=None):
    """Compare columns, each with what it should be; NaN is equal to itself."""
    out = sash.withColumns(table, {str(place): ask.over(window) for place, (ask, window, _) in enumerate(answers)})
    for place, (ask, _, expected) in enumerate(answers):
        answer = out[str(place)]
        answer.validate(full=True)
        assert same_values(answer.to_pylist(), expected), f"{ask} of {table['x'].type}: {answer.to_pylist()}"
        if kind is not None:
            of = answer.type.value_type if pa.types.is_list(answer.type) and not pa.types.is_list(kind) else answer.type
            assert of == SAME.get(kind, kind), f"{ask}: {answer.type}"
    assert out.select(table.column_names).equals(table) or any(map(is_nan, table["x"].to_pylist()))


def is_nan(value):
    return isinstance(value, float) and math.isnan(value)


def same_values(got, expected):
    if isinstance(expected, list) and isinstance(got, list):
        return len(got) == len(expected) and all(map(same_values, got, expected))
    return got == expected or (is_nan(got) and is_nan(expected))


def whole(ask, value):
    return ask, Window.partitionBy(), [value] * 5


@pytest.mark.parametrize(("kind", "values"), NUMBERS + DECIMALS + OTHERS + COMPARED + CARRIED, ids=str)
def test_values_of_every_type_are_carried(kind, values):
    table, (a, _, b, c, d) = rows_of(kind, values)
    check(table, [
        (sf.lead("x"), BACKWARD, [None, a, None, b, c]),
        (sf.lag("x", 2), Window.orderBy("i"), [None, None, a, None, b]),
        (sf.lag("x", 1, sash.col("x")), Window.orderBy("i"), [a, a, None, b, c]),
        (sf.lag("x").ignore_nulls(), Window.orderBy("i"), [None, a, a, b, c]),
        (sf.first("x"), BACKWARD.rowsBetween(-1, 0), [None, b, c, d, d]),
        (sf.last("x", ignorenulls=True), BACKWARD.rowsBetween(-1, 0), [a, b, b, c, d]),
        (sf.nth_value("x", 2), BACKWARD.rowsBetween(-1, 0), [a, None, b, c, None]),
        whole(sf.first_value("x").order_by("i desc"), d),
    ], kind)  # fmt: skip
    lists = [
        (sf.collect_list("x"), BACKWARD.rowsBetween(-1, 0), [[a], [b], [c, b], [d, c], [d]]),
        whole(sf.collect_list("x").order_by("i desc"), [d, c, b, a]),
        whole(sf.last_n("x", 2), [c, d]),
    ]
    check(table, [*lists, whole(sf.count("x"), 4)])


@pytest.mark.parametrize(("kind", "values"), NUMBERS + DECIMALS + OTHERS + COMPARED, ids=str)
def test_values_of_every_type_but_maps_are_compared(kind, values):
    table, (a, _, b, _c, d) = rows_of(kind, values)
    different = 3 if d != b else 2
    check(table, [
        whole(sf.count_distinct("x"), different),
        whole(sf.collect_set("x"), [a, b, d][:different]),
        (sf.count(), Window.partitionBy("x"), [2, 1, 1 if different == 3 else 2, 2, 1 if different == 3 else 2]),
    ])  # fmt: skip


@pytest.mark.parametrize(("kind", "values"), NUMBERS + DECIMALS + OTHERS, ids=str)
def test_values_of_every_type_with_an_order_are_ordered(kind, values):
    table, known = rows_of(kind, values)
    a, _, _b, _, d = known
    if pa.types.is_boolean(kind):
        ranks, disc, entropy = [2, 1, 4, 2, 4], a, 1.0
    elif kind == pa.uint64():
        ranks, disc, entropy = [4, 1, 2, 4, 3], d, 1.5
    else:
        ranks, disc, entropy = [3, 1, 2, 3, 5], a, 1.5
    dense = [sorted(set(ranks)).index(rank) + 1 for rank in ranks]
    double = [(kind, values) for kind, values in NUMBERS + DECIMALS if kind == table["x"].type]
    check(table, [
        (sf.rank().order_by("x"), Window.partitionBy(), ranks),
        (sf.rank("x").order_by("x"), Window.partitionBy(), ranks),
        (sf.dense_rank().order_by("x"), Window.partitionBy(), dense),
        (sf.dense_rank(), Window.orderBy("x"), dense),
        whole(sf.percentile_disc("x", 0.5), float(disc) if double else disc),
        whole(sf.mode("x"), a),
        whole(sf.entropy("x"), entropy),
    ])  # fmt: skip


@pytest.mark.parametrize(("kind", "values"), DECIMALS + OTHERS[1:], ids=str)
def test_extremes_are_of_the_type_of_the_column(kind, values):
    table, (a, _, b, _, d) = rows_of(kind, values)
    check(table, [whole(sf.min("x"), b), whole(sf.max("x"), d)], kind)
    if pa.types.is_decimal(kind) or kind in (pa.large_string(), pa.date32()):  # by their order, and by 32 bits
        check(table, [whole(sf.top_k("x", 2), [d, a])], kind)
        check(table, [whole(sf.max_by("i", "x"), 5)])


SAMPLE = [(kind, values) for kind, values in NUMBERS if str(kind) in ("int16", "uint32", "uint64", "halffloat")]


@pytest.mark.parametrize(("kind", "values"), SAMPLE, ids=str)
def test_extremes_of_numbers(kind, values):
    table, (a, _, _b, _, d) = rows_of(kind, values)
    most = a if kind == pa.uint64() else d
    check(table, [whole(sf.max("x"), most)], kind)


# Numbers that kernels do not take as they are


def test_sums_of_unsigned_and_half_numbers():
    table = pa.table({
        "u": pa.array([2**64 - 1, 5, None, 2**63 - 6], pa.uint64()),
        "w": pa.array([255, 5, None, 1], pa.uint8()),
        "h": pa.array([1.5, 2.5, None, NAN], pa.float16()),
    })  # fmt: skip
    out = sash.withColumns(table, {
        "u": sf.sum("u").over(Window.rowsBetween(1, 3)),
        "w": sf.sum("w").over(Window.partitionBy()), "h": sf.sum("h").over(Window.rowsBetween(0, 1)),
    })  # fmt: skip
    assert out.schema.types == [pa.int64(), pa.int64(), pa.float64()]
    assert out["u"].to_pylist() == [2**63 - 1, 2**63 - 6, 2**63 - 6, None]
    assert out["w"].to_pylist() == [261] * 4
    assert out["h"].to_pylist()[:2] == [4.0, 2.5]
    with pytest.raises(Overflow, match="the sum of a frame does not fit int64"):
        sash.withColumns(table, {"a": sf.sum("u").over(Window.partitionBy())})


def test_durations_add_up():
    table = pa.table({"x": pa.array([1, -2, None, 2**62], pa.duration("ms"))})
    first_two = Window.rowsBetween(Window.unboundedPreceding, 0)
    small = sash.withColumns(table.slice(0, 3), {"s": sf.sum("x").over(first_two), "a": sf.avg("x").over(first_two)})
    assert small.schema.types[1:] == [pa.duration("ms")] * 2
    assert small["s"].cast(pa.int64()).to_pylist() == [1, -1, -1]
    assert small["a"].cast(pa.int64()).to_pylist() == [1, -1, -1]  # -0.5 is rounded half up, away from zero
    exact = sash.withColumns(table, {"a": sf.sum("x").over(Window.rowsBetween(0, 1))})
    assert exact["a"].cast(pa.int64()).to_pylist() == [-1, -2, 2**62, 2**62]


def test_encoded_columns_are_what_they_stand_for():
    runs = pa.RunEndEncodedArray.from_arrays(pa.array([2, 3], pa.int32()), pa.array([5, None]))
    coded = pa.DictionaryArray.from_arrays(pa.array([0, 1, 0], pa.int8()), pa.array(["b", None]))
    numbers = pa.array([3, 1, 3]).dictionary_encode()
    table = pa.table({"r": runs, "c": coded, "n": numbers})
    out = sash.withColumns(table, {
        "r2": sf.sum("r").over(Window.partitionBy()), "r3": sf.count("r").over(Window.partitionBy()),
        "c2": sf.count("c").over(Window.partitionBy()), "c3": sf.min("c").over(Window.partitionBy()),
        "n2": sf.sum("n").over(Window.partitionBy()), "n3": sf.median("n").over(Window.partitionBy()),
    })  # fmt: skip
    assert [column[0].as_py() for column in out.columns[3:]] == [10, 2, 2, "b", 7, 3.0]
    assert out.schema.types[:3] == table.schema.types


def test_a_column_of_nothing_but_null():
    table = pa.table({"x": pa.nulls(2)})
    asks = [sf.sum("x"), sf.avg("x"), sf.min("x"), sf.count("x"), sf.bit_and("x"), sf.every("x"), sf.collect_list("x"),
            sf.count_distinct("x"), sf.lead("x"), sf.listagg("x"), sf.mode("x")]  # fmt: skip
    out = sash.withColumns(table, {str(place): ask.over(Window.partitionBy()) for place, ask in enumerate(asks)})
    expected = [None, None, None, 0, None, None, [], 0, None, None, None]
    assert [column[0].as_py() for column in out.columns[1:]] == expected
    types = [pa.float64(), pa.float64(), pa.null(), pa.int64(), pa.int32(), pa.bool_()]
    assert out.schema.types[1:7] == types


def test_a_users_aggregate_may_have_the_name_of_another():
    own = sash.Aggregate("sum", lift=lambda x: x * 2, combine=lambda a, b: a + b)
    table = pa.table({"m": [D("1.5"), D("2.5")], "s": ["a", "b"]})
    assert sash.withColumns(table, {"a": own("m").over(Window.partitionBy())})["a"].to_pylist() == [8.0, 8.0]
    largest = sash.Aggregate("max", lift=lambda x: x, combine=lambda a, b: a)
    with pytest.raises(SashError, match="max takes columns of numbers, got string"):
        sash.withColumns(table, {"a": largest("s").over(Window.partitionBy())})


@pytest.mark.parametrize(("kind", "values", "default", "expected"), [
    (pa.uint8(), [1, 2], 7, 7),
    (pa.float16(), [1.0, 2.0], 1.5, 1.5),
    (pa.large_string(), ["a", "b"], 5, "5"),
    (pa.binary(), [b"a", b"b"], "q", b"q"),
    (pa.date64(), DAYS[:2], dt.date(2020, 1, 1), dt.date(2020, 1, 1)),
    (pa.timestamp("ms"), STAMPS[:2], "2020-01-01 00:00:00", dt.datetime(2020, 1, 1)),
    (pa.duration("ms"), SPANS[:2], dt.timedelta(seconds=5), dt.timedelta(seconds=5)),
    (pa.decimal256(40, 1), [D(1), D(2)], D("1.25"), D("1.3")),
    (pa.dictionary(pa.int32(), pa.string()), ["a", "b"], "zz", "zz"),
], ids=str)  # fmt: skip
def test_a_default_becomes_the_type_of_the_column(kind, values, default, expected):
    array = pa.array(values).cast(kind) if pa.types.is_dictionary(kind) else pa.array(values, kind)
    out = sash.withColumns(pa.table({"x": array}), {"a": sf.lead("x", 1, default).over(Window.partitionBy())})
    assert out["a"].type == kind
    assert out["a"].to_pylist() == [array.to_pylist()[1], expected]


def test_a_value_is_ranked_among_keys_of_another_type_of_number():
    table = pa.table({"q": [1, 2, 3], "m": [D("2.5")] * 3})
    for ask, expected in ((sf.rank(sash.col("q") * 1.5), [2, 3, 4]), (sf.rank("m"), [3, 3, 3])):
        got = sash.withColumns(table, {"a": ask.order_by("q").over(Window.partitionBy())})
        assert got["a"].to_pylist() == expected


# Decimals


def decimals(precision, scale):
    most = 10**precision - 1
    number = st.one_of(st.integers(-most, most), st.sampled_from([0, 1, -1, most, -most, 2**63, -(2**63), 2**64]))
    return st.lists(
        st.none() | number.filter(lambda n: abs(n) <= most).map(lambda n: D(n).scaleb(-scale, EXACT)), max_size=8
    )


@given(data=st.data(), kind=st.sampled_from([(38, 0), (38, 10), (20, 3), (5, 2), (38, 36)]), width=st.integers(0, 3))
def test_decimals_are_exact(data, kind, width):
    precision, scale = kind
    values = data.draw(decimals(precision, scale))
    table = pa.table({"x": pa.array(values, pa.decimal128(precision, scale))})
    frames = [[v for v in values[max(i - width, 0) : i + 1] if v is not None] for i in range(len(values))]
    window = Window.rowsBetween(-width, 0)
    total = pa.decimal128(min(38, precision + 10), scale)
    mean = pa.decimal128(min(38, precision + 4), min(38, scale + 4))
    with localcontext(EXACT):
        sums = [sum(frame) if frame else None for frame in frames]
        different = [sum(set(frame)) if frame else None for frame in frames]
        unit = D(1).scaleb(-mean.scale)
        averages = [(sum(f) / len(f)).quantize(unit, ROUND_HALF_UP) if f else None for f in frames]
    for ask, answers, result in (
        (sf.sum("x"), sums, total),
        (sf.sum("x").distinct(), different, total),
        (sf.avg("x"), averages, mean),
    ):
        most = D(10**result.precision).scaleb(-result.scale, EXACT)
        fits = all(value is None or value.copy_abs() < most for value in answers)
        if fits:
            got = sash.withColumns(table, {"a": ask.over(window)})["a"]
            assert got.type == result
            assert got.to_pylist() == answers
        else:
            with pytest.raises(Overflow, match="of a frame does not fit decimal128"):
                sash.withColumns(table, {"a": ask.over(window)})


def test_decimals_of_more_digits_than_spark_has():
    window = Window.partitionBy()
    table = pa.table({"x": pa.array([D(10) ** 37, D(1)], pa.decimal256(50, 0))})
    assert sash.withColumns(table, {"a": sf.sum("x").over(window)})["a"].to_pylist() == [D(10**37 + 1)] * 2
    for kind, value in ((pa.decimal256(50, 0), D(10**45)), (pa.decimal256(70, 45), D(1))):
        table = pa.table({"x": pa.array([value], kind)})
        assert sash.withColumns(table, {"a": sf.max("x").over(window)})["a"].to_pylist() == [value]
        with pytest.raises(SashError, match="sum takes decimals of at most 38 digits, got some of decimal256"):
            sash.withColumns(table, {"a": sf.sum("x").over(window)})


def test_several_percentages_beside_an_empty_frame():
    table = pa.table({"q": [1, None, None, 4], "i": [1, 2, 3, 4]})
    over = sf.percentile("q", [0.5, 0.9]).over(Window.orderBy("i").rowsBetween(0, 0))
    assert sash.withColumns(table, {"p": over})["p"].to_pylist() == [[1.0, 1.0], None, None, [4.0, 4.0]]
