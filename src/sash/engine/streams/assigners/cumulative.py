"""Windows that grow by steps until they are of a size, when the next begin: the day so far, every hour."""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar

from sash.engine.streams.assigners.time import TimeAssigner
from sash.errors import SashError
from sash.windows.extents import CumulativeExtent
from sash.windows.grids import CumulativeCalendarGrid, CumulativeGrid, Grid
from sash.windows.intervals import Interval


class CumulativeAssigner(TimeAssigner):
    """Windows of one start and many ends."""

    kind: ClassVar[str] = "time"
    holds_spans: ClassVar[bool] = False
    extent: CumulativeExtent  # type: ignore[assignment]

    @classmethod
    def takes(cls, extent: Any) -> bool:
        """Sizes with steps."""
        return isinstance(extent, CumulativeExtent)

    @cached_property
    def grid(self) -> Any:
        """The windows, known by their ends."""
        size, step = self.extent.size, self.extent.step
        if self.zone is not None and size.days:
            if size.microseconds or (step.days and step.microseconds):
                raise SashError(f"size and step of cumulate must be of whole days or of less in a zone, got {size} "
                                f"and {step}")  # fmt: skip
            return CumulativeCalendarGrid(
                size, 0, self.stream.unit, self.zone, self.offset, days=size.days, local=True, step=step
            )
        ticks = self.stream.ticks
        return CumulativeGrid(ticks("size", size), ticks("step", step), self.offset)

    @property
    def cuts(self) -> tuple[Any, ...]:
        """A slice for each step."""
        if isinstance(self.grid, CumulativeGrid):
            return (Grid(self.grid.step, self.grid.step, self.grid.origin),)
        return (self.grid,)

    @property
    def lengths(self) -> tuple[Interval, ...]:
        """The size, which is that of the slide, too."""
        return (self.extent.size,)

    @property
    def words(self) -> list[str]:
        """Windows share a start."""
        return [f"cumulative windows: they begin every {self.extent.size}, and are answered every {self.extent.step}"]
