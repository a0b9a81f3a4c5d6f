"""Sort keys of rows: partition keys and then order keys, as columns of a table and as 64-bit words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from pyarrow import types

from sash.engine.encoding import order_key
from sash.errors import SashError

MOST = np.uint64(2**64 - 1)


@dataclass(frozen=True)
class KeyOrder:
    """How the key columns of a table sort its rows: the first ``partition`` of them are partition keys."""

    partition: int
    descending: tuple[bool, ...]
    nulls_first: tuple[bool, ...]

    @classmethod
    def of(cls, window: Any) -> KeyOrder:
        """The order of a window's rows, whose key columns are its partition columns and then its orders.

        >>> from sash import Window
        >>> KeyOrder.of(Window.partitionBy("k").orderBy("t desc"))
        KeyOrder(partition=1, descending=(False, True), nulls_first=(True, False))
        """
        alike = len(window.partition)
        return cls(
            alike,
            (False,) * alike + tuple(order.descending for order in window.order),
            (True,) * alike + tuple(order.nulls_first for order in window.order),
        )

    def __len__(self) -> int:
        return len(self.descending)


class KeyWord(NamedTuple):
    """Numbers of all rows, and the key column that they are of."""

    column: int
    numbers: np.ndarray


def plain_keys(keys: pa.Table, order: KeyOrder) -> pa.Table:
    """Key columns whose values are held as they are, so that tables of the same columns can be stacked."""
    if not len(order):
        raise SashError("rows without partition keys and order keys cannot be cut into pieces")
    if keys.num_columns != len(order):
        raise SashError(f"keys must be a table of {len(order)} columns, got {keys.num_columns}")
    return pa.Table.from_arrays([_decoded(column) for column in keys.columns], keys.column_names)


def words(tables: Sequence[pa.Table], order: KeyOrder) -> list[KeyWord]:
    """Words whose lexicographic order is that of the rows of all tables, one table after the other.

    Words of different calls do not compare: those of strings are ranks among the strings of one call.
    """
    words_of = []
    for place, (descending, nulls_first) in enumerate(zip(order.descending, order.nulls_first, strict=True)):
        chunks = [chunk for table in tables for chunk in table.column(place).chunks]
        column = pa.chunked_array(chunks, tables[0].column(place).type)
        words_of += [KeyWord(place, numbers) for numbers in order_key(column, descending, nulls_first)]
    return words_of


def edge_words(word: KeyWord, counts: np.ndarray, above: np.ndarray | bool) -> np.ndarray:
    """The words of edges of which only the first ``counts`` columns count: below or above all that begins so."""
    return np.where(word.column < counts, word.numbers, np.where(above, MOST, np.uint64(0)))


def starts_of(words: Sequence[KeyWord], columns: int, rows: int) -> np.ndarray:
    """Where each run of rows equal in the first columns starts, in sorted rows; and then the number of rows."""
    changes = np.zeros(rows, np.bool_)
    changes[:1] = True
    for word in words:
        if word.column < columns:
            changes[1:] |= word.numbers[1:] != word.numbers[:-1]
    return np.append(np.flatnonzero(changes), rows)


def _decoded(column: pa.ChunkedArray) -> pa.ChunkedArray:
    while True:
        dtype = column.type
        if isinstance(dtype, pa.BaseExtensionType):
            column = pa.chunked_array([chunk.storage for chunk in column.chunks], dtype.storage_type)
        elif types.is_run_end_encoded(dtype):
            column = pa.chunked_array([pc.run_end_decode(chunk) for chunk in column.chunks], dtype.value_type)
        elif types.is_dictionary(dtype):
            column = pa.chunked_array([chunk.dictionary_decode() for chunk in column.chunks], dtype.value_type)
        else:
            return column
