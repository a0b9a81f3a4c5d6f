"""Rows of answers out of the bytes in which they leave a stateful operator, or that come as tables.

A worker may have nothing else to do, so that this imports no more than that takes.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pyarrow as pa

from sash.spark.garbage import set_apart
from sash.watching.samples import Wanted, sample

SAMPLED = "__sash_sampled"


def record_batches(table: pa.Table, schema: pa.Schema) -> Iterator[pa.RecordBatch]:
    """A table in batches, of the types that Spark was told."""
    columns = zip(table.columns, schema.types, strict=True)
    cast = [column if column.type == dtype else column.cast(dtype) for column, dtype in columns]
    yield from pa.table(cast, schema.names).to_batches(max_chunksize=1 << 16)


def unpacking(schema: pa.Schema, name: str, wanted: Wanted | None = None) -> Any:
    """Tables out of bodies; with what a page wants of each beside its first row."""

    def unpack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            for body in batch.column(0):
                with pa.ipc.open_stream(body.as_buffer()) as reader:
                    table = reader.read_all()
                if wanted is not None:
                    samples = [json.dumps(sample(table, wanted))] * min(table.num_rows, 1)
                    column = pa.array(samples + [None] * (table.num_rows - len(samples)), pa.string())
                    table = table.append_column(SAMPLED, column)
                yield from record_batches(table, schema)
        set_apart()

    unpack.__name__ = name
    return unpack
