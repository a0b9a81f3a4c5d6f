"""A seal on exported state: whose it is, and that it is whole.

Kernels do not check what they index with, so a state that was damaged, or that belongs to another kind
of window, must be found out before one runs on it.
"""

from __future__ import annotations

import hashlib
from typing import Any

import numpy as np

from sash.algebra import Aggregate
from sash.errors import SashError
from sash.kernels.compiling import meaning

PARTS = ("name", "lift", "combine", "rows")  # what makes two partials the same thing


def making(aggregate: Aggregate, *details: Any) -> str:
    """What a state depends on beside its arrays: the aggregate's meaning, the algorithm, the types."""
    parts = [getattr(aggregate, part) for part in PARTS]
    try:
        return meaning.digest(parts, details)
    except meaning.Unclear:  # functions that only run as plain Python; the name has to do
        return meaning.digest(aggregate.name, details)


def sealed(origin: str, arrays: dict[str, np.ndarray]) -> dict[str, np.ndarray]:
    """Copies of the arrays, and their seal."""
    copies = {name: unpadded(array) for name, array in arrays.items()}
    return {**copies, "seal": _seal(origin, copies)}


def opened(origin: str, state: dict[str, np.ndarray], names: tuple[str, ...]) -> dict[str, np.ndarray]:
    """Copies of the arrays of a state, once its seal has been found right."""
    if not isinstance(state, dict) or set(state) != {*names, "seal"}:
        raise SashError(f"state must be what state() of such a window gave, got {_names(state)}")
    copies = {name: np.array(state[name]) for name in names}
    if not np.array_equal(state["seal"], _seal(origin, copies)):
        raise SashError("state must be of a window of the same aggregate, types, size and algorithm, and unchanged")
    return copies


def unpadded(array: np.ndarray) -> np.ndarray:
    """A copy whose bytes are those of its values alone: what pads a record is zero."""
    if array.dtype.names is None:
        return array.copy()
    copy = np.zeros(array.shape, array.dtype)
    for name in array.dtype.names:
        copy[name] = array[name]
    return copy


def _seal(origin: str, arrays: dict[str, np.ndarray]) -> np.ndarray:
    digest = hashlib.blake2b(origin.encode(), digest_size=32)
    for name in sorted(arrays):
        array = arrays[name]
        digest.update(f"{name} {array.dtype.str} {array.dtype.descr} {array.shape}".encode())
        if array.dtype == object:  # plain Python states may hold anything
            continue
        for part in [array] if array.dtype.names is None else [array[field] for field in array.dtype.names]:
            digest.update(np.ascontiguousarray(part).view(np.uint8).data)  # a copy may change what pads a record
    return np.frombuffer(digest.digest(), np.uint8)


def _names(state: Any) -> str:
    return ", ".join(map(str, state)) if isinstance(state, dict) else type(state).__name__
