"""Whether a text is one query, and nothing else: what may be planned without anything being changed by it.

Said by what a query begins with, not by a list of what is forbidden. In Spark's grammar all other statements begin in
another way, but for the two that hide behind the beginning of a query: WITH … INSERT, and FROM … INSERT.
"""

from __future__ import annotations

from sash.sql.blocks import QUERY
from sash.sql.tokens import Source, read

# what may follow |> in a query
PIPED = frozenset(
    "AGGREGATE ANTI AS CLUSTER CROSS DISTRIBUTE DROP EXCEPT EXTEND FULL INNER INTERSECT JOIN LATERAL LEFT LIMIT MINUS "
    "NATURAL OFFSET ORDER PIVOT RIGHT SELECT SEMI SET SORT TABLESAMPLE UNION UNPIVOT WHERE WINDOW".split()
)
ONLY = "a query is needed: SELECT, WITH … SELECT, VALUES, TABLE or FROM … SELECT"


def check_query(text: str) -> None:
    """Refuse what is not one query, with its place in the text.

    >>> check_query("select 1; drop table t")
    Traceback (most recent call last):
    sash.errors.SashError: a query is needed: one, without others behind a semicolon
    line 1:
      select 1; drop table t
              ^
    """
    source = read(text)
    end = len(source.tokens)
    while end and source.word(end - 1) == ";":
        end -= 1
    extra = next((place for place in range(end) if source.word(place) == ";"), end)
    if extra < end:
        raise source.error("a query is needed: one, without others behind a semicolon", extra)
    _check(source, 0, end)


def _check(source: Source, lo: int, hi: int) -> None:
    if source.word(lo) == "WITH":
        lo = _after_with(source, lo, hi)
    if lo >= hi or source.word(lo) not in (*QUERY, "(") or source.word(lo) == "WITH":
        raise source.error(f"{ONLY}; got {source.word(lo) or 'something else'}", min(lo, len(source.tokens)))
    if source.word(lo) == "(":
        _check(source, lo + 1, source.closing[lo])
    place = lo
    while place < hi:
        word = source.word(place)
        if word == "INSERT" and source.word(lo) == "FROM":
            raise source.error(f"{ONLY}; got FROM … INSERT", place)
        if word == "|>" and source.word(place + 1) not in PIPED:
            raise source.error(f"{ONLY}; got |> {source.word(place + 1)}", place)
        place = source.after(place)


def _after_with(source: Source, lo: int, hi: int) -> int:
    """The place behind the common table expressions, each of which is a query."""
    place = lo + 1 + (source.word(lo + 1) == "RECURSIVE" and source.word(lo + 2) not in ("AS", "("))
    while True:
        opened = source.find(place, hi, "AS", "(")
        if opened >= hi:
            raise source.error("WITH names queries: WITH name AS (SELECT …) SELECT …", min(place, len(source.tokens)))
        _check(source, opened + 2, source.closing[opened + 1])
        place = source.closing[opened + 1] + 1
        if source.word(place) != ",":
            return place
        place += 1
