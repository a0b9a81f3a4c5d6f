"""What a window takes: an aggregate for columns of given types, and batches of such columns."""

from __future__ import annotations

from typing import Any

import numpy as np

from sash.algebra import Aggregate, Call
from sash.errors import SashError
from sash.kernels.compiling import interpreted


class Inputs:
    """The aggregate's definition for its types, and the types it lifts."""

    def __init__(self, aggregate: Aggregate | Call, dtypes: tuple[Any, ...]) -> None:
        aggregate = aggregate.aggregate if isinstance(aggregate, Call) else aggregate
        if not isinstance(aggregate, Aggregate):
            raise SashError(f'aggregate must be a sash.Aggregate or such as sf.max("load"), got {aggregate!r}')
        natural = tuple(map(_dtype, dtypes))
        self.aggregate = aggregate.of(natural)
        if len(natural) != self.aggregate.inputs:
            raise SashError(f"{aggregate.name} takes {self.aggregate.inputs} columns, got the types of {len(natural)}")
        self.dtypes = (np.dtype(self.aggregate.cast),) * len(natural) if self.aggregate.cast else natural
        for dtype in (*natural, *self.dtypes):
            if self.aggregate.compiled and (dtype.kind not in "biuf" or not dtype.isnative or dtype.itemsize > 8):
                raise SashError(f"{aggregate.name} takes columns of integers, floats or booleans, got {dtype}")

    def columns(self, method: str, columns: tuple[Any, ...], rows: Any) -> tuple[tuple[np.ndarray, ...], int]:
        """Check and convert a batch; ``rows`` is its length where no column says it."""
        if len(columns) != len(self.dtypes):
            raise SashError(f"{method} takes {len(self.dtypes)} columns, got {len(columns)}")
        if rows is not None and (not isinstance(rows, (int, np.integer)) or rows < 0):
            raise SashError(f"rows must be a whole number, at least 0, got {rows!r}")
        values = tuple(_column(method, *pair) for pair in zip(columns, self.dtypes, strict=True))
        lengths = {len(column) for column in values} | ({int(rows)} if rows is not None else set())
        if len(lengths) != 1:
            raise SashError(f"{method} needs one number of rows, got {sorted(lengths) or 'none'}")
        return values, lengths.pop()

    def lifted(self, values: tuple[np.ndarray, ...]) -> tuple[Any, ...]:
        """The columns as the kernel takes them: plain Python functions get Python's own numbers."""
        return values if self.aggregate.compiled else interpreted.columns(values)


def exact(state: np.dtype) -> bool:
    """Whether partials are made of whole numbers, so that a difference of two is what it should be."""
    fields = [state] if state.names is None else [state[name] for name in state.names]
    return all(field.kind in "iub" for field in fields)


def whole(argument: str, numbers: Any) -> np.ndarray:
    """Positions or ids as kernels take them: 64-bit integers in one dimension."""
    array = np.asarray(numbers)
    if array.ndim != 1 or (array.size and not np.can_cast(array.dtype, np.int64)):
        raise SashError(f"{argument} must be whole numbers, one a row, got {array.dtype} in {array.ndim} dimensions")
    return np.ascontiguousarray(array, np.int64)


def _dtype(dtype: Any) -> np.dtype:
    try:
        return np.dtype(dtype if dtype is not None else "object")
    except TypeError:
        raise SashError(f"the type of a column must be a NumPy type, got {dtype!r}") from None


def _column(method: str, column: Any, dtype: np.dtype) -> np.ndarray:
    if _has_null(column):
        raise SashError(f"{method} takes columns without NULLs, got {type(column).__name__} with some; drop them first")
    array = np.asarray(column)
    if array.ndim != 1 or not (np.can_cast(array.dtype, dtype) or array.size == 0):
        raise SashError(f"{method} takes a column of {dtype}, got {array.dtype} in {array.ndim} dimensions")
    return np.ascontiguousarray(array, dtype)


def _has_null(column: Any) -> bool:
    """Whether a masked array, an Arrow array or a pandas column of a nullable type has a NULL."""
    mask = getattr(column, "mask", None)  # np.ma would be imported here, and a fork must not meet an import
    if mask is not None and not callable(mask):
        return bool(np.any(mask))
    if isinstance(getattr(column, "null_count", 0), int) and getattr(column, "null_count", 0) > 0:
        return True
    nullable = hasattr(column, "isna") and not isinstance(getattr(column, "dtype", None), np.dtype)
    return nullable and bool(np.any(column.isna()))
