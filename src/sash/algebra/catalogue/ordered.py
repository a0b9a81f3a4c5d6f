"""The k smallest or largest values of a window: top_k and ith_smallest.

A partial holds how many values there are and the best of them in order, at most k. As everywhere, NaN
is above every number.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sash.algebra.aggregate import Aggregate
from sash.algebra.catalogue.declaring import COL, CONSTANT, Function, Parameter, whole
from sash.algebra.catalogue.extremes import above
from sash.algebra.tuples import replaced

MOST = 128  # a partial is merged in time proportional to k


def below(a: Any, b: Any) -> bool:
    """Whether a comes strictly before b in ascending order."""
    return above(b, a)


def _best(name: str, k: int, end: str, before: Callable[[Any, Any], bool]) -> Aggregate:
    """The k values that come before the others: those at one end."""

    def merge(a: Any, b: Any) -> Any:
        length = min(a[0] + b[0], k)
        best, i, j = a[1], 0, 0
        for place in range(length):
            if j >= b[0] or (i < a[0] and not before(b[1][j], a[1][i])):
                best = replaced(best, place, a[1][i])
                i += 1
            else:
                best = replaced(best, place, b[1][j])
                j += 1
        return (length, best)

    def typed(dtypes: tuple[Any, ...]) -> Aggregate:
        zero = np.dtype(dtypes[0]).type(0) if dtypes else 0.0
        blank = (zero,) * k
        return plain.but(lift=lambda x: (1, replaced(blank, 0, x)))

    blank = (0.0,) * k
    plain = Aggregate(
        name,
        lift=lambda x: (1, replaced(blank, 0, x)),
        combine=merge,
        identity=(0, blank),
        commutative=True,
        exact=True,
        takes="order",
        gives_input=True,
        few=(end, k),
    )
    return plain.but(typed=typed)


def ith_smallest(i: Any) -> Aggregate:
    """The i-th value in ascending order; NULL where there are fewer."""
    i = whole("i", i, most=MOST)
    return _best("ith_smallest", i, "smallest", below).but(lower=lambda s: s[1][i - 1] if s[0] >= i else None)


def top_k(k: Any) -> Aggregate:
    """The k largest values, the largest first, as a list; an empty one where there are none."""
    k = whole("k", k, most=MOST)
    return _best("top_k", k, "largest", above).but(finish=lists, empty=(0,) * (k + 1))


def lists(answers: Any) -> Any:
    """Records of a count and so many values as Arrow lists."""
    import pyarrow as pa

    lengths = answers["f0"].astype(np.int64)
    values = np.stack([answers[name] for name in answers.dtype.names[1:]], axis=1)
    present = np.arange(values.shape[1]) < lengths[:, None]
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), pa.array(values[present]))


FUNCTIONS = (
    Function(
        "ith_smallest",
        ith_smallest,
        (COL, Parameter("i", CONSTANT, type="int", example=2)),
        "The ``i``-th value in ascending order; NULL where there are fewer.",
        ("ith_smallest(price, 2)",),
        "Quantiles and modes",
    ),
    Function(
        "top_k",
        top_k,
        (COL, Parameter("k", CONSTANT, type="int", example=3)),
        "The ``k`` largest values, the largest first, as a list.",
        ("top_k(price, 2)",),
        "Lists",
    ),
)
