"""The operator: rows come in batches, and answers leave as windows end; its state is plain bytes.

Rows that no window waits for any more, and rows that cannot be placed, are set aside with the reason. The others
are folded into cells, one for each key and slice, or buffered as they are where a query needs the rows themselves.
When the watermark passes the end of windows these are answered, and what no window needs any more is let go.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import timedelta
from functools import cached_property, partial
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.streams.assigners.base import LEAST, MOST, Assigner, Positions
from sash.engine.streams.assigners.by_time import TimePositions
from sash.engine.streams.cell_partials import lifted_columns
from sash.engine.streams.cells import KEY, cells_table, take_cells
from sash.engine.streams.covering import fold_spans
from sash.engine.streams.emitting import EMITS, WindowAnswers
from sash.engine.streams.ended_windows import EndedWindows
from sash.engine.streams.few_rows import FewRows, few_rows
from sash.engine.streams.filling import Fill, check_fill
from sash.engine.streams.intake import Intake
from sash.engine.streams.keyed_rows import KeyedRows, checked
from sash.engine.streams.lateness import Late
from sash.engine.streams.letting_go import let_go
from sash.engine.streams.limits import Limits
from sash.engine.streams.packing import packed, unpacked
from sash.engine.streams.revisions import check_lateness
from sash.engine.streams.scheme import Scheme
from sash.engine.streams.slice_partials import PARTIALS, SlicePartials, slice_positions
from sash.engine.streams.span_cells import SpanCells
from sash.engine.streams.state import StreamState
from sash.engine.streams.timed_stream import FIRST
from sash.engine.streams.times import as_ticks
from sash.engine.streams.watermark_clock import clock_shown
from sash.engine.tables import one_array
from sash.errors import SashError
from sash.windows.grids import PER_MICROSECOND
from sash.windows.slicers import SLICERS, Edges, edges_of


class Operator:
    """A stream that is pushed through, batch by batch.

    ``push`` takes rows and gives the answers that are due, ``advance`` moves the watermark by hand, ``close``
    gives what is left at the end. ``snapshot`` is the state as bytes, from which an operator of the same queries
    goes on after ``restore``.
    """

    _few: FewRows | None = None  # what holds rows of small pushes, once there was a push

    def __init__(
        self,
        scheme: Scheme,
        slicer: str,
        *,
        emit: str = "final",
        starts: bool = False,
        fill: Fill = False,
        arrival: bool = True,
    ) -> None:
        """Be ready for rows; without ``arrival``, rows of one time are told apart by their columns."""
        check_emit(scheme, emit)
        check_fill(scheme, emit, fill)
        check_lateness(scheme, emit)
        self._arrival, self.fill = arrival, fill
        self.scheme, self.slicer, self.emit, self.with_starts = scheme, slicer, emit, starts
        self._windows = (SlicePartials if emit == PARTIALS else EndedWindows)(scheme, starts)
        finer = SLICERS[slicer].finer
        self._edges = self._cut(finer or slicer)
        self._coarse = self._cut(slicer) if finer else None
        self._delay = scheme.delay
        self.begins: int | None = None  # where a history ends that it goes on with
        self._begun: list[int] = []
        self._clear()

    @property
    def _making(self) -> str:
        """What state depends on, beside the state."""
        scheme = self.scheme
        making = repr((scheme.schema, scheme.settings, scheme.meaning, self.slicer, self.emit))
        filled = f" filled {self.fill}" if self.fill else ""
        return making + scheme.settings.further + filled + "".join(f" after {time}" for time in self._begun)

    def _clear(self) -> None:
        """Begin with nothing."""
        scheme = self.scheme
        positions: Positions = (
            slice_positions(scheme, self._edges)
            if self.emit == PARTIALS
            else scheme.assigners[0].positions(scheme.assigners)
        )
        if isinstance(positions, TimePositions) and self.emit != PARTIALS:
            positions.lateness = scheme.lateness
        arrival = self._arrival or not scheme.by_time
        types = self._windows.types
        self._goes_on_with(StreamState(scheme, positions, self.emit, types, arrival, self.fill, self.with_starts))
        self.state.cells.plants = self._coarse is None and self.emit != "updates"
        self.torn = False

    def _goes_on_with(self, state: StreamState) -> None:
        self._state, self._windows.filling = state, state.filling
        self._intake = Intake(state, self._edges, lambda: self.ended, lambda: self.least_starts)
        self._intake.begins = self.begins

    @property
    def state(self) -> StreamState:
        """What it keeps; rows that are held are taken first."""
        if self._few is not None and self._few.tables:
            self._push(self._few.taken())
        return self._state

    @cached_property
    def _few_rows(self) -> FewRows | None:
        self._few = few_rows(self.scheme, self.emit, bool(self.fill))
        return self._few

    # What a user does

    def push(self, batch: Any, clock: Any = None) -> pa.Table:
        """Take a batch of rows; gives the answers of the windows that have ended since.

        ``clock`` is what the clock shows, a time as the column has them, for ``ahead=`` and ``idle=``; that of this
        machine, unless given.
        """
        few, late_queries = self._few_rows, self.begins is not None or self._windows.since
        if few is None or clock is not None or self.torn or late_queries:
            return self._push(batch, clock)
        none = self._no_answers
        if not few.take(batch, self._state, self._delay):
            return self._push(batch, clock)
        return self._push(few.taken()) if few.due else none

    def _push(self, batch: Any, clock: Any = None) -> pa.Table:
        """The same, with no rows held back."""
        shown = clock_shown(self.scheme, clock)
        rows = self.absorb(batch, shown)
        with self._whole():
            seen = len(rows.codes) > 0 or self.scheme.spans  # of spans, rows that have no place move it, too
            if self._delay is not None and rows.span is not None and seen and rows.span.most > LEAST:
                self._see(rows.span.most - self._delay)
            self._see_idle(shown, batch.num_rows > 0)
            return self._answers()

    def begin_at(self, time: int) -> None:
        """Answer only windows that end after a time, of rows of that time or later and of partials taken so far."""
        self.begins = self._intake.begins = time
        self._begun.append(time)
        self._see(time)
        self.state.positions.passes(time)
        let_go(self.state, self._edges, self._coarse)

    def tick(self, clock: Any = None) -> pa.Table:
        """Say what the clock shows while nothing comes; gives the answers of windows that have ended by ``idle=``."""
        self._open()
        if self.scheme.idle is None:
            raise SashError("tick needs idle=, after which the clock moves the watermark")
        with self._whole():
            self._see_idle(clock_shown(self.scheme, clock), came=False)
            return self._answers()

    def absorb(self, batch: Any, clock: int | None = None) -> KeyedRows:
        """Take a batch of rows, and leave the answers for later; gives the rows that have a place."""
        self._open()
        self._intake.clock = clock
        table, pairing = checked(batch, self.scheme.schema), self.state.pairing
        with self._whole():
            whole = table if pairing is None else self._intake.whole_spans(pairing.take(table))
            rows = self._intake.placed(whole)
            self.retake(rows)
            return rows

    def retake(self, rows: KeyedRows) -> None:
        """Take rows that were found to have a place."""
        if self.scheme.sorts:
            self.state.waiting.append(rows)
        else:
            self._absorb(rows)

    def advance(self, watermark: Any) -> pa.Table:
        """Say that no event before a time comes any more; gives the answers of windows that have ended by then."""
        self._open()
        if self.scheme.settings.time is None:
            raise SashError("advance needs time=, the column that a watermark is of")
        ticks = as_ticks(watermark, self.scheme.time_type)
        with self._whole():
            self._see(ticks)
            return self._answers()

    def close(self) -> pa.Table:
        """Say that nothing comes any more; gives the answers of all windows that still hold an event."""
        self._open()
        with self._whole():
            self._see(MOST)
            answers = self._answers()
        self.state.closed = True
        return answers

    def passing(self, watermark: int | None, limits: Limits) -> Iterator[pa.Table]:
        """What ``advance`` or, without a watermark, ``push`` of no rows gives, in parts."""
        self._open()
        with self._whole():
            if watermark is not None:
                self._see(watermark)
            yield from self._parts(limits)

    def closing(self, limits: Limits) -> Iterator[pa.Table]:
        """What ``close`` gives, in parts."""
        yield from self.passing(MOST, limits)
        self.state.closed = True

    def since(self, queries: dict[str, int]) -> None:
        """Let queries that were added later answer only windows that begin at a time, or after it."""
        _ = self.state  # with what came before
        self._windows.since = dict(queries)

    @property
    def least_starts(self) -> dict[int, int]:
        """Where the first window of an extent begins, for those of which all queries were added later."""
        return self._windows.least_starts

    def unmoved(self) -> None:
        """Let no event move the watermark: all that comes is one batch, and nothing in it is late."""
        self._delay = None

    @property
    def postpone(self) -> timedelta:
        """How long windows of spans wait after their ends."""
        return timedelta(microseconds=self._wait // PER_MICROSECOND[self.scheme.unit])

    @property
    def longer(self) -> int:
        """How many spans were longer than that when they came."""
        return 0 if self.state.lengths is None else self.state.lengths.longer

    def late(self) -> pa.Table:
        """The rows set aside since this was last asked, with the reason of each."""
        tables, self.state.late = self.state.late, []
        return pa.concat_tables([self._none_late, *tables]) if tables else self._none_late

    @cached_property
    def _none_late(self) -> pa.Table:
        return Late.schema(self.scheme.schema).empty_table()

    def snapshot(self) -> bytes:
        """All that must be kept to go on later, as bytes."""
        if self.torn:
            raise SashError("an earlier call stopped half-way with an error; there is no state to keep")
        return packed(self._making, self.state.parts())

    def restore(self, state: bytes) -> None:
        """Go on where an operator of the same queries was when its snapshot was taken."""
        parts = unpacked(self._making, state)
        before, torn = self.state, self.torn
        try:
            self._clear()
            self.state.restore(parts)
        except Exception:
            self._goes_on_with(before)  # a state that is refused changes nothing
            self.torn = torn
            raise

    def partials(self) -> pa.Table:
        """The partials of all cells with their keys, for another operator of the same queries to take."""
        return cells_table(self.state.cells, self.state.keys, self.scheme.partial_ids)

    def take(self, partials: pa.Table) -> pa.Table:
        """Take the partials of other operators, but for those that no window waits for any more; gives what it took."""
        needed = self.state.by_time.waited_for(partials["at"].to_numpy())
        if not needed.all():
            partials = partials.filter(pa.array(needed))
        if self.state.revisions is not None:
            keys = [one_array(partials[name]) for name in partials.column_names if name.startswith(KEY)]
            self.state.note_late(self._windows, self.codes_of(keys, partials.num_rows), partials["at"].to_numpy())
        take_cells(self.state.cells, self.state.keys, self.scheme.partial_ids, partials)
        return partials

    def codes_of(self, keys: list[pa.Array], rows: int) -> np.ndarray:
        """The number of each row's key, given the columns of the key."""
        codes = self.state.keys.numbers(keys)
        return np.zeros(rows, np.int64) if codes is None else codes

    @property
    def answer_schema(self) -> pa.Schema:
        """The columns of answers."""
        return self._no_answers.schema

    @cached_property
    def _no_answers(self) -> pa.Table:
        return self._windows.table(self._windows.none, self.state.keys)

    @property
    def size(self) -> int:
        """About how many bytes it has in memory."""
        return self.state.size

    @property
    def watermark(self) -> int | None:
        """Where the watermark is, if anywhere."""
        return self.state.watermark

    @property
    def late_count(self) -> int:
        """How many rows were set aside since the beginning."""
        return self.state.late_count

    @property
    def closed(self) -> bool:
        """Whether nothing comes any more."""
        return self.state.closed

    # The way of rows in

    @contextmanager
    def _whole(self) -> Iterator[None]:
        """Something that is done as a whole, or leaves the operator of no use."""
        self.torn = True
        yield
        self.torn = False

    def _open(self) -> None:
        if self.torn:
            raise SashError("an earlier call stopped half-way with an error; restore a snapshot, or open another")
        if self.state.closed:
            raise SashError("the stream is closed; open another, or restore a snapshot")

    def _absorb(self, rows: KeyedRows) -> None:
        """Number rows, and fold or hold them."""
        if not len(rows.codes):
            return
        keys = len(self.state.keys)
        at, counting, reason = self.state.positions.number(rows.codes, keys, rows.table, rows.time)
        if counting is not None:
            bad = np.setdiff1d(np.arange(len(rows.codes)), counting)
            self._intake.set_aside(
                rows.table.select(self.scheme.schema.names), bad, pa.array([reason] * len(bad), pa.string())
            )
            rows = rows.take(counting)
        self.state.note_late(self._windows, rows.codes, at)
        if self.scheme.spans:
            first = one_array(rows.table[FIRST]).to_numpy()
            span_cells = SpanCells(first, at, rows.codes, keys, self._edges, self.state.by_time.opens())
            fold_spans(self.state.cells, self.scheme, rows.table, span_cells, partial(lifted_columns, self.assigners))
        elif self.scheme.by_cells:
            codes = rows.codes if self.scheme.settings.key else None
            times = rows.span if at is rows.time else None
            columns = lifted_columns(self.assigners, self.scheme.partials, rows.table, at)
            self.state.cells.fold(at, codes, keys, self._edges, columns, times)
        if self.scheme.buffered:
            self.state.buffer.append(rows.table.select(self.state.buffer.table.column_names), rows.codes, at)

    # The way of answers out

    def _see_idle(self, clock: int | None, came: bool) -> None:
        """Let the clock move the watermark once nothing has come for long: by as much as it has moved itself."""
        if self._delay is not None and (moved := self.state.clock.moved(clock, self.state.watermark, came)) is not None:
            self._see(moved)

    def _see(self, watermark: int) -> None:
        """Move the watermark, never back; rows that waited for it take their place."""
        watermark, state, intake = max(min(watermark, MOST), LEAST + 1), self.state, self._intake
        if state.watermark is not None and watermark <= state.watermark:
            return
        if state.pairing is not None:  # before windows end that these may be in
            self.retake(intake.placed(intake.whole_spans(state.pairing.passed(watermark))))
        state.watermark = watermark
        if self.scheme.sorts and state.waiting:
            self._absorb(state.ready(watermark, self._arrival))

    def _answers(self) -> pa.Table:
        """All answers that are due."""
        parts = list(self._parts(None))
        if len(parts) == 1:
            return parts[0]
        return pa.concat_tables(parts) if parts else self._no_answers

    def _parts(self, limits: Limits | None) -> Iterator[pa.Table]:
        """The answers that are due, in parts where there are limits; what no window needs any more is let go."""
        upto = self.ended if self.scheme.by_time else 0
        self.state.late_count += self.forget_answered()  # partials of rows that came late
        yield from self._given(self.state.revised(self._windows, limits), remember=False)
        if self.emit != "updates" and (upto is None or not self.state.positions.ends_by(upto)):
            if upto is not None:
                self.state.positions.passes(upto)
            return
        if upto is not None:
            yield from self._given(self._ended_by(upto, limits), remember=False)
            self.state.positions.passes(upto)
            self.forget_answered()
        let_go(self.state, self._edges, self._coarse)
        if self.emit == "updates":
            yield from self._given(self._ended_by(MOST, limits), remember=True)
            self.state.updates.remembered()

    def _given(self, parts: Iterator[WindowAnswers], remember: bool) -> Iterator[pa.Table]:
        """What is given of answers: all, or those that changed."""
        for answers in parts:
            if self.emit == "changes":
                answers = self.state.changes.changed(answers)
            elif self.emit == "updates":
                answers = self.state.updates.changed(answers, remember)
            elif self.state.filling is not None:
                answers = self.state.filling.repeated(answers)
            if len(answers):
                yield self._windows.table(answers.by_end(), self.state.keys)

    @property
    def shut(self) -> int | None:
        """Up to where windows by time have ended that are of no use any more."""
        return self.ended if self.scheme.spans else self.state.shut

    @property
    def ended(self) -> int | None:
        """Up to where windows by time have ended: where the watermark is, or, for events that last, before that."""
        watermark = self.state.watermark
        if watermark is None or watermark == MOST or not self.scheme.spans:
            return watermark
        return max(watermark - self._wait, self.state.by_time.passed, LEAST + 1)

    @property
    def assigners(self) -> tuple[Assigner, ...]:
        """Its assigners, with what these keep."""
        return self.state.positions.assigners

    @property
    def _wait(self) -> int:
        return self.scheme.postpone if self.state.lengths is None else self.state.lengths.postpone

    def _ended_by(self, upto: int, limits: Limits | None) -> Iterator[WindowAnswers]:
        return self._windows.answers(self.state.positions, self.state.cells, self.state.buffer, upto, limits)

    def forget_answered(self) -> int:
        """Let go of what has been answered and later rows must not join; gives how many rows that was of."""
        return self.state.positions.forget_answered(self.state.cells, self.state.buffer)

    # Odds and ends

    def _cut(self, slicer: str) -> Edges:
        return edges_of(self.scheme.cuts, slicer) if self.scheme.cuts else Edges(())


def check_emit(scheme: Scheme, emit: str) -> None:
    """Refuse a way of giving answers that there is not."""
    if emit not in (*EMITS, PARTIALS):
        raise SashError(f"emit must be one of {', '.join(EMITS)}, got {emit!r}")
    if emit == "updates" and (late := [each for each in scheme.assigners if not each.known_ends]):
        raise SashError(f'emit="updates" needs windows whose end is known before it comes, got {late[0].kind} windows')
