"""Answers that are rows, taken from their column: a value, or a list of values, of any type Arrow has."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa

from sash.algebra import Aggregate
from sash.errors import SashError


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
