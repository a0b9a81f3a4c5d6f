"""Batches of rows of a schema, however they come: checked, as Arrow tables of the columns that are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.tables import as_arrow
from sash.errors import SashError


def schema_of(schema: Any) -> pa.Schema:
    """An Arrow schema, given as one or as a dict of Arrow or NumPy types by name.

    >>> schema_of({"load": "int64", "who": pa.string()}).types
    [DataType(int64), DataType(string)]
    """
    if isinstance(schema, Mapping):
        schema = pa.schema([pa.field(str(name), _type(name, dtype)) for name, dtype in schema.items()])
    if not isinstance(schema, pa.Schema):
        raise SashError(f"schema must be an Arrow schema or a dict of types, got {type(schema).__name__}")
    if len(set(schema.names)) < len(schema.names):
        raise SashError(f"schema must name each column once, got {', '.join(schema.names)}")
    return schema


def _type(name: Any, dtype: Any) -> pa.DataType:
    if isinstance(dtype, pa.DataType):
        return dtype
    try:
        return pa.type_for_alias(dtype) if isinstance(dtype, str) else pa.from_numpy_dtype(np.dtype(dtype))
    except (TypeError, ValueError, pa.ArrowException):
        raise SashError(f"schema must give {name!r} a type of Arrow or NumPy, got {dtype!r}") from None


def table_of(batch: Any, schema: pa.Schema) -> pa.Table:
    """The columns of a schema in a batch: an Arrow table or record batch, or a dict of columns."""
    if isinstance(batch, Mapping):
        batch = _built(batch, schema)
    if not isinstance(batch, (pa.Table, pa.RecordBatch)):
        raise SashError(
            f"batch must be an Arrow table or record batch, or a dict of columns, got {type(batch).__name__}"
        )
    for field in schema:
        if (times := batch.schema.names.count(field.name)) != 1:
            raise SashError(f"batch must have one column {field.name!r}, got {times or 'none'}")
        dtype = batch.schema.field(field.name).type
        if dtype != field.type:
            raise SashError(f"batch must have {field.type} in its column {field.name!r}, got {dtype}")
    return as_arrow(batch, schema.names)


def _built(columns: Mapping[str, Any], schema: pa.Schema) -> pa.Table:
    """A dict of columns as a table; those that are not read are there for the number of rows."""
    names = [name for name in columns if not schema.names or name in schema.names]
    arrays = {name: _array(name, columns[name], schema) for name in names}
    lengths = {len(array) for array in arrays.values()}
    if len(lengths) > 1:
        raise SashError(f"batch must have columns of one length, got {sorted(lengths)}")
    if not columns:
        raise SashError("batch must have a column to say how many rows there are, got an empty dict")
    return pa.table(arrays)


def _array(name: str, values: Any, schema: pa.Schema) -> pa.Array | pa.ChunkedArray:
    if isinstance(values, (pa.Array, pa.ChunkedArray)):
        return values
    dtype = schema.field(name).type if name in schema.names else None
    try:
        if isinstance(values, (str, bytes)):
            raise TypeError(f"{values!r} is one value")
        return pa.array(values, dtype)
    except (pa.ArrowException, TypeError, ValueError, OverflowError) as error:
        why = str(error).splitlines()[0]
        raise SashError(f"batch must have {dtype or 'values'} in its column {name!r}, got others: {why}") from None
