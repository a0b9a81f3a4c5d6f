"""Continuous queries on a batch DataFrame of Spark."""

from __future__ import annotations

from typing import Any

from sash.engine.streams.sources import Source


class SparkSource(Source):
    """A DataFrame."""

    def __init__(self, frame: Any) -> None:
        self.frame = frame
