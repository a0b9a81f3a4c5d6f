"""Hypothetical-set functions: where given values would be among the rows of a partition."""

from __future__ import annotations

import numpy as np
import pyarrow as pa

from sash.engine.answering.asking import Question
from sash.engine.encoding import order_key
from sash.engine.sorted_rows import Selection
from sash.errors import SashError
from sash.expressions.arrow.casting import convert
from sash.expressions.arrow.promotion import common_type
from sash.expressions.arrow.values import Trouble, plain
from sash.kernels.sorting import groups, rank_within


def thresholds(question: Question, selection: Selection) -> tuple[np.ndarray, np.ndarray]:
    """For each row, how many rows kept of its partition come before its given values, and up to their equals.

    Rows and values are ranked together: each partition is followed by the values its rows ask for.
    """
    rows = question.rows
    lengths = np.diff(rows.segments)
    count = rows.rows
    within = np.arange(count) - np.repeat(rows.segments[:-1], lengths)
    row_at = np.repeat(2 * rows.segments[:-1], lengths) + within
    value_at = row_at + np.repeat(lengths, lengths)
    keys = []
    for order, column in zip(question.orders, question.columns, strict=True):
        key, value = rows.source(order.column), rows.source(column)
        both = _together(key, value)
        if both is None:
            raise SashError(f"{column} must be of the type of {order.column}, {key.type}, got {value.type}")
        for each in order_key(both, order.descending, order.nulls_first):
            woven = np.empty(2 * count, np.uint64)
            woven[row_at], woven[value_at] = rows.placed(each[:count]), rows.placed(each[count:])
            keys.append(woven)
    ranked = rank_within(keys, 2 * rows.segments)
    start, stop = groups(keys, ranked)
    asked = np.zeros(2 * count, np.bool_)
    asked[row_at] = True if selection.mask is None else selection.mask
    below = np.zeros(2 * count + 1, rows.dtype)
    np.cumsum(asked[ranked.order], out=below[1:])
    return below[start[value_at]], below[stop[value_at]]


def _together(key: pa.Array, value: pa.Array) -> pa.Array | None:
    """Keys and then values, in a type that takes both, as for a comparison in Spark; None where there is none."""
    if key.type == value.type:
        return pa.concat_arrays([key, value])
    key, value = plain(key), plain(value)
    try:
        kind = common_type([key, value])
        return pa.concat_arrays([convert(key, kind), convert(value, kind)])
    except (Trouble, pa.ArrowException):
        return None
