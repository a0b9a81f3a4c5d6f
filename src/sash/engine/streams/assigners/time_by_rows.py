"""The last so much time of a key, at every so many rows: the last hour, every 100 rows.

A window ends with a row, and holds the rows that are less than its length before it. That is a delta of event times,
whose rows come in the order of time.
"""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pyarrow as pa

from sash.engine.streams.assigners.base import Positions
from sash.engine.streams.assigners.delta import DeltaAssigner, DeltaPositions
from sash.engine.streams.times import ticks_of
from sash.errors import SashError
from sash.expressions.evaluation import evaluate
from sash.windows.extents import DeltaExtent, TimeByRowsExtent


class TimeByRowsPositions(DeltaPositions):
    """The numbers of rows in their key, and their times."""

    kind: ClassVar[str] = "time by rows"

    def values(self, table: pa.Table) -> tuple[np.ndarray, np.ndarray]:
        """The times of rows, which all have one."""
        ticks, known = ticks_of(evaluate(self.column, table), self.type)
        return ticks, np.ones(len(ticks), np.bool_) if known is None else known


class TimeByRowsAssigner(DeltaAssigner):
    """Windows of one length of time that rows end."""

    kind: ClassVar[str] = "time by rows"
    positions: ClassVar[type[Positions]] = TimeByRowsPositions
    whole_rows: ClassVar[bool] = False
    extent: TimeByRowsExtent  # type: ignore[assignment]

    @classmethod
    def takes(cls, extent: Any) -> bool:
        """Lengths of time with steps of rows."""
        return isinstance(extent, TimeByRowsExtent)

    def check(self) -> None:
        """Refuse a stream without times."""
        if self.stream.settings.time is None:
            raise SashError(f"time must be given for windows such as {self.extent}; got None")
        super().check()
        _ = self.distance

    def check_column(self) -> None:
        """The column is that of event times."""

    @property
    def distance(self) -> DeltaExtent:
        """Rows less than the length before the last one, as a delta of ticks."""
        ticks = self.stream.ticks("range", self.extent.range)
        return DeltaExtent(self.stream.settings.time, ticks - 1, rows=self.extent.rows)  # type: ignore[arg-type]

    @property
    def end_type(self) -> pa.DataType:
        """Ends are times."""
        return self.stream.time_type
