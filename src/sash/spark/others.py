"""Frames over the rows of another table, on Spark: rows of both sides in one shuffle by their keys, and in one task.

The tables are put one below the other, with the columns that are read of each as a struct, which is NULL in the rows
of the others. A task tells the sides apart again; what else the left table has never leaves the JVM.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import pyarrow as pa
from pyspark.sql import Column, DataFrame
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_type

from sash.engine.columns_read import expressions_of, expressions_of_others, rewritten
from sash.engine.common_type import together
from sash.errors import SashError, SashWarning, outside
from sash.expressions.columns import Expression, Name
from sash.libraries import is_spark
from sash.options import asked_memory
from sash.spark.columns_read import ReadColumns
from sash.spark.passing import table_udf
from sash.spark.sides import AT, KEY, SIDE, Sides, evaluation, of_table
from sash.spark.task_names import window_task
from sash.spark.text_queries import as_frame
from sash.windows.others import pair_words
from sash.windows.over import Over

Reads = Callable[[Over], list[Expression]]
HASH, ROW = "hash", "row"  # what rows are moved by; the columns of the left table, as a struct
RIGHT = "of"  # those that are read of another table, as a struct


@dataclass
class OtherTable:
    """Another table, and the columns of it by which rows find theirs."""

    inputs: ReadColumns
    on: tuple[Expression, ...]
    at: Expression | None


@dataclass
class SharedTask:
    """Expressions whose rows, of the left table and of others, are brought together by the same keys."""

    on: tuple[Expression, ...]  # of the left table
    types: tuple[pa.DataType, ...]  # in which keys are compared
    sources: dict[Any, OtherTable] = field(default_factory=dict)
    ats: dict[Any, tuple[Expression, pa.DataType]] = field(default_factory=dict)  # of the left table, and as compared
    asked: dict[str, Over] = field(default_factory=dict)
    columns: dict[str, Over] = field(default_factory=dict)  # the same, over tables by number and columns of both sides

    def __str__(self) -> str:
        if not self.on:
            return "rows of both tables in one task, as there is no on="
        pairs = (", ".join(map(pair_words, self.on, source.on)) for source in self.sources.values())
        return f"rows of both tables shuffled by {' and '.join(dict.fromkeys(pairs))}, and paired in one task"

    @property
    def keys(self) -> tuple[str, ...]:
        """What tasks call the keys."""
        return tuple(f"{KEY}{place}" for place in range(len(self.on)))

    @property
    def words(self) -> dict[str, str]:
        """What the user calls the keys."""
        return dict(zip(self.keys, map(str, self.on), strict=True))

    def add(self, name: str, over: Over, source: OtherTable, dtype: pa.DataType | None) -> None:
        """Another expression, which is to read the keys of both sides from columns that these have in common."""
        window, keys, at = over.window, tuple(Name((key,)) for key in self.keys), None
        table, order = (window.partition_key, tuple(each.key for each in window.order[:1])), window.order
        if dtype is not None:
            asked = window.others.at.key, dtype
            self.ats.setdefault(asked, (window.others.at, dtype))
            at = Name((f"{AT}{list(self.ats).index(asked)}",))
            order = (replace(order[0], column=at), *order[1:])
        self.sources.setdefault(table, source)
        others = replace(window.others, table=list(self.sources).index(table), on=keys, at=at)
        window = replace(window, partition=keys, order=order, others=others)
        self.asked[name], self.columns[name] = over, replace(over, window=window)

    def over(self, number: int) -> dict[str, Over]:
        """The expressions over one of the tables."""
        return {name: over for name, over in self.columns.items() if over.window.others.table == number}

    def type_of(self, at: str) -> pa.DataType:
        """The type in which times are compared."""
        return next(dtype for place, (_, dtype) in enumerate(self.ats.values()) if at == f"{AT}{place}")


def pairings(inputs: ReadColumns, columns: Mapping[str, Over]) -> list[SharedTask]:
    """As few pairings as suffice for expressions over other tables."""
    tables: dict[int, ReadColumns] = {}
    asked: dict[str, tuple[Over, ReadColumns]] = {}
    for name, over in columns.items():
        table = over.window.others.table
        if id(table) not in tables:
            tables[id(table)] = ReadColumns(as_batch(inputs.frame, table))
        theirs = tables[id(table)]
        asked[name] = rewritten(over, inputs.named, theirs.named), theirs
    tasks: dict[Any, SharedTask] = {}
    left = inputs.schema()
    rights = {number: theirs.schema() for number, theirs in tables.items()}
    for name, (over, theirs) in asked.items():
        window, others, right = over.window, over.window.others, rights[id(over.window.others.table)]
        pairs = zip(others.on, window.partition, strict=True)
        types = tuple(_common("on", ours, left, their, right) for ours, their in pairs)
        at = window.order[0].column if window.order else None
        dtype = None if at is None else _common("at", others.at, left, at, right)
        key = tuple(ours.key for ours in others.on), types
        pairing = tasks.setdefault(key, SharedTask(others.on, types))
        pairing.add(name, over, OtherTable(theirs, window.partition, at), dtype)
    return list(tasks.values())


def as_batch(left: DataFrame, table: Any) -> DataFrame:
    """The table of ``Window.of`` as a Spark DataFrame."""
    frame = as_frame(left.sparkSession, "the table of Window.of", table)
    if frame.isStreaming:
        raise SashError("the table of Window.of must be a batch DataFrame, got a streaming one")
    return frame


def names_of(table: Any) -> list[str]:
    """The columns of the table of ``Window.of``, beside a Spark DataFrame."""
    if is_spark(table):
        return [str(name) for name in table.columns]
    from sash.engine.evaluating import names_of_others

    return names_of_others(table)


def sides_of(pairing: SharedTask, inputs: ReadColumns) -> Sides:
    """What tasks receive of each side."""
    common = dict(zip(pairing.keys, pairing.types, strict=True))
    common |= {f"{AT}{place}": dtype for place, (_, dtype) in enumerate(pairing.ats.values())}
    schema, left = inputs.schema(), _read(inputs, pairing.columns.values(), expressions_of)
    rights = []
    for number, source in enumerate(pairing.sources.values()):
        theirs = source.inputs.schema()
        names = _read(source.inputs, pairing.over(number).values(), expressions_of_others)
        rights.append(pa.schema([theirs.field(name) for name in names]))
    return Sides(pa.schema(common), pa.schema([schema.field(name) for name in left]), tuple(rights))


def sampled(pairing: SharedTask, rows: int) -> dict[str, Over]:
    """The expressions as they were asked, over the first rows of the other tables."""
    columns: dict[str, Over] = {}
    for number, source in enumerate(pairing.sources.values()):
        mine = {name: pairing.asked[name] for name in pairing.over(number)}
        table = first_rows(source.inputs, expressions_of_others, mine.values(), rows)
        columns |= {name: of_table(over, table) for name, over in mine.items()}
    return columns


def first_rows(inputs: ReadColumns, read: Reads, columns: Iterable[Over], rows: int) -> pa.Table:
    """The first rows of a frame, with the columns that some expressions read of it."""
    taken = {name: inputs.columns[name] for name in _read(inputs, columns, read)} or {ROW: F.lit(True)}
    named = [column.alias(f"c{place}") for place, column in enumerate(taken.values())]
    return inputs.frame.limit(rows).select(*named).toArrow().rename_columns(list(taken))


def paired(
    frame: DataFrame, pairing: SharedTask, inputs: ReadColumns, sides: Sides, answers: pa.Schema
) -> tuple[DataFrame, str]:
    """The frame with the answers of a pairing as a struct in a new column, which is named."""
    if not pairing.on:
        warn_of(pairing)
    called = _unused(frame)
    below = _left(frame, pairing, inputs, called)
    for number, source in enumerate(pairing.sources.values()):
        right = _right(pairing, number, source, sides.rights[number].names, called)
        below = below.unionByName(right, allowMissingColumns=True)
    side, keys = F.col(called + SIDE), [F.col(called + name) for name in sides.common.names]
    placed = below.repartition(F.col(called + HASH)) if pairing.on else below.repartition(1)
    inside = [each for each in placed.columns if each != called + ROW]
    placed = placed.select(*map(F.col, inside), F.col(f"{called}{ROW}.*"))
    mine = side == 0
    # an expression of the left table may fail for the NULLs that the other rows have in its place
    left = [F.when(mine, inputs.columns[name]) for name in sides.left.names]
    rights = [
        F.col(f"{called}{RIGHT}{number}").getField(f"r{place}")
        for number, right in enumerate(sides.rights)
        for place in range(len(right))
    ]
    work = evaluation(pairing.columns, sides, answers, pairing.words, asked_memory())
    name = inputs.unused(frame, "answers")
    out = placed.select(
        "*", table_udf(work, answers, window_task(pairing.columns))(side, *keys, *left, *rights).alias(name)
    ).filter(mine)
    return out.drop(*inside), name


def warn_of(pairing: SharedTask) -> None:
    """Tell the user which expressions bring all rows to one task."""
    for name, over in pairing.columns.items():
        warnings.warn(
            f"{name}: {over.call} over the rows of another table without on= has all rows of both tables in one task; "
            "an on= would change that",
            SashWarning,
            stacklevel=outside(),
        )


def _left(frame: DataFrame, pairing: SharedTask, inputs: ReadColumns, called: str) -> DataFrame:
    """The rows that ask: their keys, and all that they are as a struct."""
    keys = _keys(inputs, pairing, pairing.on)
    ats = {f"{AT}{place}": _cast(inputs, *each) for place, each in enumerate(pairing.ats.values())}
    hashed = F.xxhash64(*keys.values(), F.lit(0))
    for key in keys.values():  # rows that find nothing are anywhere, but not all in one task
        hashed = F.when(key.isNotNull(), hashed).otherwise(F.xxhash64(*inputs.simple(), F.lit(0)))
    row = F.struct("*").alias(called + ROW)
    return frame.select(*_named(called, {SIDE: F.lit(0), HASH: hashed, **keys, **ats}), row)


def _right(pairing: SharedTask, number: int, source: OtherTable, names: Iterable[str], called: str) -> DataFrame:
    """The rows of another table that may be found: their keys, and what is read of them as a struct."""
    keys = _keys(source.inputs, pairing, source.on)
    hashed = F.xxhash64(*keys.values(), F.lit(0))
    at = next(iter(pairing.over(number).values())).window.others.at
    if at is not None and source.at is not None:
        keys[at.path[0]] = _cast(source.inputs, source.at, pairing.type_of(at.path[0]))
    read = {f"r{place}": source.inputs.columns[name] for place, name in enumerate(names)}
    inside = F.struct(*_named("", read or {"r": F.lit(True)})).alias(f"{called}{RIGHT}{number}")
    out = source.inputs.frame.select(*_named(called, {SIDE: F.lit(number + 1), HASH: hashed, **keys}), inside)
    for name in keys:
        out = out.filter(F.col(called + name).isNotNull())
    return out


def _keys(inputs: ReadColumns, pairing: SharedTask, on: Iterable[Expression]) -> dict[str, Column]:
    return {name: _cast(inputs, key, dtype) for name, key, dtype in zip(pairing.keys, on, pairing.types, strict=True)}


def _named(called: str, columns: Mapping[str, Column]) -> list[Column]:
    return [column.alias(called + name) for name, column in columns.items()]


def _cast(inputs: ReadColumns, expression: Expression, dtype: pa.DataType) -> Column:
    """A column that both sides have, in the type in which they are compared."""
    column = inputs.columns[_name(expression)]
    return column if inputs.schema().field(_name(expression)).type == dtype else column.cast(from_arrow_type(dtype))


def _name(expression: Expression) -> str:
    """What workers call a column that is read of a frame."""
    if not isinstance(expression, Name):
        raise SashError(f"on and at must name columns on Spark, got {expression}")
    return expression.path[0]


def _common(argument: str, ours: Expression, left: pa.Schema, their: Expression, right: pa.Schema) -> pa.DataType:
    """The type in which the columns of both sides are compared."""
    types = left.field(_name(ours)).type, right.field(_name(their)).type
    both = together(*(pa.array([], dtype) for dtype in types))
    if both is None:
        raise SashError(
            f"{argument} must pair columns that compare, got {ours} of {types[0]} and {their} of {types[1]}"
        )
    return both.type


def _read(inputs: ReadColumns, columns: Iterable[Over], read: Reads) -> list[str]:
    """The columns of a frame that some expressions read, beside what both sides have."""
    wanted = {path[0] for over in columns for each in read(over) for path in each.paths}
    return [name for name in inputs.columns if name in wanted]


def _unused(frame: DataFrame) -> str:
    """What no name of a column begins with."""
    word = "__sash_both"
    while any(name.lower().startswith(word) for name in frame.columns):
        word += "_"
    return word
