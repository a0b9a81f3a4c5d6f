"""Users' own aggregates by the names that queries call them by."""

from __future__ import annotations

import re

from sash.algebra import Aggregate
from sash.errors import SashError
from sash.sql.names import NAMES

REGISTERED: dict[str, Aggregate] = {}


def register(aggregate: Aggregate) -> Aggregate:
    """Let queries call an aggregate by its name, in any case; a later one of the same name takes its place.

    >>> import math, sash
    >>> geomean = sash.register(sash.Aggregate(
    ...     "geomean",
    ...     lift=lambda x: (math.log(x), 1),
    ...     combine=lambda a, b: (a[0] + b[0], a[1] + b[1]),
    ...     lower=lambda s: math.exp(s[0] / s[1]),
    ... ))
    >>> query = "select geomean(price) over (order by at rows 9 preceding) from trades"  # for sash.sql
    """
    if not isinstance(aggregate, Aggregate):
        raise SashError(f"register takes a sash.Aggregate, got {aggregate!r} of type {type(aggregate).__name__}")
    name = aggregate.name
    if not re.fullmatch(r"[^\W\d]\w*", name):
        raise SashError(f"register takes an aggregate whose name is one word, got {name!r}")
    if name.lower() in NAMES:
        raise SashError(f"register takes an aggregate with a name of its own, got {name!r}, which is built in")
    REGISTERED[name.lower()] = aggregate
    return aggregate
