"""Aggregates that compare: min, max and their counts, range, arg_min, arg_max, any, every.

As in Spark, NaN equals itself and is above every number; -0.0 equals 0.0, and the first one stays.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sash.algebra.aggregate import Aggregate
from sash.algebra.catalogue.declaring import Table, alias, constants
from sash.errors import Overflow


def larger(a: Any, b: Any) -> Any:
    """The larger of two numbers, the first of equal ones; NaN is largest."""
    most = b if b > a else a
    return b if b != b else most


def smaller(a: Any, b: Any) -> Any:
    """The smaller of two numbers, the first of equal ones; NaN is largest."""
    least = b if b < a else a
    return b if a != a else least


def above(a: Any, b: Any) -> bool:
    """Whether a is strictly above b, with NaN above every number and equal to itself."""
    return a > b or (a != a and b == b)


def larger_at(a: Any, b: Any) -> Any:
    """The (value, row) of the larger value, the first of equal ones."""
    return b if above(b[0], a[0]) else a


def smaller_at(a: Any, b: Any) -> Any:
    """The (value, row) of the smaller value, the first of equal ones."""
    return b if above(a[0], b[0]) else a


def larger_counted(a: Any, b: Any) -> Any:
    """The larger value with how often it occurs."""
    if above(b[0], a[0]):
        return b
    return a if above(a[0], b[0]) else (a[0], a[1] + b[1])


def smaller_counted(a: Any, b: Any) -> Any:
    """The smaller value with how often it occurs."""
    if above(a[0], b[0]):
        return b
    return a if above(b[0], a[0]) else (a[0], a[1] + b[1])


def _extreme(name: str, combine: Any, tame: Any, of_floats: float, of_integers: str) -> Aggregate:
    plain = Aggregate(name, lift=lambda x: x, combine=combine, commutative=True, selective=True)

    def typed(dtypes: tuple[Any, ...]) -> Aggregate:
        dtype = np.dtype(dtypes[0])
        if dtype.kind == "b":
            return plain.but(identity=of_integers == "max")
        if dtype.kind in "iu":
            return plain.but(identity=int(getattr(np.iinfo(dtype), of_integers)))
        return plain.but(identity=of_floats, tame=tame)

    return plain.but(typed=typed)


MAX = _extreme("max", larger, lambda a, b: b if b > a else a, -math.inf, "min")
MIN = _extreme("min", smaller, lambda a, b: b if b < a else a, math.nan, "max")

MAX_COUNT = Aggregate(
    "max_count",
    lift=lambda x: (x, 1),
    combine=larger_counted,
    lower=lambda s: s[1],
    commutative=True,
)
MIN_COUNT = MAX_COUNT.but(name="min_count", combine=smaller_counted)

MAX_BY = Aggregate(
    "max_by",
    lift=lambda row, ord: (ord, row),
    combine=larger_at,
    lower=lambda s: s[1],
    selective=True,
    rows=True,
    returns="row",
)
MIN_BY = MAX_BY.but(name="min_by", combine=smaller_at)


def no_wrap(answers: Any) -> Any:
    """Raise where the largest less the smallest integer has wrapped around to a negative number."""
    if answers.dtype.kind == "i" and np.any(answers < 0):
        raise Overflow("the range of a frame does not fit its type; cast to a wider type")
    return answers


RANGE = Aggregate(
    "range",
    lift=lambda x: (x, x),
    combine=lambda a, b: (smaller(a[0], b[0]), larger(a[1], b[1])),
    lower=lambda s: s[1] - s[0],
    commutative=True,
    finish=no_wrap,
)

ANY = Aggregate(
    "any",
    lift=lambda x: x,
    combine=lambda a, b: a or b,
    identity=False,
    commutative=True,
    selective=True,
    cast="bool",
)
EVERY = ANY.but(name="every", combine=lambda a, b: a and b, identity=True)

AGGREGATES: Table = constants(MAX, MIN, MAX_COUNT, MIN_COUNT, MAX_BY, MIN_BY, RANGE, ANY, EVERY)
alias(AGGREGATES, arg_max="max_by", arg_min="min_by", some="any", bool_or="any", bool_and="every")
