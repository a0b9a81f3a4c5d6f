"""Tables with a history, which replace what they hold in one step: Delta and Iceberg, by their paths or their names."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from sash.pipelines.connectors.connector import Connector
from sash.pipelines.connectors.tables import Tables
from sash.spark import batches, flowing, writing


class DeltaLake(Connector):
    """Folders of Delta, which note the number of a batch with its rows."""

    def put(self, target: writing.Target) -> Callable[[Any, flowing.Batch], None]:
        """What puts batches in once."""
        return partial(batches.into_delta, target)


class DeltaTables(Tables):
    """Tables of Delta."""

    put = DeltaLake.put


DELTA = DeltaLake(("delta",), has_columns=True, replaces=True, takes_updates=True)
DELTA_TABLES = DeltaTables(("delta",), replaces=True, takes_updates=True)
ICEBERG = Connector(("iceberg",), has_columns=True, replaces=True)
ICEBERG_TABLES = Tables(("iceberg",), replaces=True)
