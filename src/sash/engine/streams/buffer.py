"""The buffer of a stream: rows as they are, for queries that no partial answers: medians, distinct counts, lists."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from sash.engine.encoding import biased, tie_keys
from sash.engine.frame_bounds import FrameBounds
from sash.engine.sizes import total_bytes
from sash.engine.sorted_partitions import SortedPartitions
from sash.engine.streams.restoring import numbers_of, refuse_disorder, table_of
from sash.kernels.sorting import argsort
from sash.kernels.sorting.radix import in_order
from sash.windows.bounds import Bounds

if TYPE_CHECKING:
    from sash.engine.streams.sorted_runs import SortedRuns

PARTS = 64  # tables of about one size that are made one
FEW = 1 << 10  # rows that are not worth letting go of


class Buffer:
    """Buffered rows, sorted by key and position; equal ones as they came, or, without ``arrival``, by their columns."""

    def __init__(self, schema: pa.Schema, arrival: bool = True) -> None:
        self.arrival = arrival
        self.table = schema.empty_table()
        self.key, self.at = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self._new: list[tuple[pa.Table, np.ndarray, np.ndarray]] = []
        self._sizes: list[int] = []  # how many times each of these was made of others
        self.waiting = 0  # rows that came, and are not among the others yet
        self._bytes: int | None = 0  # of all rows; None where they must be counted
        self.runs: SortedRuns | None = None  # the same rows, while pushes are small
        self.rest = 0  # rows that are to come before there are runs again

    def __len__(self) -> int:
        return len(self.key) + self.waiting

    def append(self, table: pa.Table, key: np.ndarray, at: np.ndarray) -> None:
        """Take rows in."""
        if not len(key):
            return
        self._new.append((table, key, at))
        self._sizes.append(0)
        self.waiting += len(key)
        self.rest = max(self.rest - len(key), 0)
        self._bytes = None if self._bytes is None else self._bytes + total_bytes(table)
        if self.runs is not None:
            self.runs.wait(table, key, at)
            while len(self._sizes) >= PARTS and self._sizes[-PARTS] == self._sizes[-1]:
                self._join()

    def _join(self) -> None:
        """Make one of the last tables."""
        tables, keys, ats = zip(*self._new[-PARTS:], strict=True)
        whole = pa.concat_tables(tables).combine_chunks()
        self._new[-PARTS:] = [(whole, np.concatenate(keys), np.concatenate(ats))]
        self._sizes[-PARTS:] = [self._sizes[-1] + 1]

    @property
    def key_count(self) -> int:
        """How many keys have a row, once all are in order."""
        return int(np.count_nonzero(self.key[1:] != self.key[:-1])) + min(len(self.key), 1)

    def rows(self) -> list[tuple[pa.Table, np.ndarray, np.ndarray]]:
        """All rows with their keys and positions, in parts."""
        return [(self.table, self.key, self.at)] * bool(len(self.key)) + self._new

    def drop_runs(self) -> None:
        """Have no runs, until enough rows have come that making them anew is worth it."""
        if self.runs is not None:
            self.runs, self.rest = None, len(self) // 16

    def let_go(self, cuts: np.ndarray) -> bool:
        """Let go of the rows of runs before a position; whether that leaves much that could go here, too."""
        assert self.runs is not None
        self.runs.let_go(cuts)
        count = len(self.runs)
        if self.runs.wasteful:
            self.runs = None
        return len(self) > count + count // 4 + FEW

    def compact(self) -> Buffer:
        """Put all rows in order; returns itself."""
        if not self._new:
            return self
        tables, keys, ats = zip(*self._new, strict=True)
        self._new, self._sizes, self.waiting = [], [], 0
        self.table = pa.concat_tables([self.table, *tables])  # which copies nothing
        del tables
        self.key, self.at = np.concatenate([self.key, *keys]), np.concatenate([self.at, *ats])
        words = [self.key.view(np.uint64), biased(self.at)]
        if not self.arrival:
            words += ties(self.table)
        if in_order(words, np.array([0, len(self.key)])):
            self.table = self.table.combine_chunks()
        else:
            self._take(argsort(words))
        return self

    def keep(self, mask: np.ndarray) -> None:
        """Let go of all other rows, once they are in order."""
        if not mask.all():
            self._take(np.flatnonzero(mask))
            self._bytes = None

    @property
    def size(self) -> int:
        """About how many bytes all rows have."""
        if self._bytes is None:
            self._bytes = sum(total_bytes(table) for table in (self.table, *(table for table, _, _ in self._new)))
        return self._bytes + 16 * len(self) + (0 if self.runs is None else self.runs.size)

    def of_keys(self, first: int, last: int) -> Buffer:
        """The rows of keys from one number to another, once all are in order; nothing is copied."""
        lo, hi = np.searchsorted(self.key, (first, last + 1))
        some = Buffer(self.table.schema, self.arrival)
        some.table, some.key, some.at = self.table.slice(lo, hi - lo), self.key[lo:hi], self.at[lo:hi]
        some._bytes = None
        return some

    def of_mask(self, mask: np.ndarray) -> Buffer:
        """Some of the rows, once all are in order."""
        some = Buffer(self.table.schema, self.arrival)
        some.table, some.key, some.at, some._bytes = self.table, self.key, self.at, None
        some.keep(mask)
        return some

    def of_numbers(self, numbers: np.ndarray) -> Buffer:
        """The rows of some keys, which are sorted, and are numbered anew."""
        some = Buffer(self.table.schema, self.arrival)
        some.table, some.key, some.at, some._bytes = self.table, self.key, self.at, self._bytes
        some.keep(np.isin(self.key, numbers))
        some.key = np.searchsorted(numbers, some.key)
        return some

    def _take(self, order: np.ndarray) -> None:
        self.table = self.table.take(pa.array(order)).combine_chunks()
        self.key, self.at = self.key[order], self.at[order]

    def parts(self) -> dict[str, Any]:
        """All that must be kept to go on later."""
        self.compact()
        return {"held rows": self.table, "held key": self.key, "held at": self.at}

    def restore(self, parts: dict[str, Any], keys: int) -> None:
        """Go on with what was kept of so many keys."""
        table = table_of(parts, "held rows", self.table.schema).combine_chunks()
        key = numbers_of(parts, "held key", table.num_rows, 0, keys - 1)
        at = numbers_of(parts, "held at", table.num_rows)
        refuse_disorder(key, at, "held rows", once=False)
        self.table, self.key, self.at, self._bytes = table, key, at, None
        self._new, self._sizes, self.waiting, self.runs = [], [], 0, None


def ties(table: pa.Table) -> list[np.ndarray]:
    """Keys that put rows in one order whatever that in which they came."""
    return [key for column in table.columns for key in tie_keys(column)]


@dataclass(frozen=True, eq=False)
class WindowFrame:
    """The windows of one query as frames over rows; an expression over it is asked like one over SQL's frames."""

    key: str
    bounds: Bounds
    exclude = "no others"


@dataclass(frozen=True, eq=False)
class StreamWindow:
    """What stands in the place of SQL's window."""

    frame: WindowFrame
    partition: tuple[Any, ...] = ()
    order: tuple[Any, ...] = ()


class WindowRows(SortedPartitions):
    """Buffered rows, as what expressions are asked of: partitions are keys, and frames are windows."""

    def __init__(self, buffer: Buffer) -> None:
        super().__init__(buffer.table, (), ())
        heads = np.append(True, buffer.key[1:] != buffer.key[:-1])[: len(buffer.key)]
        self.segments = np.append(np.flatnonzero(heads), len(buffer.key)).astype(np.int64)

    def _framed(self, frame: Any) -> FrameBounds:
        return FrameBounds(frame.bounds)
