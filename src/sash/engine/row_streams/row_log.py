"""Logs of rows: those that wait, whole, and those that frames of others still reach, as far as they are needed.

A row is written as it comes and, without the columns that only pass, when it leaves.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.row_streams.row_operator import RowOperator
from sash.engine.row_streams.row_scheme import EARLY
from sash.engine.sizes import cut
from sash.engine.streams.assigners.base import LEAST, MOST
from sash.engine.streams.keyed_rows import KeyedRows
from sash.engine.streams.logged import ROW
from sash.engine.streams.restoring import refuse_columns


def entry_of(rows: pa.Table) -> pa.Table:
    """Rows as an entry of a log."""
    return rows.rename_columns([f"{ROW} {name}" for name in rows.column_names])


class RowLog(ABC):
    """What a log of some rows of an operator holds."""

    by_cells = False
    joins_behind = False

    def __init__(self, operator: RowOperator, schema: pa.Schema) -> None:
        self.operator, self.schema = operator, schema

    # Which rows these are

    @property
    @abstractmethod
    def reached(self) -> int:
        """The position that rows must be at, or behind, to be held."""

    @abstractmethod
    def positions(self, rows: KeyedRows) -> np.ndarray:
        """Up to where each of some rows is held."""

    @property
    @abstractmethod
    def store(self) -> list[KeyedRows]:
        """The rows, as the operator has them."""

    # What a log asks

    def replay(self, entry: pa.Table) -> None:
        """Take the rows of an entry again, but for those that are held no more."""
        names = [f"{ROW} {name}" for name in self.schema.names]
        refuse_columns(entry, "an entry of the log", names, self.schema.types)
        self.store.extend(self._held(entry))

    def replayed(self) -> None:
        """Rows are as they were."""
        return

    def lapses(self, entry: pa.Table) -> int:
        """The position that must be reached before an entry may go."""
        return max((int(self.positions(rows).max()) + 1 for rows in self._rows(entry)), default=LEAST)

    def live(self) -> int:
        """How many rows the log must hold."""
        return sum(len(rows.codes) for rows in self.store)

    def everything(self, size: int) -> Iterator[pa.Table]:
        """Entries in the place of all, of about so many bytes each."""
        for rows in self.store:
            for part in cut(rows.table, size):
                yield entry_of(part)

    def condensed(self, entries: list[pa.Table]) -> pa.Table:
        """One entry in the place of some, without the rows that are held no more."""
        whole = pa.concat_tables(entries)
        tables = [rows.table for rows in self._held(whole)]
        return entry_of(tables[0]) if tables else whole.slice(0, 0)

    def _rows(self, entry: pa.Table) -> list[KeyedRows]:
        return self.operator.rows_of(pa.Table.from_arrays(entry.columns, schema=self.schema))

    def _held(self, entry: pa.Table) -> list[KeyedRows]:
        held = []
        for rows in self._rows(entry):
            mask = self.positions(rows) >= self.reached
            if mask.any():
                held.append(rows if mask.all() else rows.take(np.flatnonzero(mask)))
        return held


class WaitingLog(RowLog):
    """Rows that have not left, whole."""

    @property
    def reached(self) -> int:
        """The watermark: rows leave that wait for nothing behind it; early ones at once."""
        if self.operator.scheme.emit == EARLY:
            return MOST
        return LEAST if self.operator.watermark is None else self.operator.watermark

    def positions(self, rows: KeyedRows) -> np.ndarray:
        """Up to where the frames of rows reach."""
        assert rows.time is not None
        return self.operator.scheme.ends(rows.table, rows.time)

    @property
    def store(self) -> list[KeyedRows]:
        """The rows, as the operator has them."""
        return self.operator.waiting


class ContextLog(RowLog):
    """Rows that have left, and that frames of others reach by time."""

    @property
    def reached(self) -> int:
        """The time from which on rows may be in frames of others."""
        return self.operator.horizon

    def positions(self, rows: KeyedRows) -> Any:
        """The times of rows."""
        return rows.time

    @property
    def store(self) -> list[KeyedRows]:
        """The rows, as the operator has them."""
        return self.operator.context
