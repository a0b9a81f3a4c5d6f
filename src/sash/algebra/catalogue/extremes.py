"""Aggregates that compare: min, max and their counts, range, arg_min, arg_max, any, every.

As in Spark, NaN equals itself and is above every number; -0.0 equals 0.0, and the first one stays.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sash.algebra.aggregate import Aggregate
from sash.algebra.catalogue.declaring import COL, EACH, Function, Parameter, Synonym, also, always
from sash.algebra.catalogue.limbs import largest_of, smallest_of
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


def _extreme(
    name: str, combine: Any, combine_without_nan: Any, of_floats: float, of_integers: str, end: str, wide: Any
) -> Aggregate:
    plain = Aggregate(
        name,
        lift=lambda x: x,
        combine=combine,
        commutative=True,
        selective=True,
        exact=True,
        takes="order",
        gives_input=True,
        few=(end, 1),
        for_type=wide,
    )

    def typed(dtypes: tuple[Any, ...]) -> Aggregate:
        dtype = np.dtype(dtypes[0])
        if dtype.kind == "b":
            return plain.but(identity=of_integers == "max")
        if dtype.kind in "iu":
            return plain.but(identity=int(getattr(np.iinfo(dtype), of_integers)))
        return plain.but(identity=of_floats, combine_without_nan=combine_without_nan)

    return plain.but(typed=typed)


MAX = _extreme("max", larger, lambda a, b: b if b > a else a, -math.inf, "min", "largest", largest_of)
MIN = _extreme("min", smaller, lambda a, b: b if b < a else a, math.nan, "max", "smallest", smallest_of)

MAX_COUNT = Aggregate(
    "max_count",
    lift=lambda x: (x, 1),
    combine=larger_counted,
    lower=lambda s: s[1],
    commutative=True,
    exact=True,
    takes="order",
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
    takes="order",
    few=("largest", 1),
    for_type=largest_of,
)
MIN_BY = MAX_BY.but(name="min_by", combine=smaller_at, few=("smallest", 1), for_type=smallest_of)


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
    exact=True,
    finish=no_wrap,
)

ANY = Aggregate(
    "any",
    lift=lambda x: x,
    combine=lambda a, b: a or b,
    identity=False,
    commutative=True,
    selective=True,
    exact=True,
    cast="bool",
)
EVERY = ANY.but(name="every", combine=lambda a, b: a and b, identity=True)

_COMPARING = "Comparing"
_BY = (COL, Parameter("ord"))


def _declared(aggregate: Aggregate, does: str, column: str = "price", **more: Any) -> Function:
    return Function(aggregate.name, always(aggregate), EACH, does, (f"{aggregate.name}({column})",), _COMPARING, **more)


def _row(aggregate: Aggregate, which: str, swapped: str) -> Function:
    does = f"The value of ``col`` where ``ord`` is {which}; the first in arrival order on ties."
    examples = (f"{aggregate.name}(trader, price)",)
    return Function(aggregate.name, always(aggregate), _BY, does, examples, _COMPARING, spark=True,
                    synonyms=(Synonym(swapped, swapped=True),))  # fmt: skip


_LEAST, _MOST = _row(MIN_BY, "smallest", "argmin"), _row(MAX_BY, "largest", "argmax")
_ANY = _declared(ANY, "Whether some value is true.", "up", spark=True)
_EVERY = _declared(EVERY, "Whether every value is true.", "up", spark=True, postgres=True)

FUNCTIONS = (
    _declared(MIN, "The smallest value; NaN is above every number.", spark=True, postgres=True),
    _declared(MAX, "The largest value; NaN is above every number.", spark=True, postgres=True),
    _declared(MIN_COUNT, "How often the smallest value occurs."),
    _declared(MAX_COUNT, "How often the largest value occurs."),
    _LEAST,
    _MOST,
    also(_LEAST, "arg_min", "The value of ``col`` where ``ord`` is smallest: another name of ``min_by``."),
    also(_MOST, "arg_max", "The value of ``col`` where ``ord`` is largest: another name of ``max_by``."),
    _declared(RANGE, "The largest value less the smallest."),
    _ANY,
    also(_ANY, "some", spark=True),
    also(_ANY, "bool_or", spark=True, postgres=True),
    _EVERY,
    also(_EVERY, "bool_and", spark=True, postgres=True),
)
