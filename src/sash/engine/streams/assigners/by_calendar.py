"""Windows by the calendar: those that slide by months, at midnight of the first of a month in a time zone."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

from sash.engine.streams.assigners.time import TimeAssigner
from sash.windows.extents import TimeExtent
from sash.windows.grids import CalendarGrid


class CalendarAssigner(TimeAssigner):
    """Windows on a grid of months."""

    kind: ClassVar[str] = "time"

    @classmethod
    def takes(cls, extent: Any) -> bool:
        """Lengths of time that slide by months."""
        return isinstance(extent, TimeExtent) and bool(extent.slide.months)

    @cached_property
    def grid(self) -> CalendarGrid:
        """The windows as a grid."""
        stream, extent = self.stream, self.extent
        zone, local = self.zone or stream.time_type.tz, self.zone is not None
        return CalendarGrid(extent.range, extent.slide.months, stream.unit, zone, self.offset, local=local)

    @property
    def words(self) -> list[str]:
        """Edges have no one step."""
        return ["calendar windows: edges are looked up as time goes"]
