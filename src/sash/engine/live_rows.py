"""Columns of the rows that are in a window, of any type Arrow has, by arrival number."""

from __future__ import annotations

from bisect import bisect_right
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
