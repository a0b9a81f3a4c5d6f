"""Answers by position, put back where their rows came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

if TYPE_CHECKING:
    from sash.engine.specification import Specification


@dataclass(frozen=True)
class Numbers:
    """One number for each position, and whether it is not NULL; None where none is."""

    values: np.ndarray
    valid: np.ndarray | None = None
    type: pa.DataType | None = None


@dataclass(frozen=True)
class Rows:
    """The position whose value is the answer, -1 for none; and the column, as its rows came.

    Where there is none, the answer is NULL, or the row's own value of ``default``.
    """

    places: np.ndarray
    source: pa.Array
    default: pa.Array | None = None
    type: pa.DataType | None = None


@dataclass(frozen=True)
class Whole:
    """An Arrow array by position."""

    array: pa.Array


Answer = Numbers | Rows | Whole


def placed(rows: Specification, answer: Answer) -> pa.Array:
    """The answers as an Arrow array, in the order in which the rows came."""
    if isinstance(answer, Whole):
        if rows.permutation is None:
            return answer.array
        inverse = np.empty_like(rows.permutation)
        inverse[rows.permutation] = np.arange(rows.rows, dtype=inverse.dtype)
        return answer.array.take(pa.array(inverse))
    if isinstance(answer, Rows):
        return _taken(rows, answer)
    values, valid = answer.values, answer.valid
    if rows.permutation is not None:
        values = _scattered(values, rows.permutation)
        valid = None if valid is None else _scattered(valid, rows.permutation)
    array = pa.array(values, mask=None if valid is None or valid.all() else ~valid)
    return array if answer.type is None or array.type == answer.type else array.cast(answer.type, safe=False)


def _scattered(values: np.ndarray, permutation: np.ndarray) -> np.ndarray:
    out = np.empty_like(values)
    out[permutation] = values
    return out


def _taken(rows: Specification, answer: Rows) -> pa.Array:
    places, none = answer.places, answer.places < 0
    if rows.permutation is not None:
        if len(rows.permutation):
            places = rows.permutation[places]  # whatever is at -1 is masked below
        places, none = _scattered(places, rows.permutation), _scattered(none, rows.permutation)
    some = bool(none.any())
    taken = answer.source.take(pa.array(places, mask=none if some else None))
    if some and answer.default is not None:
        taken = pc.if_else(pa.array(none), answer.default.cast(taken.type), taken)
    return taken if answer.type is None else taken.cast(answer.type)
