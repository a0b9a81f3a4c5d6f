from datetime import date, datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sash.errors import SashError
from sash.expressions import Months, bind, col, interval, lit, parse
from sash.expressions.columns import Cast, Name, Operation
from sash.expressions.spark_names import FUNCTIONS


@pytest.mark.parametrize(
    ("text", "sql"),
    [
        ("qty > 0 and side = 'buy'", "qty > 0 AND side = 'buy'"),
        ("a = 1 or b = 2 and not c", "a = 1 OR b = 2 AND NOT c"),
        ("a == b and a != b", "a = b AND a <> b"),
        ("x is not null or y is null", "x IS NOT NULL OR y IS NULL"),
        ("x is true", "x <=> TRUE"),
        ("a <=> b", "a <=> b"),
        ("a is distinct from b", "NOT a <=> b"),
        ("price * (qty - 1) / 2 % 3", "price * (qty - 1) / 2 % 3"),
        ("a div b", "a DIV b"),
        ("mod(a, b)", "a % b"),
        ("-x + -1", "-x + -1"),
        ("a || b = 'c'", "(a || b) = 'c'"),
        ("case when a then 1 end", "CASE WHEN a THEN 1 ELSE NULL END"),
        ("case a when 1 then 'x' else 'y' end", "CASE WHEN a = 1 THEN 'x' ELSE 'y' END"),
        ("cast(x as integer)", "CAST(x AS INT)"),
        ("x::decimal(5,1)", "CAST(x AS DECIMAL(5,1))"),
        ("try_cast(x as long)", "TRY_CAST(x AS BIGINT)"),
        ("double(x)", "CAST(x AS DOUBLE)"),
        ("x not between 1 and 2", "NOT (x >= 1 AND x <= 2)"),
        ("name not like 'a\\%_'", "NOT name LIKE 'a\\\\%_'"),
        ("x not in (1, null)", "NOT x IN (1, NULL)"),
        ("nvl(a, b)", "coalesce(a, b)"),
        ("isnull(a) or isnotnull(b)", "a IS NULL OR b IS NOT NULL"),
        ("iff(a, b, c)", "if(a, b, c)"),
        ("log10(x) + log(x)", "log(10, x) + ln(x)"),
        ("signum(x) * power(x, 2)", "sign(x) * pow(x, 2)"),
        ("substr(a, 2) || substring(a from 1 for 3)", "substring(a, 2) || substring(a, 1, 3)"),
        ("ceiling(x) + char_length(y)", "ceil(x) + length(y)"),
        ("dayofmonth(d) + year(to_date(s))", "day(d) + year(CAST(s AS DATE))"),
        ("date_trunc('MONTH', t)", "date_trunc('month', t)"),
        ("ts + interval 1 month 2 days", "ts + INTERVAL '1' MONTH + INTERVAL '2 00:00:00' DAY TO SECOND"),
        ("ts - interval '1 year 1 day'", "ts - INTERVAL '12' MONTH - INTERVAL '1 00:00:00' DAY TO SECOND"),
        ("'it''s' = \"it's\"", "'it\\'s' = 'it\\'s'"),
        ("x = '' or y = ''''", "x = '' OR y = '\\''"),
        ("'a' 'b'", "'ab'"),
        ("`a b`.c > a.`d.e`", "`a b`.c > a.`d.e`"),
        ("a.b.c.d.e", "a.b.c.d.e"),
        ("x -- a remark", "x"),
    ],
)
def test_an_expression_is_read_as_spark_reads_it(text, sql):
    assert parse(text).key == sql
    assert parse(sql).key == sql


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1),
        ("-2147483648", -(2**31)),
        ("99999999999", 99999999999),
        ("9223372036854775808", Decimal(2**63)),
        ("1.50", Decimal("1.50")),
        (".5", Decimal("0.5")),
        ("5BD", Decimal(5)),
        ("1e3", 1000.0),
        ("1.5D", 1.5),
        ("-1.5e-3D", -0.0015),
        ("r'\\d'", "\\d"),
        ("'\\n\\u0041'", "\nA"),
        ("true", True),
        ("null", None),
        ("date '2020-1-2'", date(2020, 1, 2)),
        ("timestamp '2020-01-02 03:04:05.678'", datetime(2020, 1, 2, 3, 4, 5, 678000)),
        ("timestamp_ntz '2020-01-02'", datetime(2020, 1, 2)),
        ("timestamp '2020-01-02T03:04:05+02:00'", datetime(2020, 1, 2, 3, 4, 5, 0, timezone(timedelta(hours=2)))),
        ("interval '1' day", timedelta(days=1)),
        ("interval 3 hours", timedelta(hours=3)),
        ("interval '90 minutes'", timedelta(minutes=90)),
        ("interval '-1 02:03:04.5' day to second", -timedelta(days=1, hours=2, minutes=3, seconds=4.5)),
        ("interval '02:03' hour to minute", timedelta(hours=2, minutes=3)),
        ("interval '1-2' year to month", Months(14)),
        ("interval -2 weeks", timedelta(weeks=-2)),
    ],
)
def test_literals_have_sparks_types(text, value):
    read = parse(text).value
    assert read == value
    assert type(read) is type(value)


@pytest.mark.parametrize(
    ("text", "part"),
    [
        ("foo(a) > 1", "FOO(a)"),
        ("a > (select 1)", "SELECT 1"),
        ("x + sum(y)", "SUM(y)"),
        ("rank() over () = 1", "OVER"),
        ("a[0]", "a[0]"),
        ("x as y", "x AS y"),
        ("floor(x, 1)", "decimals"),
        ("datediff(hour, a, b)", "unit"),
        ("cast(x as array<int>)", "ARRAY<INT>"),
        ("x like any ('a', 'b')", "ANY"),
        ("a = b < c", "parentheses"),
        ("a || b + c", "parentheses"),
        ("x in (select 1)", "query"),
        ("x ilike 'a'", "ILIKE"),
        ("case when a then 1", "Expected END"),
        ("x >", "column 3"),
        ("a, b", "column 2"),
        ("", "''"),
        ("a; b", "a; b"),
        ("'abc", "abc"),
        ("round(x, 1, 2, 3)", "round"),
        ("least(a)", "least"),
        ("interval '1' fortnight", "fortnight"),
        ("interval '1.5' month", "whole months"),
        ("count(*)", "COUNT(*)"),
        (3, "got 3"),
    ],
)
def test_what_is_not_understood_is_named(text, part):
    with pytest.raises(SashError) as raised:
        parse(text)
    assert part.lower() in str(raised.value).lower()
    assert str(text) in str(raised.value) or "interval" in str(text)
    assert "\x1b" not in str(raised.value)


@pytest.mark.parametrize("text", ["", "minutes", "5", "5 minuets", "1.5 years x", "5 minutes ago"])
def test_a_bad_interval_is_refused(text):
    with pytest.raises(SashError, match="interval"):
        interval(text)


LITERALS = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(),
    st.text(st.characters(exclude_characters="\x00", exclude_categories=["Cs"])),
    st.dates(date(1, 1, 1)),
    st.datetimes(datetime(1000, 1, 1)),
    st.datetimes(datetime(1000, 1, 2), timezones=st.just(timezone(timedelta(hours=-5, minutes=-30)))),
    st.timedeltas(timedelta(days=-99999), timedelta(days=99999)),
    st.decimals(allow_nan=False, allow_infinity=False, places=3, min_value=-(10**20), max_value=10**20),
    st.integers(-10000, 10000).filter(bool).map(Months),
)
WORDS = st.one_of(
    st.text("ab_Z9 .`'\"é", min_size=1),
    st.sampled_from(["date", "order", "case", "null", "true", "interval", "timestamp", "end", "select", "day", "map"]),
)
NAMES = st.lists(WORDS, min_size=1, max_size=3).map(lambda path: Name(tuple(path)))
INFIX = ["+", "-", "*", "/", "%", "div", "=", "<>", "<", "<=", ">", ">=", "<=>", "and", "or", "||", "like"]


def trees(inner):
    return st.one_of(
        st.builds(lambda name, a, b: Operation(name, (a, b)), st.sampled_from(INFIX), inner, inner),
        inner.map(lambda a: -a),
        inner.map(lambda a: ~a),
        inner.map(lambda a: a.is_null()),
        inner.map(lambda a: a.is_not_null()),
        st.builds(lambda a, options: a.isin(options), inner, st.lists(inner, min_size=1, max_size=3)),
        st.builds(lambda *of: Operation("case", of), inner, inner, inner, inner, inner),
        st.builds(
            lambda a, to, safe: Cast(col("q") + a, to, safe),
            inner,
            st.sampled_from(["int", "string", "decimal(9,2)"]),
            st.booleans(),
        ),
        st.builds(lambda *of: Operation("substring", of), NAMES, NAMES, NAMES),
        st.builds(lambda *of: Operation("round", of), inner, inner),
        st.builds(lambda *of: Operation("if", of), inner, inner, inner),
        st.builds(lambda *of: Operation("coalesce", of), inner, inner),
        st.builds(lambda *of: Operation("datediff", of), inner, inner),
        st.builds(lambda name, a: Operation(name, (a,)), st.sampled_from(ONE_ARGUMENT), inner),
    )


ONE_ARGUMENT = [name for name, (least, most) in FUNCTIONS.items() if least == most == 1]


@given(st.recursive(st.one_of(NAMES, LITERALS.map(lit)), trees, max_leaves=8))
def test_what_a_column_shows_reads_back_as_the_same_column(column):
    assert parse(column.key).key == column.key
    assert bind(column, {path[0] for path in column.paths}).names == column.names


@pytest.mark.parametrize("word", ["load", "cache", "refresh", "analyze", "comment", "show", "call", "execute", "start"])
def test_columns_may_be_named_like_statements(word):
    assert str(parse(f"{word} = 3")) == f"{word} = 3"
