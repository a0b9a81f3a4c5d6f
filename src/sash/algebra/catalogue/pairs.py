"""Aggregates of pairs of columns: covariance, correlation, and SQL's linear regression functions.

One partial serves all but averages: (n, mean x, mean y, Sxx, Syy, Sxy), S being sums of products of distances from the
means. The regression functions take the dependent column y first, as in SQL.
"""

from __future__ import annotations

import math
from typing import Any

from sash.algebra.aggregate import Aggregate
from sash.algebra.catalogue.declaring import Function, Parameter, always
from sash.algebra.catalogue.sums import add_pair


def merge(a: Any, b: Any) -> Any:
    """Merge (n, mean x, mean y, Sxx, Syy, Sxy)."""
    n = a[0] + b[0]
    share = b[0] / n if n else 0.0
    x, y = b[1] - a[1], b[2] - a[2]
    weight = a[0] * share
    return (
        n,
        a[1] + x * share,
        a[2] + y * share,
        a[3] + b[3] + x * (x * weight),
        a[4] + b[4] + y * (y * weight),
        a[5] + b[5] + x * (y * weight),
    )


def unmerge(s: Any, old: Any) -> Any:
    """Take the older partial away: what merge added, subtracted."""
    n = s[0] - old[0]
    if n <= 0.0:
        return (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    grown, weight = s[0] / n, old[0] * n / s[0]
    x, y = (s[1] - old[1]) * grown, (s[2] - old[2]) * grown
    return (
        n,
        old[1] + x,
        old[2] + y,
        s[3] - old[3] - x * (x * weight),
        s[4] - old[4] - y * (y * weight),
        s[5] - old[5] - x * (y * weight),
    )


def lift(x: Any, y: Any) -> Any:
    """One pair; as in Spark, an infinite value leaves no variance to speak of."""
    return (1.0, x, y, x - x, y - y, (x - x) * (y - y))


def lift_dependent(y: Any, x: Any) -> Any:
    """One pair, the dependent column first."""
    return lift(x, y)


def corr(s: Any) -> Any:
    """Pearson's correlation; NULL where a column does not vary."""
    both = math.sqrt(s[3]) * math.sqrt(s[4])
    return None if both == 0.0 else s[5] / both


def r2(s: Any) -> Any:
    """The square of the correlation; NULL where x does not vary, 1 where only y does not."""
    if s[3] == 0.0:
        return None
    return 1.0 if s[4] == 0.0 else (s[5] / s[3]) * (s[5] / s[4])


COVAR_POP = Aggregate(
    "covar_pop",
    lift=lift,
    combine=merge,
    lower=lambda s: s[5] / s[0],
    identity=(0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    inverse=unmerge,
    commutative=True,
    cast="float64",
    format=2,  # 1 had sums in the place of means
)
COVAR_SAMP = COVAR_POP.but(name="covar_samp", lower=lambda s: None if s[0] < 2 else s[5] / (s[0] - 1))
CORR = COVAR_POP.but(name="corr", lower=corr)

REGR_COUNT = COVAR_POP.but(name="regr_count", lift=lift_dependent, lower=lambda s: int(s[0]), empty=0)


def _regression(name: str, lower: Any) -> Aggregate:
    return REGR_COUNT.but(name=name, lower=lower, empty=None)


def _average(name: str, lift: Any) -> Aggregate:
    """Of one of the columns, where both have a value: a sum and a count, which infinite values do not spoil."""
    return Aggregate(name, lift=lift, combine=add_pair, lower=lambda s: s[0] / s[1], commutative=True, cast="float64",
                     format=2)  # 1 was that of the others  # fmt: skip


_PAIR = (Parameter("col1"), Parameter("col2"))
_DEPENDENT = (Parameter("y"), Parameter("x"))


def _declared(
    aggregate: Aggregate, does: str, columns: str = "price, n", parameters: tuple[Parameter, ...] = _DEPENDENT
) -> Function:
    examples = (f"{aggregate.name}({columns})",)
    return Function(aggregate.name, always(aggregate), parameters, does, examples, "Spread", spark=True, postgres=True)


_BOTH = "price, qty"
FUNCTIONS = (
    _declared(COVAR_POP, "The covariance of a population.", _BOTH, _PAIR),
    _declared(COVAR_SAMP, "The covariance of a sample; NULL of one row.", _BOTH, _PAIR),
    _declared(CORR, "Pearson's correlation; NULL where a column does not vary.", _BOTH, _PAIR),
    _declared(REGR_COUNT, "How many pairs there are without a NULL.", _BOTH),
    _declared(_regression("regr_r2", r2), "How well a line fits: the square of the correlation."),
    _declared(_regression("regr_slope", lambda s: None if s[3] == 0.0 else s[5] / s[3]),
              "The slope of the line fitted to the pairs."),
    _declared(_regression("regr_intercept", lambda s: None if s[3] == 0.0 else s[2] - s[5] / s[3] * s[1]),
              "Where the line fitted to the pairs meets the y axis."),
    _declared(_average("regr_avgx", lambda y, x: (x, 1.0)), "The mean of x over the pairs.", _BOTH),
    _declared(_average("regr_avgy", lambda y, x: (y, 1.0)), "The mean of y over the pairs.", _BOTH),
    _declared(_regression("regr_sxx", lambda s: s[3]), "The sum of squared distances of x from its mean."),
    _declared(_regression("regr_syy", lambda s: s[4]), "The sum of squared distances of y from its mean."),
    _declared(_regression("regr_sxy", lambda s: s[5]),
              "The sum of products of the distances of x and y from their means."),
)  # fmt: skip
