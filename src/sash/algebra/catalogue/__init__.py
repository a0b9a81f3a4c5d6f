"""The built-in aggregates: each a ``sash.Aggregate`` like a user's own.

``CATALOGUE`` maps a name to a function of the aggregate's parameters; most take none. Those of ``weighted`` are for
spans alone.
"""

from __future__ import annotations

from collections.abc import Callable

from sash.algebra.aggregate import Aggregate
from sash.algebra.catalogue import (
    apache_sketches,
    bits,
    moments,
    ordered,
    pairs,
    positions,
    selecting,
    sketches,
    sums,
    weighted,
)
from sash.errors import SashError

CATALOGUE: dict[str, Callable[..., Aggregate]] = {}
for _module in (sums, selecting, bits, moments, pairs, positions, ordered, sketches, apache_sketches):
    CATALOGUE |= _module.AGGREGATES


def builtin(name: str, *parameters: object) -> Aggregate:
    """The built-in aggregate of this name.

    >>> builtin("top_k", 3)
    <aggregate top_k>
    """
    known = CATALOGUE | weighted.AGGREGATES
    if name not in known:
        raise SashError(f"name must be a built-in aggregate, got {name!r}; there are {', '.join(sorted(CATALOGUE))}")
    made = known[name](*parameters)
    object.__setattr__(made, "origin", (name, *parameters))
    return made
