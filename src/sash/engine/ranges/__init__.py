"""Rows cut by their sort key into pieces, each with the rows around it that its frames reach."""

from sash.engine.ranges.cuts import Cuts, PieceEdges, cut
from sash.engine.ranges.reach import Reach, Side, reach, together
from sash.engine.ranges.routing import expected, route
from sash.engine.ranges.sampling import Sample, sample
from sash.engine.ranges.sort_keys import KeyOrder

__all__ = [
    "Cuts",
    "KeyOrder",
    "PieceEdges",
    "Reach",
    "Sample",
    "Side",
    "cut",
    "expected",
    "reach",
    "route",
    "sample",
    "together",
]
