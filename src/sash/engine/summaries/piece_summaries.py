"""All summaries together: for each piece, those of the parts before its rows, and of the parts after them."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property

import numpy as np
import pyarrow as pa

from sash.engine.encoding import combined, equality_key
from sash.engine.summaries.summarising import PART, PLACES
from sash.engine.tables import one_array

NONE = np.zeros(0, np.int64)


class Summaries:
    """What the tasks of a query said of their intervals, in the order of these, and the few rows that matter."""

    def __init__(self, summaries: Iterable[bytes]) -> None:
        read = [_read(summary) for summary in summaries if summary]
        self.length = sum(parts.num_rows for parts, _ in read)
        if not self.length:
            return
        parts = pa.concat_tables([parts for parts, _ in read])
        places = [parts[name].to_numpy() for name in PLACES]
        order = np.lexsort(places[::-1])  # stable: the parts of an interval stay in their order
        self.parts = parts.take(pa.array(order)).combine_chunks()
        self.first, self.last = (self.parts[name].to_numpy() for name in PLACES[1:])
        at = np.empty_like(order)
        at[order] = np.arange(len(order))
        starts = np.cumsum([0, *(parts.num_rows for parts, _ in read)])
        owners = [rows[PART].to_numpy() + start for (_, rows), start in zip(read, starts, strict=False)]
        owner = at[np.concatenate(owners)]
        by_part = np.argsort(owner, kind="stable")
        self.rows = pa.concat_tables([rows.drop_columns(PART) for _, rows in read]).take(pa.array(by_part))
        self.owner = owner[by_part]  # the part of each row, ascending

    @property
    def keys(self) -> list[pa.Array]:
        """The partition of each part: an array for each key."""
        names = [name for name in self.parts.column_names if name.startswith("key ")]
        return [one_array(self.parts[name]) for name in names]

    @cached_property
    def _codes(self) -> np.ndarray:
        keys = self.keys
        return combined([equality_key(key) for key in keys]) if keys else np.zeros(self.length, np.uint64)

    def around(self, piece: int) -> tuple[np.ndarray, np.ndarray]:
        """The parts that go before the rows of a piece, and those that go after them.

        All of the first are of one partition, the one that may go on into the piece; and so are all of the second.
        """
        if not self.length:
            return NONE, NONE
        before, after = np.flatnonzero(self.last < piece), np.flatnonzero(self.first > piece)
        if len(before):
            before = before[self._codes[before] == self._codes[before[-1]]]
        if len(after):
            after = after[self._codes[after] == self._codes[after[0]]]
        return before, after

    def rows_of(self, parts: np.ndarray) -> np.ndarray:
        """Which of the few rows are of these parts, in order."""
        return np.flatnonzero(np.isin(self.owner, parts)) if self.length else NONE

    def of(self, name: str) -> pa.Array:
        """The summary of each part under a name."""
        return one_array(self.parts[name]) if self.length else pa.array([], pa.binary())


def _read(summary: bytes) -> tuple[pa.Table, pa.Table]:
    source = pa.BufferReader(summary)
    with pa.ipc.open_stream(source) as stream:
        parts = stream.read_all()
    with pa.ipc.open_stream(source) as stream:
        return parts, stream.read_all()
