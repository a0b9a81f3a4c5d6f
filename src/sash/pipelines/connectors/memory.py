"""Rows kept in the session."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sash.pipelines.connectors.connector import Connector
from sash.spark import batches, flowing, reading, writing


@dataclass(frozen=True, eq=False)
class Memory(Connector):
    """A view, or a table of a stream, of the sink's name."""

    def write(self, frame: Any, target: writing.Target, count: reading.Count, show: flowing.Show) -> int | None:
        """Make the view; nothing is computed before it is asked."""
        frame.createOrReplaceTempView(target.name)
        return None

    def put(self, target: writing.Target) -> Callable[[Any, flowing.Batch], None]:
        """What adds batches to the view."""
        return batches.ViewOfBatches(target.name)


MEMORY = Memory(
    ("memory",),
    is_source=False,
    has_tables=True,
    is_known=True,
    keeps=False,
    only_adds=True,
    words=(("`memory`", "kept as a view", "kept as a table", "the same"),),
)
