"""Nowhere: what would be written is computed, and thrown away."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from sash.pipelines.connectors.connector import Connector
from sash.spark import batches, flowing, writing


class Noop(Connector):
    """Spark's sink that does nothing."""

    def put(self, target: writing.Target) -> Callable[[Any, flowing.Batch], None]:
        """What throws batches away."""
        return batches.nowhere


NOOP = Noop(
    ("noop",),
    is_source=False,
    has_tables=True,
    is_known=True,
    keeps=False,
    only_adds=True,
    words=(("`noop`", "thrown away", "thrown away", "the same"),),
)
