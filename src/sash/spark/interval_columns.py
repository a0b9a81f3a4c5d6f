"""Intervals of Spark in windows: those of months, which Arrow does not bring to workers, go there as lengths of time.

A month goes as a microsecond: as exact, with the same order and the same sums. Answers come back as months, and those
of shorter intervals, such as INTERVAL DAY, as what they are of.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from pyspark.sql import DataFrame
from pyspark.sql import functions as F
from pyspark.sql.types import ArrayType, DayTimeIntervalType, YearMonthIntervalType

from sash.algebra.window_function import Deviation, QuantileFunction
from sash.engine.columns_read import rewritten
from sash.expressions.columns import Expression, Name, as_column
from sash.expressions.naming import quoted
from sash.spark.hidden import UNSPELLABLE
from sash.windows import as_window
from sash.windows.frame import Bound
from sash.windows.intervals import Interval
from sash.windows.over import Over

AS_TIME = "INTERVAL '0.000001' SECOND * CAST(CAST({} AS INTERVAL MONTH) AS INT)"
AS_MONTHS = "MAKE_YM_INTERVAL(0, CAST(CAST(CAST({} AS INTERVAL SECOND) AS DECIMAL(18, 6)) * 1000000 AS INT))"
AVERAGES = ("avg", "mean")  # whose answers are in all units, as those of quantiles are


@dataclass(frozen=True)
class IntervalColumns:
    """A frame whose months are lengths of time, the windows over it, and what the answers are to be."""

    frame: DataFrame
    columns: dict[str, Over]
    hidden: tuple[str, ...]
    types: Mapping[str, Any]  # of answers that are not what they would be

    @classmethod
    def of(cls, frame: Any, columns: Mapping[str, Over]) -> IntervalColumns | None:
        """What windows read in the place of intervals; None where they read none that need it."""
        if not isinstance(frame, DataFrame):  # but one whose columns the user names
            return None
        intervals = {
            field.name: field.dataType
            for field in frame.schema
            if isinstance(field.dataType, YearMonthIntervalType)
            or (isinstance(field.dataType, DayTimeIntervalType) and field.dataType != DayTimeIntervalType())
        }
        if not intervals or not all(isinstance(over, Over) for over in columns.values()):
            return None
        types = {name: _answer(over, intervals) for name, over in columns.items()}
        hidden = {
            name: f"{name} in months{UNSPELLABLE}"
            for name, dtype in intervals.items()
            if isinstance(dtype, YearMonthIntervalType)
        }
        read: set[str] = set()

        def change(expression: Expression) -> Expression:
            name = _name(expression)
            if name not in hidden:
                return expression
            read.add(name)
            return Name((hidden[name],))

        changed = {
            name: over if as_window(over.window).others else rewritten(_with_months(over, hidden), change)
            for name, over in columns.items()
        }
        types = {name: dtype for name, dtype in types.items() if dtype is not None}
        if not read and not types:
            return None
        added = {hidden[name]: F.expr(AS_TIME.format(quoted(name))) for name in sorted(read)}
        return cls(frame.withColumns(added) if added else frame, changed, tuple(added), types)

    def restored(self, frame: DataFrame) -> DataFrame:
        """The frame with its answers, as they are to be."""
        dtypes = {field.name: field.dataType for field in frame.schema}
        restored = {
            name: F.expr(_restored(quoted(name), dtypes[name], dtype))
            for name, dtype in self.types.items()
            if _holds(dtypes[name])
        }
        return (frame.withColumns(restored) if restored else frame).drop(*self.hidden)


def _name(expression: Any) -> str | None:
    """The column that an expression is."""
    return expression.path[0] if isinstance(expression, Name) and len(expression.path) == 1 else None


def _answer(over: Over, intervals: Mapping[str, Any]) -> Any:
    """The type of interval that an answer is of, if it is of one."""
    function = over.call.aggregate
    dtype = intervals.get(_name(as_column(over.call.columns[0])) or "") if over.call.columns else None
    if dtype is None or not (isinstance(function, QuantileFunction | Deviation) or function.name in AVERAGES):
        return dtype
    return YearMonthIntervalType() if isinstance(dtype, YearMonthIntervalType) else None


def _with_months(over: Over, hidden: Mapping[str, str]) -> Over:
    """The window with its offsets as its key has its months."""
    window = as_window(over.window)
    if window.given is None or len(window.order) != 1 or _name(window.order[0].column) not in hidden:
        return over
    frame = replace(window.given, start=_bound(window.given.start), end=_bound(window.given.end))
    return replace(over, window=replace(window, given=frame))


def _bound(bound: Bound) -> Bound:
    offset = bound.constant
    if not isinstance(offset, Interval) or offset.days or offset.microseconds:
        return bound
    return replace(bound, offset=Interval(microseconds=offset.months))


def _holds(dtype: Any) -> bool:
    """Whether an answer holds lengths of time."""
    return isinstance(dtype.elementType if isinstance(dtype, ArrayType) else dtype, DayTimeIntervalType)


def _restored(text: str, dtype: Any, wanted: Any) -> str:
    """An answer, or each of a list, as an interval of a type."""
    if isinstance(dtype, ArrayType):
        return f"TRANSFORM({text}, each -> {_restored('each', dtype.elementType, wanted)})"
    months = isinstance(wanted, YearMonthIntervalType)
    return f"CAST({AS_MONTHS.format(text) if months else text} AS {wanted.simpleString()})"
