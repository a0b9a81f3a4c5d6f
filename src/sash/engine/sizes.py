"""How many bytes each row of a table takes, and tables cut by that: rows of one table may differ a thousandfold."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from functools import lru_cache
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import types

VIEWS = {pa.string_view(): pa.large_string(), pa.binary_view(): pa.large_binary()}


def row_bytes(table: pa.Table) -> np.ndarray | int:
    """The bytes of each row, at least one; a single number where all are alike.

    >>> row_bytes(pa.table({"n": [1, 2], "text": ["a", "bcd"]})).tolist()
    [13, 15]
    >>> row_bytes(pa.table({"n": [1, 2]}))
    8
    """
    fixed, varying = 0, []
    for column in table.columns:
        size = _fixed(column.type)
        if size is None:
            varying.append(np.concatenate([np.zeros(0, np.int64), *map(_sizes, column.chunks)]))
        else:
            fixed += size
    return sum(varying) + max(fixed, 1) if varying else max(fixed, 1)


def cut(table: pa.Table, size: int, rows: int | None = None) -> Iterator[pa.Table]:
    """The rows of a table in parts of no more than so many bytes and rows; a row that is larger is alone.

    >>> [part.num_rows for part in cut(pa.table({"text": ["a" * 90, "b", "c", "d" * 90]}), 30)]
    [1, 2, 1]
    """
    sizes = row_bytes(table)
    most = table.num_rows if rows is None else max(rows, 1)
    if isinstance(sizes, int):
        most = min(most, max(size // sizes, 1))
        for at in range(0, table.num_rows, most or 1):
            yield table.slice(at, most)
        return
    for at, stop in stretches(sizes, size, most):
        yield table.slice(at, stop - at)


def stretches(weights: np.ndarray, most: int, count: int | None = None) -> Iterator[tuple[int, int]]:
    """Stretches of neighbours that weigh no more together, and are no more; one that weighs more is alone.

    >>> list(stretches(np.array([3, 3, 9, 1]), 6))
    [(0, 2), (2, 3), (3, 4)]
    """
    upto, at, done = np.cumsum(weights), 0, 0
    count = len(weights) if count is None else count
    while at < len(weights):
        stop = min(max(int(np.searchsorted(upto, done + most, "right")), at + 1), at + count)
        yield at, stop
        at, done = stop, int(upto[stop - 1])


def total_bytes(table: pa.Table) -> int:
    """The bytes of all rows of a table: neither what they are a slice of counts, nor dictionaries, which they share.

    >>> total_bytes(pa.table({"n": range(100)}).slice(10, 5))
    40
    """
    sizes = row_bytes(table)
    return sizes * table.num_rows if isinstance(sizes, int) else int(sizes.sum())


def together(tables: Iterable[pa.Table], size: int, rows: int | None = None) -> Iterator[pa.Table]:
    """The same rows in tables of about so many bytes, and of so many rows or a table's more."""
    waiting: list[pa.Table] = []
    bytes_waiting = rows_waiting = 0
    for table in tables:
        for part in cut(table, size, rows):
            count = total_bytes(part)
            if waiting and bytes_waiting + count > size:
                yield pa.concat_tables(waiting, promote_options="default")
                waiting, bytes_waiting, rows_waiting = [], 0, 0
            waiting.append(part)
            bytes_waiting, rows_waiting = bytes_waiting + count, rows_waiting + part.num_rows
            if rows is not None and rows_waiting >= rows:
                yield pa.concat_tables(waiting, promote_options="default")
                waiting, bytes_waiting, rows_waiting = [], 0, 0
    if waiting:
        yield pa.concat_tables(waiting, promote_options="default")


@lru_cache(1 << 10)
def _fixed(dtype: pa.DataType) -> int | None:
    """The bytes of a value, where these are the same for all; of those in a dictionary, of its number."""
    if isinstance(dtype, pa.BaseExtensionType):
        return _fixed(dtype.storage_type)
    if types.is_null(dtype):
        return 0
    if types.is_dictionary(dtype):
        return _fixed(dtype.index_type)
    if types.is_fixed_size_binary(dtype):
        return int(dtype.byte_width)
    if types.is_struct(dtype):
        sizes = [_fixed(field.type) for field in dtype]
        return None if None in sizes else sum(size for size in sizes if size is not None)
    if types.is_fixed_size_list(dtype):
        size = _fixed(dtype.value_type)
        return None if size is None else size * dtype.list_size
    try:
        return -(-int(dtype.bit_width) // 8)
    except ValueError:
        return None


def _sizes(array: pa.Array) -> np.ndarray:
    """The bytes of each value of an array whose values differ."""
    dtype = array.type
    if isinstance(dtype, pa.BaseExtensionType):
        return _sizes(array.storage)
    if (size := _fixed(dtype)) is not None:
        return np.full(len(array), size, np.int64)
    if dtype in VIEWS:
        return _sizes(array.cast(VIEWS[dtype]))
    if types.is_struct(dtype):
        return sum((_sizes(array.field(k)) for k in range(dtype.num_fields)), np.zeros(len(array), np.int64))
    if types.is_fixed_size_list(dtype):
        inner = _sizes(array.values.slice(array.offset * dtype.list_size, len(array) * dtype.list_size))
        return inner.reshape(len(array), dtype.list_size).sum(axis=1)
    large = types.is_large_string(dtype) or types.is_large_binary(dtype) or types.is_large_list(dtype)
    text = (
        types.is_string(dtype) or types.is_binary(dtype) or types.is_large_string(dtype) or types.is_large_binary(dtype)
    )
    if not (text or types.is_list(dtype) or types.is_map(dtype) or large):
        return np.full(len(array), max(int(array.nbytes) // max(len(array), 1), 1), np.int64)  # unions and such
    ends = _ends(array, np.int64 if large else np.int32)
    width = 8 if large else 4
    if text:
        return np.diff(ends) + width
    items: Any = pa.StructArray.from_arrays([array.keys, array.items], ["k", "v"]) if types.is_map(dtype) else None
    items = array.values if items is None else items
    upto = np.append(0, np.cumsum(_sizes(items)))
    return upto[ends[1:]] - upto[ends[:-1]] + width


def _ends(array: pa.Array, dtype: type) -> np.ndarray:
    """Where the values of an array begin and end in what it holds."""
    if not len(array):
        return np.zeros(1, np.int64)
    buffer = array.buffers()[1]
    return np.frombuffer(buffer, dtype, len(array) + 1, array.offset * np.dtype(dtype).itemsize).astype(np.int64)
