"""Folding frames: the one door to every algorithm that answers an aggregate over bounds.

Bounds are narrow, kernels take 64 bits: they are widened a slice of frames at a time. Algorithms whose windows
only move forward begin anew at fixed frames, so that threads share the work and the answers do not depend on how
many there are.
"""

from __future__ import annotations

from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from sash.algebra import Aggregate, Call
from sash.algebra.agreement import leaves
from sash.errors import Refused, SashError
from sash.kernels.answers import Answered, finished
from sash.kernels.compiling import Kernel, specialise
from sash.kernels.fifo import ALGORITHMS, Sliding
from sash.kernels.fifo.sliding import refusal as refusal_of_aggregate
from sash.kernels.index import prefix, segment_tree, sparse_table
from sash.kernels.inputs import Inputs
from sash.kernels.threads import shares, together
from sash.windows.bounds import CONSTANT, Bounds

Build = Callable[[Inputs, tuple[Any, ...], int, int], tuple[np.ndarray, ...]]

INDEXES: dict[str, tuple[Kernel, Build]] = {
    "segment_tree": (segment_tree.segment_tree, segment_tree.build),
    "prefix": (prefix.prefix, prefix.build),
    "sparse_table": (sparse_table.sparse_table, sparse_table.build),
}
SLICE = 1 << 15  # frames whose bounds are widened at once
STRETCH = 1 << 18  # frames after which a sliding window begins anew, or more, so that few rows are seen twice


def fold(
    aggregate: Aggregate | Call,
    columns: tuple[np.ndarray, ...],
    rows: int,
    bounds: Bounds,
    using: str,
    segments: np.ndarray | None = None,
) -> Answered:
    """The aggregate of every frame, over so many rows of columns without NULLs.

    ``using`` is ``"segment_tree"``, ``"prefix"``, ``"sparse_table"`` or the name of an algorithm whose windows
    only move forward. ``segments`` says where partitions begin and end: where there is one, and all frames are
    the last so many rows, the latter may take them for windows of one size.

    >>> from sash import functions as sf
    >>> bounds = Bounds(np.array([0, 0, 1]), np.array([3, 1, 3]), 3)
    >>> fold(sf.max("x"), (np.array([4, 2, 7]),), 3, bounds, "sparse_table").values
    array([7, 4, 7])
    """
    inputs = Inputs(aggregate, tuple(column.dtype for column in columns))
    values, rows = inputs.columns("fold", columns, rows)
    if reason := refusal(inputs, bounds, using):
        raise Refused(reason)
    if using in INDEXES:
        out = _looked_up(inputs, values, rows, bounds, *INDEXES[using])
    else:
        size = _size(bounds, rows, segments)
        out = _slid(inputs, values, bounds, using) if size is None else _slid_by_size(inputs, values, rows, size, using)
    return finished(inputs.aggregate, out)


def refusal(inputs: Inputs, bounds: Bounds, using: str) -> str | None:
    """Why an algorithm cannot answer an aggregate of some types over these frames, in a sentence, or None."""
    if using not in INDEXES and using not in ALGORITHMS:
        raise SashError(f"using must be one of {', '.join([*INDEXES, *ALGORITHMS])}, got {using!r}")
    kernel, aggregate = INDEXES[using][0] if using in INDEXES else ALGORITHMS[using], inputs.aggregate
    if reason := refusal_of_aggregate(kernel, aggregate):
        return reason
    if using == "prefix" and aggregate.compiled and not exact(specialise(kernel, aggregate, inputs.dtypes).state):
        return f"prefix needs exact partials; those of {aggregate.name} are floats, whose differences drift"
    if bounds.holes and aggregate.returns != "value" and not aggregate.selective:
        return f"{aggregate.name} is answered by rows that follow each other; these frames have holes"
    if using in ALGORITHMS and (bounds.holes or not bounds.moves_forward):
        what = "have holes" if bounds.holes else "go back"
        return f"{using} needs frames that only move forward, without holes; these {what}"
    return None


def widened(bounds: Bounds, first: int, last: int) -> tuple[np.ndarray, ...]:
    """The arrays lo, a, b, hi and own of some frames as kernels take them; without holes, the last three are one."""
    lo, hi = (array[first:last].astype(np.int64, copy=False) for array in (bounds.lo, bounds.hi))
    if not bounds.holes:
        return lo, hi, hi, hi, segment_tree.NONE
    a, b, own = (array[first:last].astype(np.int64, copy=False) for array in (bounds.a, bounds.b, bounds.own))
    return lo, a, b, hi, own


def _looked_up(
    inputs: Inputs, values: tuple[Any, ...], rows: int, bounds: Bounds, kernel: Kernel, build: Build
) -> Answered:
    """Build an index over all rows, and answer the frames from it on all threads."""
    aggregate = inputs.aggregate
    made, lifted = specialise(kernel, aggregate, inputs.dtypes), inputs.lifted(values)
    out = Answered(np.empty(len(bounds), made.answer), np.ones(len(bounds), np.bool_))
    held = build(inputs, lifted, rows, _widest(bounds))
    if kernel is prefix.prefix and not aggregate.compiled and any(isinstance(x, float) for x in leaves(list(held[0]))):
        raise Refused(f"prefix needs exact partials; some of {aggregate.name} are floats, whose differences drift")

    def answer(first: int, last: int) -> None:
        for start in range(first, last, SLICE):
            stop = min(start + SLICE, last)
            made.run(lifted, *held, *widened(bounds, start, stop), (out.values[start:stop], out.valid[start:stop]))

    cut = shares(len(bounds), least=1 << 13) if aggregate.compiled else [(0, len(bounds))]
    together([partial(answer, *share) for share in cut])
    return out


def _slid(inputs: Inputs, values: tuple[Any, ...], bounds: Bounds, using: str) -> Answered:
    """Slide over frames that move forward, each stretch of them over only the rows it needs."""
    lo, hi, frames = bounds.lo, bounds.hi, len(bounds)
    widest = _widest(bounds)
    cut = _stretches(inputs, using, frames, widest)
    window = Sliding(_raw(inputs.aggregate), *inputs.dtypes, using=using, room=max(widest, 1))
    out = Answered(np.empty(frames, window.made.answer), np.ones(frames, np.bool_))

    def answer(window: Sliding, first: int, last: int) -> None:
        start, stop = (int(lo[first]), int(hi[last - 1])) if first < last else (0, 0)
        base = 0 if inputs.aggregate.rows else min(start, stop)  # a lift that sees positions must see the true ones
        window.push(
            *(column[base:stop] for column in values),
            lo=lo[first:last].astype(np.int64) - base,
            hi=hi[first:last].astype(np.int64) - base,
            rows=stop - base,
            out=Answered(out.values[first:last], out.valid[first:last]),
        )

    _on_threads(inputs, answer, window, cut)
    return out


def _slid_by_size(inputs: Inputs, values: tuple[Any, ...], rows: int, size: int, using: str) -> Answered:
    """Slide a window of one size; a stretch begins with the rows that its first window reaches back to."""
    cut = _stretches(inputs, using, rows, size)
    window = Sliding(_raw(inputs.aggregate), *inputs.dtypes, size=size, using=using)
    out = Answered(np.empty(rows, window.made.answer), np.ones(rows, np.bool_))

    def answer(window: Sliding, first: int, last: int) -> None:
        before = max(first - size + 1, 0)
        if before < first:
            window.push(*(column[before:first] for column in values), rows=first - before)
        into = Answered(out.values[first:last], out.valid[first:last])
        window.push(*(column[first:last] for column in values), rows=last - first, out=into)

    _on_threads(inputs, answer, window, cut)
    return out


def _stretches(inputs: Inputs, using: str, frames: int, widest: int) -> list[tuple[int, int]]:
    """Where windows begin anew: nowhere if positions matter, or the algorithm has its own thread."""
    if inputs.aggregate.rows or ALGORITHMS[using].drive is not None:
        return [(0, frames)]
    stretch = max(STRETCH, 8 * widest)
    return shares(frames, least=stretch, parts=max(frames // stretch, 1))


def _on_threads(inputs: Inputs, answer: Callable[..., None], window: Sliding, stretches: list[tuple[int, int]]) -> None:
    """Answer stretches of about equal length on all threads, each its share of them one after the other."""
    if len(stretches) == 1:
        return answer(window, *stretches[0])
    cut = shares(len(stretches), least=1) if inputs.aggregate.compiled else [(0, len(stretches))]

    def several(first: int, last: int) -> None:
        for edges in stretches[first:last]:
            answer(_twin(window), *edges)

    together([partial(several, *share) for share in cut])


def _twin(window: Sliding) -> Sliding:
    """Another window in the same state: a copy is made much faster than a kernel is looked up."""
    twin = copy(window)
    twin.arrays = {name: array.copy() for name, array in window.arrays.items()}
    return twin


def _size(bounds: Bounds, rows: int, segments: np.ndarray | None) -> int | None:
    """How many rows all frames hold up to their own, if that is all there is to say of them."""
    one = segments is not None and len(segments) <= 2
    if bounds.shape != CONSTANT or not one or bounds.after != 0 or bounds.before < 0 or len(bounds) != rows:
        return None
    return min(bounds.before + 1, max(rows, 1))


def _widest(bounds: Bounds) -> int:
    """How many rows the largest piece of a frame holds, at most."""
    if bounds.shape == CONSTANT:
        return max(min(bounds.before + bounds.after + 1, bounds.length), 0)
    return int(np.max(bounds.hi - bounds.lo, initial=0))


def _raw(aggregate: Aggregate) -> Aggregate:
    """The aggregate without what is done to all answers at the end."""
    if aggregate.finish is aggregate.empty is aggregate.typed is None:
        return aggregate
    return replace(aggregate, finish=None, empty=None, typed=None)


def exact(state: np.dtype) -> bool:
    """Whether partials are made of whole numbers, so that a difference of two is what it should be."""
    fields = [state] if state.names is None else [state[name] for name in state.names]
    return all(field.kind in "iub" for field in fields)
