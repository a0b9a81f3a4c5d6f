"""Which technique puts spans into the slices that they cover.

A cost is in nanoseconds, on one thread; measured by ``sash bench --full --only studies.span_costs``.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

import numpy as np

from sash.errors import SashError

BY_SLICES = ("slicing", "multilevel_slicing", "difference", "doubling")
BY_EVENTS = ("tuple_buckets", "aggregate_buckets", "sweeping")
TECHNIQUES = (*BY_SLICES, *BY_EVENTS)
HEIGHTS = (2, 4, 7, 15, 31)  # not powers of two: the levels of a long span would crowd into one set of the cache


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


class Load(NamedTuple):
    """So many spans go into so many cells each on average, of so many cells in all.

    ``varied`` is the share of spans that go into more or fewer cells than the one before.
    """

    spans: int
    each: float
    cells: int
    varied: float = 1.0


def load_of(sizes: np.ndarray, cells: int) -> Load:
    """The load of spans that go into so many of the cells."""
    if not len(sizes):
        return Load(0, 1.0, cells)
    some = sizes[: 1 << 14]
    return Load(len(sizes), float(sizes.mean()), cells, np.count_nonzero(some[1:] != some[:-1]) / len(some))


def choose(aggregate: Any, exact: bool, load: Load) -> Technique:
    """The technique that folds a load of spans into cells the fastest.

    >>> from sash.algebra.catalogue import builtin
    >>> choose(builtin("count"), True, Load(1_000_000, 10.0, 5000)).name
    'difference'
    >>> choose(builtin("avg"), False, Load(1_000_000, 1.0, 5000)).name
    'slicing'
    """
    return min(costs(aggregate, exact, load).items(), key=lambda each: each[1])[0]


def costs(aggregate: Any, exact: bool, load: Load) -> dict[Technique, float]:
    """What each technique that can takes.

    Wide instructions make a cell cheap where a span covers many; how many steps a span takes is hard to guess for the
    processor where there are several.
    """
    spans, each, cells, varied = load
    guessed = 1.0 + 2.5 * varied
    found = {Technique("slicing"): spans * (3.0 + min(guessed * (each - 1.0), 7.0) + 0.2 * each)}
    if aggregate.invertible and exact:
        found[Technique("difference")] = 5.0 * spans + 8.0 * cells
    if aggregate.selective:
        found[Technique("doubling")] = 7.5 * spans + 12.0 * cells
    for height in HEIGHTS:
        steps = max(each / height, 1.0)
        a_span = 5.0 + (1.0 + 0.02 * height) * steps + min(2.0 * (steps - 1.0), 4.0)
        found[Technique("multilevel_slicing", height)] = a_span * spans + 2.6 * height * cells
    return found
