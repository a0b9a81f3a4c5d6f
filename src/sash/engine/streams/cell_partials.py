"""The partials that cells hold, and what these lift of rows."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa

from sash.engine.answering.asking import Question
from sash.engine.answering.folds import counted
from sash.engine.sorted_partitions import SortedPartitions
from sash.engine.streams.assigners.base import Assigner
from sash.engine.streams.cells import LiftedColumns
from sash.engine.streams.partial_layouts import PartialLayout
from sash.engine.streams.query_answers import PlannedQuery

POINTS = "points"  # partials of all rows of a slice
OWN = "own"  # of what an assigner needs itself: see its ``own_partial``
ENDS, BEYOND, COVERS, SPREAD = "ends", "beyond", "covers", "spread"  # of spans: see sash.engine.streams.span_cells


class CellPartial(NamedTuple):
    """A partial that cells hold, a query that says how rows are lifted to it, and of which rows of a slice it is."""

    layout: PartialLayout
    planned: PlannedQuery
    part: str = POINTS
    spec: int | None = None  # the extent that it is of alone, where windows merge


def lifted_columns(
    assigners: Sequence[Assigner], partials: Sequence[CellPartial], table: pa.Table, time: np.ndarray | None = None
) -> list[LiftedColumns]:
    """What partials lift of some rows."""
    whole = SortedPartitions(table, (), ())
    columns = []
    for each in partials:
        assigner = None if each.spec is None else assigners[each.spec]
        if each.part == OWN:
            assert assigner is not None
            assert time is not None
            lifted = LiftedColumns(assigner.lift_own(table, time), None)
        else:
            selection, inputs = counted(Question(whole, each.planned.question.over))
            values, _ = each.layout.inputs.columns("fold", inputs.columns, selection.length)
            lifted = LiftedColumns(values, selection.positions)
        if assigner is not None and (mask := assigner.holds(table)) is not None:
            lifted = lifted.among(mask)
        columns.append(lifted)
    whole.forget()
    return columns
