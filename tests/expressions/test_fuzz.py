"""Whatever the text of an expression or of an interval, reading it ends: with a tree, or with a sentence."""

import contextlib
import string
import time

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sash.errors import SashError
from sash.expressions import evaluation
from sash.expressions.intervals import clock, interval
from sash.expressions.orders import as_order
from sash.expressions.parsing import parse
from sash.expressions.spark_names import FUNCTIONS

SOUND = [
    "qty between 1 and 9 and side is not null",
    "case when a > 1 then 'x' when b is null then s else 'it''s' end",
    "cast(a as decimal(10, 2)) / 3 + 1.5e3 - -9223372036854775808",
    "date_trunc('month', at) + interval 1 month - interval '1 02:03' day to minute",
    "s like 'a%_\\\\%' or not (b in (1, 2, null)) and `a b`.c <=> -0.0D",
    "coalesce(nullif(upper(s), ''), substring(s, -2, 1) || concat(s, `q``r`), r'\\\\n')",
    "timestamp '2024-02-30 25:61:61' > date '2020-13-01' and a::int % 0 = 5BD",
    "try_cast('x' as bigint) is not distinct from if(isnan(v), greatest(v, 1), round(v, -2))",
]
ROWS = pa.table(
    {
        "qty": [1, None, -(2**63)],
        "a": pa.array([5, 0, None], pa.int32()),
        "b": [True, None, False],
        "s": ["", None, "x%y"],
        "side": ["buy", "é\0", None],
        "v": [float("nan"), -0.0, None],
        "at": pa.array([0, None, -(10**15)], pa.timestamp("us")),
        "day": pa.array([0, None, 20_000], pa.date32()),
    }
)
PIECES = sorted(
    {
        *FUNCTIONS, *" ".join(SOUND).replace("(", " ( ").replace(")", " ) ").split(), "(", ")", ",", "''", "'", '"',
        "`", "\\", "/*", "*/", "--", "\n", "\0", "::", ".", "..", "1e999", "1e-999", "9" * 30, "9" * 5000, "0x1F",
        "X'1F'", "$1", ":p", "?", "{", "}", "[", "]", "->", "lambda", "over", "select", "distinct", "*", "interval",
        "day", "months", "-", "+", "é", "🦆", "\ud800", "\u00a0", "٣", "²", "nulls first", "desc", "asc",
    }
)  # fmt: skip
pieces = st.lists(st.sampled_from(PIECES) | st.text(max_size=3), max_size=25).map(" ".join)


@st.composite
def changed(draw, texts):
    """A sound text with some of it taken away, doubled, or exchanged for other words."""
    text = draw(st.sampled_from(texts))
    for _ in range(draw(st.integers(1, 4))):
        at, end = sorted(draw(st.tuples(*[st.integers(0, len(text))] * 2)))
        put = draw(st.sampled_from(PIECES) | st.just("") | st.just(text[at:end]))
        text = text[:at] + put + text[draw(st.sampled_from([at, at, end])) :]
    return text


def tried(read, *texts):
    with contextlib.suppress(SashError):
        return read(*texts)


@pytest.mark.parametrize(
    ("read", "text", "said"),
    [
        (interval, "9" * 5000 + " days", "at most 1000 letters"),
        (lambda text: clock(text, "year", "month"), "9" * 5000 + "-1", "at most 1000 letters"),
    ],
)
def test_what_was_found_here(read, text, said):
    with pytest.raises(SashError, match=said):
        read(text)


@pytest.mark.parametrize("text", ["9" * 5000, "-" + "9" * 5000])
def test_a_number_may_be_of_any_length(text):
    assert str(parse(text)) == f"{text}BD"


def test_an_interval_may_have_any_space_after_its_sign():
    assert interval("-\t5 days") == interval("-5 days")


@pytest.mark.long
@given(pieces | changed(SOUND))
def test_any_text_as_an_expression(text):
    """Survived words in any order, and sound expressions with something changed, read and evaluated."""
    tree = tried(parse, text)
    if tree is not None:
        assert repr(tree)
        tried(evaluation.evaluate, tree, ROWS)


@pytest.mark.long
@given(pieces | changed(["a desc nulls last", "a + 1 asc", "`a b` nulls first", "case when a then b end desc"]))
def test_any_text_as_an_order(text):
    """Survived any words in the place of an order."""
    tried(as_order, text)


SPANS = ["1 month 2 days", "-1.5 hours 3 seconds", "interval '2' weeks", "interval 1 year -2 days", ".5 minutes"]


@pytest.mark.long
@given(pieces | changed(SPANS) | st.text(string.digits + "+-.\t ,'eE٣²" + "adysmonthiur", max_size=25))
def test_any_text_as_an_interval(text):
    """Survived any words in the place of an interval, numbers of thousands of digits among them."""
    tried(interval, text)


UNITS = st.sampled_from(["year", "month", "day", "hour", "minute", "second", "week", ""])


@pytest.mark.long
@given(st.text(string.digits + ":-+. ٣²\t", max_size=20) | st.just("9" * 5000 + "-1") | pieces, UNITS, UNITS)
def test_any_text_as_days_to_seconds(text, start, end):
    """Survived any words as an interval of several units."""
    tried(clock, text, start, end)


@pytest.mark.long
@pytest.mark.parametrize(
    "text",
    [
        "(" * 3000 + "a" + ")" * 3000,
        "not " * 3000 + "a",
        "-" * 3001 + "a",
        " + ".join(["a"] * 3000),
        " and ".join(["a > 1"] * 3000),
        "case when a then " * 1000 + "b" + " end" * 1000,
        "coalesce(" * 1000 + "a" + ")" * 1000,
        "'" + "x" * (1 << 20) + "'",
        "'" * (1 << 15),
        "a" * (1 << 20),
        "1" * (1 << 16),
        "/*" * (1 << 16),
        " " * (1 << 20),
        "a in (" + ", ".join(map(str, range(20_000))) + ")",
    ],
    ids=lambda text: f"{text[:12]}, {len(text)} letters",
)
def test_deep_and_long_texts_take_little_time(text):
    """Survived texts that are thousands of levels deep or a megabyte long, without hanging."""
    start = time.process_time()
    tried(parse, text)
    tried(interval, text)
    assert time.process_time() - start < 30
