"""Rows apart by the hash of their keys: equal keys in one file, in order of arrival."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

import numpy as np
import pyarrow as pa

from sash.engine.memory_need import size_of
from sash.engine.spilling.row_files import Directory, Rows
from sash.engine.spilling.row_hashes import hashes, mixed

GROUP = 1 << 28  # bytes of rows that are split at a time, at most: strings of one array hold no more than 2**31
WRITTEN = 1 << 20  # bytes that a part is to get at a time
FEW, MANY = 4, 64  # parts


class KeySplit:
    """Rows whose keys fell together."""

    def __init__(self, rows: Rows) -> None:
        self.rows = rows
        self.lowest, self.highest = (1 << 64) - 1, 0

    @property
    def single(self) -> bool:
        """Whether there is just one hash, hence (almost surely) one key, so that splitting again is of no use."""
        return self.lowest >= self.highest

    def write(self, table: pa.Table, hashed: np.ndarray) -> None:
        """Add rows, and their hashes."""
        self.rows.write(table)
        self.lowest = min(self.lowest, int(hashed.min()))
        self.highest = max(self.highest, int(hashed.max()))


def share(budget: int) -> int:
    """Bytes of rows that are in memory at a time while they are split or merged: they and copies fit a budget."""
    return min(max(budget // 8, 1), GROUP)


def parts_for(budget: int) -> int:
    """How many parts to split into: as many as can be written in long runs."""
    return min(max(share(budget) // WRITTEN, FEW), MANY)


def split(tables: Iterable[pa.Table], keys: Sequence[str], budget: int, level: int, disk: Directory) -> list[KeySplit]:
    """Parts of some rows, by a hash of their keys that is another on each level."""
    count = parts_for(budget)
    parts = [KeySplit(disk.file()) for _ in range(count)]
    for table in grouped(tables, share(budget)):
        hashed = hashes([table.column(key) for key in keys], table.num_rows)
        part = (mixed(hashed + np.uint64(level)) % np.uint64(count)).astype(np.uint8)
        order = np.argsort(part, kind="stable")
        ends = np.cumsum(np.bincount(part, minlength=count)).tolist()
        table, hashed = table.take(pa.array(order)), hashed[order]
        for place, (start, end) in enumerate(zip([0, *ends], ends, strict=False)):
            if end > start:
                parts[place].write(table.slice(start, end - start), hashed[start:end])
    return [each for each in parts if each.rows.rows]


def grouped(tables: Iterable[pa.Table], size: int, rows: int | None = None) -> Iterator[pa.Table]:
    """The same rows in tables of about that many bytes, or rows if these are fewer."""
    gathered: list[pa.Table] = []
    gathered_size = gathered_rows = 0
    for table in tables:
        for piece in _sliced(table, size):
            gathered.append(piece)
            gathered_size, gathered_rows = gathered_size + size_of(piece), gathered_rows + piece.num_rows
            if gathered_size >= size or (rows is not None and gathered_rows >= rows):
                yield pa.concat_tables(gathered)
                gathered, gathered_size, gathered_rows = [], 0, 0
    if gathered:
        yield pa.concat_tables(gathered)


def _sliced(table: pa.Table, size: int) -> Iterator[pa.Table]:
    step = max(table.num_rows * size // max(size_of(table), 1), 1)
    for start in range(0, table.num_rows, step):
        yield table.slice(start, step)
