"""What Sash raises: one sentence that names the argument, what it got and what it takes."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from types import TracebackType


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

    def _render_traceback_(self) -> list[str]:
        """What IPython, and so Jupyter and Databricks, shows of it."""
        return "".join(short_traceback(self)).splitlines()


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


def meant(name: str, names: Iterable[str]) -> str:
    """Words for an error about a name that is not there, if another is like it.

    >>> meant("medain", ["mean", "median"])
    '; did you mean median?'
    """
    from difflib import get_close_matches

    near = get_close_matches(name.lower(), list(names), 1)
    return f"; did you mean {near[0]}?" if near else ""


class SashWarning(UserWarning):
    """What works, but not as well as it could."""


def outside() -> int:
    """The stack level of the first caller that is not Sash: where a warning is about."""
    level, frame = 1, sys._getframe(1)
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in ("sash", "contextlib"):
        level, frame = level + 1, frame.f_back
    return level


LIBRARIES = ("sash", "pyspark", "py4j", "grpc", "IPython", "contextlib", "functools")
FRAMES = 2  # of the user's code that are shown


def short_traceback(error: SashError) -> list[str]:
    """Where in the user's own code an error came up, and its sentence; what libraries did meanwhile says no more."""
    frames = [
        traceback.FrameSummary(frame.f_code.co_filename, line, frame.f_code.co_name)
        for frame, line in traceback.walk_tb(error.__traceback__)
        if str(frame.f_globals.get("__name__", "")).partition(".")[0] not in LIBRARIES
    ]
    head = ["Traceback (most recent call last):\n", *traceback.format_list(frames[-FRAMES:])] if frames else []
    return [*head, f"{type(error).__module__}.{type(error).__qualname__}: {error}\n"]


def show_short() -> None:
    """Let a script that ends with an error of Sash print it so; one that shows errors in a way of its own is left."""
    if sys.excepthook is sys.__excepthook__:
        sys.excepthook = _shown


def _shown(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if isinstance(error, SashError):
        sys.stderr.write("".join(short_traceback(error)))
    else:
        sys.__excepthook__(kind, error, trace)
