"""Whatever the text, reading it ends: with a rewritten query, or with a sentence."""

import contextlib
import random
import time

import pytest

from sash.errors import SashError
from sql.corpus import AGGREGATES, OWN_ORDER, PLACED, RANKED, frames
from sql.recording import Asked, rewritten

PIECES = """
    select from where group by having window qualify order limit union all with as over ( ) [ ] { } , . ; * + - = < > ::
    -> 'a' "b" `c` `d``` 1 1.5 1e9 a b c t u.v max sum rank median percentile_disc nth_value filter within distinct
    ignore respect nulls first last rows range groups between unbounded preceding following current row exclude ties
    interval '1' day case when then else end in exists not null cast lateral view explode values insert into create
    temporary istream slide ? :p -- /* */ \n
""".split(" ")


def tried(text):
    """Read a text; only a sentence may come of what is wrong."""
    with contextlib.suppress(SashError, Asked):
        rewritten(text)


@pytest.mark.parametrize("seed", range(20))
def test_words_in_any_order(seed):
    draw = random.Random(seed)
    for _ in range(50):
        words = [draw.choice(PIECES) for _ in range(draw.randrange(1, 40))]
        tried("select sum(a) over w, " + " ".join(words))
        tried(" ".join(words))


@pytest.mark.parametrize("seed", range(10))
def test_queries_with_something_changed(seed):
    draw = random.Random(seed)
    calls, windows = [*AGGREGATES, *PLACED, *RANKED, *OWN_ORDER], [window for window, _ in frames()]
    for _ in range(30):
        query = f"select u, {draw.choice(calls)} over ({draw.choice(windows)}) as c from t order by c"
        at, end = sorted(draw.randrange(len(query)) for _ in range(2))
        tried(query[:at] + query[end:])
        tried(query[:at] + draw.choice(PIECES) + query[at:])
        tried(query[:at] + query[end:] + query[at:end])


@pytest.mark.parametrize(
    "text", ["", " ", "\0", "\ufeffselect", "over", "(((((", "select 'é' 🦆 over ()", "a" * 100_000]
)
def test_odd_texts(text):
    tried(text)


@pytest.mark.parametrize(
    "query",
    [
        "select " + "(" * 190 + "sum(a) over ()" + ")" * 190 + " from t",
        "select * from " + "(select * from " * 60 + "(select sum(a) over () from t)" + ")" * 60,
        "select " + " + ".join(["sum(a) over (order by b)"] * 2000) + " from t",
        "select " + ", ".join(f"sum(c{n}) over (order by c{n})" for n in range(2000)) + " from t",
        "select sum(a) over () from t where " + " and ".join(["b > 1"] * 5000),
    ],
    ids=["brackets", "subqueries", "one long sum", "many windows", "a long condition"],
)
def test_large_queries_take_little_time(query):
    start = time.process_time()
    tried(query)
    assert time.process_time() - start < 20


@pytest.mark.long
def test_for_a_minute():
    draw, end = random.Random(), time.monotonic() + 60
    while time.monotonic() < end:
        tried("select max(a) over () " + " ".join(draw.choice(PIECES) for _ in range(draw.randrange(1, 80))))
