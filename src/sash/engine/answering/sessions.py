"""Sessions: rows whose times, the first key of the window's order, are less than a gap apart, by number."""

from __future__ import annotations

import math
from collections.abc import Sequence
from decimal import ROUND_CEILING, Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from sash.engine.answering.asking import Evaluation, Question
from sash.engine.placing import Numbers
from sash.engine.sorted_rows import Selection
from sash.errors import SashError
from sash.kernels.algorithm import SESSIONS
from sash.planner import Choice
from sash.windows.frame import WHOLE_PARTITION, as_distance
from sash.windows.range_keys import RangeKeys, plain_array

GAP = "gap"


def session(question: Question) -> Evaluation:
    """The number of each row's session in its partition; NULL for rows of no time, no gap, or left out."""
    rows = question.rows
    if not rows.order:
        raise SashError(f"{question.call} needs an orderBy whose first key is the time")
    time, gaps = rows.order[0], question.columns
    selection = question.selection(time.column, *gaps)
    lasting = _lasting(question, selection, rows.column(time.column)) if gaps else selection.positions
    bounds = selection.bounds(WHOLE_PARTITION)

    def answer(choices: Sequence[Choice]) -> Numbers:
        some = None if lasting is None else pa.array(lasting)
        key, *gap = (_taken(rows.column(each), some) for each in (time.column, *gaps))
        segments = rows.segments if lasting is None else np.searchsorted(lasting, rows.segments)
        numbers = _numbers(choices[0], segments.astype(np.int64), key, _gap(question, key, gap), time.descending)
        if lasting is None:
            return Numbers(numbers)
        valid = np.zeros(rows.rows, np.bool_)
        valid[lasting] = True
        out = np.zeros(rows.rows, np.int32)
        out[lasting] = numbers
        return Numbers(out, valid)

    return Evaluation((question.task(SESSIONS, bounds),), answer, bounds)


def _numbers(choice: Choice, segments: np.ndarray, key: pa.Array, gap: Any, descending: bool) -> np.ndarray:
    """The sessions of rows in time; in a descending order they are counted from the last."""
    if descending:
        key = key.take(pa.array(np.arange(len(key))[::-1]))
        gap = gap.take(pa.array(np.arange(len(gap))[::-1])) if isinstance(gap, pa.Array) else gap
        segments = len(key) - segments[::-1]
    searched = RangeKeys(key, descending=False).targets(gap, False, GAP)
    numbers: np.ndarray = choice.run(segments, searched.keys, searched.targets, searched.shift)
    if not descending or not len(numbers):
        return numbers
    sizes = np.diff(segments)
    last = numbers[np.maximum(segments[1:], 1) - 1]
    return (np.repeat(last, sizes) + 1 - numbers)[::-1]


def _lasting(question: Question, selection: Selection, key: pa.Array) -> np.ndarray:
    """The positions of the rows that are left and whose gap is above zero."""
    rows = np.arange(len(key)) if selection.positions is None else selection.positions
    some = pa.array(rows)
    times, gap = key.take(some), plain_array(question.rows.column(question.columns[0]).take(some))
    if types.is_interval(gap.type):  # of months, days and time, of which one may be below zero
        searched = RangeKeys(times, descending=False).targets(gap, False, GAP)
        return rows[searched.targets + searched.shift[0] > searched.keys]
    if not (types.is_integer(gap.type) or types.is_floating(gap.type) or types.is_decimal(gap.type)
            or types.is_duration(gap.type)):  # fmt: skip
        raise SashError(f"{GAP} must be a column of numbers or intervals, got one of type {gap.type}")
    above = pc.greater(gap, pa.scalar(0, gap.type)).to_numpy(zero_copy_only=False)
    return rows[above]


def _gap(question: Question, key: pa.Array, gap: list[pa.Array]) -> Any:
    """The gap in the units of the times, rounded up: what is less than it apart stays so."""
    if not gap:
        (constant,) = question.function.parameters
        return _rounded(as_distance(GAP, constant), key.type)
    column = plain_array(gap[0])
    if types.is_floating(column.type) or types.is_decimal(column.type):
        if types.is_integer(key.type):
            return pc.ceil(column)
        if types.is_decimal(key.type):
            return pc.round(column, key.type.scale, round_mode="up")
    return column


def _rounded(gap: Any, dtype: pa.DataType) -> Any:
    if types.is_integer(dtype) and isinstance(gap, float | Decimal):
        return math.ceil(gap)
    if types.is_decimal(dtype) and isinstance(gap, float | Decimal):
        exact = Decimal(repr(gap)) if isinstance(gap, float) else gap
        return exact.quantize(Decimal(1).scaleb(-dtype.scale), ROUND_CEILING)
    return gap


def _taken(array: pa.Array, some: pa.Array | None) -> pa.Array:
    return array if some is None else array.take(some)
