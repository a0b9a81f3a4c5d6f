"""What goes to workers and comes back: rows numbered and narrowed, tables by the batch, functions over batches."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import StructField, StructType

from sash.engine.streams.scheme import Scheme
from sash.errors import SashError
from sash.expressions.binding import check_names
from sash.expressions.naming import quoted
from sash.spark.by_value import shipped

COMPUTED = "__sash_"


def columns_of(scheme: Scheme) -> list[str]:
    """The columns that the queries, the key and the time, or the span, are made of."""
    wanted = set(scheme.needed)
    spans = scheme.settings.spans
    settings = scheme.settings
    for each in (*settings.key, settings.time, settings.clock, *((spans.start, spans.pair) if spans else ())):
        if each is not None:
            wanted |= check_names(each, scheme.schema.names)
    return [name for name in scheme.schema.names if name in wanted]


def narrowed(scheme: Scheme, names: list[str]) -> Scheme:
    """The scheme over no more than these columns."""
    return replace(scheme, schema=pa.schema([scheme.schema.field(name) for name in names]))


def numbered(frame: DataFrame, names: list[str]) -> DataFrame:
    """These columns under names that need no care: PySpark looks columns up by name, and takes a dot for a field."""
    columns = [F.col(quoted(name)).alias(f"c{place}") for place, name in enumerate(names)]
    return frame.select(*(columns or [F.lit(True).alias("c0")]))


def shown(aside: pa.Table) -> pa.Table:
    """Rows set aside, without the columns that were computed."""
    return aside.drop_columns([name for name in aside.column_names if name.startswith(COMPUTED)])


def as_schema(batch: pa.RecordBatch, schema: pa.Schema) -> pa.Table:
    """A batch as Spark gives it, with the types that were told; they differ in whether NULL is allowed, or in zones."""
    columns = [batch.column(k) for k in range(len(schema))]
    typed = zip(columns, schema.types, strict=True)
    return pa.table([column if column.type == dtype else column.cast(dtype) for column, dtype in typed], schema.names)


def refuse_unknown(answers: pa.Schema) -> None:
    """Refuse answers whose type nobody knows before there are rows."""
    for field in answers:
        if pa.types.is_null(field.type):
            raise SashError(
                f"{field.name}: Spark must know the type of the answer, which here only the rows would tell"
            )


def table_udf(function: Any, answers: pa.Schema, name: str) -> Any:
    """A UDF that gives a struct of answers, by a name; the optimiser must not move filters or limits across it."""
    fields = StructType([StructField(field.name, from_arrow_type(field.type)) for field in answers])
    return arrow_udf(shipped(function, name), fields).asNondeterministic()  # type: ignore[call-overload]
