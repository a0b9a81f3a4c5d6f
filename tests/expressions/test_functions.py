"""What the functions and casts give, against plain Python, and DuckDB where it means the same."""

import calendar
import math
from datetime import UTC, date, datetime, timedelta
from decimal import ROUND_HALF_UP, Decimal
from zoneinfo import ZoneInfo

import duckdb
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sash.errors import Overflow, SashError
from sash.expressions import Months, col, lit, parse
from sash.expressions.columns import Operation
from sash.expressions.evaluation import evaluate

MOMENTS = st.datetimes(datetime(1800, 1, 1), datetime(2200, 1, 1))
ONE = pa.table({"one": [1]})


def value(text, **columns):
    table = pa.table({name: [each] if not isinstance(each, pa.Array) else each for name, each in columns.items()})
    return evaluate(parse(text), table if columns else ONE).to_pylist()[0]


@given(st.lists(st.none() | MOMENTS, min_size=1), st.integers(-30, 30))
def test_times_agree_with_duckdb(moments, amount):
    moments_table = pa.table({"ts": pa.array(moments, pa.timestamp("us"))})
    moments_table = moments_table.append_column("d", moments_table["ts"].cast(pa.date32(), safe=False))
    texts = [
        "year(ts)",
        "month(ts)",
        "day(d)",
        "hour(ts)",
        "minute(ts)",
        *(f"date_trunc('{unit}', ts)" for unit in ("year", "quarter", "month", "week", "day", "hour", "second")),
        f"ts + interval '{amount}' month",
        f"ts - interval '{amount}' hour",
        "ts > timestamp '1999-12-31 12:00:00'",
        "d between '1900-01-01' and '2000-01-01'",
        "cast(ts as date) = d",
    ]
    theirs = duckdb.sql(f"select {', '.join(texts)} from moments_table").fetchall()
    ours = zip(*(evaluate(parse(text), moments_table).to_pylist() for text in texts), strict=True)
    assert list(ours) == theirs


@given(
    st.lists(st.none() | st.text(st.characters(max_codepoint=0x2FF, exclude_characters="\x00"), max_size=8), min_size=1)
)
def test_strings_agree_with_duckdb(strings):
    strings_table = pa.table({"s": pa.array(strings, pa.string())})
    texts = [
        "length(s)",
        "s || '-' || s",
        "s like 'a%'",
        "s like '_b%'",
        "substring(s, 2, 3)",
        "s < 'b'",
        "s in ('a', 'b')",
    ]
    theirs = duckdb.sql(f"select {', '.join(texts)} from strings_table").fetchall()
    assert list(zip(*(evaluate(parse(text), strings_table).to_pylist() for text in texts), strict=True)) == theirs


@given(MOMENTS, st.integers(-500, 500))
def test_months_stop_at_the_end_of_a_shorter_month(moment, count):
    year, month = divmod(moment.year * 12 + moment.month - 1 + count, 12)
    moved = moment.replace(year=year, month=month + 1, day=min(moment.day, calendar.monthrange(year, month + 1)[1]))
    table = pa.table({"ts": [moment], "d": [moment.date()]})
    assert evaluate(col("ts") + lit(Months(count)), table).to_pylist() == [moved]
    assert evaluate(col("d") - lit(Months(-count)), table).to_pylist() == [moved.date()]


@given(st.datetimes(datetime(1990, 1, 1), datetime(2035, 1, 1)), st.integers(-400, 400), st.integers(0, 86_399))
def test_days_are_days_of_the_calendar_where_clocks_change(moment, days, seconds):
    berlin = ZoneInfo("Europe/Berlin")
    start = moment.replace(tzinfo=UTC).astimezone(berlin)
    span = timedelta(days=days, seconds=seconds if days >= 0 else -seconds)
    table = pa.table({"z": pa.array([start], pa.timestamp("us", "Europe/Berlin"))})
    found = evaluate(col("z") + span, table).to_pylist()[0]
    noon = (start + timedelta(days=days)).replace(tzinfo=berlin)  # Python's addition keeps the clock, too
    kept = start.astimezone(UTC) + timedelta(days=days)
    if kept.astimezone(berlin).replace(tzinfo=None) == noon.replace(tzinfo=None):
        landed = kept
    elif noon.astimezone(UTC).astimezone(berlin).replace(tzinfo=None) == noon.replace(tzinfo=None):
        landed = noon.astimezone(UTC)
    else:
        landed = kept  # a clock that is never shown
    assert found.astimezone(UTC) == landed + (span - timedelta(days=days))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("d + interval '1' day", date(2020, 2, 1)),
        ("d + 1", date(2020, 2, 1)),
        ("d - 31", date(2019, 12, 31)),
        ("d + interval '1' hour", datetime(2020, 1, 31, 1)),
        ("interval '1' hour + ts", datetime(2020, 1, 31, 6, 30)),
        ("d - date '2020-01-01'", timedelta(days=30)),
        ("ts - d", timedelta(hours=5, minutes=30)),
        ("d - '2020-01-01'", timedelta(days=30)),
        ("ts - ts", timedelta(0)),
        ("interval '1' day * 2 - interval '1' hour", timedelta(days=1, hours=23)),
        ("-interval '3' hour / 2", timedelta(hours=-1.5)),
        ("interval '90' minute > interval '1' hour", True),
        ("datediff(d, '2019-12-31')", 31),
        ("datediff(ts, d)", 0),
        ("ts > d", True),
        ("d = '2020-01-31'", True),
        ("ts >= '2020-01-31 05:30'", True),
        ("second(ts) + hour(d)", 0),
        ("year('2021-05-06')", 2021),
        ("ns < date '9999-12-31'", True),
        ("ns < '9999-12-31'", True),
        ("ns = ts", True),
        ("sec < '2020-01-31 05:30:00.5'", True),
        ("z = timestamp '2020-01-31 05:30:00'", True),
        ("z = timestamp '2020-01-31 04:30:00Z'", True),
        ("z > '2020-01-31 05:30:01'", False),
        ("hour(z)", 5),
        ("cast(z as date) = d", True),
        ("cast(z as timestamp_ntz) = ts", True),
        ("null + d", None),
        ("ts + null", None),
    ],
)
def test_dates_and_times(text, expected):
    moment = datetime(2020, 1, 31, 5, 30)
    table = {
        "d": moment.date(),
        "ts": moment,
        "ns": pa.array([moment], pa.timestamp("ns")),
        "sec": pa.array([moment], pa.timestamp("s")),
        "z": pa.array([moment.replace(tzinfo=ZoneInfo("Europe/Berlin"))], pa.timestamp("us", "Europe/Berlin")),
    }
    assert value(text, **table) == expected


@given(
    st.floats(allow_nan=False, allow_infinity=False) | st.decimals(-1000, 1000, places=4).map(float),
    st.integers(-4, 17),
)
def test_round_is_half_up_on_the_digits_one_sees(number, places):
    exact = Decimal(repr(number))
    unit = Decimal(1).scaleb(-places)
    if exact.as_tuple().exponent >= -places:
        expected = number
    else:
        expected = float((exact / unit).quantize(Decimal(1), ROUND_HALF_UP) * unit)
    assert evaluate(Operation("round", (col("x"), lit(places))), pa.table({"x": [number]})).to_pylist() == [expected]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("round(2.5)", Decimal(3)),
        ("round(-2.5D)", -3.0),
        ("round(2.675D, 2)", 2.68),
        ("round(25, -1)", 30),
        ("round(-1.005, 2)", Decimal("-1.01")),
        ("floor(-1.5D)", -2),
        ("ceil(1.2)", Decimal(2)),
        ("floor(99.9)", Decimal(99)),
        ("floor(double('NaN'))", 0),
        ("ceil(1e300)", 2**63 - 1),
        ("sqrt(16)", 4.0),
        ("ln(0)", None),
        ("log10(1000)", 3.0),
        ("log(2, 8)", math.log(8) / math.log(2)),
        ("exp(0)", 1.0),
        ("pow(2, 10)", 1024.0),
        ("sign(-3)", -1.0),
        ("abs(-1.5)", Decimal("1.5")),
        ("isnan(null)", False),
        ("-7 % 3", -1),
        ("7 % -3", 1),
        ("-7.5 % 2", Decimal("-1.5")),
        ("1.5 + 1", Decimal("2.5")),
        ("1.50 * 2", Decimal("3.00")),
        ("1.0 / 3", Decimal("0.333333")),
        ("10 / 4", 2.5),
        ("0.1 + 0.2 = 0.3", True),
        ("0.1D + 0.2D = 0.3D", False),
        ("upper('äb') || lower('C')", "ÄBc"),
        ("substring('hello', -3, 2)", "ll"),
        ("substring('abc', -5, 3)", "a"),
        ("substring('hello', 0, 2)", "he"),
        ("substring('hello', 2, -1)", ""),
        ("concat('a', null)", None),
        ("concat(1, 'x', 1.5D, true, date '2020-01-02', 2.50)", "1x1.5true2020-01-022.50"),
        ("'a%c' like 'a\\\\%c'", True),
        ("'abc' like 'a\\\\%c'", False),
        ("'a\nc' like 'a%c'", True),
        ("null like 'a'", None),
    ],
)
def test_functions(text, expected):
    assert repr(value(text)) == repr(expected)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("cast(2.9D as int)", 2),
        ("cast(-2.9 as bigint)", -2),
        ("cast(' 12 ' as int)", 12),
        ("cast('+12' as bigint)", 12),
        ("cast('1e2' as double)", 100.0),
        ("cast('-Infinity' as double)", -math.inf),
        ("cast(1.5 as float)", 1.5),
        ("cast(true as int)", 1),
        ("cast(0.0D as boolean)", False),
        ("cast(0.5 as boolean)", True),
        ("cast(' Yes' as boolean)", True),
        ("cast(2.345D as decimal(5,2))", Decimal("2.35")),
        ("cast(2.345 as decimal(5,2))", Decimal("2.35")),
        ("cast('2.345' as decimal(5,2))", Decimal("2.35")),
        ("cast(9.96 as decimal(3,1))", Decimal("10.0")),
        ("cast(7 as decimal(5,2))", Decimal("7.00")),
        ("cast(1e7 as string)", "1.0E7"),
        ("cast(123456.0D as string)", "123456.0"),
        ("cast(cast(0.1 as float) as string)", "0.1"),
        ("cast(1.50 as string)", "1.50"),
        ("cast(timestamp '2020-01-02 03:04:05.600' as string)", "2020-01-02 03:04:05.6"),
        ("cast('2020-1-2' as date)", date(2020, 1, 2)),
        ("cast('2020-01-02 03:04:05' as date)", date(2020, 1, 2)),
        ("cast('2020-01-02' as timestamp)", datetime(2020, 1, 2)),
        ("cast('2020-01-02T03:04:05.123456789' as timestamp)", datetime(2020, 1, 2, 3, 4, 5, 123456)),
        ("cast(timestamp '1969-12-31 23:59:59.5' as bigint)", -1),
        ("cast(timestamp '1970-01-01 00:00:01.5' as double)", 1.5),
        ("cast(timestamp '1969-12-31 23:59:59' as date)", date(1969, 12, 31)),
        ("cast(null as date)", None),
        ("try_cast('x' as int)", None),
        ("try_cast('7' as int)", 7),
        ("try_cast(300 as tinyint)", None),
        ("cast('a' as binary)", b"a"),
    ],
)
def test_casts(text, expected):
    assert repr(value(text)) == repr(expected)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("cast(300 as tinyint)", Overflow),
        ("cast(1e10 as int)", Overflow),
        ("cast(double('NaN') as bigint)", Overflow),
        ("cast(123.4 as decimal(3,1))", Overflow),
        ("cast('1.5' as int)", SashError),
        ("cast('0x10' as int)", SashError),
        ("cast('1_0' as int)", SashError),
        ("cast('' as double)", SashError),
        ("cast('maybe' as boolean)", SashError),
        ("cast('2020-02-30' as date)", SashError),
        ("cast('noon' as timestamp)", SashError),
        ("cast(date '2020-01-01' as int)", SashError),
        ("try_cast(date '2020-01-01' as int)", SashError),
        ("date_trunc('fortnight', date '2020-01-01')", SashError),
        ("1 / 0", SashError),
        ("1.5 % 0", SashError),
        ("interval '1' day / 0", SashError),
        ("99999999999999999999999999999999999999 + 1", Overflow),
    ],
)
def test_what_cannot_be_done_raises(text, error):
    with pytest.raises(error):
        value(text)


@given(st.lists(st.none() | st.decimals(-99999, 99999, places=2)), st.lists(st.none() | st.decimals(-99, 99, places=3)))
def test_decimals_are_exact(left, right):
    length = min(len(left), len(right))
    left, right = left[:length], right[:length]
    table = pa.table({"a": pa.array(left, pa.decimal128(7, 2)), "b": pa.array(right, pa.decimal128(5, 3))})
    for text, exact in (
        ("a + b", Decimal.__add__),
        ("a - b", Decimal.__sub__),
        ("a * b", Decimal.__mul__),
        ("a < b", Decimal.__lt__),
    ):
        expected = [None if a is None or b is None else exact(a, b) for a, b in zip(left, right, strict=True)]
        assert evaluate(parse(text), table).to_pylist() == expected


@given(st.lists(st.none() | st.integers(-(2**63), 2**63 - 1)))
def test_whole_numbers_survive_a_cast_to_text_and_back(numbers):
    table = pa.table({"n": pa.array(numbers, pa.int64())})
    assert evaluate(col("n").cast("string").cast("bigint"), table).to_pylist() == numbers


@given(st.lists(st.none() | st.floats()))
def test_doubles_survive_a_cast_to_text_and_back(numbers):
    table = pa.table({"n": pa.array(numbers, pa.float64())})
    assert repr(evaluate(col("n").cast("string").cast("double"), table).to_pylist()) == repr(numbers)
