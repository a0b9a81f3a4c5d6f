"""Kernels run as plain Python: for ``compiled=False``, and for counting what an algorithm does.

States are kept in object arrays, so that a state may be anything at all.
"""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import numpy as np

from sash.algebra import Aggregate
from sash.algebra.agreement import same
from sash.kernels.compiling.frame_of import frame_of


def namespace(aggregate: Aggregate, frames: str) -> SimpleNamespace:
    """What a kernel sees of an aggregate, in plain Python."""
    lift, lower, rows = aggregate.lift, aggregate.lower, aggregate.rows

    def lift_row(values: Any, i: int, row: int) -> Any:
        inputs = [column[i] for column in values]
        return lift(int(row), *inputs) if rows else lift(*inputs)

    def load(states: Any, i: int) -> Any:
        return states[i]

    def store(states: Any, i: int, state: Any) -> None:
        states[i] = state

    def answer(out: Any, i: int, state: Any) -> None:
        value = lower(state)
        if value is None:
            absent(out, i)
        else:
            out[0][i] = value

    def absent(out: Any, i: int) -> None:
        out[0][i], out[1][i] = None, False

    return SimpleNamespace(
        lift=lift_row,
        combine=aggregate.combine,
        inverse=aggregate.inverse,
        combine_without_nan=None,
        moment=None,
        has_nan=None,
        divides=False,
        load=load,
        store=store,
        same=same,
        answer=answer,
        absent=absent,
        frame=frame_of(frames),
        function=lambda function: function,
        commutative=aggregate.commutative,
        constant=frames == "size",
    )


def columns(values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Input columns as lists of Python scalars, whose integers do not overflow."""
    return tuple(column.tolist() if isinstance(column, np.ndarray) else column for column in values)


def records(answers: np.ndarray, valid: np.ndarray, like: Any = None) -> np.ndarray:
    """Answers as compiled kernels give them: an array of numbers, or of records of their scalars.

    ``like`` is an answer that says which they are where all are NULL.
    """
    known = answers[valid]
    if not len(known) and like is not None:
        return records(np.array([like, None], object)[:1], np.ones(1, np.bool_)).repeat(len(answers))
    if not len(known) or not isinstance(known[0], tuple):
        numbers = np.array(known.tolist())
        filled = np.zeros(len(answers), numbers.dtype)
        filled[valid] = numbers
        return filled
    columns = [np.array(column) for column in zip(*map(_flat, known), strict=True)]
    filled = np.zeros(len(answers), [(f"f{k}", column.dtype) for k, column in enumerate(columns)])
    for name, column in zip(filled.dtype.names or (), columns, strict=True):
        filled[name][valid] = column
    return filled


def _flat(state: Any) -> list[Any]:
    return [scalar for part in state for scalar in _flat(part)] if isinstance(state, tuple) else [state]
