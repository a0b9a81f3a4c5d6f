"""A trial of an aggregate: whether it compiles, and then gives what plain Python gives."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import reduce
from typing import Any

import numpy as np

from sash.algebra import Aggregate
from sash.algebra.agreement import agree, exactly, leaves
from sash.algebra.laws import shown
from sash.errors import NotCompilable
from sash.kernels.compiling.registry import Kernel
from sash.kernels.compiling.specialise import Specialised, specialise
from sash.kernels.compiling.types import Answers, Frames, States, Values

ROWS = 64  # how many of the samples are folded
SIZES = (1, 2, 3, 8)  # of the frames, smallest first, so that a difference is shown on few rows
PARTS = ("the fold", "the fold with its oldest row taken away", "the answer")


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


# Not registered, since a query has no use for it.
FOLD = Kernel("trial", _fold, "Fold each frame, and keep the state, what an inverse leaves of it, and the answer.")


def trial(aggregate: Aggregate, columns: Sequence[np.ndarray], rows: int, tolerance: float = 1e-9) -> str | None:
    """Why an aggregate does not compile, or where its compiled answers differ from plain Python's, or None.

    Frames on which plain Python raises are left out. Floats narrower than 64 bits are given a wider
    tolerance, 100 times their precision.

    >>> wraps = Aggregate("wraps", lift=lambda x: x, combine=lambda a, b: a * b)
    >>> print(trial(wraps, [np.array([2**40, 2**30])], 2))
    compiled, the fold of [1099511627776, 1073741824] is 0, but 1180591620717411303424 as plain Python
    """
    try:
        kernel = specialise(FOLD, aggregate, tuple(column.dtype for column in columns))
    except NotCompilable as error:
        return str(error)
    except Exception as error:  # whatever Numba stumbles over is a finding, not a failure of the trial
        from sash.kernels.compiling.numba_backend import ADVICE

        return f"{aggregate.name} cannot be compiled: {error}; {ADVICE}"
    picked = np.linspace(0, rows - 1, min(rows, ROWS)).astype(np.int64)
    columns = tuple(np.ascontiguousarray(column[picked]) for column in columns)
    samples = list(zip(*(column.tolist() for column in columns), strict=True)) or [()] * len(picked)
    frames = [(lo, lo + size) for size in SIZES for lo in range(len(samples) - size + 1)]
    frames = [(lo, hi) for lo, hi in frames if _works(_plainly(aggregate, lo, samples[lo:hi]))]
    tolerance = max([tolerance, *(100 * float(np.finfo(dtype).eps) for dtype in _floats(kernel, columns))])
    for (lo, hi), compiled in zip(frames, _compiled(kernel, columns, frames), strict=True):
        plainly = _plainly(aggregate, lo, samples[lo:hi])
        for which, (got, expected) in enumerate(zip(compiled, plainly(exactly), strict=True)):

            def again(near: Any, which: int = which, plainly: Any = plainly) -> list[Any]:
                return [leaves(plainly(near)[which])]

            if not agree(leaves(got), leaves(expected), (), again, tolerance):
                answers_of = [sample[0] if len(sample) == 1 else sample for sample in samples[lo:hi]]
                results = f"is {shown(got)}, but {shown(expected)} as plain Python"
                return f"compiled, {PARTS[which]} of {shown(answers_of)} {results}"
    return None


def _plainly(aggregate: Aggregate, lo: int, rows: Sequence[tuple[Any, ...]]) -> Callable[..., tuple[Any, Any, Any]]:
    """What the kernel does for the frame of these rows, the first of which has this position."""
    arguments = [(lo + k, *row) if aggregate.rows else row for k, row in enumerate(rows)]

    def fold(near: Callable[[Any], Any]) -> tuple[Any, Any, Any]:
        lifted = [near(aggregate.lift(*answers_of)) for answers_of in arguments]
        state = near(reduce(lambda a, b: aggregate.combine(near(a), b), lifted))
        rest = state if aggregate.inverse is None else aggregate.inverse(state, lifted[0])
        return state, rest, aggregate.lower(state)

    return fold


def _works(fold: Callable[..., Any]) -> bool:
    try:
        fold(exactly)
    except Exception:
        return False
    return True


def _compiled(
    kernel: Specialised, columns: tuple[np.ndarray, ...], frames: Sequence[tuple[int, int]]
) -> Iterator[tuple[Any, Any, Any]]:
    """For each frame its state, the rest, and the answer, as the compiled kernel gives them."""
    bounds = np.array(frames, np.int64).reshape(-1, 2)
    lo, hi = (np.ascontiguousarray(bounds[:, k]) for k in (0, 1))
    states, rests = (np.zeros(len(frames), kernel.state) for _ in range(2))
    answers, valid = np.zeros(len(frames), kernel.answer), np.ones(len(frames), np.bool_)
    kernel.run(columns, (lo, hi), states, rests, (answers, valid))
    answers_of = [answer if some else None for answer, some in zip(answers.tolist(), valid.tolist(), strict=True)]
    return zip(states.tolist(), rests.tolist(), answers_of, strict=True)


def _floats(kernel: Specialised, columns: Sequence[np.ndarray]) -> list[np.dtype]:
    """The float types that a computation goes through."""
    dtypes = [kernel.state, kernel.answer, *(column.dtype for column in columns)]
    fields = [dtype[name] for dtype in dtypes for name in dtype.names or ()] + [
        dtype for dtype in dtypes if not dtype.names
    ]
    return [dtype for dtype in fields if dtype.kind == "f"]
