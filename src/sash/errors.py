"""What Sash raises: one sentence that names the argument, what it got and what it takes."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager


class SashError(Exception):
    """The base of everything Sash raises on purpose.

    >>> import sash
    >>> try:
    ...     sash.Aggregate("broken", lift=1, combine=max)
    ... except sash.SashError as error:
    ...     print(error)
    lift must be a function, got 1 of type int
    """

    column: str | None = None  # what was being computed, where that is known


class NotCompilable(SashError):
    """A function of an aggregate is outside what Numba compiles."""


class Refused(SashError):
    """An algorithm needs a property that the aggregate, or the windows, do not have."""


class Overflow(SashError, ArithmeticError):
    """An exact integer answer does not fit its type."""


@contextmanager
def column_named(name: str) -> Iterator[None]:
    """Let an error know which column it is about."""
    try:
        yield
    except SashError as error:
        error.column = name
        raise


class SashWarning(UserWarning):
    """What works, but not as well as it could."""


def outside() -> int:
    """The stack level of the first caller that is not Sash: where a warning is about."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("sash", "contextlib"):
        level, frame = level + 1, frame.f_back
    return level
