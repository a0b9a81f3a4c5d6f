"""States compared as far as floats can say: equal, or within what a tolerance on the way to them allows."""

from __future__ import annotations

import math
import random
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from sash.algebra.aggregate import State

NUDGES = 16  # how often operands are changed a little, to see what rounding can do
FLOATS = (float, np.floating)


def is_number(value: Any) -> bool:
    """Whether a value is a number or a boolean, of Python or of NumPy."""
    return type(value) in (float, int, bool) or isinstance(value, (int, float, np.bool_, np.integer, np.floating))


def leaves(state: Any) -> list[Any]:
    """What a nested tuple holds, from left to right."""
    return [leaf for part in state for leaf in leaves(part)] if isinstance(state, (tuple, list)) else [state]


def same(a: Any, b: Any) -> bool:
    """Whether two states are exactly equal, NaN being equal to itself."""
    for container in (tuple, list):
        if isinstance(a, container) or isinstance(b, container):
            return isinstance(a, container) and isinstance(b, container) and len(a) == len(b) and all(map(same, a, b))
    if isinstance(a, np.ndarray) or isinstance(b, np.ndarray):
        return type(a) is type(b) and same(a.tolist(), b.tolist())
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(same(a[key], b[key]) for key in a)
    by_identity: Any = object.__eq__
    if type(a) is type(b) and type(a).__eq__ is by_identity and hasattr(a, "__dict__"):
        return same(vars(a), vars(b))
    return bool(a == b or (a != a and b != b))


def exactly(state: State) -> State:
    """The state itself, where ``agree`` may ask for one near it."""
    return state


def agree(x: Any, y: Any, operands: Sequence[Any], again: Callable[..., Sequence[Any]], tolerance: float) -> bool:
    """Whether two results that should be equal are, as far as floats can say.

    Integers, booleans and whatever else is no float are compared exactly, and NaN equals NaN. Floats may
    differ by ``tolerance`` times the largest magnitude that their field has in the operands and the
    results; or by as much as the results move where every float of every partial on the way to them
    moves by ``tolerance`` of itself: ``again(near)`` computes them with ``near`` applied to each partial.
    The second is what is fair to a field made of the difference of others, such as the variance of
    numbers whose mean is large.
    """
    if same(x, y):
        return True
    if tolerance == 0 or not _alike(x, y):
        return False
    left, right = leaves(x), leaves(y)
    fields = [values for values in map(leaves, operands) if len(values) == len(left)]
    apart = [
        k
        for k, (p, q) in enumerate(zip(left, right, strict=True))
        if not _within(p, q, tolerance * max(map(_magnitude, (p, q, *(values[k] for values in fields)))))
    ]
    if not all(_finite(left[k]) and _finite(right[k]) for k in apart):
        return False
    slack = _slack(again, len(left), tolerance) if apart else []
    return all(_within(left[k], right[k], slack[k]) for k in apart)


def _alike(x: Any, y: Any) -> bool:
    """Whether two states are nested alike."""
    for container in (tuple, list):
        if isinstance(x, container) or isinstance(y, container):
            return isinstance(x, container) and isinstance(y, container) and len(x) == len(y) and all(map(_alike, x, y))
    return True


def _within(p: Any, q: Any, margin: float) -> bool:
    if same(p, q):
        return True
    if not (isinstance(p, FLOATS) or isinstance(q, FLOATS)):
        return False
    return _finite(p) and _finite(q) and abs(p - q) <= margin


def _finite(value: Any) -> bool:
    """Whether a value is a number that a float can hold."""
    try:
        return is_number(value) and math.isfinite(value)
    except OverflowError:
        return False


def _magnitude(value: Any) -> float:
    return abs(float(value)) if isinstance(value, FLOATS) and math.isfinite(value) else 0.0


def _slack(again: Callable[..., Sequence[Any]], fields: int, tolerance: float) -> list[float]:
    """How far each field of the results moves where the floats of the partials move by the tolerance."""
    chance = random.Random(0)
    still = [leaves(result) for result in again(exactly)]
    moved = [[0.0] * fields for _ in still]
    for _ in range(NUDGES):
        try:
            results = again(lambda state: _nudged(state, tolerance, chance))
        except Exception:  # the neighbour of a case that works may be one that does not
            continue
        for before, after, most in zip(still, map(leaves, results), moved, strict=True):
            for k, (p, q) in enumerate(zip(before, after, strict=False)):
                if _finite(p) and _finite(q):
                    most[k] = max(most[k], float(abs(p - q)))
    return [sum(most) for most in zip(*moved, strict=True)]


def _nudged(state: Any, tolerance: float, chance: random.Random) -> Any:
    if isinstance(state, (tuple, list)):
        items = [_nudged(item, tolerance, chance) for item in state]
        return state._make(items) if hasattr(state, "_make") else type(state)(items)
    return state * (1 + chance.choice((-1, 1)) * tolerance) if isinstance(state, FLOATS) else state
