"""A kernel for an aggregate and its input types: from memory, from disk, or compiled."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from sash.algebra import Aggregate
from sash.errors import SashError
from sash.kernels.compiling import disk, interpreted, meaning, native
from sash.kernels.compiling.registry import Kernel, parameters

_made: dict[str, Specialised] = {}
_making = threading.Lock()


@dataclass(frozen=True)
class Specialised:
    """A kernel ready to be called, and the types of the arrays it takes."""

    run: Callable[..., int]
    parameters: dict[str, str]
    state: np.dtype
    answer: np.dtype


def specialise(kernel: Kernel, aggregate: Aggregate, inputs: tuple[Any, ...], frames: str = "bounds") -> Specialised:
    """The kernel for this aggregate over columns of these types.

    Compiling happens once per meaning: a process that finds the kernel in memory or on disk does not
    import Numba. ``frames`` is ``"bounds"`` or ``"size"``.
    """
    if not aggregate.compiled:
        run = kernel.make(interpreted.namespace(aggregate, frames))
        return Specialised(run, parameters(run), np.dtype(object), np.dtype(object))
    dtypes = tuple(np.dtype(dtype) for dtype in inputs)
    key = meaning.digest(_surroundings(), kernel.make, *_functions(aggregate), [d.str for d in dtypes], frames)
    with _making:
        if key not in _made:
            _made[key] = _load(kernel, aggregate, dtypes, frames, key)
        return _made[key]


def _functions(aggregate: Aggregate) -> tuple[Any, ...]:
    return aggregate.lift, aggregate.combine, aggregate.lower, aggregate.inverse, aggregate.rows


@cache
def _surroundings() -> str:
    """Whatever else a compiled kernel depends on: versions, processor, and this layer itself."""
    from importlib.metadata import version
    from sys import version_info

    here = sorted(Path(__file__).parent.glob("*.py"))
    return meaning.digest(
        tuple(version_info),
        np.__version__,
        version("numba"),
        version("llvmlite"),
        native.processor(),
        [path.read_bytes() for path in here],
    )


def _load(kernel: Kernel, aggregate: Aggregate, inputs: tuple[np.dtype, ...], frames: str, key: str) -> Specialised:
    stored = disk.read(key)
    if stored is None:
        with disk.lock(key):
            stored = disk.read(key)  # another process may have compiled it meanwhile
            if stored is None:
                from sash.kernels.compiling import numba_backend

                stored = numba_backend.build(kernel.make, aggregate, inputs, frames)
                disk.write(key, *stored)
    description, code = stored
    call = native.load(code, description["name"], description["words"])

    def run(*arguments: Any) -> int:
        status, result = call(*arguments)
        if status:
            raise SashError(
                f"{kernel.name}: a function of the aggregate {aggregate.name} raised; "
                "compiled=False runs it as plain Python and shows where"
            )
        return result

    state, answer = _dtype(description["state"]), _dtype(description["answer"])
    return Specialised(run, description["parameters"], state, answer)


def _dtype(described: Any) -> np.dtype:
    if isinstance(described, str):
        return np.dtype(described)
    return np.dtype([(f"f{k}", kind) for k, kind in enumerate(described)], align=True)
