"""Rows for people to look at."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Any

from sash.libraries import is_remote
from sash.pipelines.connectors.connector import Connector
from sash.spark import batches, flowing, reading, writing


@dataclass(frozen=True, eq=False)
class Console(Connector):
    """The terminal, or whoever asked to be shown rows."""

    def write(self, frame: Any, target: writing.Target, count: reading.Count, show: flowing.Show) -> int | None:
        """Show the first rows; how many there are, if there are no more."""
        rows = frame.limit(flowing.SHOWN + 1).toArrow()
        show(target.name, rows)
        return rows.num_rows if rows.num_rows <= flowing.SHOWN else None

    def start(self, frame: Any, target: writing.Target, query: flowing.StreamSettings) -> Any:
        """A query that shows each batch; by Spark, where this process cannot be reached from it."""
        if query.show is None or is_remote(frame):
            return flowing.start(frame, target, query)
        return flowing.start_each(frame, target, query, self.put(target))

    def put(self, target: writing.Target) -> Callable[[Any, flowing.Batch], None]:
        """What shows batches."""
        return partial(batches.onto_console, target)


CONSOLE = Console(
    ("console",),
    is_source=False,
    has_tables=True,
    is_known=True,
    keeps=False,
    only_adds=True,
    words=(("`console`", "shown", "shown", "the same"),),
)
