"""Messages of Kafka whose values are JSON: rows of those that fit the schema, and the others as they came."""

from __future__ import annotations

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import StringType, StructField, StructType

from sash.errors import SashError
from sash.expressions.naming import quoted

SEEN = "sash: messages of "  # before the name of a source: the metric that counts them
PARSED, CORRUPT, MESSAGE = "__sash_parsed", "__sash_corrupt", "__sash_message"
KEPT = ("kafka_value", "kafka_topic", "kafka_partition", "kafka_offset")  # columns of late rows
NO_JSON, NO_FIT = "value is not JSON", "value is JSON that does not fit the schema"
NO_END = "value is JSON with something behind it"
# from_json reads the first value, and passes over what follows it
ALONE = "coalesce(size(from_json(concat('[', string(value), ']'), 'array<variant>')) = 1, false)"
REASON = f"""
    CASE WHEN value IS NULL THEN 'value is NULL'
         WHEN NOT is_valid_utf8(value) THEN 'value is not UTF-8; kafka_value has it in hexadecimal'
         WHEN try_parse_json(string(value)) IS NULL THEN '{NO_JSON}'
         WHEN NOT {ALONE} THEN '{NO_END}'
         ELSE '{NO_FIT}' END"""
VALUE = "CASE WHEN is_valid_utf8(value) THEN string(value) ELSE hex(value) END"

COLUMNS = {"key", "value", "topic", "headers", "partition"}  # those that Spark writes


def shaped(frame: DataFrame, key: str | None) -> DataFrame:
    """Rows as messages of JSON, unless they are messages already."""
    if "value" in frame.columns and COLUMNS.issuperset(frame.columns):
        return frame
    value = F.to_json(F.struct(*(F.col(quoted(name)) for name in frame.columns))).alias("value")
    return frame.select(*([F.col(quoted(key)).cast("string").alias("key")] if key else []), value)


def parsed(frame: DataFrame, schema: str, name: str) -> tuple[DataFrame, DataFrame]:
    """The rows of messages, and the messages that are none: with a reason, their value, topic, partition and offset.

    A row of which one field has another type than the schema says is none, since that field would be lost.
    """
    text = F.col("value").cast("string")
    dtype = frame.select(F.from_json(text, schema)).schema[0].dataType
    if not isinstance(dtype, StructType):
        raise SashError(f"schema of Kafka must be columns and types, got {schema}")
    if CORRUPT in dtype.names:
        raise SashError(f"schema of Kafka must not have a column {CORRUPT}")
    wide = StructType([*dtype.fields, StructField(CORRUPT, StringType())])
    value = F.from_json(text, wide, {"mode": "PERMISSIVE", "columnNameOfCorruptRecord": CORRUPT})
    both = frame.select(value.alias(PARSED), "value", "topic", "partition", "offset")
    fits = F.expr(f"{PARSED} IS NOT NULL AND {PARSED}.{CORRUPT} IS NULL AND {ALONE}")
    seen = both.observe(f"{SEEN}{name}", F.count(F.lit(1)).alias("rows"), F.count_if(~fits).alias("malformed"))
    rows = seen.where(fits).select(*(F.col(f"{PARSED}.{quoted(field)}") for field in dtype.names))
    columns = (VALUE, "topic", "partition", "offset")
    message = [F.expr(column).alias(name) for column, name in zip(columns, KEPT, strict=True)]
    return rows, both.where(~fits).select(F.expr(REASON).alias("reason"), *message)


def beside_late(late: DataFrame, malformed: DataFrame) -> DataFrame:
    """Late rows of a batch, the reason first, and messages that are no rows."""
    _check_names(late.columns)
    return late.unionByName(malformed, allowMissingColumns=True)


def beside_answers(both: DataFrame, malformed: DataFrame) -> DataFrame:
    """Answers and late rows of a stream, and messages that are no rows, in one DataFrame."""
    late = both.schema["late"].dataType
    assert isinstance(late, StructType)
    row = late["row"].dataType
    assert isinstance(row, StructType)
    _check_names(row.names)
    aside = F.struct(F.col("reason"), F.lit(None).cast(row).alias("row")).alias("late")
    return both.unionByName(malformed.select(aside, F.struct(*KEPT).alias(MESSAGE)), allowMissingColumns=True)


def _check_names(names: list[str]) -> None:
    taken = {name.lower() for name in names} & set(KEPT)
    if taken:
        raise SashError(f"late rows have a column {min(taken)}, by which messages that are no rows are told; rename it")
