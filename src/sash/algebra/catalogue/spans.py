"""Functions of events that last: averages weighed by time, and how many there are at a time.

What is weighed takes one column more than a user gives: the time that a span spends in a slice.
"""

from __future__ import annotations

from typing import Any

from sash.algebra.aggregate import Aggregate
from sash.algebra.call import WEIGHTS
from sash.algebra.catalogue.declaring import EACH, Function, always
from sash.algebra.catalogue.sums import add_pair
from sash.algebra.window_function import SpanFunction

SHARE, SPENT = WEIGHTS


def _mean(s: Any) -> Any:
    return s[0] / s[1]


TIME_AVG = Aggregate(
    "time_avg",
    lift=lambda x, spent: (x * spent, spent),  # a span spends some time wherever it is
    combine=add_pair,
    lower=_mean,
    commutative=True,
    cast="float64",
)

_SPANS = "Events that last"

FUNCTIONS = (
    Function(
        "max_concurrent",
        always(SpanFunction("max_concurrent", peaks=True)),
        (),
        "Of spans: how many there were at one moment of the window, at most.",
        ("max_concurrent()",),
        _SPANS,
        spans=True,
    ),
    Function(
        "covered",
        always(SpanFunction("covered", peaks=False)),
        (),
        "Of spans: how much of the window's time at least one of them covers, as an interval.",
        ("covered()",),
        _SPANS,
        spans=True,
    ),
    Function(
        "time_avg",
        always(TIME_AVG),
        EACH,
        "Of spans: the average of a column, in which each span weighs as much as the time it spends in the window.",
        ("time_avg(load)",),
        _SPANS,
        spans=True,
        weights=(SPENT,),
    ),
)
