"""Aggregates of pairs of columns: covariance, correlation, and SQL's linear regression functions.

One partial serves all: (n, sum x, sum y, Sxx, Syy, Sxy), S being sums of products of distances from
the means. The regression functions take the dependent column y first, as in SQL.
"""

from __future__ import annotations

import math
from typing import Any

from sash.algebra.aggregate import Aggregate
from sash.algebra.catalogue.declaring import Table, constants
from sash.algebra.catalogue.moments import settled


def merge(a: Any, b: Any) -> Any:
    """Merge (n, sum x, sum y, Sxx, Syy, Sxy)."""
    n = a[0] + b[0]
    x = a[0] * b[1] - b[0] * a[1]  # the distances of the means, times both counts
    y = a[0] * b[2] - b[0] * a[2]
    weight = a[0] * b[0] * n
    scale = 1.0 / weight if weight else 0.0
    return (
        n,
        a[1] + b[1],
        a[2] + b[2],
        a[3] + b[3] + x * x * scale,
        a[4] + b[4] + y * y * scale,
        a[5] + b[5] + x * y * scale,
    )


def unmerge(s: Any, old: Any) -> Any:
    """Take the older partial away: what merge added, subtracted."""
    n, sum_x, sum_y = s[0] - old[0], s[1] - old[1], s[2] - old[2]
    x = old[0] * sum_x - n * old[1]
    y = old[0] * sum_y - n * old[2]
    weight = old[0] * n * s[0]
    scale = 1.0 / weight if weight else 0.0
    return (
        n,
        sum_x,
        sum_y,
        s[3] - old[3] - x * x * scale,
        s[4] - old[4] - y * y * scale,
        s[5] - old[5] - x * y * scale,
    )


def lift(x: Any, y: Any) -> Any:
    """One pair; as in Spark, an infinite value leaves no variance to speak of."""
    return (1.0, x, y, x - x, y - y, (x - x) * (y - y))


def lift_dependent(y: Any, x: Any) -> Any:
    """One pair, the dependent column first."""
    return lift(x, y)


def sxx(s: Any) -> Any:
    """The sum of squared distances of x from its mean."""
    return settled(s[3], s[1])


def syy(s: Any) -> Any:
    """The sum of squared distances of y from its mean."""
    return settled(s[4], s[2])


def corr(s: Any) -> Any:
    """Pearson's correlation; NULL where a column does not vary."""
    both = math.sqrt(sxx(s)) * math.sqrt(syy(s))
    return None if both == 0.0 else s[5] / both


def r2(s: Any) -> Any:
    """The square of the correlation; NULL where x does not vary, 1 where only y does not."""
    if sxx(s) == 0.0:
        return None
    return 1.0 if syy(s) == 0.0 else (s[5] / s[3]) * (s[5] / s[4])


COVAR_POP = Aggregate(
    "covar_pop",
    lift=lift,
    combine=merge,
    lower=lambda s: s[5] / s[0],
    identity=(0.0, 0.0, 0.0, 0.0, 0.0, 0.0),
    inverse=unmerge,
    commutative=True,
    cast="float64",
)
COVAR_SAMP = COVAR_POP.but(name="covar_samp", lower=lambda s: None if s[0] < 2 else s[5] / (s[0] - 1))
CORR = COVAR_POP.but(name="corr", lower=corr)

REGR_COUNT = COVAR_POP.but(name="regr_count", lift=lift_dependent, lower=lambda s: int(s[0]), empty=0)


def _regression(name: str, lower: Any) -> Aggregate:
    return REGR_COUNT.but(name=name, lower=lower, empty=None)


AGGREGATES: Table = constants(
    COVAR_POP,
    COVAR_SAMP,
    CORR,
    REGR_COUNT,
    _regression("regr_r2", r2),
    _regression("regr_slope", lambda s: None if sxx(s) == 0.0 else s[5] / s[3]),
    _regression("regr_intercept", lambda s: None if sxx(s) == 0.0 else (s[2] - s[5] / s[3] * s[1]) / s[0]),
    _regression("regr_avgx", lambda s: s[1] / s[0]),
    _regression("regr_avgy", lambda s: s[2] / s[0]),
    _regression("regr_sxx", sxx),
    _regression("regr_syy", syy),
    _regression("regr_sxy", lambda s: s[5]),
)
