"""Answers of several files back in the order in which their rows arrived."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import pyarrow as pa

from sash.engine.spilling.files import Rows, arrivals


class _Cursor:
    """The batch of a file that is being merged, and how far."""

    def __init__(self, rows: Rows) -> None:
        self._tables = rows.tables()
        self.advance()

    def advance(self) -> None:
        """Go to the next batch; there may be none."""
        self.table = next(self._tables, None)
        self.done = 0
        self.arrival = np.zeros(0, np.int64) if self.table is None else arrivals(self.table)

    def until(self, last: int) -> pa.Table:
        """Rows not seen yet that arrived no later than that."""
        start = self.done
        self.done = int(np.searchsorted(self.arrival, last, side="right"))
        assert self.table is not None
        return self.table.slice(start, self.done - start)


def merged(files: list[Rows]) -> Iterator[pa.Table]:
    """Rows of all files in order of arrival; of each file one batch is in memory."""
    cursors = [cursor for cursor in map(_Cursor, files) if cursor.table is not None]
    while cursors:
        last = min(int(cursor.arrival[-1]) for cursor in cursors)  # all that arrived up to here is in memory
        ready = [part for part in (cursor.until(last) for cursor in cursors) if part.num_rows]
        table = pa.concat_tables(ready)
        if len(ready) > 1:
            table = table.take(pa.array(np.argsort(arrivals(table), kind="stable")))
        yield table
        for cursor in cursors:
            if cursor.done == len(cursor.arrival):
                cursor.advance()
        cursors = [cursor for cursor in cursors if cursor.table is not None]
