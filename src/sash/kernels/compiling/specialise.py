"""A kernel for an aggregate and its input types: from memory, from disk, or compiled."""

from __future__ import annotations

import os
import sys
import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from sash.algebra import Aggregate
from sash.errors import NotCompilable, SashError
from sash.kernels.compiling import disk, interpreted, meaning, native
from sash.kernels.compiling.accessors import Shape
from sash.kernels.compiling.registry import Kernel, parameters
from sash.kernels.compiling.room import COMPILING, check_room

Loaded = tuple[dict[str, Any], Callable[..., tuple[int, int]]]  # what a caller must know, and the machine code

PARTS = (
    "lift",
    "combine",
    "lower",
    "inverse",
    "combine_without_nan",
    "moment",
    "commutative",
    "rows",
)  # of an aggregate, that kernels see
ADVICE = "pass compiled=False to run it, slowly, as plain Python"

_made: dict[str, Loaded] = {}
_making = threading.RLock()


def _after_fork() -> None:
    """Let go of what a thread held that did not come along into the child."""
    global _making
    _making = threading.RLock()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_after_fork)


@dataclass(frozen=True)
class Specialised:
    """A kernel ready to be called, and the types of the arrays it takes."""

    run: Callable[..., int]
    parameters: dict[str, str]
    state: np.dtype
    answer: np.dtype
    shape: Shape = None  # of a state: None for a scalar, a tuple of shapes for a tuple


_settled: WeakKeyDictionary[Aggregate, dict[Any, Specialised]] = WeakKeyDictionary()


def pinned(aggregate: Aggregate) -> Aggregate:
    """The aggregate, whose functions from now on mean what they meant when first compiled, and are looked up fast."""
    _settled[aggregate] = {}
    return aggregate


def specialise(kernel: Kernel, aggregate: Aggregate, inputs: tuple[Any, ...], frames: str = "bounds") -> Specialised:
    """The kernel for this aggregate over columns of these types; see ``_specialised``."""
    known = _settled.get(aggregate)
    if known is None:
        return _specialised(kernel, aggregate, inputs, frames)
    key = (kernel.name, tuple(inputs), frames)
    if key not in known:
        known[key] = _specialised(kernel, aggregate, inputs, frames)
    return known[key]


def _specialised(kernel: Kernel, aggregate: Aggregate, inputs: tuple[Any, ...], frames: str) -> Specialised:
    """The kernel for this aggregate over columns of these types.

    Compiling happens once per meaning: a process that finds the kernel in memory or on disk does not
    import Numba. ``frames`` is ``"bounds"`` or ``"size"``.
    """
    if not aggregate.compiled:
        plain = kernel.make(interpreted.namespace(aggregate, frames))
        return Specialised(plain, parameters(plain), np.dtype(object), np.dtype(object))
    dtypes = tuple(np.dtype(dtype) for dtype in inputs)
    key = _key(kernel, aggregate, dtypes, frames)
    description, call = _made_once(
        key, aggregate.name, lambda: _compiler().build(kernel.make, aggregate, dtypes, frames)
    )

    def run(*arguments: Any) -> int:
        status, result = call(*arguments)
        if status:
            raise SashError(
                f"{kernel.name}: a function of the aggregate {aggregate.name} raised; "
                "compiled=False runs it as plain Python and shows where"
            )
        return result

    state, answer = _dtype(description["state"]), _dtype(description["answer"])
    return Specialised(run, description["parameters"], state, answer, _shape(description["shape"]))


def _key(kernel: Kernel, aggregate: Aggregate, dtypes: tuple[np.dtype, ...], frames: str) -> str:
    parts = {part: getattr(aggregate, part) for part in PARTS}
    try:
        return meaning.digest(_surroundings(), _meant_by(kernel.make), parts, dtypes, frames)
    except meaning.Unclear as error:
        raise NotCompilable(
            f"{aggregate.name} cannot be compiled: {error}; compiled functions read numbers, strings, tuples, "
            f"contiguous arrays of up to {meaning.LARGEST} bytes, enumerations, modules and functions; {ADVICE}"
        ) from None


@cache
def _meant_by(make: Callable[..., Any]) -> str:
    """What a kernel means, found once: it reads much, and nothing of it changes."""
    return meaning.digest(make)


@cache
def _surroundings() -> str:
    """Whatever else a compiled kernel depends on: versions, settings, processor, and this layer itself."""
    import llvmlite

    settings = sorted(item for item in os.environ.items() if item[0].startswith(("NUMBA_", "SASH_BOUNDSCHECK")))
    here = sorted(Path(__file__).parent.glob("*.py"))
    return meaning.digest(
        tuple(sys.version_info),
        np.__version__,
        _numba_version(),
        llvmlite.__version__,
        settings,
        native.processor(),
        [path.read_bytes() for path in here],
    )


def _numba_version() -> Any:
    """What Numba says of its version, without importing it; importlib.metadata takes ten times as long."""
    spec = find_spec("numba")
    written = Path(spec.origin or "").with_name("_version.py") if spec else Path()
    if written.is_file():
        return written.read_bytes()
    from importlib.metadata import version

    return version("numba")


def compiled(function: Callable[..., Any], typings: tuple[str, ...]) -> Callable[..., tuple[int, int]]:
    """The machine code of a function of arrays of these NumPy types and of whole numbers (``"int"``)."""
    key = meaning.digest(_surroundings(), function, typings)
    return _made_once(key, function.__name__, lambda: _compiler().build_routine(function, typings))[1]


def _made_once(key: str, name: str, build: Callable[[], tuple[dict[str, Any], bytes]]) -> Loaded:
    """What a key stands for: from memory, from disk, or built."""
    with _making:
        if key not in _made:
            _made[key] = _load(key, name, build)
        return _made[key]


def _load(key: str, name: str, build: Callable[[], tuple[dict[str, Any], bytes]]) -> Loaded:
    stored = disk.read(key)
    if stored is not None:
        return _link(name, *stored)
    with disk.lock(key):
        stored = disk.read(key)  # another process may have compiled it meanwhile
        if stored is not None:
            return _link(name, *stored)
        check_room(COMPILING, "compiling a kernel")
        built = build()
        loaded = _link(name, *built)
        disk.write(key, *built)
        return loaded


@cache
def _compiler() -> Any:
    """The backend that imports Numba; from now on a fork waits until nothing is being compiled.

    A child born in mid-compile would find Numba's and LLVM's locks held by nobody. Hooks run latest first:
    registered after Numba has imported logging, this one waits before logging takes the lock that compiling needs.
    """
    from sash.kernels.compiling import numba_backend

    if hasattr(os, "register_at_fork"):
        os.register_at_fork(before=lambda: _making.acquire(), after_in_parent=lambda: _making.release())
    return numba_backend


def _link(name: str, description: dict[str, Any], code: bytes) -> Loaded:
    try:
        return description, native.load(code, description["name"], description["words"])
    except native.Unresolved as error:
        raise NotCompilable(f"{name} cannot be compiled: {error}; {ADVICE}") from None


def _dtype(described: Any) -> np.dtype:
    if isinstance(described, str):
        return np.dtype(described)
    return np.dtype([(f"f{k}", kind) for k, kind in enumerate(described)], align=True)


def _shape(described: Any) -> Shape:
    return None if described is None else tuple(map(_shape, described))
