"""What a query reads of a Spark DataFrame: every expression as a Spark column, and as an Arrow column in the worker."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from inspect import signature
from typing import Any

import pyarrow as pa
from pyspark.errors import AnalysisException, PySparkException
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_type, to_arrow_type
from pyspark.sql.types import DataType, DateType, NumericType, StringType, TimestampNTZType, TimestampType

from sash.engine.columns_read import expressions_of, rewritten
from sash.errors import SashError
from sash.expressions.binding import bind
from sash.expressions.columns import Expression, Foreign, Name
from sash.expressions.naming import quoted
from sash.spark.described import DescribedFrame
from sash.windows.over import Over

HASHED = (NumericType, StringType, DateType, TimestampType, TimestampNTZType)
MOST_HASHED = 8
ZONED = "timezone" in signature(to_arrow_type).parameters  # PySpark 4.1 takes timestamps to be in UTC
ROW = "__sash_row"  # a column that says no more than that there is a row


@dataclass
class ReadColumns:
    """The columns that workers receive, numbered as they are first asked for."""

    frame: Any  # a DataFrame, or one of which the user says what its columns are
    asked: tuple[str, ...] = ()
    names: list[str] = field(default_factory=list)
    columns: dict[str, Column] = field(default_factory=dict)
    _known: dict[Any, str] = field(default_factory=dict)
    _bound: dict[str, Expression] = field(default_factory=dict)
    _computed: set[str] = field(default_factory=set)
    _foreign: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.names = list(self.frame.columns)

    def read(self, over: Over) -> Over:
        """The window expression over the columns that the workers receive."""
        return rewritten(over, self.named)

    def named(self, expression: Expression) -> Expression:
        """The column that stands for an expression in the workers; one without any column stays as it is."""
        if not isinstance(expression, Foreign) and not expression.paths:
            return expression
        bound = expression if isinstance(expression, Foreign) else bind(expression, self.names)
        if bound.key not in self._known:
            name = str(expression)
            if isinstance(expression, Name) and len(expression.path) == 1:
                (name,) = expression.path
            if name.startswith("__sash_"):  # as columns do that workers add
                name = quoted(name + "'")
            while name in self.columns:  # two PySpark columns may look alike
                name += "'"
            self.columns[name] = spark_column(bound)
            self._known[bound.key] = name
            self._bound[name] = bound
            if not is_plain(bound):
                self._computed.add(name)
            if isinstance(bound, Foreign):
                self._foreign.append(name)
        return Name((self._known[bound.key],))

    def compute(self, columns: Iterable[Over]) -> None:
        """Let the frame have what must be the same wherever it is read: computed keys, and all columns of PySpark.

        What rows are moved by must be what they are sorted by; and a column of PySpark may be random.
        """
        windows = [over.window for over in columns]
        keys = [each for window in windows for each in (*window.partition, *(order.column for order in window.order))]
        for name in dict.fromkeys((*self._foreign, *(key.path[0] for key in keys if key.paths))):
            if name in self._computed:
                computed = self.unused(self.frame, "computed")
                self.frame = self.frame.withColumn(computed, self.columns[name])
                self.columns[name] = F.col(computed)
                self._computed.discard(name)

    def spark(self, names: Iterable[str]) -> list[Column]:
        """Columns that workers know by these names, as Spark has them."""
        return [self.columns[name] for name in names]

    def taken(self, columns: Iterable[Over]) -> dict[str, Column]:
        """Those of the columns that some window expressions, already read, need."""
        wanted = {path[0] for over in columns for each in expressions_of(over) for path in each.paths}
        some = {name: column for name, column in self.columns.items() if name in wanted}
        return some or {ROW: F.lit(True)}

    def unused(self, frame: Any, word: str) -> str:
        """A name for a column beside those of a frame, and those that the user asks for."""
        known = {name.lower() for name in (*frame.columns, *self.asked)}
        name = f"__sash_{word}"
        while name in known:
            name += "_"
        return name

    def simple(self) -> list[Column]:
        """A few columns of the frame that Spark can hash, whatever the query reads of it."""
        fields = [each for each in self.frame.schema.fields if isinstance(each.dataType, HASHED)]
        return [F.col(quoted(each.name)) for each in fields if self.frame.columns.count(each.name) == 1][:MOST_HASHED]

    def schema(self) -> pa.Schema:
        """The Arrow types of the columns; Spark looks at the expressions here, and an error in one is told."""
        if isinstance(self.frame, DescribedFrame):
            return self._described(self.frame)
        zone = self.frame.sparkSession.conf.get("spark.sql.session.timeZone") or "UTC"
        if not self.columns:
            return pa.schema([])
        numbered = [column.alias(f"c{place}") for place, column in enumerate(self.columns.values())]
        try:
            fields = self.frame.select(*numbered).schema.fields
        except AnalysisException as error:
            raise SashError(f"Spark cannot resolve an expression: {_first_line(error)}") from None
        types = [_arrow_type(each.dataType, name, zone) for name, each in zip(self.columns, fields, strict=True)]
        return pa.schema(zip(self.columns, types, strict=True))

    def _described(self, frame: DescribedFrame) -> pa.Schema:
        """The types that the user gave, to which columns are cast."""
        types = {name: frame.type_of(self._bound[name]) for name in self.columns}
        for name, dtype in types.items():
            self.columns[name] = self.columns[name].cast(from_arrow_type(dtype))
        return pa.schema(types)


def arrow_types(frame: DataFrame) -> pa.Schema:
    """The columns of a frame that have a type in Arrow, as workers receive them."""
    zone = frame.sparkSession.conf.get("spark.sql.session.timeZone") or "UTC"
    fields = []
    for each in frame.schema.fields:
        try:
            fields.append((each.name, _arrow_type(each.dataType, each.name, zone)))
        except SashError:  # whoever asks for it is told that it is not there
            continue
    return pa.schema(fields)


def spark_column(expression: Expression) -> Column:
    """An expression, bound to the names of its frame, as Spark has it."""
    if isinstance(expression, Foreign):
        return F.coalesce(expression.column)  # refuses what gives several rows for one
    if isinstance(expression, Name):
        return F.col(".".join(map(quoted, expression.path)))
    return F.expr(expression.key)


def is_plain(expression: Expression) -> bool:
    """Whether an expression is a column as it is."""
    return isinstance(expression, Name) and len(expression.path) == 1


def _arrow_type(dtype: DataType, said: str, zone: str) -> pa.DataType:
    if isinstance(dtype, StringType) and not dtype.isUTF8BinaryCollation():
        raise SashError(f"{said} has the collation {dtype.collation}; write it with COLLATE UTF8_BINARY")
    try:
        if ZONED:
            return to_arrow_type(dtype, timezone=zone)
        arrow = to_arrow_type(dtype)
        return pa.timestamp("us", zone) if isinstance(dtype, TimestampType) else arrow
    except (PySparkException, TypeError, ValueError):
        raise SashError(f"{said} is of type {dtype.simpleString()}, which no window function takes") from None


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]
