"""The meaning of a function, as a digest that two processes agree on.

Bytecode, constants, names, defaults, what the closure holds and what is read of the globals, all the
way down; not where the function stands, nor which object it is. So a lambda typed again, unpickled
on another machine, or moved down the file has the same meaning.
"""

from __future__ import annotations

import hashlib
import types
from typing import Any

import numpy as np


def digest(*things: Any) -> str:
    """A hexadecimal digest of the meaning of these things."""
    writer = _Writer()
    for thing in things:
        writer.write(thing)
    return writer.hash.hexdigest()


class _Writer:
    def __init__(self) -> None:
        self.hash = hashlib.sha256()
        self.seen: dict[int, int] = {}
        self.alive: list[Any] = []  # an id is only unique while its object lives

    def token(self, *parts: Any) -> None:
        for part in parts:
            data = part if isinstance(part, bytes) else str(part).encode()
            self.hash.update(len(data).to_bytes(8, "little"))
            self.hash.update(data)

    def write(self, thing: Any) -> None:
        if thing is None or isinstance(thing, (bool, int, float, complex, str, bytes)):
            self.token(type(thing).__name__, repr(thing))
        elif isinstance(thing, (np.generic, np.dtype)):
            self.token("numpy", repr(thing), str(getattr(thing, "dtype", "")))
        elif isinstance(thing, (tuple, list)):
            self.token(type(thing).__name__, len(thing))
            for item in thing:
                self.write(item)
        elif isinstance(thing, (frozenset, set)):
            self.token("set", *sorted(digest(item) for item in thing))
        elif isinstance(thing, dict):
            self.token("dict", len(thing))
            for key, value in thing.items():
                self.write(key)
                self.write(value)
        elif isinstance(thing, types.CodeType):
            self.code(thing)
        elif isinstance(thing, types.FunctionType):
            self.function(thing)
        elif isinstance(thing, types.ModuleType):
            self.token("module", thing.__name__, getattr(thing, "__version__", ""))
        elif isinstance(thing, (types.BuiltinFunctionType, type, np.ufunc)):
            self.token("builtin", getattr(thing, "__module__", ""), getattr(thing, "__qualname__", thing.__name__))
        elif isinstance(getattr(thing, "py_func", None), types.FunctionType):  # jitted by the user
            self.function(thing.py_func)
        else:
            self.token("other", type(thing).__module__, type(thing).__qualname__, repr(thing))

    def code(self, code: types.CodeType) -> None:
        self.token("code", code.co_code, code.co_exceptiontable, code.co_argcount, code.co_flags)
        self.token(*code.co_names, "|", *code.co_varnames, "|", *code.co_freevars, "|", *code.co_cellvars)
        self.write(code.co_consts)

    def function(self, function: types.FunctionType) -> None:
        if id(function) in self.seen:  # a recursive function, or one met before
            self.token("seen", self.seen[id(function)])
            return
        self.seen[id(function)] = len(self.seen)
        self.alive.append(function)
        self.token("function")
        self.code(function.__code__)
        self.write(function.__defaults__)
        for cell in function.__closure__ or ():
            self.write(cell.cell_contents)
        for name in sorted(names(function)):
            if name in function.__globals__:
                self.token(name)
                self.write(function.__globals__[name])


def names(function: types.FunctionType) -> set[str]:
    """The names that a function, or one nested in it, may look up among the globals."""
    return _names(function.__code__)


def _names(code: types.CodeType) -> set[str]:
    """The names that a code object, or one nested in it, may look up among the globals."""
    names = set(code.co_names)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            names |= _names(constant)
    return names
