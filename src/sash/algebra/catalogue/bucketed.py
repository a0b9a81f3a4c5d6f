"""Aggregates by bucket: counts of values between edges, and any function of the rows of each category."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

import numpy as np

from sash.algebra.aggregate import Aggregate
from sash.algebra.catalogue.declaring import CALL, COL, CONSTANT, Function, Parameter
from sash.algebra.catalogue.sums import COUNT
from sash.algebra.tuples import replaced
from sash.algebra.window_function import BucketFunction
from sash.errors import SashError

MOST = 129  # edges: a partial has a count between each two


def histogram(edges: Any) -> Aggregate:
    """How many values lie between each two edges; a partial is these counts."""
    edges = _checked(edges)
    blank, low, high = (0,) * (len(edges) - 1), edges[0], edges[-1]
    last = len(blank) - 1

    def lift(x: Any) -> Any:
        if not (low <= x <= high):
            return blank
        first, after = 0, last
        while first < after:
            middle = (first + after) // 2
            if x < edges[middle + 1]:
                after = middle
            else:
                first = middle + 1
        return replaced(blank, first, 1)

    return Aggregate(
        "histogram",
        lift=lift,
        combine=_written_out("a[{i}] + b[{i}]", len(blank)),
        identity=blank,
        inverse=_written_out("a[{i}] - b[{i}]", len(blank)),
        commutative=True,
        exact=True,
        cast="float64",
        empty=blank,
        finish=lambda answers: _lists(answers, len(blank)),
    )


def _checked(edges: Any) -> tuple[float, ...]:
    try:
        numbers = tuple(map(float, edges)) if not isinstance(edges, str) else ()
    except (TypeError, ValueError):
        numbers = ()
    if not 2 <= len(numbers) <= MOST:
        raise SashError(f"edges must be a list of 2 to {MOST} numbers, got {edges!r}")
    if not all(a < b for a, b in pairwise(numbers)):
        raise SashError(f"edges must ascend, got {list(numbers)}")
    return numbers


def _written_out(item: str, count: int) -> Callable[[Any, Any], Any]:
    """A function of two tuples, item by item: a compiled loop over them takes many times as long."""
    combine: Callable[[Any, Any], Any] = eval(
        f"lambda a, b: ({' '.join(item.format(i=i) + ',' for i in range(count))})"
    )
    return combine


def _lists(answers: Any, count: int) -> Any:
    """Records of counts as Arrow lists."""
    import pyarrow as pa

    if answers.dtype == object:
        rows = [(0,) * count if answer is None else answer for answer in answers]
        counts = np.array(rows, np.int64).reshape(-1, count)
    else:
        counts = np.stack([answers[name] for name in answers.dtype.names], axis=1).astype(np.int64)
    offsets = np.arange(len(counts) + 1, dtype=np.int64) * count
    if offsets[-1] > np.iinfo(np.int32).max:
        raise SashError(f"the lists of histogram hold {offsets[-1]:,} counts, more than one array can; take fewer rows")
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(counts.ravel()))


def by_bucket(function: Any) -> BucketFunction:
    """A function of the rows of each category."""
    return BucketFunction("by_bucket", inner=function)


FUNCTIONS = (
    Function(
        "histogram",
        histogram,
        (COL, Parameter("edges", CONSTANT, type="Any", words="the edges", example=(0.0, 5.0, 10.0))),
        "How many values lie between each two of the ``edges``, as a list.\n\n"
        "As in NumPy, a value at an edge counts for what is above it, one at the last edge for what is below. Others\n"
        "and NaN do not count: let the edges begin with ``-inf`` and end with ``inf`` to count all.",
        ("histogram(price, array(4, 6, 8))",),
        "Lists",
    ),
    Function(
        "by_bucket",
        by_bucket,
        (Parameter("category"), Parameter("function", CALL, type="Call", words="the function", example=COUNT)),
        'A function of the rows of each category, such as ``sf.sum("x")``, as a map by category.\n\n'
        "A category is there where the frame has a row of it; rows whose category is NULL are in none.",
        ("by_bucket(sym, sum(price))",),
        "Lists",
    ),
)
