"""Aggregates that are answered by rows as they came: first, last, collect and their kin.

The rows of a window follow each other, so a partial is where its rows start and stop; the answer is
taken from the column afterwards, of whatever type it is.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from sash.algebra.aggregate import Aggregate
from sash.algebra.catalogue.declaring import Table, alias, constants, whole
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
)


def older(a: Any, b: Any) -> Any:
    """The first of two partials."""
    return a


def newer(a: Any, b: Any) -> Any:
    """The last of two partials."""
    return b


FIRST = Aggregate("first", lift=lambda row: row, combine=older, selective=True, rows=True, returns="row")
LAST = FIRST.but(name="last", combine=newer)


def first_n(n: Any) -> Aggregate:
    """The first n values, in order."""
    n = whole("n", n)
    return COLLECT.but(name="first_n", lower=lambda s: (s[0], min(s[1], s[0] + n)))


def last_n(n: Any) -> Aggregate:
    """The last n values, in order."""
    n = whole("n", n)
    return COLLECT.but(name="last_n", lower=lambda s: (max(s[0], s[1] - n), s[1]))


def ith_youngest(i: Any) -> Aggregate:
    """The value of the i-th row counted from the newest, which is the first; NULL where there are fewer."""
    i = whole("i", i)
    return COLLECT.but(name="ith_youngest", lower=lambda s: s[1] - i if s[1] - s[0] >= i else None, returns="row")


def concat(separator: Any = "") -> Aggregate:
    """The strings, one after the other, with a separator between them; NULL where there is none."""
    if not isinstance(separator, str):
        raise SashError(f"separator must be a string, got {separator!r}")
    return COLLECT.but(name="concat", finish=lambda lists: joined(lists, separator))


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
    kept = np.sort(np.unique(keys, return_index=True)[1])
    offsets = np.concatenate([[0], np.cumsum(np.bincount(owner[kept], minlength=len(lengths)))])
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), values.take(pa.array(kept)))


AGGREGATES: Table = constants(COLLECT, FIRST, LAST, COLLECT.but(name="collect_distinct", finish=distinct))
AGGREGATES |= {"concat": concat, "first_n": first_n, "last_n": last_n, "ith_youngest": ith_youngest}
alias(
    AGGREGATES,
    collect_list="collect",
    array_agg="collect",
    listagg="concat",
    string_agg="concat",
    collect_set="collect_distinct",
    any_value="first",
    first_value="first",
    last_value="last",
)
