"""Rows in files of their own, each with the number by which it arrived as its last column."""

from __future__ import annotations

import errno
import os
import tempfile
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import count
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.memory_need import size_of
from sash.engine.spilling.folders import SpillFolder, sweep_once
from sash.errors import SashError

ARRIVAL = "__sash_arrival"


class Directory:
    """A place for files that goes away with all that is in it; where the process is killed, at the next's start."""

    def __init__(self) -> None:
        self._names = count()
        disks = _disks() or [tempfile.gettempdir()]
        sweep_once(disks)
        disk = disks[os.getpid() % len(disks)]
        with room(disk):
            self._folder = SpillFolder(disk)
        weakref.finalize(self, self._folder.remove)

    def file(self) -> Rows:
        """A new file."""
        return Rows(os.path.join(self._folder.path, str(next(self._names))))

    def __enter__(self) -> Directory:
        return self

    def __exit__(self, *_: Any) -> None:
        self._folder.remove()


class Rows:
    """A file of rows in the order of their arrival. It is open only while rows are written or read."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.rows = self.size = 0

    def write(self, table: pa.Table, step: int | None = None) -> None:
        """Add rows, in batches of at most ``step`` rows, as an Arrow stream behind those that are there."""
        disk = os.path.dirname(self.path)
        with room(disk), pa.OSFile(self.path, "ab") as file, pa.ipc.new_stream(file, table.schema) as stream:
            stream.write_table(table, max_chunksize=step)
        self.rows += table.num_rows
        self.size += size_of(table)

    def tables(self) -> Iterator[pa.Table]:
        """All rows, batch by batch: one is in memory at a time."""
        if self.rows:
            with pa.OSFile(self.path) as file:  # not mapped: Spark may limit a worker's addresses
                end = file.size()
                while file.tell() < end:
                    for batch in pa.ipc.open_stream(file):
                        yield pa.Table.from_batches([batch])

    def table(self) -> pa.Table:
        """All rows at once."""
        return pa.concat_tables(list(self.tables()))

    def remove(self) -> None:
        """Delete the file."""
        if self.rows:
            os.remove(self.path)


def numbered(rows: pa.Table, arrival: np.ndarray) -> pa.Table:
    """Rows, and behind them the numbers by which they arrived."""
    return rows.append_column(ARRIVAL, pa.array(arrival, pa.int64()))


def arrivals(rows: pa.Table) -> np.ndarray:
    """The numbers by which rows arrived."""
    return rows.column(rows.num_columns - 1).to_numpy()


def unnumbered(rows: pa.Table) -> pa.Table:
    """Rows without those numbers."""
    return rows.remove_column(rows.num_columns - 1)


def _disks() -> list[str]:
    """Where Spark keeps what does not fit memory: a process takes one of them."""
    named = [path for path in os.environ.get("SPARK_LOCAL_DIRS", "").split(",") if path.strip()]
    return [path for path in map(str.strip, named) if os.access(path, os.W_OK) and os.path.isdir(path)]


@contextmanager
def room(folder: str) -> Iterator[None]:
    """Say where there is no room left, and what can be done."""
    try:
        yield
    except OSError as error:
        if error.errno not in (errno.ENOSPC, errno.EDQUOT):
            raise
        raise SashError(
            f"no room is left in {folder} for rows that do not fit memory: free some, have another disk (TMPDIR, or "
            "spark.local.dir on Spark), or set sash.options.memory (or SASH_MEMORY)"
        ) from None


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
