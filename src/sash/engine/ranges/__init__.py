"""Rows cut by their sort key into pieces, each with the rows around it that its frames reach."""

from sash.engine.ranges.cuts import Cuts, Edges, cut
from sash.engine.ranges.keys import KeyOrder
from sash.engine.ranges.reach import Reach, Side, reach, together
from sash.engine.ranges.routing import expected, route
from sash.engine.ranges.sampling import Sample, sample

__all__ = [
    "Cuts",
    "Edges",
    "KeyOrder",
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
