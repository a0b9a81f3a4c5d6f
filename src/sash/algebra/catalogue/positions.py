"""Aggregates that are answered by rows as they came: first, last, collect and their kin.

The rows of a window follow each other, so a partial is where its rows start and stop; the answer is
taken from the column afterwards, of whatever type it is.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from sash.algebra.aggregate import Aggregate
from sash.algebra.catalogue.declaring import (
    COL,
    CONSTANT,
    EACH,
    NULLS,
    TEXT,
    Function,
    Parameter,
    Synonym,
    also,
    always,
    whole,
)
from sash.algebra.window_function import JoinedFunction
from sash.errors import SashError


def join(a: Any, b: Any) -> Any:
    """Two adjacent ranges of rows as one."""
    return (a[0], b[1])


def behind(s: Any, old: Any) -> Any:
    """What is left of a range when its older part goes."""
    return (old[1], s[1])


COLLECT = Aggregate(
    "collect",
    lift=lambda row: (row, row + 1),
    combine=join,
    inverse=behind,
    rows=True,
    returns="rows",
    by_place=True,
)


def older(a: Any, b: Any) -> Any:
    """The first of two partials."""
    return a


def newer(a: Any, b: Any) -> Any:
    """The last of two partials."""
    return b


FIRST = Aggregate(
    "first", lift=lambda row: row, combine=older, selective=True, rows=True, returns="row", few=("first", 1)
)
LAST = FIRST.but(name="last", combine=newer, few=("last", 1))


def first_n(n: Any) -> Aggregate:
    """The first n values, in order."""
    n = whole("n", n)
    return COLLECT.but(name="first_n", few=("first", n), lower=lambda s: (s[0], min(s[1], s[0] + n)))


def last_n(n: Any) -> Aggregate:
    """The last n values, in order."""
    n = whole("n", n)
    return COLLECT.but(name="last_n", few=("last", n), lower=lambda s: (max(s[0], s[1] - n), s[1]))


def ith_youngest(i: Any) -> Aggregate:
    """The value of the i-th row counted from the newest, which is the first; NULL where there are fewer."""
    i = whole("i", i)
    return COLLECT.but(
        name="ith_youngest", few=("last", i), lower=lambda s: s[1] - i if s[1] - s[0] >= i else None, returns="row"
    )


def concat(separator: Any = "") -> Aggregate | JoinedFunction:
    """The strings, one after the other, with a separator between them; NULL where there is none.

    Without a constant, a second column has the separator before each string.
    """
    if separator is None:
        return JoinedFunction("concat")
    if not isinstance(separator, str):
        raise SashError(f"separator must be a string, got {separator!r}")
    return COLLECT.but(name="concat", takes="texts", finish=lambda lists: joined(lists, separator))


def joined(lists: Any, separator: str) -> Any:
    """Each Arrow list of strings as one string; of an empty list NULL."""
    import pyarrow as pa
    import pyarrow.compute as pc

    some = pc.greater(pc.list_value_length(lists), 0)
    return pc.if_else(some, pc.binary_join(lists, separator), pa.scalar(None, lists.type.value_type))


def distinct(lists: Any) -> Any:
    """Each Arrow list with only the first of equal values, in order."""
    import pyarrow as pa
    import pyarrow.compute as pc

    lengths = np.diff(lists.offsets.to_numpy())
    values = lists.flatten()
    equal = pc.add(values, pa.scalar(0.0, values.type)) if pa.types.is_floating(values.type) else values  # -0.0 is 0.0
    codes = equal.dictionary_encode().indices.to_numpy(zero_copy_only=False)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    keys = owner * (codes.max(initial=0) + 1) + codes
    firsts = np.sort(np.unique(keys, return_index=True)[1])
    offsets = np.concatenate([[0], np.cumsum(np.bincount(owner[firsts], minlength=len(lengths)))])
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values.take(pa.array(firsts)))


COLLECT_DISTINCT = COLLECT.but(name="collect_distinct", finish=distinct, unique=True)

_LISTS, _VALUES = "Lists", "Values of other rows"
_IGNORED: dict[str, Any] = {"takes": NULLS, "type": "bool", "default": False, "words": "ignoring NULLs"}
_FIRST = Function(
    "first",
    always(FIRST),
    (COL, Parameter("ignorenulls", **_IGNORED)),
    "The value of the first row.",
    ("first(qty)",),
    _VALUES,
    spark=True,
)
_COLLECT = Function(
    "collect", always(COLLECT), EACH, "All values, as a list in order of arrival.", ("collect(qty)",), _LISTS
)
_DISTINCT = Function(
    "collect_distinct",
    always(COLLECT_DISTINCT),
    EACH,
    "The different values, as a list in order of first arrival.",
    ("collect_distinct(sym)",),
    _LISTS,
)
_CONCAT = Function(
    "concat",
    concat,
    (COL, Parameter("separator", TEXT, "", "str | Column", example="-")),
    "The strings one after the other, in order of arrival.",
    ("string_agg(sym, '-')",),
    _LISTS,
    in_sql=False,  # where it joins the columns of one row
)
_JOINED = (COL, Parameter("delimiter", TEXT, "", "str | Column", "the delimiter", "-"))
_DELIMITED = "The strings one after the other, in order of arrival, with a delimiter between them."

FUNCTIONS = (
    _FIRST,
    replace(
        _FIRST,
        name="last",
        make=always(LAST),
        does="The value of the last row.",
        examples=("last(qty)", "last(qty, true)"),
    ),
    also(
        _FIRST,
        "any_value",
        "Some value: that of the first row.",
        parameters=(COL, Parameter("ignoreNulls", **{**_IGNORED, "type": "bool | None", "default": None})),
        examples=("any_value(sym)",),
        spark=True,
        postgres=True,
        synonyms=(Synonym("arbitrary"),),
    ),
    Function(
        "first_n",
        first_n,
        (COL, Parameter("n", CONSTANT, type="int", example=2)),
        "The first ``n`` values, as a list.",
        ("first_n(price, 2)",),
        _LISTS,
    ),
    Function(
        "last_n",
        last_n,
        (COL, Parameter("n", CONSTANT, type="int", example=2)),
        "The last ``n`` values, as a list in order of arrival.",
        ("last_n(price, 2)",),
        _LISTS,
    ),
    Function(
        "ith_youngest",
        ith_youngest,
        (COL, Parameter("i", CONSTANT, type="int", example=2)),
        "The value of the ``i``-th row from the newest, which is the first.",
        ("ith_youngest(price, 2)",),
        _VALUES,
    ),
    _COLLECT,
    also(_COLLECT, "collect_list", _COLLECT.does, spark=True, synonyms=(Synonym("list"),)),
    also(
        _COLLECT,
        "array_agg",
        _COLLECT.does,
        examples=("array_agg(qty)", "array_agg(n order by price desc, n)", "array_agg(distinct sym)"),
        spark=True,
        postgres=True,
    ),
    _DISTINCT,
    also(_DISTINCT, "collect_set", _DISTINCT.does, spark=True),
    _CONCAT,
    also(
        _CONCAT,
        "listagg",
        _DELIMITED,
        parameters=_JOINED,
        examples=("listagg(trader, ', ') within group (order by n desc)",),
        in_sql=True,
        synonyms=(Synonym("group_concat", defaults={"delimiter": ","}),),
    ),
    also(
        _CONCAT,
        "string_agg",
        _DELIMITED,
        parameters=_JOINED,
        examples=("string_agg(trader, ', ')", "string_agg(distinct sym, '-' order by sym)"),
        in_sql=True,
        postgres=True,
    ),
)
