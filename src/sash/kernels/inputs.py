"""An aggregate for columns of given types, and batches of such columns as kernels take them."""

from __future__ import annotations

from typing import Any

import numpy as np

from sash.algebra import Aggregate
from sash.errors import SashError
from sash.kernels.compiling import interpreted


class Inputs:
    """What a window takes: the aggregate's definition for its types, and the types it lifts."""

    def __init__(self, aggregate: Aggregate, dtypes: tuple[Any, ...]) -> None:
        given = tuple(np.dtype(dtype) for dtype in dtypes)
        self.aggregate = aggregate.of(given)
        if len(given) != self.aggregate.inputs:
            raise SashError(f"{aggregate.name} takes {self.aggregate.inputs} columns, got the types of {len(given)}")
        self.dtypes = (np.dtype(self.aggregate.cast),) * len(given) if self.aggregate.cast else given

    def columns(self, method: str, columns: tuple[Any, ...], rows: int | None) -> tuple[tuple[Any, ...], int]:
        """Check and convert a batch; ``rows`` is its length where no column says it."""
        if len(columns) != len(self.dtypes):
            raise SashError(f"{method} takes {len(self.dtypes)} columns, got {len(columns)}")
        values = tuple(_column(method, *pair) for pair in zip(columns, self.dtypes, strict=True))
        lengths = {len(column) for column in values} | ({rows} if rows is not None else set())
        if len(lengths) != 1 or min(lengths) < 0:
            raise SashError(f"{method} needs one number of rows, got {sorted(lengths) or 'none'}")
        return values if self.aggregate.compiled else interpreted.columns(values), int(lengths.pop())


def _column(method: str, column: Any, dtype: np.dtype) -> np.ndarray:
    array = np.asarray(column)
    if array.ndim != 1 or not (np.can_cast(array.dtype, dtype, "same_kind") or array.size == 0):
        raise SashError(f"{method} takes a column of {dtype}, got {array.dtype} in {array.ndim} dimensions")
    return np.ascontiguousarray(array, dtype)
