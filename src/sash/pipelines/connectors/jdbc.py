"""Tables of databases, through Spark's JDBC."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

from sash.pipelines import same_place
from sash.pipelines.connectors.connector import Connector
from sash.spark import batches, flowing, postgres, reading, writing


@dataclass(frozen=True, eq=False)
class Jdbc(Connector):
    """Any database; which of its rows are in after a failure, nobody knows."""

    names: tuple[str, ...] = ("jdbc",)
    needs: tuple[str, ...] = ("url",)
    reads_streams: bool = False
    has_tables: bool = True
    is_known: bool = True

    def relation(self, target: writing.Target) -> str:
        """The table of the database."""
        return target.relation

    def whole_name(self, spark: Any, table: str, options: Mapping[str, Any]) -> tuple[str, ...]:
        """The table, after its database."""
        return same_place.database_table(str(options.get("url")), table)

    def exists(self, spark: Any, target: writing.Target) -> bool:
        """Not known: the writer tells."""
        return False

    def read(self, spark: Any, origin: reading.Origin, streaming: bool, name: str) -> tuple[Any, Any]:
        """The rows of the table, or of options.query."""
        return reading.relation(spark, origin), None

    def check_options(self, target: writing.Target) -> None:
        """Refuse a sink without a table, or with options by which rows could be lost."""
        postgres.check(target.options, target.relation)

    def save(self, frame: Any, target: writing.Target) -> None:
        """Write all rows; Spark commits each partition on its own."""
        writing.save_relation(frame, target, target.mode)

    def start(self, frame: Any, target: writing.Target, query: flowing.StreamSettings) -> Any:
        """A query that puts in batch after batch: Spark has no such sink."""
        return flowing.start_each(frame, target, query, self.put(target))

    def put(self, target: writing.Target) -> Callable[[Any, flowing.Batch], None]:
        """What appends batches."""
        return partial(batches.into_relation, target)


JDBC = Jdbc(
    words=(
        (
            "`jdbc`, other databases",
            "by Spark, which empties the table first, and commits each partition on its own",
            "each batch appended; again after a crash",
            "the same",
        ),
    ),
)
