"""The algorithms that the rooms of kernels declare: each file is imported once, when an algorithm is first chosen."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules

from sash.kernels import fifo, operations, spans, structures
from sash.kernels.algorithm import (
    COUNT,
    DENSE,
    DISTINCT,
    DISTINCT_FOLD,
    DISTINCT_SELECT,
    ENTROPY,
    FOLD,
    MODE,
    SELECT,
    WEIGHTED,
    Algorithm,
    Task,
    declared,
)

ROOMS = (fifo, structures, operations, spans)
OPERATIONS = (
    FOLD,
    SELECT,
    COUNT,
    DISTINCT,
    DISTINCT_FOLD,
    DISTINCT_SELECT,
    WEIGHTED,
    DENSE,
    MODE,
    ENTROPY,
)  # of frames


@cache
def _import_rooms() -> None:
    for room in ROOMS:
        for module in iter_modules(room.__path__):
            import_module(f"{room.__name__}.{module.name}")


def algorithms(operation: str) -> tuple[Algorithm, ...]:
    """The algorithms for an operation, by name."""
    _import_rooms()
    return tuple(each for _, each in sorted(declared(operation).items()))


def listed(operation: str) -> tuple[Algorithm, ...]:
    """The algorithms for an operation over frames: those that are taken unless another is named, the cheapest first."""
    return tuple(sorted(algorithms(operation), key=lambda each: (not each.offered, each.cost(Task(operation)))))


def names() -> tuple[str, ...]:
    """The names of the algorithms that answer frames."""
    return tuple(dict.fromkeys(each.name for operation in OPERATIONS for each in listed(operation)))
