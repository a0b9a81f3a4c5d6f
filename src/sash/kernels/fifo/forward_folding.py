"""Folding frames by windows that only move forward, fed with the rows of each in turn.

A window begins anew at fixed frames, so that threads share the work and the answers do not depend on how many there
are.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable
from copy import copy
from dataclasses import replace
from functools import partial
from itertools import pairwise
from typing import Any

import numpy as np

from sash.algebra import Aggregate, Call
from sash.errors import Refused
from sash.kernels.algorithm import FOLD, Need, Task
from sash.kernels.answers import Answered, finished, unanswered, widest
from sash.kernels.compiling import Kernel
from sash.kernels.fifo.sliding import Sliding, SlidingAlgorithm
from sash.kernels.inputs import Inputs
from sash.kernels.needs import forward, no_exclude
from sash.kernels.threads import shares, threads, together
from sash.windows.bounds import CONSTANT, Bounds

LONG = 1 << 13  # rows of a partition, on average, from which it is worth a window of its own
STRETCH = 1 << 18  # frames after which a sliding window begins anew, or more, so that few rows are seen twice


def slides(
    kernel: Kernel,
    words: str,
    cost: Callable[[Task], float],
    needs: tuple[Need, ...] = (),
    offered: bool = False,
    combines: Callable[[int], tuple[float, float]] = lambda rows: (2, 1),
    of_size: Kernel | None = None,
    between: Kernel | None = None,
) -> SlidingAlgorithm:
    """Declare a kernel of windows that only move forward as an algorithm that folds frames.

    Between pushes of a stream it holds their windows, too, unless there is another ``between`` them.
    """
    return SlidingAlgorithm(
        name=kernel.name,
        operation=FOLD,
        words=words,
        cost=cost,
        run=partial(fold_forward, kernel),
        needs=(no_exclude, forward, *needs),
        offered=offered,
        combines=combines,
        kernel=kernel,
        of_size=of_size,
        between=between or (kernel if kernel.drive is None else None),
    )


def fold_forward(
    kernel: Kernel,
    aggregate: Aggregate | Call,
    columns: tuple[np.ndarray, ...],
    rows: int,
    bounds: Bounds,
    segments: np.ndarray | None = None,
) -> Answered:
    """The aggregate of every frame, by one kernel.

    ``segments`` says where partitions begin and end: where these are long, and all frames are the last so many rows,
    they are windows of one size.
    """
    inputs = Inputs(aggregate, tuple(column.dtype for column in columns))
    values, rows = inputs.columns("fold", columns, rows)
    if bounds.holes or not bounds.moves_forward:
        what = "have holes" if bounds.holes else "go back"
        raise Refused(f"{kernel.name} needs frames that only move forward, without holes; these {what}")
    if segments is None and kernel.drive is not None and not inputs.aggregate.rows and (ends := last_rows(bounds)):
        return finished(inputs.aggregate, _slid_up_to(inputs, values, *ends, kernel))
    if segments is None or len(bounds) != rows or not trailing(inputs.aggregate, bounds, segments):
        return finished(inputs.aggregate, _slid(inputs, values, bounds, kernel))
    return finished(inputs.aggregate, _slid_by_size(inputs, values, rows, bounds.before + 1, segments, kernel))


def trailing(aggregate: Aggregate, bounds: Bounds, segments: np.ndarray) -> bool:
    """Whether all frames are the last so many rows of one partition, or of partitions that are long on average."""
    if bounds.shape != CONSTANT or bounds.after != 0 or bounds.before < 0:
        return False
    partitions, rows = len(segments) - 1, int(segments[-1])
    if partitions < 2 or aggregate.rows or rows < partitions * LONG:
        return partitions < 2
    return partitions * _fitting(bounds.before + 1, segments) <= 2 * rows  # each has an empty window to begin with


def _fitting(size: int, segments: np.ndarray) -> int:
    """The size of a window, or of the longest partition if no window is as wide."""
    return min(size, max(int(np.diff(segments).max(initial=0)), 1))


def _slid(inputs: Inputs, values: tuple[Any, ...], bounds: Bounds, kernel: Kernel) -> Answered:
    """Slide over frames that move forward, each stretch of them over only the rows it needs."""
    lo, hi, frames = bounds.lo, bounds.hi, len(bounds)
    most = widest(bounds)
    cut = _stretches(inputs, frames, most, kernel.drive is not None)
    window = Sliding(_raw(inputs.aggregate), *inputs.dtypes, using=kernel.name, room=max(most, 1))
    out = unanswered(frames, window.specialised.answer)

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


def _slid_by_size(
    inputs: Inputs, values: tuple[Any, ...], rows: int, size: int, segments: np.ndarray, kernel: Kernel
) -> Answered:
    """Slide a window of one size; a stretch begins with the rows of its partition that its first window reaches."""
    begins = segments[:-1].tolist() or [0]
    size = _fitting(size, segments)
    cut = [
        (begin + first, begin + last)
        for begin, end in pairwise([*begins, rows])
        for first, last in _stretches(inputs, end - begin, size)
    ]
    window = Sliding(_raw(inputs.aggregate), *inputs.dtypes, size=size, using=kernel.name)
    out = unanswered(rows, window.specialised.answer)

    def answer(window: Sliding, first: int, last: int) -> None:
        before = max(first - size + 1, begins[bisect_right(begins, first) - 1])
        if before < first:
            window.push(*(column[before:first] for column in values), rows=first - before)
        into = Answered(out.values[first:last], out.valid[first:last])
        window.push(*(column[first:last] for column in values), rows=last - first, out=into)

    _on_threads(inputs, answer, window, cut)
    return out


def _slid_up_to(
    inputs: Inputs, values: tuple[Any, ...], first: int, end: int, last: int, size: int, kernel: Kernel
) -> Answered:
    """The windows of one size that end from one row to another, of rows from a first one on."""
    some, rows = tuple(column[first:last] for column in values), last - first
    out = _slid_by_size(inputs, some, rows, size, np.array([0, rows]), kernel)
    return Answered(*(array[end - first - 1 :] for array in out))


def last_rows(bounds: Bounds) -> tuple[int, int, int, int] | None:
    """The first row, the first and the last end, and the size of frames that are the last so many rows at each row.

    None where frames are others, or few beside their size: the windows before the first of them are answered, too.

    >>> last_rows(Bounds(np.array([4, 4, 5]), np.array([5, 6, 7]), 8))
    (4, 5, 7, 2)
    """
    lo, hi, size = bounds.lo, bounds.hi, bounds.widest
    if not len(hi) or size > 4 * len(hi) or hi[0] <= lo[0] or int(hi[-1]) - int(hi[0]) != len(hi) - 1:
        return None
    if not ((np.diff(hi) == 1).all() and (lo == np.maximum(hi - size, lo[0])).all()):
        return None
    return int(lo[0]), int(hi[0]), int(hi[-1]), size


def _stretches(inputs: Inputs, frames: int, most: int, own_thread: bool = False) -> list[tuple[int, int]]:
    """Where windows begin anew: nowhere if positions matter, or the algorithm goes on on a thread of its own."""
    if inputs.aggregate.rows or own_thread:
        return [(0, frames)]
    return shares(frames, least=stretch(most), parts=max(frames // stretch(most), 1))


def stretch(widest: int) -> int:
    """How many frames of so many rows a stretch has at least; twice as many are shared by two threads."""
    return max(STRETCH, 8 * widest)


def _on_threads(inputs: Inputs, answer: Callable[..., None], window: Sliding, stretches: list[tuple[int, int]]) -> None:
    """Answer stretches on all threads, each its share of them one after the other: about equally many frames.

    Where a window has a helper, there are half as many shares.
    """
    if len(stretches) == 1:
        return answer(window, *stretches[0])
    parts = max(threads() // (1 if window.driver is None else 2), 1) if inputs.aggregate.compiled else 1
    middles, frames = [(first + last) / 2 for first, last in stretches], stretches[-1][1]
    cut = [0, *(bisect_right(middles, frames * part / parts) for part in range(1, parts)), len(stretches)]

    def several(first: int, last: int) -> None:
        for edges in stretches[first:last]:
            answer(_twin(window), *edges)

    together([partial(several, *share) for share in pairwise(cut)])


def _twin(window: Sliding) -> Sliding:
    """Another window in the same state: a copy is made much faster than a kernel is looked up."""
    twin = copy(window)
    twin.arrays = {name: array.copy() for name, array in window.arrays.items()}
    return twin


def _raw(aggregate: Aggregate) -> Aggregate:
    """The aggregate without what is done to all answers at the end."""
    if aggregate.finish is aggregate.empty is aggregate.typed is None:
        return aggregate
    return replace(aggregate, finish=None, empty=None, typed=None)
