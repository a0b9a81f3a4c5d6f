"""Partials as rows: an aggregate that lifts what others have folded."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np

from sash.algebra import Aggregate
from sash.kernels.compiling.accessors import Shape, define, pattern


class Partial(NamedTuple):
    """The type of a partial as it is stored, and the shape that functions see of it."""

    state: np.dtype
    shape: Shape

    @property
    def fields(self) -> int:
        """How many numbers it has."""
        return 1 if self.state.names is None else len(self.state.names)


def of_partials(aggregate: Aggregate, make: Callable[..., Any] | None, sources: Sequence[Partial]) -> Aggregate:
    """The aggregate of partials, given as columns of their numbers; ``make`` makes one of its own of several sources.

    >>> from sash.algebra.catalogue.sums import AVG
    >>> whole = Partial(np.dtype([("f0", "f8"), ("f1", "i8")]), (None, None))
    >>> of_partials(AVG, None, [whole]).lift(6.0, 3)
    (6.0, 3)
    """
    parts, fields = [], 0
    for source in sources:
        parts.append(pattern(source.shape, "x{}", fields))
        fields += source.fields
    names = ", ".join(f"x{k}" for k in range(fields))
    if make is None:
        lift = define(f"lift({names})", f"return {parts[0]}")
    else:
        lift = define(f"lift({names})", f"return make({', '.join(parts)})", make=make)
    return aggregate.but(lift=lift, typed=None, cast=None, combine_without_nan=None, bulk=None)


def columns_of(states: np.ndarray) -> tuple[np.ndarray, ...]:
    """The numbers of partials, each as a column."""
    if states.dtype.names is None:
        return (states,)
    return tuple(np.ascontiguousarray(states[name]) for name in states.dtype.names)
