"""Columns as an aggregate lifts them: numbers as they are, other types by their order, decimals in limbs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sash.algebra import Aggregate
from sash.engine.answering.asking import Question
from sash.engine.decimals import average_of, limbs, sum_of
from sash.engine.sorted_rows import Kept, Ranking
from sash.engine.specification import numbers
from sash.expressions.columns import Expression
from sash.expressions.orders import asc

# What only compares its inputs: each value may be a number that says where it stands among the others.
ORDINAL = frozenset(("min", "max", "min_count", "max_count", "min_by", "max_by", "arg_min", "arg_max",
                     "top_k", "ith_smallest"))  # fmt: skip
GIVE_INPUT = frozenset(("min", "max", "ith_smallest", "top_k"))  # whose answer is one of the inputs


@dataclass(frozen=True)
class Lifted:
    """An aggregate for its columns, these columns as NumPy has them, and what the answers stand for.

    ``meaning`` is the type that integers are to be read as, or a ranking whose values they number.
    """

    aggregate: Aggregate
    columns: tuple[np.ndarray, ...]
    meaning: pa.DataType | Ranking | None = None


def lifted(question: Question, columns: tuple[Expression, ...], kept: Kept) -> Lifted:
    """The columns that the aggregate lifts, of the rows kept."""
    aggregate: Aggregate = question.function
    if len(columns) == 1:
        kind = question.rows.source(columns[0]).type
        if pa.types.is_decimal(kind) and aggregate.name in ("sum", "avg", "mean"):
            make = sum_of if aggregate.name == "sum" else average_of
            return Lifted(make(kind), tuple(map(kept.only, limbs(question.rows.column(columns[0])))))
    found = [_lifted(question, column, kept) for column in columns]
    meaning: Any = found[0][1] if aggregate.name in GIVE_INPUT else None
    return Lifted(aggregate, tuple(values for values, _ in found), meaning)


def _lifted(question: Question, column: Expression, kept: Kept) -> tuple[np.ndarray, pa.DataType | Ranking | None]:
    array, name = question.rows.column(column), question.function.name
    kind = array.type
    if name not in ORDINAL or _number(kind):
        return kept.only(numbers(array, name)), None
    if pa.types.is_temporal(kind) and not pa.types.is_interval(kind):
        whole = pa.int32() if kind.bit_width == 32 else pa.int64()
        filled = array.cast(whole).fill_null(0) if array.null_count else array.cast(whole)
        return kept.only(filled.to_numpy()), kind
    ranking = question.rows.ranking((asc(column),), kept)
    return ranking.codes.codes, ranking


def _number(kind: pa.DataType) -> bool:
    """Whether NumPy's own order of a type is the right one, and kernels take it."""
    small = pa.types.is_integer(kind) and kind != pa.uint64()
    return small or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
