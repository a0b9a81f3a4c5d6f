"""Aggregates that add up: count, sum, product, avg, geometric mean; and shares of these that spans have."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from sash.algebra.aggregate import Aggregate
from sash.algebra.call import WEIGHTS
from sash.algebra.catalogue.declaring import COLUMNS, CONDITION, EACH, ROWS, Function, Parameter, Synonym, also, always
from sash.algebra.catalogue.limbs import average_of, sum_of
from sash.algebra.window_function import CountDistinct
from sash.errors import Overflow

LOW = (1 << 32) - 1
TOO_LARGE = "the sum of a frame does not fit 64 bits; sum a wider type, such as a decimal or a double"


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


SHARE = WEIGHTS[0]

PRORATED_SUM = Aggregate("prorated_sum", lift=lambda x, share: x * share, combine=add, commutative=True, cast="float64")
PRORATED_COUNT = Aggregate(
    "prorated_count", lift=lambda share: share, combine=add, commutative=True, cast="float64", empty=0.0
)

COUNT = Aggregate(
    "count",
    lift=one,
    combine=add,
    identity=0,
    inverse=subtract,
    commutative=True,
    exact=True,
    empty=0,
    counts=True,
    prorated=PRORATED_COUNT,
)


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
        raise Overflow(TOO_LARGE)
    return (high << 32) + low


SUM_OF_INTEGERS = Aggregate(
    "sum",
    lift=lift_halves,
    combine=add_pair,
    lower=lower_halves,
    identity=(0, 0),
    inverse=subtract_pair,
    commutative=True,
    exact=True,
    cast="int64",
    finish=fits,
    for_type=sum_of,
    prorated=PRORATED_SUM,
)

SUM_OF_FLOATS = Aggregate(
    "sum",
    lift=lambda x: x,
    combine=add,
    identity=0.0,
    inverse=subtract,
    commutative=True,
    exact=True,
    cast="float64",
    for_type=sum_of,
    prorated=PRORATED_SUM,
)


def sum_by(dtypes: tuple[Any, ...]) -> Aggregate:
    """Integers are summed exactly, with overflow found; everything else as doubles."""
    return SUM_OF_INTEGERS if dtypes and np.dtype(dtypes[0]).kind in "iub" else SUM_OF_FLOATS


SUM = SUM_OF_FLOATS.but(typed=sum_by)

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
    for_type=average_of,
    moment=(1, lambda n, total: total / n),
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

_COUNTING = "Counting and adding up"


def _declared(aggregate: Aggregate, does: str, column: str = "qty", **more: Any) -> Function:
    return Function(aggregate.name, always(aggregate), EACH, does, (f"{aggregate.name}({column})",), _COUNTING, **more)


_COUNT = Function(
    "count",
    always(COUNT),
    (Parameter("col", ROWS, "*"),),
    "How many rows there are, or, of a column, how many values that are not NULL.",
    ("count(*)", "count(qty)", "count(distinct trader)", "count(distinct sym, up)"),
    _COUNTING,
    spark=True,
    postgres=True,
)
_SUM = replace(
    _declared(SUM, "The sum: of integers exactly, raising where it does not fit 64 bits; otherwise as a double."),
    examples=("sum(qty)", "sum(distinct qty)", "sum(qty) filter (where up)", "sum(qty) filter(up)"),
    spark=True,
    postgres=True,
)
_AVG = _declared(AVG, "The arithmetic mean.", "price", spark=True, postgres=True)

FUNCTIONS = (
    _COUNT,
    Function(
        "count_if",
        always(COUNT),
        (Parameter("col", CONDITION),),
        "How many rows a condition holds for.",
        ("count_if(up)",),
        _COUNTING,
        base="count",
        spark=True,
        synonyms=(Synonym("countif"),),
    ),
    Function(
        "count_distinct",
        always(CountDistinct("count_distinct")),
        (Parameter("col"), Parameter("cols", COLUMNS)),
        "How many different values, or combinations of values, there are; those with a NULL do not count.",
        ("count(distinct trader)",),
        _COUNTING,
        in_sql=False,  # where it is count(distinct …)
        stands_for={"countDistinct": "", "approx_count_distinct": ", which is exact"},
    ),
    _SUM,
    Function(
        "sum_distinct",
        always(SUM),
        EACH,
        "The sum of the different values.",
        ("sum(distinct qty)",),
        _COUNTING,
        base="sum",
        then=lambda call: call.distinct(),
        in_sql=False,  # where it is sum(distinct …)
        stands_for={"sumDistinct": ""},
    ),
    _declared(PRODUCT, "The product, as a double."),
    _AVG,
    also(_AVG, "mean", spark=True),
    _declared(GEOMETRIC_MEAN, "The geometric mean: 0 where a value is 0, NaN where one is negative.", "price"),
    Function(
        "prorated_sum",
        always(PRORATED_SUM),
        EACH,
        "Of spans: the sum, to which a span adds the share of its value that is in the window.",
        ("prorated_sum(bytes)",),
        _COUNTING,
        weights=(SHARE,),
        in_python=False,  # where it is sum(…).prorated()
        spans=True,
    ),
    Function(
        "prorated_count",
        always(PRORATED_COUNT),
        (),
        "Of spans: how many there are, each counted as the share of it that is in the window.",
        ("prorated_count()",),
        _COUNTING,
        weights=(SHARE,),
        in_python=False,  # where it is count().prorated()
        spans=True,
    ),
)
