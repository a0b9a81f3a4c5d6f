"""Sketches of the optional package datasketches (Apache): kll_percentile, hll_count_distinct, frequent_items.

Each answers within an error that its size sets, however many rows there are: quantiles by KLL (Karnin, Lang,
Liberty 2016), distinct counts by HyperLogLog (Flajolet et al. 2007), frequent items by Misra and Gries' counters
(Anderson et al. 2017). Frames that fit the sketch are answered exactly.
"""

from __future__ import annotations

import math
from numbers import Real
from typing import Any

import numpy as np

from sash.algebra.aggregate import Aggregate
from sash.algebra.catalogue.apache_partials import Distinct, Frequent, Quantiles, counted, different, hashable
from sash.algebra.catalogue.declaring import COL, CONSTANT, Function, Parameter, whole
from sash.errors import SashError


def required(name: str) -> None:
    """Refuse to make an aggregate where the package it needs is missing."""
    try:
        import datasketches  # noqa: F401
    except ImportError:
        raise SashError(f"{name} needs the package datasketches: pip install 'sash[sketches]'") from None


# Quantiles


def kll_percentile(percentage: Any, k: Any = 200) -> Aggregate:
    """The first value at or below which a share of the rows lies, or a list of them for several shares.

    >>> from sash.kernels.fifo import slide
    >>> slide(kll_percentile(0.5), np.arange(101.0), size=101).values[-1]
    np.float64(50.0)
    """
    required("kll_percentile")
    k = whole("k", k, least=8, most=65535)
    several = isinstance(percentage, (list, tuple))
    shares = tuple(map(_share, percentage if several else (percentage,)))
    if not shares:
        raise SashError(f"percentage must be one share or more, got {percentage!r}")

    def lower(state: Quantiles) -> Any:
        quantiles = tuple(state.at(share) for share in shares)
        if quantiles[0] is None:
            return None
        return quantiles if several else quantiles[0]

    def finish(answers: Any) -> Any:
        return _lists(answers, len(shares)) if several else answers.astype(np.float64)

    return Aggregate(
        "kll_percentile",
        lift=lambda x: Quantiles.of_one(k, x),
        combine=lambda a, b: a.merged(b),
        lower=lower,
        commutative=True,
        compiled=False,
        cast="float64",
        finish=finish,
        bulk=lambda x: Quantiles.of(k, np.ascontiguousarray(x, np.float64)),
        pack=lambda state: state.packed(),
        unpack=lambda data: Quantiles.unpacked(data),
    )


def _share(value: Any) -> float:
    share = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    if not 0 <= share <= 1:
        raise SashError(f"percentage must be between 0 and 1, got {value!r}")
    return share


def _lists(answers: Any, length: int) -> Any:
    """Records of so many numbers as an Arrow array of lists."""
    import pyarrow as pa

    names = answers.dtype.names or ()  # none where every answer is NULL
    columns = [answers[name] for name in names] or [np.zeros(len(answers))] * length
    offsets = pa.array(np.arange(len(answers) + 1) * length, pa.int32())
    return pa.ListArray.from_arrays(offsets, np.stack(columns, axis=1).astype(np.float64).ravel())


# Distinct counts


def hll_count_distinct(lg_k: Any = 12) -> Aggregate:
    """About how many different values there are, by a sketch of 2^lg_k bytes.

    >>> from sash.kernels.fifo import slide
    >>> slide(hll_count_distinct(), np.array([7, 8, 7, 7]), size=3).values
    array([1, 2, 2, 2])
    """
    required("hll_count_distinct")
    lg_k = whole("lg_k", lg_k, least=4, most=21)
    return Aggregate(
        "hll_count_distinct",
        lift=lambda x: Distinct.of(lg_k, (hashable(x),)),
        combine=lambda a, b: a.merged(b),
        lower=lambda state: state.count(),
        commutative=True,
        compiled=False,
        takes="values",
        finish=lambda answers: answers.astype(np.int64),
        empty=0,
        bulk=lambda x: Distinct.of(lg_k, different(x)),
        pack=lambda state: state.packed(),
        unpack=lambda data: Distinct.unpacked(data),
    )


# Frequent items


def frequent_items(n: Any, lg_k: Any = 10) -> Aggregate:
    """The n most frequent values with about how often each occurs, the most frequent first.

    >>> from sash.kernels.fifo import slide
    >>> slide(frequent_items(1), ["a", "b", "b"], size=3).values[-1].as_py()
    [{'item': 'b', 'count': 2}]
    """
    required("frequent_items")
    lg_k = whole("lg_k", lg_k, least=3, most=26)
    n = whole("n", n, most=3 << (lg_k - 2))  # a map is filled to three quarters
    items = Aggregate(
        "frequent_items",
        lift=lambda x: Frequent.of(lg_k, ((x, 1),)),
        combine=lambda a, b: a.merged(b),
        lower=lambda state: state.most(n),
        commutative=True,
        compiled=False,
        takes="values",
        finish=lambda answers: _structs(answers, None),
        bulk=lambda x: Frequent.of(lg_k, zip(*counted(x), strict=True)),
        pack=lambda state: state.packed(),
        unpack=lambda data: Frequent.unpacked(data),
    )
    return items.but(for_type=lambda dtype: items.but(finish=lambda answers: _structs(answers, dtype)))


def _structs(answers: Any, dtype: Any) -> Any:
    """Items and their counts as an Arrow array of lists of structs; empty ones where the answer is NULL."""
    import pyarrow as pa

    counted = [answer if isinstance(answer, dict) else {} for answer in answers]
    items = [item for answer in counted for item in answer]
    counts = pa.array([count for answer in counted for count in answer.values()], pa.int64())
    offsets = np.cumsum([0, *map(len, counted)])
    structs = pa.StructArray.from_arrays([_items(items, dtype), counts], ["item", "count"])
    return pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), structs)


def _items(items: list[Any], dtype: Any) -> Any:
    """Items as an Arrow array of a type; those of times and such are whole numbers."""
    import pyarrow as pa

    if dtype is None:
        return pa.array(items)
    if pa.types.is_dictionary(dtype):
        dtype = dtype.value_type
    if pa.types.is_temporal(dtype):
        return pa.array(items, pa.int32() if dtype.bit_width == 32 else pa.int64()).cast(dtype)
    return pa.array(items, pa.float32()).cast(dtype) if pa.types.is_float16(dtype) else pa.array(items, dtype)


_NEEDS = "Needs ``pip install 'sash[sketches]'``."

FUNCTIONS = (
    Function(
        "kll_percentile",
        kll_percentile,
        (COL, Parameter("percentage", CONSTANT, type="Any", example=0.25), Parameter("k", CONSTANT, 200, "int")),
        f"""About the value at or below which a share of the rows lies, by a KLL sketch; a list of them for several.

The rank of the answer is off by at most 1.33 % of the rows for ``k`` = 200, with 99 % confidence, and by
half as much for ``k`` twice as large. {_NEEDS}""",
        ("kll_percentile(price, 0.5)",),
        "Sketches",
    ),
    Function(
        "hll_count_distinct",
        hll_count_distinct,
        (COL, Parameter("lg_k", CONSTANT, 12, "int")),
        f"""About how many different values there are, by a HyperLogLog sketch; a NULL does not count.

The standard error is 1.6 % for ``lg_k`` = 12, which takes 4 KB, and half as much for ``lg_k`` greater by 2.
{_NEEDS}""",
        ("hll_count_distinct(trader)",),
        "Sketches",
    ),
    Function(
        "frequent_items",
        frequent_items,
        (COL, Parameter("n", CONSTANT, type="int", example=2), Parameter("lg_k", CONSTANT, 10, "int")),
        f"""The ``n`` most frequent values and about how often each occurs, as a list of structs ``item``, ``count``.

Counts are off by at most 3.5 / 2^``lg_k`` of the rows, 0.34 % for ``lg_k`` = 10, and exact where there are no
more different values than 0.75 * 2^``lg_k``. {_NEEDS}""",
        ("frequent_items(sym, 1)",),
        "Sketches",
    ),
)
