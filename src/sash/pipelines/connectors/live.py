"""Sources that have no history: what they give is there once."""

from __future__ import annotations

from sash.pipelines.connectors.connector import Connector

LIVE = Connector(("rate", "rate-micro-batch", "socket"), is_sink=False, reads_batches=False)
