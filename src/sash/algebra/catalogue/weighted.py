"""Aggregates of spans that are weighed by how much of a span is in the window: shares, and averages over time.

Each takes one column more than a user gives: the share of the span that is in a slice, or the time.
"""

from __future__ import annotations

from typing import Any

from sash.algebra.aggregate import Aggregate
from sash.algebra.call import WEIGHTS
from sash.algebra.catalogue.declaring import Table, constants
from sash.algebra.catalogue.sums import add, add_pair

SHARE, SPENT = WEIGHTS


def _mean(s: Any) -> Any:
    return s[0] / s[1]


PRORATED_SUM = Aggregate("prorated_sum", lift=lambda x, share: x * share, combine=add, commutative=True, cast="float64")
PRORATED_COUNT = Aggregate(
    "prorated_count", lift=lambda share: share, combine=add, commutative=True, cast="float64", empty=0.0
)
TIME_AVG = Aggregate(
    "time_avg",
    lift=lambda x, spent: (x * spent, spent),  # a span spends some time wherever it is
    combine=add_pair,
    lower=_mean,
    commutative=True,
    cast="float64",
)

AGGREGATES: Table = constants(PRORATED_SUM, PRORATED_COUNT, TIME_AVG)
