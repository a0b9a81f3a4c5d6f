"""Rows on their way into a stream."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from sash.engine.tables import null_by_index
from sash.errors import SashError
from sash.kernels.slices.assigning import Span


class KeyedRows(NamedTuple):
    """Rows on their way: their columns, the number of each one's key, and their event times, if there are any."""

    table: pa.Table
    codes: np.ndarray
    time: np.ndarray | None
    span: Span | None = None  # of the times, where it is known

    def take(self, which: np.ndarray) -> KeyedRows:
        """Some of the rows, in this order."""
        time = None if self.time is None else self.time[which]
        return KeyedRows(self.table.take(pa.array(which)), self.codes[which], time)


def checked(batch: Any, schema: pa.Schema) -> pa.Table:
    """A batch as a table of the columns of a stream."""
    if isinstance(batch, pa.RecordBatch):
        batch = pa.Table.from_batches([batch])
    if not isinstance(batch, pa.Table):
        raise SashError(f"a batch must be a pyarrow Table or RecordBatch, got {type(batch).__name__}")
    if any(pa.types.is_dictionary(dtype) for dtype in batch.schema.types):
        batch = pa.Table.from_arrays([null_by_index(column) for column in batch.columns], schema=batch.schema)
    if batch.schema.equals(schema, check_metadata=True):
        return batch
    if batch.schema.names != schema.names:
        missing = [name for name in schema.names if name not in batch.schema.names]
        if missing:
            raise SashError(f"a batch must have the columns of the stream, got one without {', '.join(missing)}")
        batch = batch.select(schema.names)
    for mine, theirs in zip(schema, batch.schema, strict=True):
        if mine.type != theirs.type:
            raise SashError(f"a batch must have the types of the stream, got {theirs.name} of type {theirs.type}, "
                            f"not {mine.type}")  # fmt: skip
    return pa.Table.from_arrays(batch.columns, schema=schema) if len(schema) else batch
