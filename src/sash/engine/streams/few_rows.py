"""Pushes of a few rows that end no window: they are held as they came, and taken together.

What a push answers depends on its rows only where one of them is late, or the watermark passes the end of a window.
All other rows may as well have come with the next ones: so a stream of single rows costs a look at their times, and is
folded many rows at a time. Whoever asks for the state has it with the rows in it.
"""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from sash.engine.streams.assigners.base import LEAST, MOST
from sash.engine.streams.scheme import Scheme
from sash.engine.streams.state import StreamState
from sash.expressions.columns import Expression, Name
from sash.expressions.naming import resolve

FEW = 64  # rows of a push that is worth it
MANY = 1024  # rows that are held at most
HELD = 1 << 24  # bytes that are held at most: a slice holds all of what it was cut from


class FewRows:
    """Rows of pushes that are taken later, and how far they move the watermark."""

    def __init__(self, scheme: Scheme) -> None:
        time = scheme.settings.time
        assert isinstance(time, Name)
        self._schema, self._least, self._most = scheme.schema, *scheme.reach
        self._time = scheme.schema.get_field_index(resolve(time.path, scheme.schema.names)[0])
        self.tables: list[pa.Table] = []
        self._rows = self._bytes = self._address = 0
        self._floor = self._watermark = LEAST  # no row before the floor, and where the watermark is to be
        self._end = LEAST  # where the next window ends

    def take(self, batch: Any, state: StreamState, delay: int | None) -> bool:
        """Hold a batch, if nothing is to be done about it yet but, perhaps, to answer windows."""
        if not isinstance(batch, (pa.Table, pa.RecordBatch)):
            return False
        rows = batch.num_rows
        if not 0 < rows <= FEW or not batch.schema.equals(self._schema, check_metadata=True):
            return False
        column = batch.column(self._time)
        if isinstance(column, pa.ChunkedArray):
            if column.num_chunks != 1:
                return False
            column = column.chunk(0)
        if column.null_count:
            return False
        if not self.tables and not self._begins(state, delay):
            return False
        if rows == 1:
            least = most = column[0].value
        else:
            times = column.view(pa.int64()).to_numpy()
            least, most = int(times.min()), int(times.max())
        if least < self._floor or most > self._most:
            return False
        self.tables.append(batch)
        self._rows += rows
        address = column.buffers()[1].address
        if address != self._address:  # not of the memory that the slice before it is of
            self._address = address
            self._bytes += batch.get_total_buffer_size()
        if delay is not None and most - delay > self._watermark:
            self._watermark = most - delay
            self._floor = max(self._watermark, self._least)
        return True

    @property
    def due(self) -> bool:
        """Whether it is time to take the rows."""
        return self._watermark >= self._end or self._rows >= MANY or self._bytes >= HELD

    def taken(self) -> pa.Table:
        """All rows that are held, in the order in which they came; none are from now on."""
        tables, self.tables, self._rows, self._bytes, self._address = self.tables, [], 0, 0, 0
        if len(tables) == 1:
            return tables[0]
        tables = [pa.Table.from_batches([each]) if isinstance(each, pa.RecordBatch) else each for each in tables]
        return pa.concat_tables(tables).combine_chunks()

    def _begins(self, state: StreamState, delay: int | None) -> bool:
        """Look at the state before the first row; whether rows may be held."""
        grids, passed = state.positions.grids, state.positions.passed
        if state.closed or grids is None or passed in (LEAST, MOST) or state.watermark is None:
            return False
        moved = grids.origins + grids.ranges
        self._end = int((moved + ((passed - moved) // grids.slides + 1) * grids.slides).min())
        self._watermark = state.watermark
        self._floor = max(self._watermark, self._least)
        return True


def few_rows(scheme: Scheme, emit: str, filled: bool) -> FewRows | None:
    """What holds rows, where these can do nothing but wait for the end of a window: no expression that might fail."""
    settings, names = scheme.settings, scheme.schema.names
    odd = filled or scheme.spans or scheme.merging or not scheme.by_time or settings.on_error != "fail"
    timed = (settings.lateness, settings.ahead, settings.idle)
    if odd or emit not in ("final", "changes") or any(each is not None for each in timed):
        return None
    if any(pa.types.is_dictionary(dtype) for dtype in scheme.schema.types):
        return None
    if not all(map(_plain, (settings.time, *settings.key))):
        return None
    if scheme.schema.field(resolve(settings.time.path, names)[0]).type != scheme.time_type:  # type: ignore[union-attr]
        return None
    for each in scheme.assigners:
        grid: Any = each.grid
        if not hasattr(grid, "slide") or grid.slide > grid.range:
            return None
    for k in scheme.folded:
        call, columns = scheme.queries[k].call, scheme.planned[k].question.columns
        built_in = call.aggregate.compiled and call.aggregate.origin is not None
        if not built_in or call.condition is not None or not all(map(_plain, columns)):
            return None
    return FewRows(scheme)


def _plain(column: Expression | None) -> bool:
    """Whether an expression is a column as it stands."""
    return isinstance(column, Name) and len(column.path) == 1
