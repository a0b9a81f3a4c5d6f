"""Topics of Kafka: messages of JSON, or as they are."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from sash.pipelines.connectors.connector import Connector
from sash.spark import batches, flowing, messages, reading, writing


@dataclass(frozen=True, eq=False)
class Kafka(Connector):
    """Messages, which cannot be taken back."""

    def read(self, spark: Any, origin: reading.Origin, streaming: bool, name: str) -> tuple[Any, Any]:
        """The rows that messages hold, and the messages that are none; without a schema, messages as they are."""
        frame, _ = super().read(spark, replace(origin, schema=None), streaming, name)
        return (frame, None) if origin.schema is None else messages.parsed(frame, origin.schema, name)

    def shaped(self, frame: Any, target: writing.Target) -> Any:
        """The rows as JSON, unless they are messages already."""
        return messages.shaped(frame, target.key)

    def save(self, frame: Any, target: writing.Target) -> None:
        """Send all rows."""
        super().save(frame, replace(target, mode="append"))

    def put(self, target: writing.Target) -> Callable[[Any, flowing.Batch], None]:
        """What sends batches."""
        return partial(batches.into_topic, target)


KAFKA = Kafka(
    ("kafka",),
    needs=("kafka.bootstrap.servers",),
    is_known=True,
    only_adds=True,
    words=(
        (
            "`kafka`",
            'rows as JSON in `value`, `key = "column"` for the key (columns called `key` and `value` go as they are); '
            "messages cannot be taken back: a run that fails leaves those it sent",
            "at least once",
            "the same",
        ),
    ),
)
