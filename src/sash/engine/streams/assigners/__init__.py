"""Window kinds: a file for each, all of which are found here; ``base`` says what an assigner must be."""

from __future__ import annotations

from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from sash.engine.streams.assigners.base import AssignedStream, Assigner


@cache
def _kinds() -> tuple[type[Assigner], ...]:
    """The assigners of all kinds of windows."""
    assigners: dict[str, type[Assigner]] = {}
    for module in sorted(each.name for each in iter_modules(__path__)):
        for name, value in vars(import_module(f"{__name__}.{module}")).items():
            if isinstance(value, type) and issubclass(value, Assigner) and not value.__abstractmethods__:
                assigners[name] = value
    return tuple(assigners.values())


def assigner_of(extent: Any, stream: AssignedStream) -> Assigner:
    """The assigner of an extent."""
    (assigner,) = (each for each in _kinds() if each.takes(extent))
    return assigner(extent, stream)
