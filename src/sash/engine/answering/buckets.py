"""A function of the rows of each category of a frame, as a map."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.engine.answering.asking import Evaluation, Question
from sash.engine.placing import Whole, offsets_of, placed
from sash.errors import SashError
from sash.expressions.columns import Column, lit
from sash.expressions.parsing import as_predicate
from sash.planner import Choice, choose

MOST = 256  # categories of a table


def bucketed(question: Question, evaluation_of: Callable[[Question], Evaluation]) -> Evaluation:
    """The function, asked of each category in turn; ``evaluation_of`` says how it is answered."""
    inner = evaluation_of(_inner(question, None))

    def answer(choices: Sequence[Choice]) -> Whole:
        categories = _categories(question)
        answers, there = [], []
        for category in categories.to_pylist():
            asked = _inner(question, category)
            evaluation = evaluation_of(asked)
            answers.append(_by_position(asked, evaluation, choose(evaluation.tasks, asked.over.using)))
            there.append(asked.selection().bounds(asked.over.window.frame).sizes() > 0)
        if not answers:
            nothing = _by_position(question, inner, choices)[:0]
            return Whole(pa.MapArray.from_arrays(np.zeros(len(inner.bounds) + 1, np.int32), categories, nothing))
        present = np.stack(there, axis=1)
        row, number = np.nonzero(present)
        offsets = pa.array(offsets_of(present.sum(axis=1)), pa.int32())
        items = pa.concat_arrays(answers).take(pa.array(number * len(present) + row))
        return Whole(pa.MapArray.from_arrays(offsets, categories.take(pa.array(number)), items))

    return Evaluation(inner.tasks, answer, inner.bounds)


def _inner(question: Question, category: Any) -> Question:
    """The function that is asked of each category, of one of them; of all rows where it is None."""
    call = question.call
    condition = None if call.condition is None else as_predicate(call.condition)
    if category is not None:
        column = question.columns[0]
        if not isinstance(column, Column):
            raise SashError(f"{call.aggregate.name} takes a category of sash.col, got a PySpark column")
        mine = column == lit(category)
        condition = mine if condition is None else mine & condition
    inner = replace(call, aggregate=call.aggregate.inner, columns=call.columns[1:], condition=condition)
    return replace(question, over=replace(question.over, call=inner))


def _categories(question: Question) -> pa.Array:
    """The categories of a table, in their order."""
    array = question.rows.source(question.columns[0])
    if pa.types.is_dictionary(array.type):
        array = array.cast(array.type.value_type)
    if pa.types.is_nested(array.type) or pa.types.is_binary(array.type) or pa.types.is_large_binary(array.type):
        raise SashError(
            f"category must be a column of texts, numbers, dates or times, got {question.columns[0]} of {array.type}"
        )
    if pa.types.is_float16(array.type):
        array = array.cast(pa.float32())  # which Arrow adds and compares
    if pa.types.is_floating(array.type):
        zero, nan = pa.scalar(0, array.type), pa.scalar(np.nan, array.type)
        array = pc.if_else(pc.is_nan(array), nan, pc.add(array, zero))  # both zeros are one category, and all NaN
    values = array.unique().drop_null()
    if (
        pa.types.is_timestamp(array.type)
        and array.type.unit == "ns"
        and np.any(values.cast(pa.int64()).to_numpy() % 1000)
    ):
        raise SashError(f"category must be times of whole microseconds, got {question.columns[0]} of {array.type}")
    if len(values) > MOST:
        raise SashError(
            f"{question.call} takes at most {MOST} categories, got {len(values):,}; partition by the column instead"
        )
    return values.take(pc.array_sort_indices(values))


def _by_position(question: Question, evaluation: Evaluation, choices: Sequence[Choice]) -> pa.Array:
    """The answers in the order of positions."""
    rows = question.rows
    array = placed(rows, evaluation.answer(choices))
    array = array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array
    return array if rows.askers is None else array.take(pa.array(rows.askers))
