"""Folding frames by an index: it is built over all rows, and all threads answer their frames from it."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

from sash.algebra import Aggregate, Call
from sash.errors import Refused
from sash.kernels.answers import SLICE, Answered, finished, unanswered, widened, widest
from sash.kernels.compiling import Kernel, specialise
from sash.kernels.inputs import Inputs
from sash.kernels.threads import shares, together
from sash.windows.bounds import Bounds

Build = Callable[[Inputs, tuple[Any, ...], int, int], tuple[np.ndarray, ...]]


def fold_by_index(
    kernel: Kernel,
    build: Build,
    aggregate: Aggregate | Call,
    columns: tuple[np.ndarray, ...],
    rows: int,
    bounds: Bounds,
    segments: np.ndarray | None = None,
) -> Answered:
    """The aggregate of every frame, from what ``build(inputs, values, rows, widest)`` makes of all rows."""
    inputs = Inputs(aggregate, tuple(column.dtype for column in columns))
    values, rows = inputs.columns("fold", columns, rows)
    aggregate = inputs.aggregate
    if bounds.holes and aggregate.returns != "value" and not aggregate.selective:
        raise Refused(f"{aggregate.name} is answered by rows that follow each other; these frames have holes")
    specialised, lifted = specialise(kernel, aggregate, inputs.dtypes), inputs.lifted(values)
    out = unanswered(len(bounds), specialised.answer)
    index = build(inputs, lifted, rows, widest(bounds))

    def answer(first: int, last: int) -> None:
        for start in range(first, last, SLICE):
            stop = min(start + SLICE, last)
            specialised.run(
                lifted, *index, *widened(bounds, start, stop), (out.values[start:stop], out.valid[start:stop])
            )

    cut = shares(len(bounds), least=1 << 13) if aggregate.compiled else [(0, len(bounds))]
    together([partial(answer, *share) for share in cut])
    return finished(aggregate, out)
