"""Which technique puts spans into the slices that they cover.

A cost is in nanoseconds, on one thread; measured by ``python -m bench.spans costs``.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from sash.errors import SashError

BY_SLICES = ("slicing", "multilevel_slicing", "difference", "doubling")
BY_EVENTS = ("tuple_buckets", "aggregate_buckets", "sweeping")
TECHNIQUES = (*BY_SLICES, *BY_EVENTS)
HEIGHTS = (2, 4, 8, 16, 32)


class Technique(NamedTuple):
    """A way to fold spans into slices; ``height`` is that of several levels."""

    name: str
    height: int = 1


def with_height(using: str | None) -> tuple[str | None, int | None]:
    """The name of a technique, and the height of its levels, if that is named, too.

    >>> with_height("multilevel_slicing(15)"), with_height("slicing")
    (('multilevel_slicing', 15), ('slicing', None))
    """
    found = re.fullmatch(r"multilevel_slicing\((\d+)\)", using or "")
    if found is None:
        return using, None
    height = int(found[1])
    if not 1 <= height <= 64:
        raise SashError(f"using must have a height of 1 to 64 levels, got {using!r}")
    return "multilevel_slicing", height


def choose(aggregate: Any, exact: bool, spans: int, insertions: int, cells: int) -> Technique:
    """The technique that folds so many spans, with so many insertions in all, into so many cells the fastest.

    >>> from sash.algebra.catalogue import builtin
    >>> choose(builtin("count"), True, 1_000_000, 10_000_000, 5000).name
    'difference'
    >>> choose(builtin("avg"), False, 1_000_000, 1_000_000, 5000).name
    'slicing'
    """
    return min(costs(aggregate, exact, spans, insertions, cells).items(), key=lambda each: each[1])[0]


def costs(aggregate: Any, exact: bool, spans: int, insertions: int, cells: int) -> dict[Technique, float]:
    """What each technique that can takes; wide instructions make a cell cheap where a span covers many."""
    each = insertions / max(spans, 1)
    found = {Technique("slicing"): spans * (3.0 + min(3.5 * (each - 1), 7.0)) + 0.2 * insertions}
    if aggregate.invertible and exact:
        found[Technique("difference")] = 5.0 * spans + 8.0 * cells
    if aggregate.selective:
        found[Technique("doubling")] = 12.0 * spans + 12.0 * cells
    for height in HEIGHTS:
        found[Technique("multilevel_slicing", height)] = 5.0 * spans + 2.0 * insertions / height + 2.6 * height * cells
    return found
