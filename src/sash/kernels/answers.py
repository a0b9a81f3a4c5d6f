"""Bounds of a batch of frames as kernels take them, and the answers as they give them."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from sash.algebra import Aggregate
from sash.errors import SashError
from sash.kernels.compiling import interpreted
from sash.windows.bounds import CONSTANT, Bounds


class Answered(NamedTuple):
    """Answers of a batch of frames, and whether each is not NULL."""

    values: Any
    valid: np.ndarray


def unanswered(answers: int, dtype: np.dtype) -> Answered:
    """Room for so many answers, none NULL so far; they go to the user, and no pool would soon have them back."""
    return Answered(np.empty(answers, dtype), np.ones(answers, np.bool_))


def finished(aggregate: Aggregate, out: Answered) -> Answered:
    """What a kernel gave, with the answer of empty frames filled in, and finished.

    An aggregate that returns rows is answered by their positions: its column is not known here.
    """
    if aggregate.empty is not None:
        _fill(aggregate, out)
        out.valid[:] = True
    if aggregate.finish is None or aggregate.returns == "rows":
        return out
    if aggregate.compiled:
        return Answered(aggregate.finish(out.values), out.valid)
    like = None
    if aggregate.identity is not None and not out.valid.any():
        with suppress(ArithmeticError):  # such as a mean of nothing
            like = aggregate.lower(aggregate.identity)
    return Answered(aggregate.finish(interpreted.records(*out, like)), out.valid)


def _fill(aggregate: Aggregate, out: Answered) -> None:
    """Give empty frames their answer, which must be one of the others' type."""
    try:
        if out.values.dtype.kind in "iu" and aggregate.empty != int(aggregate.empty):
            raise ValueError
        if out.values.dtype == object:  # where a tuple is one answer, not one for each frame
            for place in np.flatnonzero(~out.valid):
                out.values[place] = aggregate.empty
        else:
            out.values[~out.valid] = aggregate.empty
    except (TypeError, ValueError, OverflowError):
        raise SashError(
            f"{aggregate.name}: empty must be like the answers of lower, {out.values.dtype}, got {aggregate.empty!r}"
        ) from None


SLICE = 1 << 15  # frames whose bounds are widened at once
NONE = np.zeros(0, np.int64)


def widened(bounds: Bounds, first: int, last: int) -> tuple[np.ndarray, ...]:
    """The arrays lo, a, b, hi and own of some frames as kernels take them; without holes, the last three are one."""
    lo, hi = (array[first:last].astype(np.int64, copy=False) for array in (bounds.lo, bounds.hi))
    if not bounds.holes:
        return lo, hi, hi, hi, NONE
    a, b, own = (array[first:last].astype(np.int64, copy=False) for array in (bounds.a, bounds.b, bounds.own))
    return lo, a, b, hi, own


def widest(bounds: Bounds) -> int:
    """How many rows the largest piece of a frame holds, at most."""
    if bounds.shape == CONSTANT:
        return max(min(bounds.before + bounds.after + 1, bounds.length), 0)
    return int(np.max(bounds.hi - bounds.lo, initial=0))
