"""Answers by position, put back where their rows came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.algebra import Aggregate
from sash.engine.tables import WIDER
from sash.errors import SashError
from sash.expressions.arrow.casting import convert
from sash.expressions.arrow.operands import Trouble, plain
from sash.expressions.arrow.promotion import family
from sash.kernels.coordinates import Positions
from sash.kernels.sorting.moving import scattered

if TYPE_CHECKING:
    from sash.engine.sorted_partitions import SortedPartitions


@dataclass(frozen=True)
class Numbers:
    """One number for each position, and whether it is not NULL; None where none is."""

    values: np.ndarray
    valid: np.ndarray | None = None
    type: pa.DataType | None = None


@dataclass(frozen=True)
class Taken:
    """The positions whose values are the answers, -1 for none; and the column, as its rows came.

    Where there is none, the answer is NULL, or the row's own value of ``default``.
    """

    positions: Positions
    source: pa.Array
    default: pa.Array | None = None
    type: pa.DataType | None = None


@dataclass(frozen=True)
class Whole:
    """An Arrow array by position."""

    array: pa.Array


Answer = Numbers | Taken | Whole


def placed(rows: SortedPartitions, answer: Answer) -> pa.Array:
    """The answers as an Arrow array, in the order in which the rows that ask came."""
    if isinstance(answer, Whole):
        if rows.askers is None:
            return answer.array
        inverse = np.empty_like(rows.askers)
        inverse[rows.askers] = np.arange(len(inverse), dtype=inverse.dtype)
        return answer.array.take(pa.array(inverse))
    if isinstance(answer, Taken):
        return _taken(rows, answer)
    values, valid = answer.values, answer.valid
    if rows.askers is not None:
        values = scattered(values, rows.askers)
        valid = None if valid is None else scattered(valid, rows.askers)
    array = pa.array(values, mask=None if valid is None or valid.all() else ~valid)
    return array if answer.type is None or array.type == answer.type else array.cast(answer.type, safe=False)


def take(array: pa.Array, numbers: pa.Array) -> pa.Array:
    """Values by their numbers; texts that are too long in all for one array become large ones."""
    try:
        return array.take(numbers)
    except pa.ArrowInvalid:
        if array.type not in WIDER:
            raise
        return array.cast(WIDER[array.type]).take(numbers)


def _taken(rows: SortedPartitions, answer: Taken) -> pa.Array:
    numbers: np.ndarray = answer.positions
    none = numbers < 0
    if rows.permutation is not None and len(rows.permutation):
        numbers = rows.permutation[numbers]  # whatever is at -1 is masked below
    if rows.askers is not None:
        numbers, none = scattered(numbers, rows.askers), scattered(none, rows.askers)
    some = bool(none.any())
    taken = take(answer.source, pa.array(numbers, mask=none if some else None))
    if answer.default is not None:
        dtype = taken.type
        taken = pc.if_else(pa.array(none), _as_type(answer.default, dtype), taken).cast(dtype)  # narrow decimals widen
    return taken if answer.type is None else taken.cast(answer.type)


def _as_type(default: pa.Array, dtype: pa.DataType) -> pa.Array:
    """A default in the type of the column that it stands in for, by the rules of a cast in Spark."""
    if default.type == dtype:
        return default
    try:
        if pa.types.is_dictionary(dtype):
            return _as_type(default, dtype.value_type).cast(dtype)
        unknown = family(dtype) == "other" or pa.types.is_unsigned_integer(dtype) or pa.types.is_date64(dtype)
        return default.cast(dtype) if unknown else convert(plain(default), dtype)
    except (Trouble, pa.ArrowException) as error:
        why = str(error).splitlines()[0]
        raise SashError(f"default must be of the type of the column, {dtype}, got {default.type}: {why}") from None


def gathered(aggregate: Aggregate, column: Any, answers: np.ndarray, valid: np.ndarray) -> pa.Array:
    """The answers of an aggregate that returns rows, as values of a column.

    An empty frame has an empty list, and otherwise NULL.
    """
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if aggregate.returns == "row":
        return column.take(pa.array(np.asarray(answers, np.int64), mask=~valid))
    starts, stops = _bounds(answers, valid)
    lengths = stops - starts
    offsets = offsets_of(lengths)
    rows = np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)
    lists = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), column.take(pa.array(rows)))
    return lists if aggregate.finish is None else aggregate.finish(lists)


def offsets_of(lengths: np.ndarray) -> np.ndarray:
    """Where lists of these lengths start, one after the other, and where the last one ends."""
    offsets = np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)])
    if offsets[-1] > np.iinfo(np.int32).max:
        raise SashError(f"the lists hold {offsets[-1]:,} values, more than one array can; use smaller frames")
    return offsets


def _bounds(answers: np.ndarray, valid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    if answers.dtype == object:
        pairs = [pair if ok else (0, 0) for pair, ok in zip(answers, valid, strict=True)]
        table = np.array(pairs, np.int64).reshape(-1, 2)
        return table[:, 0], table[:, 1]
    return np.where(valid, answers["f0"], 0), np.where(valid, answers["f1"], 0)
