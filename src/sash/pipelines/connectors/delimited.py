"""Files of lines with delimiters, whose first line has the names of the columns unless it is said otherwise."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from sash.pipelines.connectors.connector import Connector
from sash.spark import reading


@dataclass(frozen=True, eq=False)
class Delimited(Connector):
    """Files as Spark's csv reads them."""

    delimiter: str = ","

    def read(self, spark: Any, origin: reading.Origin, streaming: bool, name: str) -> tuple[Any, Any]:
        """The rows, by names that are those of the schema, or it is an error."""
        usual = {"header": True, "enforceSchema": False, "sep": self.delimiter, "inferSchema": True}
        origin = replace(origin, format="csv", options={**usual, **origin.options})
        return super().read(spark, origin, streaming, name)


CSV = Delimited(("csv",), needs_path=True, defaults={"header": True})
TSV = Delimited(("tsv",), delimiter="\t", is_sink=False)  # Spark writes none
