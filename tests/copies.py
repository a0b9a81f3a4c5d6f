"""The catalogue's own definitions under other names: what a user would write who wrote them again."""

from dataclasses import replace
from types import FunctionType

from sash.algebra import Aggregate

FUNCTIONS = ("lift", "combine", "lower", "inverse", "combine_without_nan")


def copied(thing):
    """The definition of a function with another name, made of other functions, and known to no catalogue."""
    if not isinstance(thing, Aggregate):
        return replace(thing, name=f"own_{thing.name}")
    parts = {name: again(getattr(thing, name)) for name in FUNCTIONS if getattr(thing, name) is not None}
    copy = thing.but(name=f"own_{thing.name}", **parts) if thing.typed is None else thing.but(name=f"own_{thing.name}")
    assert copy.origin is None
    return copy


def again(function):
    """A function that does the same and is another one."""
    code, names = function.__code__, function.__globals__
    return FunctionType(code, names, function.__name__, function.__defaults__, function.__closure__)


def copy_of(call):
    """The call of the copy."""
    return replace(call, aggregate=copied(call.aggregate))
