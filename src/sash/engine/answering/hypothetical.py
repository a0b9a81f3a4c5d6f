"""Hypothetical-set functions: where given values would be among the rows of a partition."""

from __future__ import annotations

import numpy as np

from sash.engine.answering.asking import Question
from sash.engine.common_type import together
from sash.engine.encoding import order_key
from sash.engine.sorted_rows import Selection
from sash.errors import SashError
from sash.kernels.sorting import groups, rank_within


def thresholds(question: Question, selection: Selection) -> tuple[np.ndarray, np.ndarray]:
    """For each row, how many rows kept of its partition come before its given values, and up to their equals.

    Rows and values are ranked together: each partition is followed by the values its rows ask for.
    """
    rows = question.rows
    counts, asking = rows.by_partition()
    lengths = np.diff(rows.segments)
    segments = np.append(0, np.cumsum(lengths + counts)).astype(np.int64)
    row_at, value_at = _spread(segments[:-1], lengths), _spread(segments[:-1] + lengths, counts)
    total = int(segments[-1])
    keys = []
    for order, column in zip(question.orders, question.columns, strict=True):
        key, value = rows.source(order.column), rows.of_asker(column)
        both = together(key, value)
        if both is None:
            raise SashError(f"{column} must be of the type of {order.column}, {key.type}, got {value.type}")
        for each in order_key(both, order.descending, order.nulls_first):
            values = each[rows.rows :]
            woven = np.empty(total, np.uint64)
            woven[row_at] = rows.placed(each[: rows.rows])
            woven[value_at] = (values if rows.askers is None else values[rows.askers])[asking]
            keys.append(woven)
    ranked = rank_within(keys, segments)
    start, stop = groups(keys, ranked)
    selected = np.zeros(total, np.bool_)
    selected[row_at] = True if selection.mask is None else selection.mask
    below = np.zeros(total + 1, rows.dtype)
    np.cumsum(selected[ranked.order], out=below[1:])
    limits_of_sides = []
    for edges in (start, stop):
        limits = np.zeros(len(question.rows.of_asker(question.columns[0])), rows.dtype)
        limits[asking] = below[edges[value_at]]
        limits_of_sides.append(limits)
    return limits_of_sides[0], limits_of_sides[1]


def _spread(starts: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The numbers from each start on, as many as its length says, one after the other."""
    before = np.cumsum(lengths) - lengths
    return np.arange(int(lengths.sum())) + np.repeat(starts - before, lengths)
