"""Routines: kernels that know no aggregate, compiled for the types of the arrays they are called with.

A routine is a plain function of NumPy arrays and whole numbers that returns a whole number. The functions
it calls are compiled with it. Like every kernel it allocates nothing, raises nothing, releases the GIL, and
is cached on disk by its meaning.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from sash.errors import SashError
from sash.kernels.compiling.specialise import compiled


class Routine:
    """A function that runs compiled; ``plain`` is the same as Python, for counting steps."""

    def __init__(self, function: Callable[..., int]) -> None:
        self.plain = function
        self.__name__, self.__doc__, self.__module__ = function.__name__, function.__doc__, function.__module__
        self.compiled: dict[tuple[Any, ...], Callable[..., tuple[int, int]]] = {}

    def __call__(self, *arguments: Any) -> int:
        """Run it on these arrays and whole numbers."""
        types = tuple([each.dtype if isinstance(each, np.ndarray) else int for each in arguments])
        run = self.compiled.get(types)
        if run is None:
            run = self.compiled[types] = compiled(self.plain, tuple(map(_typing, arguments)))
        status, result = run(*arguments)
        if status:
            raise SashError(f"{self.__name__} raised, which a kernel must not")
        return result


def routine(function: Callable[..., int]) -> Routine:
    """Compile a function for the types of whatever arrays and whole numbers it is called with.

    >>> @routine
    ... def largest(values, out):
    ...     for i in range(len(values)):
    ...         out[0] = max(out[0], values[i])
    ...     return len(values)
    >>> found = np.zeros(1, np.int32)
    >>> largest(np.array([3, 1, 4], np.int32), found), int(found[0])
    (3, 4)
    """
    return Routine(function)


def _typing(argument: Any) -> str:
    return argument.dtype.str if isinstance(argument, np.ndarray) else "int"
