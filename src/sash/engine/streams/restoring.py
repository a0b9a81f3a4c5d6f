"""What state must be before anything is computed with it: a seal says that bytes are whole, not that they are sound.

Kernels do not check what they index with. So whatever is read back is first found to be of the types, lengths and
ranges that this Sash would have written; what is not is refused with a sentence.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sash.errors import SashError
from sash.kernels.slices.cell_folding import find_heads

LEAST, MOST = -(2**63), 2**63 - 1


def refused(name: str, wanted: str, got: Any) -> SashError:
    """The sentence for a part that is not what it must be."""
    return SashError(f"state must have {name} as {wanted}, got {got}")


def part_of(parts: Mapping[str, Any], name: str) -> Any:
    """A part that must be there."""
    if name not in parts:
        raise SashError(f"state must have all of its parts, got one without {name}")
    return parts[name]


def is_whole(value: Any, least: int = LEAST, most: int = MOST) -> bool:
    """Whether something is a whole number between two others.

    >>> is_whole(3, 0), is_whole(-1, 0), is_whole(True, 0), is_whole(3.0, 0)
    (True, False, False, False)
    """
    return type(value) is int and least <= value <= most


def whole_of(parts: Mapping[str, Any], name: str, least: int = LEAST, most: int = MOST) -> int:
    """A part that is a whole number."""
    value = part_of(parts, name)
    if not is_whole(value, least, most):
        raise refused(name, f"a whole number from {least} to {most}", _said(value))
    return int(value)


def watermark_of(parts: Mapping[str, Any]) -> int | None:
    """Where the watermark is, if anywhere."""
    return None if part_of(parts, "watermark") is None else whole_of(parts, "watermark", LEAST + 1)


def typed_of(parts: Mapping[str, Any], name: str, wanted: type) -> Any:
    """A part that is of a type of Python."""
    value = part_of(parts, name)
    if type(value) is not wanted:
        raise refused(name, f"a {wanted.__name__}", _said(value))
    return value


def array_of(parts: Mapping[str, Any], name: str, dtype: Any, length: int | None = None) -> np.ndarray:
    """A part that is an array of a type and, where that is given, of a length."""
    array = part_of(parts, name)
    if not isinstance(array, np.ndarray) or array.dtype != dtype:
        got = _shown(array.dtype) if isinstance(array, np.ndarray) else _said(array)
        raise refused(name, f"an array of {_shown(np.dtype(dtype))}", got)
    if length is not None and len(array) != length:
        raise refused(name, f"{length} numbers", len(array))
    return array


def numbers_of(
    parts: Mapping[str, Any], name: str, length: int | None, least: int = LEAST, most: int = MOST
) -> np.ndarray:
    """A part that is an array of whole numbers between two others."""
    array = array_of(parts, name, np.int64, length)
    refuse_outside(array, name, least, most)
    return array


def refuse_outside(array: np.ndarray, name: str, least: int, most: int) -> None:
    """Refuse numbers that are not between two others."""
    if len(array) and (array.min() < least or array.max() > most):
        raise refused(name, f"numbers from {least} to {most}", f"{array.min()} to {array.max()}")


def flags_of(parts: Mapping[str, Any], name: str, length: int | None) -> np.ndarray:
    """A part that is an array of zeros and ones."""
    array = array_of(parts, name, np.uint8, length)
    if array.max(initial=0) > 1:
        raise refused(name, "zeros and ones", array.max())
    return array


def counts_of(parts: Mapping[str, Any], name: str, keys: int) -> np.ndarray:
    """A part that has a count for each of the first keys, or for all."""
    array = numbers_of(parts, name, None, 0, MOST // 2)
    refuse_longer(array, name, keys)
    return array


def refuse_longer(array: np.ndarray, name: str, keys: int) -> None:
    """Refuse an array that has more than a number for each key."""
    if len(array) > keys:
        raise refused(name, f"a number for each of {keys} keys", len(array))


def refuse_disorder(key: np.ndarray, at: np.ndarray, name: str, *, once: bool) -> None:
    """Refuse places that are not sorted by key and position or, with ``once``, that are there twice."""
    distinct = find_heads(key, at, np.empty(len(key), np.bool_))
    if distinct < 0 or (once and distinct < len(key)):
        raise refused(name, f"sorted by key and position{', each once' if once else ''}", "another order")


def table_of(parts: Mapping[str, Any], name: str, schema: pa.Schema, length: int | None = None) -> pa.Table:
    """A part that is a table of these columns and, where that is given, of so many rows."""
    table = part_of(parts, name)
    if not isinstance(table, pa.Table):
        raise refused(name, "a table", _said(table))
    refuse_columns(table, name, schema.names, schema.types)
    if length is not None and table.num_rows != length:
        raise refused(name, f"{length} rows", table.num_rows)
    return table


def refuse_columns(table: pa.Table, name: str, names: Sequence[str], types: Sequence[pa.DataType]) -> None:
    """Refuse a table of other columns."""
    if table.schema.names != list(names) or table.schema.types != list(types):
        wanted = ", ".join(f"{each} {dtype}" for each, dtype in zip(names, types, strict=True))
        got = ", ".join(f"{field.name} {field.type}" for field in table.schema)
        raise refused(name, f"a table of {wanted or 'no columns'}", got or "no columns")


def positions_of(table: pa.Table, column: str, least: int, most: int) -> np.ndarray:
    """A column of positions, of which all are known."""
    if table[column].null_count:
        raise refused(column, "positions", "NULL")
    array = table[column].to_numpy()
    refuse_outside(array, column, least, most)
    return array


def _shown(dtype: np.dtype) -> str:
    return str(dtype) if dtype.names is None else f"({', '.join(str(dtype[name]) for name in dtype.names)})"


def _said(value: Any) -> str:
    return f"{value!r:.60}" if isinstance(value, (int, float, str, type(None))) else f"a {type(value).__name__}"
