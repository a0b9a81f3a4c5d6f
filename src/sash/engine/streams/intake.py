"""The way of rows into a stream: those that have a place, with their keys and times; others are set aside."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from sash.engine.streams.assigners.base import LEAST, MISSED
from sash.engine.streams.assigners.by_time import Arriving, Behind, Missed
from sash.engine.streams.cells import Cells
from sash.engine.streams.keyed_rows import KeyedRows
from sash.engine.streams.lateness import Late, late_rows, late_spans
from sash.engine.streams.poison import PoisonSieve
from sash.engine.streams.span_cells import moments_of
from sash.engine.streams.state import StreamState, columns_of
from sash.engine.streams.timed_stream import FIRST
from sash.engine.streams.times import ticks_of
from sash.engine.tables import one_array
from sash.errors import column_named
from sash.expressions.evaluation import evaluate
from sash.kernels.slices.assigning import Span, span
from sash.windows.slicers import Edges

BEHIND = "late: before the end of the history"


class Judged(NamedTuple):
    """What is known of the rows of a batch beside their times, where windows merge.

    They are the assigners, of which those of sessions know which rows are late; the sessions that each row is not of,
    as bits; and which rows have no gap, where they are of no other windows.
    """

    assigners: list[Any]
    bits: np.ndarray
    gapless: np.ndarray | None


class JudgedSessions(NamedTuple):
    """The sessions of an extent, as far as the rows of a batch have missed them."""

    late: np.ndarray

    def missed(self, rows: Behind) -> Missed:
        """What rows behind the watermark missed."""
        late = self.late[rows.rows]
        return Missed(late, ~late, rows.time, rows.time)


class Intake:
    """What is done with rows before they are numbered.

    ``ended`` says up to where windows have ended, and ``least_starts`` where those of queries added later begin.
    """

    def __init__(
        self,
        state: StreamState,
        edges: Edges,
        ended: Callable[[], int | None],
        least_starts: Callable[[], dict[int, int]],
    ) -> None:
        self.state, self.scheme, self._ended, self._least_starts = state, state.scheme, ended, least_starts
        self._sieve = PoisonSieve(self.scheme, state.positions.assigners, edges, self.set_aside)
        self.standing: Callable[[], Cells] = lambda: state.cells  # in which sessions are found
        self.begins: int | None = None  # where the history ends, if there is one
        self.clock: int | None = None  # what it shows, where that matters and no column says it

    def whole_spans(self, pairs: tuple[pa.Table, pa.Table, pa.Array]) -> pa.Table:
        """Spans that were joined of halves; what cannot be is set aside."""
        whole, aside, reasons = pairs
        self.set_aside(aside, np.arange(len(reasons)), reasons)
        return whole

    def placed(self, table: pa.Table) -> KeyedRows:
        """The rows that have a place, with their keys and times; others are set aside, and those that fail."""
        if self.scheme.merging:  # a row that is late by the others must not be held by one that fails
            return self._placed(self._sieve.sound_unplaced(table))
        return self._sieve.sound(self._placed(table))

    def _placed(self, table: pa.Table) -> KeyedRows:
        table = self._come(self._after_history(table))
        time, late, times, judged, scheme, state = None, None, None, None, self.scheme, self.state
        if scheme.spans:
            return self._placed_spans(table)
        if scheme.settings.time is not None:
            with column_named("time"):
                time, known = ticks_of(evaluate(scheme.settings.time, table), scheme.time_type)
            times = span(time)
            judged = self._judged(table, time, known) if scheme.merging else None
            assigners = state.positions.assigners if judged is None else judged.assigners
            late = late_rows(scheme, time, known, times, state.shut, self._least_starts(), assigners,
                             None if judged is None else judged.gapless)  # fmt: skip
        bits = None if judged is None else judged.bits
        if late is not None:
            self.set_aside(table, late.rows, late.reasons)
            if len(late.stay) < table.num_rows:
                table, time = table.take(pa.array(late.stay)), time[late.stay] if time is not None else None
                times, bits = None if time is None else span(time), None if bits is None else bits[late.stay]
        rows = columns_of(table, scheme.row_columns)
        rows = rows if bits is None else rows.append_column(MISSED, pa.array(bits))
        return KeyedRows(rows, self._coded(table), time, times)

    def _after_history(self, table: pa.Table) -> pa.Table:
        """The rows that the history cannot have; others are set aside."""
        if self.begins is None:
            return table
        assert self.scheme.settings.time is not None
        with column_named("time"):
            time, known = ticks_of(evaluate(self.scheme.settings.time, table), self.scheme.time_type)
        behind = (time < self.begins) & (True if known is None else known)
        return self._without(table, behind, BEHIND)

    def _come(self, table: pa.Table) -> pa.Table:
        """The rows that are not too far in the future; others are set aside."""
        settings, scheme = self.scheme.settings, self.scheme
        if settings.ahead is None:
            return table
        clock: Any = self.clock
        if settings.clock is not None:
            clock, _ = ticks_of(evaluate(settings.clock, table), scheme.time_type)
        assert clock is not None
        ahead = np.zeros(table.num_rows, np.bool_)
        for argument, column in (("time", settings.time), ("span", settings.spans.start if settings.spans else None)):
            if column is not None:
                with column_named(argument):
                    time, known = ticks_of(evaluate(column, table), scheme.time_type)
                ahead |= (time > clock + scheme.ahead) & (True if known is None else known)
        return self._without(table, ahead, f"{settings.time} is more than {settings.ahead} ahead of the clock")

    def _judged(self, table: pa.Table, time: np.ndarray, known: np.ndarray | None) -> Judged:
        """Which rows of a batch are of no session, by all that have come by now."""
        least, most = self.scheme.reach
        placed = (time >= least) & (time <= most) if known is None else known & (time >= least) & (time <= most)
        time = np.where(placed, time, 0)
        rows = Arriving(table, self._coded(table), time, placed)
        assigners: list[Any] = list(self.state.positions.assigners)
        bits, gapless = np.zeros(len(time), np.int64), np.ones(len(time), np.bool_)
        for spec in self.scheme.merging:
            late, able = assigners[spec].joining(self.standing(), rows, self.state.shut)
            bits |= late.astype(np.int64) << spec
            if able is not None:
                bits |= (~able).astype(np.int64) << spec
            gapless &= False if able is None else ~able
            assigners[spec] = JudgedSessions(late)
        alone = len(self.scheme.merging) == len(assigners) and gapless.any()
        return Judged(assigners, bits, gapless if alone else None)

    def _placed_spans(self, table: pa.Table) -> KeyedRows:
        """The same of events that last: the time of a row is its last moment, and a column has the first."""
        state = self.state
        with column_named("span"):
            moments = moments_of(self.scheme, table)
        late = late_spans(self.scheme, moments, self._ended(), self._least_starts(), state.positions.assigners)
        if late is not None:
            self.set_aside(table, late.rows, late.reasons)
            if len(late.stay) < table.num_rows:
                table, moments = table.take(pa.array(late.stay)), moments.take(late.stay)
        if state.lengths is not None:
            state.lengths.see(moments.last - moments.first + 1)
        rows = columns_of(table, self.scheme.row_columns).append_column(FIRST, pa.array(moments.first))
        latest = int(moments.seen.max(initial=LEAST))
        latest = latest if state.pairing is None else max(latest, state.pairing.latest)
        return KeyedRows(rows, self._coded(table), moments.last, Span(latest, latest, False))

    def _coded(self, table: pa.Table) -> np.ndarray:
        """The number of each row's key."""
        with column_named("key"):
            codes = self.state.keys.numbers([one_array(evaluate(key, table)) for key in self.scheme.settings.key])
        return np.zeros(table.num_rows, np.int64) if codes is None else codes

    def _without(self, table: pa.Table, mask: np.ndarray, reason: str) -> pa.Table:
        """The rows but for some, which are set aside for one reason."""
        if not mask.any():
            return table
        rows = np.flatnonzero(mask)
        self.set_aside(table, rows, pa.array([reason] * len(rows), pa.string()))
        return table.filter(pa.array(~mask))

    def set_aside(self, table: pa.Table, rows: np.ndarray, reasons: pa.Array) -> None:
        """Keep rows for ``late``, with the reason of each."""
        if len(rows):
            self.state.late_count += len(rows)
            name = Late.name(table.schema)
            self.state.late.append(table.take(pa.array(rows)).append_column(name, reasons))
