"""Answers of a batch of frames, as windows give them."""

from __future__ import annotations

from contextlib import suppress
from typing import Any, NamedTuple

import numpy as np

from sash.algebra import Aggregate
from sash.errors import SashError
from sash.kernels.compiling import interpreted


class Answered(NamedTuple):
    """Answers of a batch of frames, and whether each is not NULL."""

    values: Any
    valid: np.ndarray


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
