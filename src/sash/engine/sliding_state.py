"""What a sliding window holds: the rows that its answers may still need, and these and its partials as bytes."""

from __future__ import annotations

import io
import zipfile
from bisect import bisect_right
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from sash.errors import SashError

SPARE = 64  # rows that may have left before they are cleared away


class LiveRows:
    """A few Arrow tables, each at least twice as long as the next, and where each row is.

    Rows that have left, or were replaced, stay there until they are more than the others.
    """

    def __init__(self) -> None:
        self.places: dict[int, int] = {}  # by arrival number
        self.tables: list[pa.Table] = []
        self.starts: list[int] = []  # the place of the first row of each table
        self.length = 0

    def put(self, ids: np.ndarray, table: pa.Table | None) -> None:
        """Add rows, or others in the place of those that were there."""
        if table is None or not len(ids):
            return
        start = self.length
        self.length += len(ids)
        self.places.update(zip(ids.tolist(), range(start, self.length), strict=True))
        while self.tables and 2 * table.num_rows > self.tables[-1].num_rows:
            start = self.starts.pop()
            table = pa.concat_tables([self.tables.pop(), table]).combine_chunks()
        self.tables.append(table)
        self.starts.append(start)
        self._tidy()

    def drop(self, ids: np.ndarray) -> None:
        """Let rows go."""
        for each in ids.tolist() if self.places else ():
            del self.places[each]
        self._tidy()

    def value(self, name: str, id: int) -> Any:
        """The value of a row."""
        if id not in self.places:
            raise SashError(f"lower must give the row of a partial, got {id}, which is not in the window")
        place = self.places[id]
        at = bisect_right(self.starts, place) - 1
        return self.tables[at][name][place - self.starts[at]].as_py()

    def packed(self) -> tuple[np.ndarray, np.ndarray]:
        """The arrival numbers, and the rows as the bytes of an Arrow stream."""
        if not self.places:
            return np.zeros(0, np.int64), np.zeros(0, np.uint8)
        sink, table = pa.BufferOutputStream(), self._live()
        with pa.ipc.new_stream(sink, table.schema) as stream:
            stream.write_table(table)
        return np.array(list(self.places), np.int64), np.frombuffer(sink.getvalue(), np.uint8)

    def _live(self) -> pa.Table:
        return pa.concat_tables(self.tables).take(pa.array(list(self.places.values()), pa.int64())).combine_chunks()

    def _tidy(self) -> None:
        if self.length > 2 * len(self.places) + SPARE:
            self.tables, self.starts = [self._live()], [0]
            self.length = len(self.places)
            self.places = dict(zip(self.places, range(self.length), strict=True))


NUMBERS = "biuf"  # kinds of dtypes


def written(arrays: Mapping[str, np.ndarray]) -> bytes:
    """Arrays by name as bytes."""
    payload = io.BytesIO()
    np.savez(payload, allow_pickle=False, **arrays)
    return payload.getvalue()


def arrays_of(payload: bytes) -> dict[str, np.ndarray]:
    """The arrays that were written."""
    arrays = {}
    try:
        with zipfile.ZipFile(io.BytesIO(payload)) as archive:
            for entry in archive.infolist():
                if entry.compress_type != zipfile.ZIP_STORED or not entry.filename.endswith(".npy"):
                    raise ValueError(f"an entry {entry.filename}")
                arrays[entry.filename.removesuffix(".npy")] = _array(archive.read(entry))
    except (ValueError, OSError, EOFError, NotImplementedError, RuntimeError, zipfile.BadZipFile) as error:
        raise SashError(f"snapshot must be of arrays, got something else: {error}") from None
    return arrays


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
