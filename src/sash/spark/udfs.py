"""Functions over the batches of a task, as Spark takes them."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
from pyspark.sql.pandas.functions import arrow_udf
from pyspark.sql.pandas.types import from_arrow_type
from pyspark.sql.types import StructField, StructType

from sash.spark.by_value import shipped


def table_udf(function: Any, answers: pa.Schema) -> Any:
    """A UDF that gives a struct of answers; the optimiser must not move filters or limits across it."""
    fields = StructType([StructField(field.name, from_arrow_type(field.type)) for field in answers])
    return arrow_udf(shipped(function), fields).asNondeterministic()  # type: ignore[call-overload]
