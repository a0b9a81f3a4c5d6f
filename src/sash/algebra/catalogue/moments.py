"""Variance and its roots, skewness, kurtosis: merged as counts, means and central moments.

Partials are (n, mean, M2) and (n, mean, M2, M3, M4), M being sums of powers of distances from the mean. They are merged
without a sum of squares, which would cancel where the mean is large, and without a sum, whose rounding would be taken
for a spread: rows that are all equal have a distance of exactly 0. As in Spark, a sample statistic of one row, and a
skewness or kurtosis without variance, is NULL; and an infinite value has no distance from the mean, hence the x - x,
which is NaN for it.
"""

from __future__ import annotations

import math
from typing import Any

from sash.algebra.aggregate import Aggregate
from sash.algebra.catalogue.declaring import EACH, Function, Synonym, also, always


def merge(a: Any, b: Any) -> Any:
    """Merge (n, mean, M2)."""
    n = a[0] + b[0]
    share = b[0] / n if n else 0.0
    apart = b[1] - a[1]
    return (n, a[1] + apart * share, a[2] + b[2] + apart * (apart * (a[0] * share)))


def unmerge(s: Any, old: Any) -> Any:
    """Take the older partial away: what merge added, subtracted."""
    n = s[0] - old[0]
    if n <= 0.0:
        return (0.0, 0.0, 0.0)
    apart = (s[1] - old[1]) * (s[0] / n)
    left = s[2] - old[2] - apart * (apart * (old[0] * n / s[0]))
    return (n, old[1] + apart, 0.0 if left < 0.0 else left)


def var_pop(s: Any) -> Any:
    """M2 over n."""
    return s[2] / s[0]


def var_samp(s: Any) -> Any:
    """M2 over n - 1."""
    return None if s[0] < 2 else s[2] / (s[0] - 1)


def stddev_pop(s: Any) -> Any:
    """The root of M2 over n."""
    return math.sqrt(s[2] / s[0])


def stddev_samp(s: Any) -> Any:
    """The root of M2 over n - 1."""
    return None if s[0] < 2 else math.sqrt(s[2] / (s[0] - 1))


VAR_POP = Aggregate(
    "var_pop",
    lift=lambda x: (1.0, x, x - x),
    combine=merge,
    lower=var_pop,
    identity=(0.0, 0.0, 0.0),
    inverse=unmerge,
    commutative=True,
    cast="float64",
    format=2,  # 1 had sums in the place of means
    moment=(2, lambda n, spread: spread / n),
)
STDDEV_POP = VAR_POP.but(name="stddev_pop", lower=stddev_pop, moment=(2, lambda n, spread: math.sqrt(spread / n)))
VAR_SAMP = VAR_POP.but(name="var_samp", lower=var_samp, moment=(2, lambda n, spread: spread / (n - 1.0)))
STDDEV_SAMP = VAR_POP.but(
    name="stddev_samp", lower=stddev_samp, moment=(2, lambda n, spread: math.sqrt(spread / (n - 1.0)))
)


def merge_four(a: Any, b: Any) -> Any:
    """Merge (n, mean, M2, M3, M4)."""
    if a[0] == 0.0 or b[0] == 0.0:
        return b if a[0] == 0.0 else a
    n = a[0] + b[0]
    apart = b[1] - a[1]
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
    return (n, a[1] + step * b[0] + (apart - apart), m2, m3, m4)  # NaN where one mean is infinite, whichever


def skewness(s: Any) -> Any:
    """The third standardised moment."""
    return None if s[2] == 0.0 else math.sqrt(s[0]) * (s[3] / s[2]) / math.sqrt(s[2])


def kurtosis(s: Any) -> Any:
    """The fourth standardised moment, less the 3 of a normal distribution."""
    return None if s[2] == 0.0 else s[0] * (s[4] / s[2]) / s[2] - 3.0


SKEWNESS = Aggregate(
    "skewness",
    lift=lambda x: (1.0, x, x - x, x - x, x - x),
    combine=merge_four,
    lower=skewness,
    identity=(0.0, 0.0, 0.0, 0.0, 0.0),
    commutative=True,
    cast="float64",
    format=2,  # as above
)
KURTOSIS = SKEWNESS.but(name="kurtosis", lower=kurtosis)


def _declared(aggregate: Aggregate, does: str, **more: Any) -> Function:
    return Function(aggregate.name, always(aggregate), EACH, does, (f"{aggregate.name}(price)",), "Spread",
                    spark=True, **more)  # fmt: skip


_VARIANCE = _declared(VAR_SAMP, "The variance of a sample; NULL of one row.", postgres=True, synonyms=(Synonym("var"),))
_DEVIATION = _declared(STDDEV_SAMP, "The standard deviation of a sample; NULL of one row.", postgres=True)
_OF_A_SAMPLE = "The standard deviation of a sample: another name of ``stddev_samp``."

FUNCTIONS = (
    _declared(VAR_POP, "The variance of a population.", postgres=True),
    _VARIANCE,
    also(_VARIANCE, "variance", "The variance of a sample: another name of ``var_samp``.", spark=True),
    _declared(STDDEV_POP, "The standard deviation of a population.", postgres=True),
    _DEVIATION,
    also(_DEVIATION, "stddev", _OF_A_SAMPLE, spark=True, postgres=True),
    also(_DEVIATION, "std", _OF_A_SAMPLE, spark=True),
    _declared(SKEWNESS, "The skewness; NULL where the values do not vary."),
    _declared(KURTOSIS, "The excess kurtosis; NULL where the values do not vary."),
)
