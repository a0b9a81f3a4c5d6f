"""Which technique puts spans into the slices that they cover, by name.

A cost is in nanoseconds a span, on one thread; measured by ``sash bench --full --only studies.span_costs``.
"""

from __future__ import annotations

import re

from sash.kernels import spans
from sash.kernels.algorithm import COVER, EVENTS, Algorithm
from sash.kernels.spans.multilevel_slicing import Leveled, of_height
from sash.planner.declared import algorithms

BY_SLICES = tuple(spans.COVERS)
BY_EVENTS = tuple(name for name in spans.ANSWERS if name not in spans.COVERS)
TECHNIQUES = (*BY_SLICES, *BY_EVENTS)


def with_height(using: str | None) -> tuple[str | None, int | None]:
    """The name of a technique, and the height of its levels, if that is named, too.

    >>> with_height("multilevel_slicing(15)"), with_height("slicing")
    (('multilevel_slicing', 15), ('slicing', None))
    """
    match = re.fullmatch(r"(\w+)\((\d+)\)", using or "")
    if match is None or not isinstance(technique(match[1]), Leveled):
        return using, None
    return match[1], of_height(int(match[2])).height


def technique(using: str | None, height: int | None = None) -> Algorithm | None:
    """The technique of this name, if there is one, and of this height, if it has any."""
    named = {each.name: each for operation in (EVENTS, COVER) for each in algorithms(operation)}.get(using or "")
    return of_height(height) if height is not None and isinstance(named, Leveled) else named
