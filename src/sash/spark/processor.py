"""What Spark calls for each shard in each batch of a continuous query.

Spark starts a Python of its own for each query just to ask what state there is, so that this file imports nothing
that is not needed for that.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

from pyspark.sql.streaming.stateful_processor import StatefulProcessor
from pyspark.sql.types import BinaryType, LongType, StructField, StructType

if TYPE_CHECKING:
    import pandas as pd  # type: ignore[import-untyped]

HEAD, CHUNKS = "head", "chunks"
BODY = StructType([StructField("body", BinaryType())])  # types as text would be asked of the JVM in each task
NUMBER = StructType([StructField("number", LongType())])


class Shards(StatefulProcessor):
    """The shards of a query; ``plan`` is pickled."""

    def __init__(self, plan: bytes) -> None:
        self.plan = plan

    def init(self, handle: Any) -> None:
        """Name what is kept."""
        self.handle = handle
        self.head = handle.getValueState(HEAD, BODY)
        self.chunks = handle.getMapState(CHUNKS, NUMBER, BODY)

    def handleInputRows(self, key: Any, rows: Iterator[pd.DataFrame], timerValues: Any) -> Iterator[pd.DataFrame]:
        """Take a batch."""
        from sash.spark.shards import work

        return work(self, int(key[0]), rows, timerValues.getCurrentWatermarkInMs())

    def handleExpiredTimer(self, key: Any, timerValues: Any, expiredTimerInfo: Any) -> Iterator[pd.DataFrame]:
        """The watermark has moved, and nothing came."""
        from sash.spark.shards import work

        return work(self, int(key[0]), iter(()), timerValues.getCurrentWatermarkInMs())

    def close(self) -> None:
        """Nothing is open."""
