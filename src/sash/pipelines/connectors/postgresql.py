"""Tables of PostgreSQL: rows in one transaction, once."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from sash.pipelines.connectors.jdbc import Jdbc
from sash.spark import batches, flowing, postgres, writing


class PostgreSQL(Jdbc):
    """A database whose transactions take what is done here."""

    def exists(self, spark: Any, target: writing.Target) -> bool:
        """Whether the database has the table."""
        return postgres.exists(spark, target.options, target.relation)

    def save(self, frame: Any, target: writing.Target) -> None:
        """Write all rows, or none."""
        postgres.write(frame, target.options, target.relation, append=target.mode != "overwrite")

    def put(self, target: writing.Target) -> Callable[[Any, flowing.Batch], None]:
        """What puts batches in once, by their numbers."""
        return partial(batches.into_postgres, target)


POSTGRESQL = PostgreSQL(
    url=postgres.URL,
    every_batch=True,
    words=(
        (
            "`jdbc`, PostgreSQL",
            "into a table beside, then into the table in one transaction, once ([more](#postgresql))",
            "each batch in one transaction with its number, so that a batch that comes again after a crash is not "
            "written twice",
            "the same",
        ),
    ),
)
