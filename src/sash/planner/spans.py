"""Which technique puts spans into the slices that they cover.

A cost is in nanoseconds, on one thread; measured by ``python -m bench.spans costs``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

BY_SLICES = ("slicing", "multilevel_slicing", "difference", "doubling")
BY_EVENTS = ("tuple_buckets", "aggregate_buckets", "sweeping")
TECHNIQUES = (*BY_SLICES, *BY_EVENTS)


class Technique(NamedTuple):
    """A way to fold spans into slices; ``height`` is that of several levels."""

    name: str
    height: int = 1


def choose(aggregate: Any, exact: bool, spans: int, insertions: int, cells: int) -> Technique:
    """The technique that folds so many spans, with so many insertions in all, into so many cells the fastest.

    >>> from sash.algebra.catalogue import builtin
    >>> choose(builtin("count"), True, 1000, 1_000_000, 5000).name
    'difference'
    >>> choose(builtin("avg"), False, 1_000_000, 1_000_000, 5000).name
    'slicing'
    """
    found = [(2.0 * spans + 1.5 * insertions, Technique("slicing"))]
    if aggregate.invertible and exact:
        found.append((6.0 * spans + 4.0 * cells, Technique("difference")))
    if aggregate.selective:
        levels = max(insertions // max(spans, 1), 1).bit_length()
        found.append((6.0 * spans + 3.0 * levels * cells, Technique("doubling")))
    for height in (2, 4, 8, 16, 32):
        found.append(
            (4.0 * spans + 2.0 * insertions / height + 4.0 * height * cells, Technique("multilevel_slicing", height))
        )
    return min(found)[1]
