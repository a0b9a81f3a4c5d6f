"""An operator whose state is a log of what it took: each batch adds an entry, and old entries lapse with their windows.

What a batch brings is written once, and not again with every batch that follows. An entry holds cells, where
partials answer all queries, and rows otherwise. What no entry holds is the core: numbers of rows that keys have
reached, cells of windows that count rows, and answers that were given early.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.sizes import row_bytes, stretches
from sash.engine.streams.assigners.base import LEAST
from sash.engine.streams.body import CELLS, LATEST, MALFORMED, ROWS, TALLY, Body
from sash.engine.streams.cells import AT, KEY, STATE, cells_table
from sash.engine.streams.filling import Fill
from sash.engine.streams.keyed_rows import KeyedRows
from sash.engine.streams.lateness import missed_by
from sash.engine.streams.operator import Operator
from sash.engine.streams.packing import table_of
from sash.engine.streams.restoring import positions_of, refuse_columns, refused
from sash.engine.streams.scheme import Scheme
from sash.engine.streams.sharding import Share
from sash.engine.streams.span_cells import refuse_odd_spans
from sash.engine.streams.state import columns_of, with_further
from sash.engine.streams.timed_stream import FIRST
from sash.engine.streams.times import ticks_of
from sash.engine.value_words import hashes_of
from sash.expressions.evaluation import evaluate

ROW, RUNS = "row", "runs"


def folds_cells(scheme: Scheme) -> bool:
    """Whether partials of slices answer all queries, so that these can be made wherever rows are."""
    return scheme.by_time and not scheme.buffered


def holds_cells(entry: pa.Table) -> bool:
    """Whether an entry of a log is of cells, not of rows."""
    return not any(name.startswith(ROW) for name in entry.column_names)


class LoggedOperator(Operator):
    """An operator that says what its log must hold, and can be made of that again."""

    def __init__(
        self, scheme: Scheme, slicer: str, *, emit: str = "final", starts: bool = False, fill: Fill = False
    ) -> None:
        super().__init__(scheme, slicer, emit=emit, starts=starts, fill=fill, arrival=False)
        self.unmoved()
        self.by_cells = folds_cells(scheme)
        self._behind: list[pa.Table] = []  # rows behind the watermark, of which sessions are told at the end of a batch
        self.joins_behind = False  # whether rows of open sessions came behind the watermark since the log was written

    # What comes in: cells are taken as they are

    def take_body(self, body: Body) -> tuple[Mapping[str, pa.Table], int]:
        """Take what came; gives the entries of its logs, and the time of the latest row."""
        if body.content == CELLS:
            cells = table_of(body.table)
            latest = int(cells.schema.metadata[LATEST.encode()])
            return {RUNS: self.take(cells.replace_schema_metadata(None))}, latest
        if body.content == ROWS:
            return self._take_rows(self._in_time(table_of(body.table)))
        if body.content == TALLY:
            self.state.late_count += self._late_of(table_of(body.table))
        return {}, LEAST

    def finish(self) -> tuple[Mapping[str, pa.Table], int]:
        """Take rows behind the watermark, once all others of a batch are there."""
        if not self._behind:
            return {}, LEAST
        rows, self._behind = pa.concat_tables(self._behind), []
        return self._take_rows(rows)

    def _take_rows(self, rows: pa.Table) -> tuple[Mapping[str, pa.Table], int]:
        entry = self.add_rows(rows)
        return {RUNS: entry}, int(entry[AT].to_numpy().max()) if entry.num_rows else LEAST

    def _in_time(self, rows: pa.Table) -> pa.Table:
        """The rows that are taken as they come; where windows merge, others wait for the end of the batch."""
        scheme, watermark = self.scheme, self.watermark
        if not scheme.merging or watermark is None:
            return rows
        assert scheme.settings.time is not None
        time, known = ticks_of(evaluate(scheme.settings.time, rows), scheme.time_type)
        behind = time < watermark if known is None else known & (time < watermark)
        if not behind.any():
            return rows
        self._behind.append(rows.filter(pa.array(behind)))
        return rows.filter(pa.array(~behind))

    def _late_of(self, tally: pa.Table) -> int:
        """How many rows had no time, or missed a window; all rows of a slice miss the same."""
        malformed = int(tally.schema.metadata[MALFORMED.encode()])
        upto, at = self.shut, tally[AT].to_numpy()
        if upto is None or not len(at):
            return malformed
        behind = at < upto
        last = tally["last"].to_numpy()[behind] if self.scheme.spans else None
        missed, _ = missed_by(self.scheme, self.assigners, at[behind], upto, self.least_starts, last)
        return malformed + int(tally["rows"].to_numpy()[behind][missed != ""].sum())

    def add_rows(self, rows: pa.Table) -> pa.Table:
        """Take rows; gives the entry of the log."""
        if not self.by_cells:
            placed = self.absorb(rows)
            assert placed.time is not None
            self.joins_behind |= bool(self.scheme.merging) and bool((placed.time < self.reached).any())
            return self._entry(placed)
        aside = Operator(self.scheme, self.slicer, emit=self.emit, arrival=False)  # folds this batch alone
        aside.unmoved()
        aside.state.watermark, aside.state.revisions = self.state.watermark, None
        aside.state.positions.passes(self.reached)
        aside.since(self._windows.since)
        if self.scheme.merging:
            aside.state.keys, aside._intake.standing = self.state.keys, lambda: self.state.cells
        aside.absorb(rows)
        self.state.late_count += aside.state.late_count
        self.state.late += aside.state.late
        return self.take(aside.partials())

    def take(self, partials: pa.Table) -> pa.Table:
        """Take the partials of other operators."""
        for k in self.scheme.bounds.values():
            pieces = partials[f"{STATE} {self.scheme.partial_ids[k]}"].drop_null()
            layout = self.scheme.partials[k].layout
            self.joins_behind |= any(
                bool((states[(states.dtype.names or ("",))[0]] < self.reached).any())
                for states in map(layout.of_binary, pieces.chunks)
            )
        return super().take(partials)

    def replayed(self) -> None:
        """All entries have been taken again: what of them has been answered goes, as it did before.

        That is the same as it was, where nothing has joined an open session behind the watermark; after that, the log
        is written anew.
        """
        if self.scheme.merging:
            self.forget_answered()
            self.joins_behind = False

    def replay(self, entry: pa.Table) -> None:
        """Take an entry of the log again; before a query came that needs rows, entries may have been of cells."""
        revisions, self.state.revisions = self.state.revisions, None  # no row comes late again
        self._replay(entry)
        self.state.revisions = revisions

    def _replay(self, entry: pa.Table) -> None:
        if holds_cells(entry):
            self._refuse_cells(entry)
            self.take(entry)
            return
        self._refuse_rows(entry)
        time = entry[AT].to_numpy()
        left = time >= self.state.watermark if self.scheme.sorts and self.state.watermark is not None else None
        if left is not None and not left.all():
            entry, time = entry.filter(pa.array(left)), time[left]
        codes = self.state.keys.numbers(
            [entry[name].combine_chunks() for name in entry.column_names if name.startswith(KEY)]
        )
        codes = np.zeros(entry.num_rows, np.int64) if codes is None else codes
        self.retake(KeyedRows(self._columns_of(entry), codes, time))

    def _refuse_cells(self, entry: pa.Table) -> None:
        """Refuse an entry that is not of cells of these queries; partials of queries that came later may be missing."""
        names = [f"{STATE} {name}" for name in self.scheme.partial_ids]
        self._refuse_entry(entry, dict.fromkeys(names, pa.binary()))
        if not self.scheme.by_time:
            raise refused("an entry of the log", "rows, which these queries need", "cells")
        positions_of(entry, AT, *self.scheme.slice_reach)

    def _refuse_rows(self, entry: pa.Table) -> None:
        """Refuse an entry that is not of rows of this stream; columns of queries that came later may be missing."""
        columns = {f"{ROW} {field.name}": field.type for field in self._row_schema}
        self._refuse_entry(entry, columns)
        time = positions_of(entry, AT, *self.scheme.reach)
        if self.scheme.spans:
            if f"{ROW} {FIRST}" not in entry.column_names:
                raise refused("an entry of the log", "rows that have a first moment", "others")
            refuse_odd_spans(self.scheme, self._columns_of(entry), time)

    def _refuse_entry(self, entry: pa.Table, columns: dict[str, pa.DataType]) -> None:
        """Refuse an entry that has not all columns of a key, and further ones only of these."""
        keyed = {f"{KEY} {k}": dtype for k, dtype in enumerate(self.state.keys.dtypes)} | {AT: pa.int64()}
        names = [*keyed, *(name for name in columns if name in entry.column_names)]
        gone = [name for name in entry.column_names if name not in names and name.startswith((STATE, ROW))]
        entry = entry.drop_columns(gone)  # of queries that were taken away
        ordered = entry if sorted(entry.column_names) != sorted(names) else entry.select(names)
        refuse_columns(ordered, "an entry of the log", names, [(keyed | columns)[name] for name in names])

    # What the log holds

    def logged(self) -> Mapping[str, LoggedOperator]:
        """There is one log."""
        return {RUNS: self}

    def left(self) -> Mapping[str, list[pa.Table]]:
        """What is logged is logged as it comes."""
        return {}

    def everything(self, size: int) -> Iterator[pa.Table]:
        """Entries in the place of all, of about so many bytes each."""
        if self.by_cells:
            cells = self.state.cells.packed()
            step = max(size // max(cells.width, 1), 1)
            for at in range(0, len(cells.key), step):
                yield cells_table(cells.slice(at, at + step), self.state.keys, self.scheme.partial_ids)
            return
        buffer = self.state.buffer.compact()
        rows = self.state.joined() if self.scheme.sorts else KeyedRows(buffer.table, buffer.key, buffer.at)
        for start, stop in stretches(np.broadcast_to(row_bytes(rows.table), len(rows.codes)), size):
            yield self._entry(rows.take(np.arange(start, stop)))

    def condensed(self, entries: list[pa.Table]) -> pa.Table:
        """One entry in the place of some, without what has lapsed, and with each cell once."""
        whole = pa.concat_tables(entries, promote_options="default")
        at = whole[AT].to_numpy()
        left = at >= self.reached if self.scheme.sorts else self.state.by_time.waited_for(at)
        if not left.all():
            whole = whole.filter(pa.array(left))
        if not self.by_cells:
            return whole
        aside = Operator(self.scheme, self.slicer, arrival=False)
        aside.take(whole)
        return aside.partials()

    def live(self) -> int:
        """How many cells or rows the log must hold."""
        if self.scheme.sorts:
            return sum(len(rows.codes) for rows in self.state.waiting)
        return len(self.state.cells) if self.by_cells else len(self.state.buffer)

    def lapses(self, entry: pa.Table) -> int:
        """The position that must be reached before an entry may go."""
        if not entry.num_rows:
            return LEAST
        last = np.array([entry[AT].to_numpy().max()])
        if self.scheme.sorts:
            return int(last[0]) + 1
        return int(self.state.by_time.last_ends(last)[0])

    @property
    def reached(self) -> int:
        """The position up to which entries have lapsed."""
        if self.scheme.sorts:
            return LEAST if self.state.watermark is None else self.state.watermark
        return self.state.by_time.bygone

    def _entry(self, rows: KeyedRows) -> pa.Table:
        assert rows.time is not None
        columns = {f"{KEY} {k}": array for k, array in enumerate(self.state.keys.values(rows.codes))}
        columns[AT] = pa.array(rows.time)
        return pa.table(columns | {f"{ROW} {name}": rows.table[name] for name in rows.table.column_names})

    def _columns_of(self, entry: pa.Table) -> pa.Table:
        """The rows of an entry; a column that was not kept when they came is of no query that has windows there."""
        columns = []
        for field in self._row_schema:
            column = entry[f"{ROW} {field.name}"] if f"{ROW} {field.name}" in entry.column_names else None
            columns.append(pa.nulls(entry.num_rows, field.type) if column is None else column)
        return pa.table(columns, self._row_schema.names)

    @cached_property
    def _row_schema(self) -> pa.Schema:
        """The columns that are kept of a row."""
        return with_further(self.scheme, columns_of(self.scheme.schema.empty_table(), self.scheme.row_columns).schema)

    # What it does not hold

    def core(self) -> dict[str, Any]:
        """The rest of the state."""
        parts = self.state.rest(keyed=self._keyed)
        return parts | self.state.stores() if self.scheme.sorts else parts

    def recover(self, parts: dict[str, Any]) -> None:
        """Begin with a core; the log is to be replayed."""
        self._clear()
        self.state.restore_rest(parts, self._keyed)
        if self.scheme.sorts:
            self.state.restore_stores(parts)

    @property
    def _keyed(self) -> bool:
        """Whether the core depends on the numbers of keys."""
        return self.state.keyed

    # What is kept of some keys alone

    def key_values(self) -> list[pa.Array]:
        """The values of all keys that it knows."""
        return self.state.keys.all()

    def of_share(self, share: Share, shards: int) -> LoggedOperator:
        """Another that has what this one has of a share of the keys; these are numbered anew."""
        keys = self.key_values()
        numbers = np.flatnonzero(share.holds(hashes_of(keys, len(keys[0])) // np.uint64(shards)))
        some = LoggedOperator(self.scheme, self.slicer, emit=self.emit, starts=self.with_starts, fill=self.fill)
        some.since(self._windows.since)
        some.state.take_keys(self.state, numbers)
        some._goes_on_with(some.state)
        return some

    def take_late(self, other: LoggedOperator) -> None:
        """Go on with the rows that another set aside."""
        self.state.late_count, self.state.late = other.state.late_count, other.state.late

    # What an observer sees

    def open_keys(self) -> int:
        """How many keys have something that a window waits for."""
        stores: list[Any] = [self.state.cells.packed(), self.state.buffer.compact()]
        some = np.zeros(len(self.state.keys), np.bool_)
        for keys in (*(store.key for store in stores), *(rows.codes for rows in self.state.waiting)):
            some[keys] = True
        return int(some.sum())

    def open_windows(self) -> int:
        """How many windows by time hold a row and have not ended, each key's on its own."""
        store: Any = self.state.cells.packed() if self.scheme.by_cells else self.state.buffer.compact()
        return self.state.by_time.open_windows(store) if self.scheme.by_time and len(store.key) else 0
