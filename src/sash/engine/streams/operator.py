"""The operator: rows come in batches, and answers leave as windows end; its state is plain bytes.

Rows that no window waits for any more, and rows that cannot be placed, are set aside with the reason. The others
are folded into cells, one for each key and slice, or buffered as they are where a query needs the rows themselves.
When the watermark passes the end of windows these are answered, and what no window needs any more is let go.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import timedelta
from functools import cached_property
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.answering.asking import Question
from sash.engine.answering.folds import counted
from sash.engine.encoding import biased
from sash.engine.sizes import total_bytes
from sash.engine.sorted_partitions import SortedPartitions
from sash.engine.streams.assigners.base import LEAST, MOST, Assigner, Positions
from sash.engine.streams.assigners.by_time import TimePositions
from sash.engine.streams.buffer import Buffer, ties
from sash.engine.streams.cells import Cells, LiftedColumns, cells_table, take_cells
from sash.engine.streams.covering import fold_spans
from sash.engine.streams.emitting import EMITS, Changes, Updates, WindowAnswers
from sash.engine.streams.ended_windows import EndedWindows
from sash.engine.streams.formats import refuse_others
from sash.engine.streams.keyed_rows import KeyedRows, checked
from sash.engine.streams.keys import Keys
from sash.engine.streams.lateness import Late, late_rows, late_spans
from sash.engine.streams.lengths import Lengths
from sash.engine.streams.limits import Limits
from sash.engine.streams.packing import packed, unpacked
from sash.engine.streams.pairing import Pairing
from sash.engine.streams.restoring import (
    numbers_of,
    part_of,
    refuse_outside,
    table_of,
    typed_of,
    watermark_of,
    whole_of,
)
from sash.engine.streams.scheme import FIRST, CellPartial, Scheme
from sash.engine.streams.slice_partials import PARTIALS, SlicePartials, slice_positions
from sash.engine.streams.span_cells import AUTO, SpanCells, moments_of, refuse_odd_spans
from sash.engine.streams.times import as_ticks, ticks_of
from sash.engine.tables import one_array
from sash.errors import SashError, column_named
from sash.expressions.evaluation import evaluate
from sash.kernels.slices.assigning import Span, span
from sash.kernels.sorting import argsort
from sash.windows.grids import PER_MICROSECOND
from sash.windows.slicers import Edges, edges_of

FEW = 1024  # keys that are not worth letting go of


class Operator:
    """A stream that is pushed through, batch by batch.

    ``push`` takes rows and gives the answers that are due, ``advance`` moves the watermark by hand, ``close``
    gives what is left at the end. ``snapshot`` is the state as bytes, from which an operator of the same queries
    goes on after ``restore``.
    """

    def __init__(
        self, scheme: Scheme, slicer: str, *, emit: str = "final", starts: bool = False, arrival: bool = True
    ) -> None:
        """Be ready for rows; without ``arrival``, rows of one time are told apart by their columns."""
        check_emit(scheme, emit)
        self._arrival = arrival
        self.scheme, self.slicer, self.emit, self.with_starts = scheme, slicer, emit, starts
        self._windows = (SlicePartials if emit == PARTIALS else EndedWindows)(scheme, starts)
        self._edges = self._cut("pairs" if slicer == "cutty" else slicer)
        self._coarse = self._cut("cutty") if slicer == "cutty" else None
        self._columns = scheme.schema.names if scheme.whole_rows else scheme.needed
        self._delay = scheme.delay
        self._making = repr((scheme.schema, scheme.settings, scheme.meaning, slicer, emit)) + scheme.settings.further
        self._clear()

    def _clear(self) -> None:
        scheme = self.scheme
        self.late_count = 0
        self.watermark: int | None = None
        self.closed = self.torn = False
        self._keys = Keys(scheme.key_types)
        self._looked = FEW  # keys of which something was left when last looked
        self._positions: Positions = (
            slice_positions(scheme, self._edges)
            if self.emit == PARTIALS
            else scheme.assigners[0].positions(scheme.assigners)
        )
        self._cells = Cells([each.layout for each in scheme.partials])
        self._cells.plants = self._coarse is None and self.emit != "updates"
        columns = self._taken(scheme.schema.empty_table(), scheme.needed)
        columns = columns.append_column(FIRST, pa.array([], pa.int64())) if scheme.spans else columns
        self._buffer = Buffer(columns.schema, self._arrival or not scheme.by_time)
        spans = scheme.settings.spans
        self._lengths = Lengths() if spans is not None and spans.postpone == AUTO else None
        self._pairing = Pairing(scheme) if spans is not None and spans.pair is not None else None
        self._waiting: list[KeyedRows] = []
        self._late: list[pa.Table] = []
        self._changes, self._updates = Changes(self._windows.types), Updates(self._windows.types)

    # What a user does

    def push(self, batch: Any) -> pa.Table:
        """Take a batch of rows; gives the answers of the windows that have ended since."""
        rows = self.absorb(batch)
        with self._whole():
            seen = len(rows.codes) > 0 or self.scheme.spans  # of spans, rows that have no place move it, too
            if self._delay is not None and rows.span is not None and seen and rows.span.most > LEAST:
                self._see(rows.span.most - self._delay)
            return self._answers()

    def absorb(self, batch: Any) -> KeyedRows:
        """Take a batch of rows, and leave the answers for later; gives the rows that have a place."""
        self._open()
        table = checked(batch, self.scheme.schema)
        with self._whole():
            rows = self._placed(table if self._pairing is None else self._whole_spans(self._pairing.take(table)))
            self.retake(rows)
            return rows

    def _whole_spans(self, pairs: tuple[pa.Table, pa.Table, pa.Array]) -> pa.Table:
        """Spans that were joined of halves; what cannot be is set aside."""
        whole, aside, reasons = pairs
        self._set_aside(aside, np.arange(len(reasons)), reasons)
        return whole

    def retake(self, rows: KeyedRows) -> None:
        """Take rows that were found to have a place."""
        if self.scheme.sorts:
            self._waiting.append(rows)
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
        self.closed = True
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
        self.closed = True

    def since(self, queries: dict[str, int]) -> None:
        """Let queries that were added later answer only windows that begin at a time, or after it."""
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
        return 0 if self._lengths is None else self._lengths.longer

    def late(self) -> pa.Table:
        """The rows set aside since this was last asked, with the reason of each."""
        tables, self._late = self._late, []
        return pa.concat_tables([self._none_late, *tables]) if tables else self._none_late

    @cached_property
    def _none_late(self) -> pa.Table:
        return Late.schema(self.scheme.schema).empty_table()

    def snapshot(self) -> bytes:
        """All that must be kept to go on later, as bytes."""
        if self.torn:
            raise SashError("an earlier call stopped half-way with an error; there is no state to keep")
        keys = self._keys.all()
        parts: dict[str, Any] = {
            "partials": [each.text for each in self.scheme.formats],
            "watermark": self.watermark,
            "closed": self.closed,
            "late count": self.late_count,
            "keys": pa.table(keys, [str(k) for k in range(len(keys))]),
            "late": pa.concat_tables([Late.schema(self.scheme.schema).empty_table(), *self._late]),
            **{f"axis {name}": part for name, part in self._positions.parts().items()},
            **self._cells.parts(),
            **self._buffer.parts(),
        }
        if self.scheme.sorts:
            waiting = self._joined(self._waiting)
            parts |= {"waiting": waiting.table, "waiting codes": waiting.codes, "waiting time": waiting.time}
        if self._pairing is not None:
            parts["halves"] = self._pairing.waiting
        if self._lengths is not None:
            parts |= {"lengths": self._lengths.counts, "longer": self._lengths.longer}
        if self.emit != "final":
            parts |= (self._changes if self.emit == "changes" else self._updates).parts()
        return packed(self._making, parts)

    def restore(self, state: bytes) -> None:
        """Go on where an operator of the same queries was when its snapshot was taken."""
        parts = unpacked(self._making, state)
        before = vars(self).copy()
        try:
            self._clear()
            self._restore(parts)
        except Exception:
            vars(self).update(before)  # a state that is refused changes nothing
            raise

    def _restore(self, parts: dict[str, Any]) -> None:
        scheme = self.scheme
        refuse_others(part_of(parts, "partials"), scheme.formats)
        self.closed = typed_of(parts, "closed", bool)
        self._restore_rest(parts, keyed=True)
        self._restore_stores(parts)
        self._late = [table_of(parts, "late", Late.schema(scheme.schema))]
        if scheme.sorts:
            waiting = table_of(parts, "waiting", self._taken(scheme.schema.empty_table(), self._columns).schema)
            codes = numbers_of(parts, "waiting codes", waiting.num_rows, 0, len(self._keys) - 1)
            time = numbers_of(parts, "waiting time", waiting.num_rows, *scheme.reach)
            self._waiting = [KeyedRows(waiting, codes, time)]
        if self._pairing is not None:
            self._pairing.waiting = table_of(parts, "halves", scheme.schema)
        if self._lengths is not None:
            self._lengths.restore(parts)

    def _restore_rest(self, parts: dict[str, Any], keyed: bool) -> None:
        """Go on with all that is neither cells nor rows."""
        self.watermark, self.late_count = watermark_of(parts), whole_of(parts, "late count", 0)
        if keyed:
            self._keys = Keys.restored(self.scheme.key_types, parts)
        positions = {name[5:]: part for name, part in parts.items() if name.startswith("axis ")}
        self._positions.restore(positions, len(self._keys))
        if self.emit != "final":
            (self._changes if self.emit == "changes" else self._updates).restore(parts, len(self._keys))

    def _restore_stores(self, parts: dict[str, Any]) -> None:
        """Go on with cells and rows, once the rest is known."""
        cells, buffer, scheme = self._cells, self._buffer, self.scheme
        cells.restore(parts, len(self._keys))
        buffer.restore(parts, len(self._keys))
        if scheme.by_time:
            refuse_outside(cells.at, "cell at", *scheme.slice_reach)
            refuse_outside(buffer.at, "held at", *scheme.reach)
        self._positions.refuse_unknown(cells)
        self._positions.refuse_rows(buffer)
        if scheme.spans:
            refuse_odd_spans(scheme, buffer.table, buffer.at)

    def partials(self) -> pa.Table:
        """The partials of all cells with their keys, for another operator of the same queries to take."""
        return cells_table(self._cells, self._keys, self.scheme.partial_ids)

    def take(self, partials: pa.Table) -> pa.Table:
        """Take the partials of other operators, but for those that no window waits for any more; gives what it took."""
        needed = self._by_time.waited_for(partials["at"].to_numpy())
        if not needed.all():
            partials = partials.filter(pa.array(needed))
        take_cells(self._cells, self._keys, self.scheme.partial_ids, partials)
        return partials

    def codes_of(self, keys: list[pa.Array], rows: int) -> np.ndarray:
        """The number of each row's key, given the columns of the key."""
        codes = self._keys.numbers(keys)
        return np.zeros(rows, np.int64) if codes is None else codes

    @property
    def answer_schema(self) -> pa.Schema:
        """The columns of answers."""
        return self._windows.table(self._windows.none, self._keys).schema

    @property
    def size(self) -> int:
        """About how many bytes it has in memory."""
        waiting = sum(total_bytes(rows.table) + 16 * len(rows.codes) for rows in self._waiting)
        emitted = self._changes.size if self.emit == "changes" else self._updates.size if self.emit == "updates" else 0
        return self._cells.size + self._buffer.size + waiting + self._keys.size + emitted

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
        if self.closed:
            raise SashError("the stream is closed; open another, or restore a snapshot")

    def _placed(self, table: pa.Table) -> KeyedRows:
        """The rows that have a place, with their keys and times; others are set aside."""
        time, late, times = None, None, None
        if self.scheme.spans:
            return self._placed_spans(table)
        if self.scheme.settings.time is not None:
            with column_named("time"):
                time, known = ticks_of(evaluate(self.scheme.settings.time, table), self.scheme.time_type)
            times = span(time)
            late = late_rows(self.scheme, time, known, times, self.watermark, self.least_starts, self.assigners)
        if late is not None:
            self._set_aside(table, late.rows, late.reasons)
            if len(late.stay) < table.num_rows:
                table, time = table.take(pa.array(late.stay)), time[late.stay] if time is not None else None
                times = None if time is None else span(time)
        return KeyedRows(self._taken(table, self._columns), self._coded(table), time, times)

    def _placed_spans(self, table: pa.Table) -> KeyedRows:
        """The same of events that last: the time of a row is its last moment, and a column has the first."""
        with column_named("span"):
            moments = moments_of(self.scheme, table)
        late = late_spans(self.scheme, moments, self.ended, self.least_starts, self.assigners)
        if late is not None:
            self._set_aside(table, late.rows, late.reasons)
            if len(late.stay) < table.num_rows:
                table, moments = table.take(pa.array(late.stay)), moments.take(late.stay)
        if self._lengths is not None:
            self._lengths.see(moments.last - moments.first + 1)
        rows = self._taken(table, self._columns).append_column(FIRST, pa.array(moments.first))
        latest = int(moments.seen.max(initial=LEAST))
        latest = latest if self._pairing is None else max(latest, self._pairing.latest)
        return KeyedRows(rows, self._coded(table), moments.last, Span(latest, latest, False))

    def _coded(self, table: pa.Table) -> np.ndarray:
        """The number of each row's key."""
        with column_named("key"):
            codes = self._keys.numbers([one_array(evaluate(key, table)) for key in self.scheme.settings.key])
        return np.zeros(table.num_rows, np.int64) if codes is None else codes

    def _set_aside(self, table: pa.Table, rows: np.ndarray, reasons: pa.Array) -> None:
        if len(rows):
            self.late_count += len(rows)
            name = Late.name(table.schema)
            self._late.append(table.take(pa.array(rows)).append_column(name, reasons))

    def _absorb(self, rows: KeyedRows) -> None:
        """Number rows, and fold or hold them."""
        if not len(rows.codes):
            return
        keys = len(self._keys)
        at, counting, reason = self._positions.number(rows.codes, keys, rows.table, rows.time)
        if counting is not None:
            bad = np.setdiff1d(np.arange(len(rows.codes)), counting)
            self._set_aside(
                rows.table.select(self.scheme.schema.names), bad, pa.array([reason] * len(bad), pa.string())
            )
            rows = rows.take(counting)
        if self.scheme.spans:
            first = one_array(rows.table[FIRST]).to_numpy()
            span_cells = SpanCells(first, at, rows.codes, keys, self._edges, self._opens())
            fold_spans(self._cells, self.scheme, rows.table, span_cells, self._lifted)
        elif self.scheme.folded:
            codes = rows.codes if self.scheme.settings.key else None
            times = rows.span if at is rows.time else None
            self._cells.fold(at, codes, keys, self._edges, self._lifted(rows.table, self.scheme.partials), times)
        if self.scheme.buffered:
            self._buffer.append(rows.table.select(self._buffer.table.column_names), rows.codes, at)

    def _lifted(self, table: pa.Table, partials: Sequence[CellPartial]) -> list[LiftedColumns]:
        """What partials lift of some rows."""
        whole = SortedPartitions(table, (), ())
        columns = []
        for each in partials:
            selection, lifted = counted(Question(whole, each.planned.question.over))
            values, _ = each.layout.inputs.columns("fold", lifted.columns, selection.length)
            columns.append(LiftedColumns(values, selection.positions))
        whole.forget()
        return columns

    # The way of answers out

    def _see(self, watermark: int) -> None:
        """Move the watermark, never back; rows that waited for it take their place."""
        watermark = max(min(watermark, MOST), LEAST + 1)
        if self.watermark is not None and watermark <= self.watermark:
            return
        if self._pairing is not None:  # before windows end that these may be in
            self.retake(self._placed(self._whole_spans(self._pairing.passed(watermark))))
        self.watermark = watermark
        if not self.scheme.sorts or not self._waiting:
            return
        waiting = self._joined(self._waiting)
        assert waiting.time is not None
        ready = np.flatnonzero(waiting.time < watermark)
        rest = np.flatnonzero(waiting.time >= watermark)
        self._waiting = [waiting.take(rest)] if len(rest) else []
        rows = waiting.take(ready)
        words = [biased(waiting.time[ready])]
        self._absorb(rows.take(argsort(words if self._arrival else [*words, *ties(rows.table)])))

    def _answers(self) -> pa.Table:
        """All answers that are due."""
        parts = list(self._parts(None))
        if len(parts) == 1:
            return parts[0]
        return pa.concat_tables(parts) if parts else self._windows.table(self._windows.none, self._keys)

    def _parts(self, limits: Limits | None) -> Iterator[pa.Table]:
        """The answers that are due, in parts where there are limits; what no window needs any more is let go."""
        upto = self.ended if self.scheme.by_time else 0
        if self.emit != "updates" and (upto is None or not self._positions.ends_by(upto)):
            return
        if upto is not None:
            yield from self._given(self._ended_by(upto, limits), remember=False)
            self._positions.passes(upto)
        self._let_go()
        if self.emit == "updates":
            yield from self._given(self._ended_by(MOST, limits), remember=True)
            self._updates.remembered()

    def _given(self, parts: Iterator[WindowAnswers], remember: bool) -> Iterator[pa.Table]:
        """What is given of answers: all, or those that changed."""
        for answers in parts:
            if self.emit == "changes":
                answers = self._changes.changed(answers)
            elif self.emit == "updates":
                answers = self._updates.changed(answers, remember)
            if len(answers):
                yield self._windows.table(answers.by_end(), self._keys)

    @property
    def ended(self) -> int | None:
        """Up to where windows by time have ended: where the watermark is, or, for events that last, before that."""
        watermark = self.watermark
        if watermark is None or watermark == MOST or not self.scheme.spans:
            return watermark
        return max(watermark - self._wait, self._by_time.passed, LEAST + 1)

    def _opens(self) -> int | None:
        """Where the first window begins that has not ended, if any has."""
        return self._by_time.opens()

    @property
    def assigners(self) -> tuple[Assigner, ...]:
        """Its assigners, with what these keep."""
        return self._positions.assigners

    @property
    def _by_time(self) -> TimePositions:
        assert isinstance(self._positions, TimePositions)
        return self._positions

    @property
    def _wait(self) -> int:
        return self.scheme.postpone if self._lengths is None else self._lengths.postpone

    def _ended_by(self, upto: int, limits: Limits | None) -> Iterator[WindowAnswers]:
        return self._windows.answers(self._positions, self._cells, self._buffer, upto, limits)

    def _let_go(self) -> None:
        """Let go of what no window needs any more."""
        cells, buffer = self._cells, self._buffer
        if self.scheme.by_time and self.watermark is None:
            return
        if len(buffer):
            buffer.compact()
            buffer.keep(self._positions.needed(buffer))
        if cells.forest is not None:
            keys, cuts = self._positions.cuts()
            cells.let_go(keys, cuts)
        elif len(cells):
            cells.compact()
            cells.keep(self._positions.needed(cells))
            if self._coarse is not None and len(cells):
                self._coarsen(self._coarse)
        if self.scheme.by_time and self.emit != "changes" and len(self._keys) > 2 * self._looked:
            self._forget_keys()

    def _forget_keys(self) -> None:
        """Number keys anew, without those of which nothing is left, where these are the most."""
        count = len(self._keys)
        self._cells.compact()
        left = np.zeros(count, np.bool_)
        for store in (self._cells, self._buffer):
            left[store.key] = True
        used = np.flatnonzero(left)
        self._looked = max(len(used), FEW)
        if 2 * len(used) > count:
            return
        self._keys = Keys.of(self.scheme.key_types, self._keys.values(used))
        for store in (self._cells, self._buffer):
            store.key = np.searchsorted(used, store.key)
        self._updates = self._updates.of_keys(used)  # windows of others have ended

    def _coarsen(self, edges: Edges) -> None:
        """Make one cell of all between two starts of windows, as far as no window ends between them any more."""
        cells = self._cells
        ended = self._edges.floor(self._positions.reached_by(cells.key))
        starts = edges.floor(cells.at)
        cells.coarsen(np.where((cells.at < ended) & (starts <= cells.at), starts, cells.at))

    # Odds and ends

    def _cut(self, slicer: str) -> Edges:
        return edges_of(self.scheme.cuts, slicer) if self.scheme.cuts else Edges(())

    def _taken(self, table: pa.Table, names: Sequence[str]) -> pa.Table:
        """These columns, or one of nothing, for the number of rows."""
        return table.select(list(names)) if names else pa.table({"": pa.nulls(table.num_rows)})

    def _joined(self, parts: list[KeyedRows]) -> KeyedRows:
        if len(parts) == 1:
            return parts[0]
        if not parts:
            empty = self._taken(self.scheme.schema.empty_table(), self._columns)
            return KeyedRows(empty, np.zeros(0, np.int64), np.zeros(0, np.int64))
        tables, codes, times, _ = zip(*parts, strict=True)
        return KeyedRows(pa.concat_tables(tables), np.concatenate(codes), np.concatenate(times))


def check_emit(scheme: Scheme, emit: str) -> None:
    """Refuse a way of giving answers that there is not."""
    if emit not in (*EMITS, PARTIALS):
        raise SashError(f"emit must be one of {', '.join(EMITS)}, got {emit!r}")
    if emit == "updates" and (late := [each for each in scheme.assigners if not each.known_ends]):
        raise SashError(f'emit="updates" needs windows whose end is known before it comes, got {late[0].kind} windows')
