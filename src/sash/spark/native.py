"""Spark's own window operator as one more algorithm: taken where it gives the same answer for less, or when named.

Rows that it answers never leave the JVM, which is faster where one pass in order suffices, or where rows are few.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

import pyarrow as pa
from pyarrow import types
from pyspark.sql import Column
from pyspark.sql import Window as SparkWindow
from pyspark.sql import functions as F
from pyspark.sql.pandas.types import from_arrow_type

from sash import options
from sash.algebra import Aggregate
from sash.algebra.call import NULLS
from sash.algebra.catalogue import FUNCTIONS
from sash.algebra.catalogue.sums import LOW, TOO_LARGE
from sash.algebra.window_function import RankFunction
from sash.engine.columns_read import expressions_of, tie_breakers_of
from sash.errors import Refused, column_named
from sash.expressions.columns import Expression, Literal, Name, Order
from sash.kernels.algorithm import FOLD, Algorithm
from sash.planner import ON_SPARK, Choice, Sorting, Step
from sash.spark.columns_read import ReadColumns, spark_column
from sash.spark.exchanges import Exchange, exchanges
from sash.windows.over import Over

ONE_TASK = 1 << 30  # bytes that one pass of Spark's answers sooner, without keys or of whole partitions
FEW = 1 << 25  # bytes that are answered before a Python worker has begun
MOST = (1 << 31) - 1  # what Spark's bounds and numbers of rows fit
WIDEST = 28  # digits of decimals whose sums fit in ten more
HALF = 32  # bits


def _in_the_jvm(*arguments: Any) -> Any:
    raise NotImplementedError("Spark's own operator runs in the JVM")


SPARK = Algorithm(
    name=ON_SPARK,
    operation=FOLD,
    words="its own window operator, in the JVM",
    cost=lambda task: 0.0,  # it is taken by the size that Spark expects of its input
    run=_in_the_jvm,
    by_name=False,
)


def for_engine(columns: Mapping[str, Over]) -> dict[str, Over]:
    """The expressions as the engine knows them, which has no such algorithm."""
    return {name: replace(over, using=None) if over.using == SPARK.name else over for name, over in columns.items()}


@dataclass(frozen=True)
class Native:
    """Which expressions Spark's operator answers, and their answers; the others are brought together by exchanges."""

    inputs: ReadColumns
    schema: pa.Schema
    columns: Mapping[str, Over]
    bytes: Callable[[], float]  # that Spark expects the input to have

    def divided(self, is_skewed: Callable[[Exchange], bool]) -> tuple[dict[str, Over], list[Exchange]]:
        """The expressions for Spark's operator, and the exchanges of the others."""
        asked = {name: over for name, over in self.columns.items() if over.using == SPARK.name}
        for name, over in asked.items():
            with column_named(name):
                if reason := self.refusal(over):
                    raise Refused(f"{name}: {SPARK.name} {reason}")
        moved = exchanges({name: over for name, over in self.columns.items() if name not in asked}, is_skewed)
        faster = [exchange for exchange in moved if self.is_faster(exchange)]
        by_spark = asked | {name: over for exchange in faster for name, over in exchange.columns.items()}
        return by_spark, [exchange for exchange in moved if exchange not in faster]

    def is_faster(self, exchange: Exchange) -> bool:
        """Whether Spark answers all the expressions of an exchange, in one pass, before Sash would have."""
        overs = exchange.columns.values()
        most = ONE_TASK if not exchange.keys or all(map(_is_total, overs)) else FEW
        able = most > 0 and all(not over.using and _grows(over) and self.refusal(over) is None for over in overs)
        return able and (self.bytes() < most or not (exchange.keys or options.jobs))

    def refusal(self, over: Over) -> str | None:
        """Why Spark's operator does not give the answer of an expression, in words that go behind its name, or None."""
        return _cannot_ask(over) or _cannot_frame(over) or self._cannot_read(over)

    def answered(
        self, frame: Any, columns: Mapping[str, Over], answers: Mapping[str, pa.DataType]
    ) -> tuple[Any, dict[str, Column]]:
        """The frame with hidden columns of the answers, and the columns that these are."""
        orders = {name: self._orders(over) for name, over in columns.items()}
        hidden: dict[str, Column] = {}
        answered = {}
        # one sort serves orders of which one begins like the other, if the longer one is answered first
        for name in sorted(columns, key=lambda name: -len(orders[name])):
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", UserWarning)  # Connect warns of windows without PARTITION BY
                parts = self._parts(columns[name], orders[name])
            named = [self.inputs.unused(frame, f"native{len(hidden) + place}") for place in range(len(parts))]
            hidden |= dict(zip(named, parts, strict=True))
            answer = _lowered(name, *map(F.col, named)).cast(from_arrow_type(answers[name]))
            # ranks and counts are never NULL, which Spark knows and Sash does not say of its answers
            answered[name] = F.when(answer.isNotNull(), answer)
        return (frame.withColumns(hidden) if hidden else frame), answered

    def sortings(self, columns: Mapping[str, Over]) -> tuple[Sorting, ...]:
        """What is said of it: how rows are sorted, and what is answered there."""
        groups: dict[str, list[Step]] = {}
        for name, over in columns.items():
            asked = over.using == SPARK.name
            why = () if asked else ("one pass over few rows, which need not go to Python",)
            step = Step(name, str(over.call), repr(over.window.frame), (Choice(SPARK, None, why, asked),))
            window = over.window
            by = " ".join(f"{word} {', '.join(map(str, what))}" for word, what in
                          (("partition by", window.partition), ("order by", window.order)) if what)  # fmt: skip
            groups.setdefault(f"{by or 'all rows'}: by Spark", []).append(step)
        return tuple(Sorting(words, tuple(steps)) for words, steps in groups.items())

    def _cannot_read(self, over: Over) -> str | None:
        """Why Spark does not read the columns of an expression as Sash does."""
        read = [*expressions_of(over), *self._breakers(over)]
        nested = next((each for each in read if isinstance(each, Name) and types.is_nested(self._type(each))), None)
        if nested is not None:
            return f"orders lists, structs and maps in another way, and reads {nested}"
        if isinstance(over.call.aggregate, Aggregate):
            for column in over.call.columns:
                dtype = self._type(column)
                if reason := _cannot_take(over.call.aggregate, dtype):
                    return f"{reason}, got {dtype}"
        return None

    def _type(self, column: Expression) -> pa.DataType:
        assert isinstance(column, Name)
        return self.schema.field(column.path[0]).type

    def _spark(self, column: Any) -> Column:
        return self.inputs.columns[column.path[0]] if isinstance(column, Name) else spark_column(column)

    def _orders(self, over: Over) -> list[Column]:
        """What rows are sorted by: the window's order, and where it matters, what Sash tells its peers apart by."""
        window, function = over.window, over.call.aggregate
        if _is_total(over) and function.framed:
            return []
        orders = [self._ordered(each) for each in window.order]
        by_row = getattr(function, "by_row", False) or (function.framed and window.frame.kind == "rows")
        known = {each.key for each in (*window.partition, *(order.column for order in window.order))}
        breakers = [each for each in self._breakers(over) if each.key not in known] if by_row else []
        return orders + [self._spark(each).asc_nulls_first() for each in breakers]

    def _ordered(self, order: Order) -> Column:
        column, nulls = self._spark(order.column), "first" if order.nulls_first else "last"
        return getattr(column, f"{'desc' if order.descending else 'asc'}_nulls_{nulls}")()

    def _breakers(self, over: Over) -> list[Name]:
        """What tells rows apart that are equal in the order: columns that expressions over the same rows read."""
        key = over.window.partition_key, over.window.order_key
        alike = (each for each in self.columns.values() if (each.window.partition_key, each.window.order_key) == key)
        names = {each.path[0]: each for one in alike for each in tie_breakers_of(one) if isinstance(each, Name)}
        return [names[name] for name in sorted(names)]

    def _parts(self, over: Over, orders: list[Column]) -> list[Column]:
        """The function over its window; a sum of integers as two of their halves, which cannot overflow."""
        call, frame = over.call, over.window.frame
        spec = SparkWindow.partitionBy(*map(self._spark, over.window.partition))
        spec = spec.orderBy(*orders) if orders else spec
        if call.aggregate.framed:
            start = SparkWindow.unboundedPreceding if frame.start.is_unbounded else frame.start.constant
            end = SparkWindow.unboundedFollowing if frame.end.is_unbounded else frame.end.constant
            spec = (spec.rowsBetween if frame.kind == "rows" else spec.rangeBetween)(start, end)
        columns = [self._spark(each) for each in call.columns]
        if call.aggregate.name == "sum" and types.is_integer(self._type(call.columns[0])):
            whole = columns[0].cast("long")
            halves = F.shiftright(whole, HALF), whole.bitwiseAND(F.lit(LOW))
            return [F.sum(each).over(spec) for each in halves]
        return [self._called(call, columns).over(spec)]

    def _called(self, call: Any, columns: list[Column]) -> Column:
        """The function of the same name."""
        name = call.aggregate.name
        if name == "count" and not columns:
            columns = [F.lit(1)]
        constants = _constants(call.aggregate)[:1]  # whether places are counted from the last row comes second
        return F.call_function(name, *columns[:1], *map(F.lit, constants), *columns[1:])


def _constants(function: Any) -> tuple[Any, ...]:
    """Numbers that a call has beside its columns."""
    return () if isinstance(function, Aggregate) else tuple(function.parameters)


def _lowered(name: str, first: Column, low: Column | None = None) -> Column:
    """The answer of its parts: itself, or of a sum's halves the sum, which raises where it does not fit."""
    if low is None:
        return first
    high = first + F.shiftright(low, HALF)
    fits = high.between(-(1 << HALF - 1), (1 << HALF - 1) - 1)
    answer = F.shiftleft(high, HALF) + low.bitwiseAND(F.lit(LOW))
    return F.when(high.isNull() | fits, answer).otherwise(F.raise_error(F.lit(f"{name}: {TOO_LARGE}")).cast("long"))


def _is_total(over: Over) -> bool:
    """Whether all rows of a partition have one answer, in whatever order they are."""
    frame, function = over.window.frame, over.call.aggregate
    is_whole = bool(function.framed and frame.start.is_unbounded and frame.end.is_unbounded)
    return is_whole and getattr(function, "nth", None) is None


def _grows(over: Over) -> bool:
    """Whether one pass over the rows in order answers it: frames begin at the first row, or do not matter."""
    frame = over.window.frame
    ends = frame.end.is_unbounded or frame.end.is_current_row
    return not over.call.aggregate.framed or (frame.start.is_unbounded and ends)


def _cannot_take(function: Aggregate, dtype: pa.DataType) -> str | None:
    """Why an aggregate is not computed of a type as Sash does it."""
    whole = types.is_integer(dtype)
    if function.cast == "bool":
        return None if types.is_boolean(dtype) else f"takes booleans for {function.name}"
    if function.takes == "integers":
        return None if whole else f"takes whole numbers for {function.name}"
    if function.cast is None and function.name != "sum" and function.inputs < 2:
        return None
    if types.is_decimal(dtype) and dtype.precision > WIDEST:
        return f"adds up decimals of up to {WIDEST} digits"
    return None if whole or types.is_floating(dtype) or types.is_decimal(dtype) else "adds up numbers"


def _cannot_ask(over: Over) -> str | None:
    """Why the function is not Spark's, or not called as Spark calls it."""
    call = over.call
    function = call.aggregate
    known = FUNCTIONS.get(function.origin[0]) if function.origin is not None else None
    if known is None or not known.spark or function.name not in FUNCTIONS:
        return f"has no {function.name} over windows that means the same"
    unknown = {
        "filter": call.condition is not None,
        "distinct": call.unique,
        "order of the function's own": bool(call.order),
        "ignoring NULLs": call.nulls != NULLS,
    }
    for said, is_there in unknown.items():
        if is_there:
            return f"takes no {said} over windows"
    if isinstance(function, Aggregate) and not (function.commutative or function.nth is not None):
        return f"takes the rows of {function.name} in no certain order"
    if isinstance(function, RankFunction) and call.columns:
        return "ranks rows, not values"
    if not all(isinstance(each, Name) for each in call.columns[: call.of_frame]):
        return "is asked of columns, not of constants"
    if not all(isinstance(each, Literal) for each in call.columns[call.of_frame :]):
        return f"takes a constant default in {function.name}"
    constants = _constants(function)
    if method := next((each for each in constants if isinstance(each, str)), None):
        return f"knows no method of {function.name}, got {method!r}"
    if None in constants:
        return f"takes a constant number in {function.name}"
    if any(each is True for each in constants):
        return "counts no places from the last row"
    return f"takes numbers of 32 bits in {function.name}" if any(abs(each) > MOST for each in constants) else None


def _cannot_frame(over: Over) -> str | None:
    """Why the frame is not one of Spark's, or not one in which ties are settled."""
    window, function = over.window, over.call.aggregate
    frame = window.frame
    if not function.framed:
        return None if window.order else f"needs an orderBy for {function.name}"
    if frame.kind == "groups" or frame.exclude != "no others" or frame.closed != "both":
        return "has no GROUPS, EXCLUDE or closed"
    if frame.has_columns or (frame.kind == "range" and frame.has_offset):
        return "takes the same number of rows around each row, no columns and no distances"
    if any(bound.form == "offset" and abs(bound.constant) > MOST for bound in (frame.start, frame.end)):
        return "takes bounds of 32 bits"
    if getattr(function, "nth", None) is not None and (frame.kind != "rows" or not window.order):
        return f"takes the rows of {function.name} in no certain order, but for rowsBetween with an orderBy"
    return None
