"""What Sash raises: one sentence that names the argument, what it got and what it takes."""


class SashError(Exception):
    """The base of everything Sash raises on purpose.

    >>> import sash
    >>> try:
    ...     sash.Aggregate("broken", lift=1, combine=max)
    ... except sash.SashError as error:
    ...     print(error)
    lift must be a function, got 1 of type int
    """


class NotCompilable(SashError):
    """A function of an aggregate is outside what Numba compiles."""


class Refused(SashError):
    """An algorithm needs a property that the aggregate, or the windows, do not have."""


class Overflow(SashError, ArithmeticError):
    """An exact integer answer does not fit its type."""
