"""Aggregates that add up: count, sum, product, avg, geometric mean."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from sash.algebra.aggregate import Aggregate
from sash.algebra.catalogue.declaring import Table, alias, constants
from sash.errors import Overflow

LOW = (1 << 32) - 1


def add(a: Any, b: Any) -> Any:
    """Add two partials."""
    return a + b


def subtract(s: Any, old: Any) -> Any:
    """Take the older partial away."""
    return s - old


def add_pair(a: Any, b: Any) -> Any:
    """Add two partials of two numbers."""
    return (a[0] + b[0], a[1] + b[1])


def subtract_pair(s: Any, old: Any) -> Any:
    """Take the older of two partials of two numbers away."""
    return (s[0] - old[0], s[1] - old[1])


def one() -> Any:
    """Count a row."""
    return 1


COUNT = Aggregate("count", lift=one, combine=add, identity=0, inverse=subtract, commutative=True, empty=0)


def lift_halves(x: Any) -> Any:
    """A 64-bit integer as its low 32 bits and the rest, so that sums of either do not overflow."""
    return (x & LOW, x >> 32)


def lower_halves(s: Any) -> Any:
    """The sum modulo 2^32, and what is above."""
    return (s[0] & LOW, s[1] + (s[0] >> 32))


def fits(answers: Any) -> Any:
    """64-bit sums of their halves; raises where one does not fit, though its prefixes may not have."""
    low, high = answers["f0"], answers["f1"]
    if np.any((high < -(1 << 31)) | (high >= 1 << 31)):
        raise Overflow("the sum of a frame does not fit 64 bits; sum a wider type, such as a decimal or a double")
    return (high << 32) + low


SUM_OF_INTEGERS = Aggregate(
    "sum",
    lift=lift_halves,
    combine=add_pair,
    lower=lower_halves,
    identity=(0, 0),
    inverse=subtract_pair,
    commutative=True,
    cast="int64",
    finish=fits,
)

SUM_OF_FLOATS = Aggregate(
    "sum",
    lift=lambda x: x,
    combine=add,
    identity=0.0,
    inverse=subtract,
    commutative=True,
    cast="float64",
)


def sum_of(dtypes: tuple[Any, ...]) -> Aggregate:
    """Integers are summed exactly, with overflow found; everything else as doubles."""
    return SUM_OF_INTEGERS if dtypes and np.dtype(dtypes[0]).kind in "iub" else SUM_OF_FLOATS


SUM = SUM_OF_FLOATS.but(typed=sum_of)

PRODUCT = Aggregate(
    "product",
    lift=lambda x: x,
    combine=lambda a, b: a * b,
    identity=1.0,
    commutative=True,
    cast="float64",
)

AVG = Aggregate(
    "avg",
    lift=lambda x: (x, 1),
    combine=add_pair,
    lower=lambda s: s[0] / s[1],
    identity=(0.0, 0),
    inverse=subtract_pair,
    commutative=True,
    cast="float64",
)


def lift_log(x: Any) -> Any:
    """The logarithm of a number and a count of one; of 0 it is minus infinity, below that NaN."""
    if x > 0:
        return (math.log(x), 1)
    return (-math.inf if x == 0 else math.nan, 1)


GEOMETRIC_MEAN = Aggregate(
    "geometric_mean",
    lift=lift_log,
    combine=add_pair,
    lower=lambda s: math.exp(s[0] / s[1]),
    identity=(0.0, 0),
    inverse=subtract_pair,
    commutative=True,
    cast="float64",
)

AGGREGATES: Table = constants(COUNT, SUM, PRODUCT, AVG, GEOMETRIC_MEAN)
alias(AGGREGATES, mean="avg")
