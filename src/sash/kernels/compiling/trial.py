"""A trial of an aggregate: does it compile, and does it then give what plain Python gives?"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from sash.algebra import Aggregate
from sash.algebra.laws import agree, leaves, shown
from sash.errors import NotCompilable
from sash.kernels.compiling.registry import Kernel
from sash.kernels.compiling.specialise import Specialised, specialise
from sash.kernels.compiling.types import Answers, Frames, States, Values

ROWS = 64  # how many of the samples are folded
SIZES = (1, 2, 3, 8)  # of the frames, so that the first difference found is in a small one


def _fold(agg: Any) -> Any:
    lift, combine, store, answer, frame = agg.lift, agg.combine, agg.store, agg.answer, agg.frame
    inverse = agg.inverse or agg.function(lambda s, old: s)

    def fold(values: Values, frames: Frames, states: States, rests: States, out: Answers) -> int:
        for i in range(len(out[1])):
            lo, hi = frame(frames, 0, i)
            oldest = lift(values, lo, lo)
            state = oldest
            for row in range(lo + 1, hi):
                state = combine(state, lift(values, row, row))
            store(states, i, state)
            store(rests, i, inverse(state, oldest))
            answer(out, i, state)
        return 0

    return fold


# Not registered: it is no algorithm that a query could ask for.
FOLD = Kernel("trial", _fold, "Folds each frame; keeps the state, the state without its oldest row, and the answer.")


def trial(aggregate: Aggregate, columns: Sequence[np.ndarray], rows: int, tolerance: float = 1e-9) -> str | None:
    """Why an aggregate does not compile, or how its compiled answers differ from plain Python's, or None.

    Rows and frames on which plain Python raises are left out.

    >>> from sash.algebra import Aggregate
    >>> floor = Aggregate("floor", lift=lambda x: int(x) // 2, combine=lambda a, b: a + b)
    >>> trial(floor, [np.array([-3.5, 2.0])], 2)
    """
    try:
        made = specialise(FOLD, aggregate, tuple(column.dtype for column in columns))
    except NotCompilable as error:
        return str(error)
    except Exception as error:  # whatever Numba chokes on is a finding here, not a failure of the trial
        from sash.kernels.compiling.numba_backend import ADVICE

        return f"{aggregate.name} cannot be compiled: {error}; {ADVICE}"
    kept = np.linspace(0, rows - 1, min(rows, ROWS)).astype(np.int64) if rows else np.zeros(0, np.int64)
    columns = tuple(np.ascontiguousarray(column[kept]) for column in columns)
    samples = list(zip(*(column.tolist() for column in columns), strict=True)) or [()] * len(kept)
    ways = _ways(aggregate)
    frames = [
        (lo, lo + size)
        for size in SIZES
        for lo in range(len(samples) - size + 1)
        if _raises_nothing(ways, lo, samples[lo : lo + size])
    ]
    found = _run(made, columns, frames)
    tolerance = max(tolerance, *(100 * float(np.finfo(kind).eps) for kind in _floats(made, columns)), 0.0)
    for (lo, hi), results in zip(frames, found, strict=True):
        given = samples[lo:hi]
        for (text, way), compiled in zip(ways.items(), results, strict=True):
            fold = _at(way, lo)
            plain = fold(*given)
            if not agree(_flat(compiled), _flat(plain), given, (lambda *rows, fold=fold: _flat(fold(*rows)),), tolerance):
                return (
                    f"{text} of the fold of {shown(given)} is {shown(compiled)}, but {shown(plain)} as plain Python; "
                    "compiled integers have 64 bits, and compiled=False runs it as plain Python"
                )
    return None
