"""Tables of Spark's catalogue."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sash.errors import SashError
from sash.pipelines.connectors.connector import Connector
from sash.spark import reading, writing


@dataclass(frozen=True, eq=False)
class Tables(Connector):
    """Tables by their names."""

    in_catalogue: bool = True

    def exists(self, spark: Any, target: writing.Target) -> bool:
        """Whether the catalogue has the table."""
        return bool(spark.catalog.tableExists(target.table))

    def read(self, spark: Any, origin: reading.Origin, streaming: bool, name: str) -> tuple[Any, Any]:
        """The rows of the table."""
        return reading.table(spark, origin, streaming), None

    def check_options(self, target: writing.Target) -> None:
        """Refuse a second place."""
        if "path" in target.options:
            raise SashError("a table has a place already, got options.path, too")

    def save(self, frame: Any, target: writing.Target) -> None:
        """Write all rows; a new table takes the place of the old one when it is whole."""
        writing.save_table(frame, target, self.replaces)


TABLES = Tables(
    words=(
        (
            "`table`",
            "a new table takes the place of the old one when it is whole",
            "Spark's table sink",
            "each batch appended; again after a crash",
        ),
    ),
)
