"""Folding frames by the name of an algorithm: the door for whoever has chosen already."""

from __future__ import annotations

import numpy as np

from sash.algebra import Aggregate, Call
from sash.errors import Refused, SashError
from sash.kernels.algorithm import FOLD, Task
from sash.kernels.answers import Answered
from sash.kernels.fifo import ALGORITHMS
from sash.kernels.inputs import Inputs
from sash.kernels.structures import disjoint_table, prefix, segment_tree, sparse_table
from sash.windows.bounds import Bounds

STRUCTURES = (prefix, segment_tree, sparse_table, disjoint_table)
FOLDS = {each.ALGORITHM.name: each.ALGORITHM for each in STRUCTURES} | ALGORITHMS


def fold(
    aggregate: Aggregate | Call,
    columns: tuple[np.ndarray, ...],
    rows: int,
    bounds: Bounds,
    using: str,
    segments: np.ndarray | None = None,
) -> Answered:
    """The aggregate of every frame, over so many rows of columns without NULLs.

    ``segments`` says where partitions begin and end: where these are long, and all frames are the last so many rows,
    algorithms whose windows only move forward take them for windows of one size.

    >>> from sash import functions as sf
    >>> bounds = Bounds(np.array([0, 0, 1]), np.array([3, 1, 3]), 3)
    >>> fold(sf.max("x"), (np.array([4, 2, 7]),), 3, bounds, "sparse_table").values
    array([7, 4, 7])
    """
    inputs = Inputs(aggregate, tuple(column.dtype for column in columns))
    if using not in FOLDS:
        raise SashError(f"using must be one of {', '.join(FOLDS)}, got {using!r}")
    algorithm = FOLDS[using]
    task = Task(FOLD, aggregate=inputs.aggregate, exact=True)  # a kernel sees for itself whether partials are
    if reason := algorithm.refusal(task):
        raise Refused(f"{using} {reason}")
    return algorithm.run(aggregate, columns, rows, bounds, segments)
