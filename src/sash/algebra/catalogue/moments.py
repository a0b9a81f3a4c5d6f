"""Variance and its roots, skewness, kurtosis: merged as counts, sums and central moments.

Partials are (n, sum, M2) and (n, sum, M2, M3, M4), M being sums of powers of distances from the mean.
They are merged without a sum of squares, which would cancel where the mean is large. As in Spark, a
sample statistic of one row, and a skewness or kurtosis without variance, is NULL; and an infinite
value has no distance from the mean, hence the x - x, which is NaN for it.
"""

from __future__ import annotations

import math
from typing import Any

from sash.algebra.aggregate import Aggregate
from sash.algebra.catalogue.declaring import Table, alias, constants

EPSILON = 2.0**-52


def merge(a: Any, b: Any) -> Any:
    """Merge (n, sum, M2)."""
    n = a[0] + b[0]
    apart = a[0] * b[1] - b[0] * a[1]  # the distance of the means, times both counts
    weight = a[0] * b[0] * n
    shift = apart * apart / weight if weight else 0.0
    return (n, a[1] + b[1], a[2] + b[2] + shift)


def unmerge(s: Any, old: Any) -> Any:
    """Take the older partial away: what merge added, subtracted."""
    n, total = s[0] - old[0], s[1] - old[1]
    apart = old[0] * total - n * old[1]
    weight = old[0] * n * s[0]
    shift = apart * apart / weight if weight else 0.0
    left = s[2] - old[2] - shift
    return (n, total, 0.0 if left < 0.0 else left)


def settled(squares: Any, total: Any) -> Any:
    """A sum of squared distances, or 0 where it is no more than what rounding the sum leaves behind."""
    noise = 4.0 * EPSILON * total
    return 0.0 if squares <= noise * noise else squares


def var_pop(s: Any) -> Any:
    """M2 over n."""
    return settled(s[2], s[1]) / s[0]


def var_samp(s: Any) -> Any:
    """M2 over n - 1."""
    return None if s[0] < 2 else settled(s[2], s[1]) / (s[0] - 1)


def stddev_pop(s: Any) -> Any:
    """The root of M2 over n."""
    return math.sqrt(settled(s[2], s[1]) / s[0])


def stddev_samp(s: Any) -> Any:
    """The root of M2 over n - 1."""
    return None if s[0] < 2 else math.sqrt(settled(s[2], s[1]) / (s[0] - 1))


VAR_POP = Aggregate(
    "var_pop",
    lift=lambda x: (1.0, x, x - x),
    combine=merge,
    lower=var_pop,
    identity=(0.0, 0.0, 0.0),
    inverse=unmerge,
    commutative=True,
    cast="float64",
)
STDDEV_POP = VAR_POP.but(name="stddev_pop", lower=stddev_pop)
VAR_SAMP = VAR_POP.but(name="var_samp", lower=var_samp)
STDDEV_SAMP = VAR_POP.but(name="stddev_samp", lower=stddev_samp)


def merge_four(a: Any, b: Any) -> Any:
    """Merge (n, sum, M2, M3, M4)."""
    n = a[0] + b[0]
    if a[0] == 0.0 or b[0] == 0.0:
        return (n, a[1] + b[1], a[2] + b[2], a[3] + b[3], a[4] + b[4])
    apart = b[1] / b[0] - a[1] / a[0]
    step = apart / n
    both = a[0] * b[0]
    m2 = a[2] + b[2] + apart * step * both
    m3 = a[3] + b[3] + apart * step * step * both * (a[0] - b[0]) + 3.0 * step * (a[0] * b[2] - b[0] * a[2])
    m4 = (
        a[4]
        + b[4]
        + apart * step * step * step * both * (a[0] * a[0] - both + b[0] * b[0])
        + 6.0 * step * step * (a[0] * a[0] * b[2] + b[0] * b[0] * a[2])
        + 4.0 * step * (a[0] * b[3] - b[0] * a[3])
    )
    return (n, a[1] + b[1], m2, m3, m4)


def skewness(s: Any) -> Any:
    """The third standardised moment."""
    return None if settled(s[2], s[1]) == 0.0 else math.sqrt(s[0]) * (s[3] / s[2]) / math.sqrt(s[2])


def kurtosis(s: Any) -> Any:
    """The fourth standardised moment, less the 3 of a normal distribution."""
    return None if settled(s[2], s[1]) == 0.0 else s[0] * (s[4] / s[2]) / s[2] - 3.0


SKEWNESS = Aggregate(
    "skewness",
    lift=lambda x: (1.0, x, x - x, x - x, x - x),
    combine=merge_four,
    lower=skewness,
    identity=(0.0, 0.0, 0.0, 0.0, 0.0),
    commutative=True,
    cast="float64",
)
KURTOSIS = SKEWNESS.but(name="kurtosis", lower=kurtosis)

AGGREGATES: Table = constants(VAR_POP, STDDEV_POP, VAR_SAMP, STDDEV_SAMP, SKEWNESS, KURTOSIS)
alias(AGGREGATES, variance="var_samp", stddev="stddev_samp", std="stddev_samp")
