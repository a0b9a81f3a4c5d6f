"""The arrays of a sliding window as bytes, and what such bytes must be before anything is computed with them."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Mapping

import numpy as np
import pyarrow as pa

from sash.engine.live_rows import LiveRows
from sash.errors import SashError

NUMBERS = "biuf"  # kinds of dtypes


def written(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Arrays by name as bytes."""
    payload = io.BytesIO()
    np.savez(payload, allow_pickle=False, **arrays)
    return payload.getvalue()


def arrays_of(payload: bytes) -> dict[str, np.ndarray]:
    """The arrays that were written."""
    found = {}
    try:
        with zipfile.ZipFile(io.BytesIO(payload)) as archive:
            for entry in archive.infolist():
                if entry.compress_type != zipfile.ZIP_STORED or not entry.filename.endswith(".npy"):
                    raise ValueError(f"an entry {entry.filename}")
                found[entry.filename.removesuffix(".npy")] = _array(archive.read(entry))
    except (ValueError, OSError, EOFError, NotImplementedError, RuntimeError, zipfile.BadZipFile) as error:
        raise SashError(f"snapshot must be of arrays, got something else: {error}") from None
    return found


def _array(body: bytes) -> np.ndarray:
    """An array of one dimension, whose header says how many numbers there are."""
    file = io.BytesIO(body)
    version = np.lib.format.read_magic(file)
    if version != (1, 0):
        raise ValueError(f"an array of version {version}")
    shape, _, dtype = np.lib.format.read_array_header_1_0(file)
    fields = [dtype] if dtype.names is None else [dtype[name] for name in dtype.names]
    if len(shape) != 1 or any(each.kind not in NUMBERS or each.shape for each in fields) or not dtype.itemsize:
        raise ValueError(f"an array of {dtype} and shape {shape}")
    if shape[0] * dtype.itemsize != len(body) - file.tell():
        raise ValueError(f"{len(body) - file.tell()} bytes of {shape[0]} numbers of {dtype}")
    return np.frombuffer(body, dtype, offset=file.tell()).copy()


def rows_of(arrays: Mapping[str, np.ndarray], schema: pa.Schema | None, live: np.ndarray) -> LiveRows:
    """The columns of the rows in the window, which must be those that are live; without a schema, none."""
    rows = LiveRows()
    ids, body = arrays["ids"], arrays["rows"]
    if schema is None or not len(live):
        return rows
    if ids.dtype != np.int64 or not np.array_equal(np.sort(ids), live):
        raise SashError("snapshot must have the columns of the rows in the window, got those of others")
    try:
        table = pa.ipc.open_stream(body.tobytes()).read_all()
        table.validate(full=True)
    except (pa.ArrowException, OSError, ValueError, TypeError, KeyError) as error:
        if isinstance(error, MemoryError):
            raise
        raise SashError(f"snapshot must have columns that Arrow can read, got some that it cannot: {error}") from None
    if table.schema.names != schema.names or table.schema.types != schema.types or table.num_rows != len(ids):
        raise SashError(f"snapshot must have columns of {len(ids)} rows and types {schema.types}, got others")
    rows.put(ids, table)
    return rows
