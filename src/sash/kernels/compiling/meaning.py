"""The meaning of a function, as a digest that two processes agree on.

Bytecode, constants, names, defaults, what the closure holds and what is read of the globals and of
modules, all the way down; not where the function stands, nor which object it is. So a lambda typed
again, unpickled on another machine, or moved down the file has the same meaning.

What has no such meaning, like an object known by its address alone, raises ``Unclear``: its kernel
would never be found again or, worse, be taken for another's.
"""

from __future__ import annotations

import enum
import hashlib
import sys
import types
from collections.abc import Callable
from functools import lru_cache
from opcode import opmap
from typing import Any

import numpy as np

from sash.kernels.compiling.registry import Kernel

LARGEST = 10**6  # bytes; Numba compiles the address of a larger array, or of one with gaps, not its items
PLAIN = (type(None), bool, int, float, complex, str, bytes, type(...), range)
BY_NAME = ("builtins", "numba", "numpy")  # their versions are part of every key, so that a name tells all
MATTERING = 0x04 | 0x08 | 0x20 | 0x80 | 0x200  # code flags: *args, **kwargs, generators; not where it stands
IDLE = {"nopython": True, "boundscheck": None}  # the options of numba.njit used bare


class Unclear(Exception):
    """Something that a function reads has no meaning that another process could check."""


def digest(*things: Any) -> str:
    """A hexadecimal digest of the meaning of these things.

    >>> digest(lambda x: x + 1) == digest(lambda x: x + 1) != digest(lambda x: x + 1.0)
    True
    """
    writer = _Writer()
    for thing in things:
        writer.write(thing)
    return writer.hash.hexdigest()


class _Writer:
    def __init__(self) -> None:
        self.hash = hashlib.sha256()
        self.open: list[int] = []  # ids of what is being written, the outermost first
        self.outermost = 0  # the least level of ``open`` that was referred back to
        self.known: dict[types.FunctionType, bytes] = {}  # digests of those that refer to nothing around them
        self.trail: list[str] = []  # the names that led here
        self.attributes: set[str] = set()  # what the function being written may read of a module

    def token(self, *parts: Any) -> None:
        for part in parts:
            data = part if isinstance(part, bytes) else str(part).encode()
            self.hash.update(len(data).to_bytes(8, "little"))
            self.hash.update(data)

    def write(self, thing: Any) -> None:
        its_type = type(thing)
        if its_type in PLAIN:
            self.token(its_type.__name__, repr(thing))
        elif isinstance(thing, types.CodeType):
            self.code(thing)
        elif its_type is tuple or _named(its_type):
            self.sequence(thing)
        elif its_type in (list, dict):
            self.once(thing, lambda: self.mapping(thing) if its_type is dict else self.sequence(thing))
        elif its_type in (frozenset, set):  # their order depends on the process
            self.token(its_type.__name__, len(thing), *sorted(digest(item) for item in thing))
        elif its_type is slice:
            self.token("slice")
            self.write((thing.start, thing.stop, thing.step))
        elif isinstance(thing, enum.Enum):
            self.token("member", thing.name)
            self.write(its_type)
        elif isinstance(thing, np.ndarray):
            self.array(thing)
        elif isinstance(thing, np.generic):
            self.token("scalar", repr(thing.dtype), thing.tobytes())
        elif isinstance(thing, np.dtype):
            self.token("dtype", repr(thing))
        elif isinstance(thing, types.ModuleType):
            self.once(thing, lambda: self.module(thing))
        elif isinstance(thing, Kernel):
            self.token("kernel")
            self.write(thing.make)
        elif where := _known(thing):
            self.token("known", where)
        elif isinstance(thing, types.FunctionType):
            self.function(thing)
        elif isinstance(getattr(thing, "py_func", None), types.FunctionType):
            self.jitted(thing)
        elif isinstance(thing, type):
            self.definition(thing)
        else:
            raise self.unclear(thing)

    def sequence(self, things: Any) -> None:
        self.token(type(things).__name__, len(things))
        if _named(type(things)):
            self.write(type(things))
        for thing in things:
            if hasattr(thing, "py_func"):
                raise self.unclear(thing, "in a tuple, where Numba compiles its address")
            self.write(thing)

    def mapping(self, things: dict[Any, Any]) -> None:
        self.token("dict", len(things))
        for key, value in things.items():
            self.write(key)
            self.named(str(key), value)

    def array(self, array: np.ndarray) -> None:
        if array.dtype.hasobject:
            raise self.unclear(array, "of objects")
        if array.nbytes > LARGEST or not array.flags.forc:
            raise self.unclear(array, f"that is not contiguous, or of {array.nbytes} bytes")
        self.token("array", repr(array.dtype), array.shape, array.tobytes())

    def module(self, module: types.ModuleType) -> None:
        """Its name, and what is read of it; nothing else of it can matter."""
        self.token("module", module.__name__, getattr(module, "__version__", ""))
        if not _library(module.__name__):
            for name in sorted(self.attributes):
                if hasattr(module, name):
                    self.token(name)
                    self.named(f"{module.__name__}.{name}", getattr(module, name))

    def definition(self, its_type: type) -> None:
        if issubclass(its_type, enum.Enum):
            self.token("enum")
            self.write([(name, member.value) for name, member in its_type.__members__.items()])
        elif _named(its_type):
            self.token("fields")
            self.write(its_type._fields)  # type: ignore[attr-defined]
        elif issubclass(its_type, BaseException):  # all that shows of it is that it was raised
            self.token("exception", its_type.__module__, its_type.__qualname__)
        else:
            raise self.unclear(its_type)

    def jitted(self, dispatcher: Any) -> None:
        """A helper jitted by the user is its own function, but for what options and signatures change."""
        options = {**getattr(dispatcher, "targetoptions", IDLE)}
        options.pop("nogil", None)
        for name in sorted(options) if options != IDLE else ():
            self.token(name)
            self.write(options[name])
        if not getattr(dispatcher, "_can_compile", True):
            self.token("signatures", *dispatcher.overloads)
        self.function(dispatcher.py_func)

    def function(self, function: types.FunctionType) -> None:
        known = self.known.get(function)
        if known is None:
            outer, attributes = self.hash, self.attributes
            self.hash, self.attributes = hashlib.sha256(), _attributes(function.__code__)
            alone = self.once(function, lambda: self.parts(function))
            known = self.hash.digest()
            self.hash, self.attributes = outer, attributes
            if alone:
                self.known[function] = known
        self.token("function", known)

    def parts(self, function: types.FunctionType) -> None:
        self.code(function.__code__)
        self.write(function.__defaults__)
        self.write(function.__kwdefaults__)
        for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
            if cell == types.CellType():  # not filled yet
                self.token("empty")
            else:
                self.named(name, cell.cell_contents)
        for name in sorted(names(function)):
            if name in function.__globals__:
                self.token(name)
                self.named(name, function.__globals__[name])

    def code(self, code: types.CodeType) -> None:
        self.token("code", code.co_code, code.co_exceptiontable, code.co_flags & MATTERING)
        self.token((code.co_argcount, code.co_posonlyargcount, code.co_kwonlyargcount))
        self.token((code.co_names, code.co_varnames, code.co_freevars, code.co_cellvars))
        self.write(code.co_consts)

    def named(self, name: str, thing: Any) -> None:
        self.trail.append(name)
        self.write(thing)
        self.trail.pop()

    def once(self, thing: Any, write: Callable[[], None]) -> bool:
        """Write a thing that may contain itself; whether it refers to nothing that is being written around it."""
        if id(thing) in self.open:
            level = self.open.index(id(thing))
            self.token("above", len(self.open) - level)
            self.outermost = min(self.outermost, level)
            return False
        before, self.outermost = self.outermost, len(self.open)
        self.open.append(id(thing))
        write()
        self.open.pop()
        alone = self.outermost >= len(self.open)
        self.outermost = min(before, self.outermost)
        return alone

    def unclear(self, thing: Any, what: str = "") -> Unclear:
        its_type = f"the class {thing.__name__}" if isinstance(thing, type) else f"of type {type(thing).__name__}"
        return Unclear(f"{' of '.join(reversed(self.trail)) or 'it'} is {its_type} {what}".rstrip())


def names(function: types.FunctionType) -> frozenset[str]:
    """The globals that a function, or one nested in it, reads."""
    return _globals(function.__code__)


@lru_cache(1024)
def _globals(code: types.CodeType) -> frozenset[str]:
    names, high = set(), 0
    for operation, low in zip(code.co_code[::2], code.co_code[1::2], strict=True):
        argument = high | low
        high = argument << 8 if operation == opmap["EXTENDED_ARG"] else 0
        if operation == opmap["LOAD_GLOBAL"]:  # its lowest bit says that a call follows
            names.add(code.co_names[argument >> 1])
        elif operation == opmap["LOAD_NAME"]:
            names.add(code.co_names[argument])
    return frozenset(names).union(*(_globals(inner) for inner in _nested(code)))


def _attributes(code: types.CodeType) -> set[str]:
    """Every name by which code, or code nested in it, may read an attribute, ``getattr`` included."""
    strings = {constant for constant in code.co_consts if isinstance(constant, str)}
    return strings.union(code.co_names, *(_attributes(inner) for inner in _nested(code)))


def _nested(code: types.CodeType) -> list[types.CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, types.CodeType)]


def _named(its_type: type) -> bool:
    return issubclass(its_type, tuple) and hasattr(its_type, "_fields")


def _library(module: Any) -> bool:
    return isinstance(module, str) and module.partition(".")[0] in BY_NAME


def _known(thing: Any) -> str | None:
    """The name that leads to this very thing, where that tells all: in a library, or of a function in C."""
    numba = sys.modules.get("numba")
    if numba is not None and isinstance(thing, (numba.types.Number, numba.types.Boolean)):
        return f"numba.{thing}"
    module = "numpy" if isinstance(thing, np.ufunc) else getattr(thing, "__module__", None)
    name = getattr(thing, "__qualname__", getattr(thing, "__name__", None))
    if not isinstance(name, str) or not (_library(module) or isinstance(thing, types.BuiltinFunctionType)):
        return None
    target = sys.modules.get(module or "")
    for part in name.split("."):
        target = getattr(target, part, None)
    return f"{module}.{name}" if target is thing else None
