"""Queries with some of their words changed: read to an end, with a rewritten query or with a sentence."""

import contextlib
import re
import time

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pyspark.errors import PySparkException

import sash
from sash.errors import SashError
from sql.corpus import query, statements, table
from sql.recording import Asked, rewritten

SOUND = [query(window, calls[at : at + 3]) for window, calls in statements() for at in range(0, len(calls), 12)]
SOUND += [
    "with u as (select k, sum(x) over w s from t window w as (partition by k order by o)) select max(s) over () from u",
    "select * from t qualify rank() over (order by x desc) <= 3 order by 1 limit 2",
    "select k, sum(sum(x)) over (order by k) from t group by k having count(*) > 1 union all select 1, 2",
    "create temporary view v as select median(x) over (order by u range between interval '1' day preceding and current row) from t",
    "insert into a select percentile_cont(0.5) within group (order by x) over w from t window w as (), v as (w rows 1 preceding)",
    "select (select max(x) over () from u limit 1), exists(select rank() over (order by a) from v) from t lateral view explode(a) e as f",
    "select sum(x) filter (where b and s in ('a', \"b\", `c`)) over (partition by k, 'it''s' order by u -- end\n) from t",
    "select istream avg(x) as m from t [range 5 minutes slide 1 minute] group by k",
]
TOKEN = re.compile(r"'[^']*'|\"[^\"]*\"|`[^`]*`|\w+|\s+|.", re.DOTALL)
WORDS = sorted({token for text in SOUND for token in TOKEN.findall(text)})
WORDS += [
    "'",
    '"',
    "`",
    "/*",
    "*/",
    "--",
    "\\",
    "\0",
    "\ud800",
    "é",
    "🦆",
    "9" * 40,
    "1e400",
    ":p",
    "?",
    "$$",
    "|>",
    "²",
    "٣",
    "9" * 5000,
    "\u2028",
]


@st.composite
def changed(draw):
    """A query with some of its tokens taken away, doubled, exchanged, or given to another query."""
    tokens = TOKEN.findall(draw(st.sampled_from(SOUND)))
    for _ in range(draw(st.integers(1, 8))):
        at, end = sorted(draw(st.tuples(*[st.integers(0, len(tokens))] * 2)))
        end = min(end, at + 12)
        change = draw(st.sampled_from(["cut", "one", "put", "replace", "twice", "backwards", "graft"]))
        if change == "cut":
            del tokens[at:end]
        elif change == "one":
            del tokens[at : at + 1]
        elif change == "put":
            tokens[at:at] = [" ", draw(st.sampled_from(WORDS)), " "]
        elif change == "replace":
            tokens[at : at + 1] = [draw(st.sampled_from(WORDS))]
        elif change == "twice":
            tokens[at:at] = tokens[at:end]
        elif change == "backwards":
            tokens[at:end] = tokens[at:end][::-1]
        else:
            other = TOKEN.findall(draw(st.sampled_from(SOUND)))
            tokens[at:end] = other[at:end]
    return "".join(tokens)


def test_half_of_a_character_is_refused_before_spark_sees_it():
    with pytest.raises(SashError, match="half of a character") as caught:
        rewritten("select sum(a) over () as `\ud800` from t")
    assert str(caught.value).encode()


def test_digits_that_are_no_number_take_little_time():
    start = time.process_time()
    rewritten("select sum(a) over () as " + "9" * 100_000 + "a from t")
    assert time.process_time() - start < 5


@pytest.mark.long
@given(changed())
def test_a_query_with_some_words_changed(text):
    """Survived the corpus with tokens cut, doubled, exchanged, turned round and grafted from query to query."""
    with contextlib.suppress(SashError, Asked):
        rewritten(text)


@pytest.mark.long
@given(st.text(max_size=60) | st.lists(st.sampled_from(WORDS), max_size=60).map("".join))
def test_any_text(text):
    """Survived any letters, and any words of the corpus without regard to grammar."""
    with contextlib.suppress(SashError, Asked):
        rewritten(text)


@pytest.mark.long
@settings(max_examples=min(settings().max_examples, 100), suppress_health_check=list(HealthCheck))
@given(changed())
def test_spark_is_asked_too(spark, text):
    """Survived the same by ``sash.sql`` with a real session: an answer, a sentence, or an error of Spark's own."""
    if re.search(r"\b(create|insert|drop|cache|set|add)\b", text, re.IGNORECASE):
        return  # what changes the session
    with contextlib.suppress(SashError, PySparkException):
        sash.sql(text, spark=spark, t=table())
