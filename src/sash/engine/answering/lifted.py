"""Columns as an aggregate lifts them: numbers as they are, other types by their order, decimals in limbs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sash.algebra import Aggregate
from sash.engine.answering.asking import Question
from sash.engine.limbs import limbs
from sash.engine.sorted_rows import Ranking, Selection
from sash.engine.value_words import value_hashes
from sash.errors import SashError
from sash.expressions.columns import Expression
from sash.expressions.orders import asc

ONLY_COMPARES = '; takes="order" says of an aggregate that it only compares'
OBJECTS = (pa.types.is_string, pa.types.is_large_string, pa.types.is_string_view, pa.types.is_binary,
           pa.types.is_large_binary, pa.types.is_binary_view, pa.types.is_fixed_size_binary,
           pa.types.is_decimal, pa.types.is_null)  # fmt: skip


@dataclass(frozen=True)
class Lifted:
    """An aggregate for its columns, these columns as NumPy has them, and what the answers stand for.

    ``meaning`` is the type that integers are to be read as, or a ranking whose values they number.
    """

    aggregate: Aggregate
    columns: tuple[np.ndarray, ...]
    meaning: pa.DataType | Ranking | None = None


def lifted(question: Question, columns: tuple[Expression, ...], selection: Selection) -> Lifted:
    """The columns that the aggregate lifts, by index."""
    aggregate: Aggregate = question.function
    if columns and aggregate.takes != "order":
        array = question.rows.column(columns[-1 if aggregate.takes == "times" else 0])
        typed = None if aggregate.for_type is None else aggregate.for_type(array.type)
        if typed is not None and typed.takes == "limbs" and len(columns) == 1:
            return Lifted(typed, tuple(map(selection.only, limbs(array, aggregate.name))))
        if aggregate.takes == "values":
            return Lifted(typed or aggregate, (selection.only(python_values(array, aggregate.name)),))
        aggregate = typed or aggregate
    plain = columns[:-1] if aggregate.takes == "times" else columns
    columns_lifted = [_lifted(question, column, selection) for column in plain]
    columns_lifted += [_lifted_time(question, column, selection) for column in columns[len(plain) :]]
    values = tuple(numbers for numbers, _ in columns_lifted)
    _check_cast(question, columns, tuple(numbers.dtype for numbers in values))
    meaning: Any = columns_lifted[0][1] if aggregate.gives_input and columns_lifted else None
    return Lifted(aggregate, values, meaning)


def _lifted(
    question: Question, column: Expression, selection: Selection
) -> tuple[np.ndarray, pa.DataType | Ranking | None]:
    array, aggregate = question.rows.column(column), question.function
    dtype, name = array.type, aggregate.name
    if aggregate.takes == "hashes":
        return selection.only(value_hashes(array)), None
    hint = ONLY_COMPARES if aggregate.origin is None and aggregate.takes == "numbers" else ""
    if aggregate.takes == "integers" and not pa.types.is_integer(dtype):
        if not pa.types.is_null(dtype):
            raise SashError(f"{name} takes a column of integers, got {dtype}")
        array = array.cast(pa.int32())
    if aggregate.takes != "order" or _number(dtype):
        return selection.only(numbers(array, name, hint)), dtype if pa.types.is_float16(dtype) else None
    if not is_coded(aggregate, dtype):
        return selection.only(_ticks(array)), dtype
    ranking = question.rows.ranking((asc(column),), selection)
    return ranking.codes.codes, ranking


def _lifted_time(question: Question, column: Expression, selection: Selection) -> tuple[np.ndarray, pa.DataType | None]:
    """Times as whole numbers; what is a number already stays one."""
    array = question.rows.column(column)
    meaning = array.type if pa.types.is_temporal(array.type) else None
    return selection.only(time_numbers(array, question.function.name)), meaning


def time_numbers(array: pa.Array, name: str) -> np.ndarray:
    """Times as the whole numbers that Arrow keeps, numbers as they are; zeros in the place of NULLs."""
    if pa.types.is_temporal(array.type) and not pa.types.is_interval(array.type):
        return _ticks(array)
    return numbers(array, name)


def _check_cast(question: Question, columns: tuple[Expression, ...], dtypes: tuple[np.dtype, ...]) -> None:
    """Refuse numbers that the aggregate would have to cut to lift them."""
    to = question.function.of(dtypes).cast
    for column, dtype in zip(columns, dtypes, strict=True):
        column_type = question.rows.source(column).type
        if to is not None and not np.can_cast(dtype, to) and not pa.types.is_null(column_type):
            takes = {"bool": "booleans", "int64": "signed integers"}.get(to, to)
            raise SashError(f"{question.function.name} takes a column of {takes}, got {column_type}")


def is_coded(aggregate: Aggregate, dtype: pa.DataType) -> bool:
    """Whether values are lifted as numbers that say where they stand among the others, and mean nothing elsewhere."""
    time = pa.types.is_temporal(dtype) and not pa.types.is_interval(dtype)
    return aggregate.takes == "order" and not _number(dtype) and not time


def _number(dtype: pa.DataType) -> bool:
    """Whether NumPy's own order of a type is the right one, and kernels take it."""
    small = pa.types.is_integer(dtype) and dtype != pa.uint64()
    return small or pa.types.is_floating(dtype) or pa.types.is_boolean(dtype)


def python_values(array: pa.Array, name: str) -> np.ndarray:
    """The values of an Arrow array for plain Python: numbers, whole ones for times, or objects; NULLs are anything."""
    dtype = array.type
    if pa.types.is_dictionary(dtype):
        return python_values(array.dictionary_decode(), name)
    if pa.types.is_temporal(dtype) and not pa.types.is_interval(dtype):
        return _ticks(array)
    if any(test(dtype) for test in OBJECTS):
        return array.to_numpy(zero_copy_only=False).astype(object, copy=False)
    if not (pa.types.is_integer(dtype) or pa.types.is_floating(dtype) or pa.types.is_boolean(dtype)):
        raise SashError(f"{name} takes a column of numbers, times, texts or bytes, got {dtype}")
    return numbers(array, name)


def _ticks(array: pa.Array) -> np.ndarray:
    """Dates, times and durations as the whole numbers that Arrow keeps; zeros in the place of NULLs."""
    whole = array.cast(pa.int32() if array.type.bit_width == 32 else pa.int64())
    return (whole.fill_null(0) if whole.null_count else whole).to_numpy()


def numbers(array: pa.Array, name: str, hint: str = "") -> np.ndarray:
    """The values of an Arrow array of numbers or booleans as NumPy has them, zeros in the place of NULLs."""
    dtype = array.type
    if pa.types.is_decimal(dtype) or pa.types.is_null(dtype):
        array, dtype = array.cast(pa.float64()), pa.float64()
    if pa.types.is_float16(dtype):
        array, dtype = array.cast(pa.float32()), pa.float32()
    if not (pa.types.is_integer(dtype) or pa.types.is_floating(dtype) or pa.types.is_boolean(dtype)):
        raise SashError(f"{name} takes columns of numbers, got {dtype}{hint}")
    if array.null_count:
        array = array.fill_null(pa.scalar(0, dtype) if not pa.types.is_boolean(dtype) else False)
    return array.to_numpy(zero_copy_only=False)
