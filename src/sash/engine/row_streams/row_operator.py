"""The operator: rows come in batches, and leave with their answers once the watermark has passed what they wait for.

A row that comes waits, with all of its columns, until no row can come any more that lies in one of its frames. It
is then answered, together with others, by the evaluator of tables: over the rows that leave, those before them that
frames reach by time, of which only the columns needed are kept, and what is known of the rows before these.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.encoding import biased
from sash.engine.evaluating import answers
from sash.engine.row_streams.past import KeyedTable, Past
from sash.engine.row_streams.past import joined as joined_tables
from sash.engine.row_streams.row_scheme import EARLY, RowScheme, WindowColumns
from sash.engine.row_streams.rows_around import RowsAround, local
from sash.engine.sizes import total_bytes
from sash.engine.streams.assigners.base import LEAST, MOST
from sash.engine.streams.formats import refuse_others
from sash.engine.streams.keyed_rows import KeyedRows, checked
from sash.engine.streams.keys import Keys
from sash.engine.streams.lateness import Late
from sash.engine.streams.packing import packed, unpacked
from sash.engine.streams.restoring import part_of, refuse_outside, table_of, typed_of, watermark_of, whole_of
from sash.engine.streams.times import as_ticks, ticks_of
from sash.engine.tables import one_array, with_columns
from sash.engine.ties import break_ties
from sash.errors import SashError, column_named
from sash.expressions.evaluation import evaluate
from sash.kernels.sorting import argsort

NONE = np.zeros(0, np.int64)
FEW = 1024  # keys that are not worth letting go of
RUNS = 16  # tables of rows that are not worth joining


class RowOperator:
    """Window expressions on the rows of a stream, batch by batch.

    ``push`` takes rows and gives those that are due, with their answers; ``advance`` moves the watermark by hand,
    ``close`` gives what is left at the end. ``snapshot`` is the state as bytes, from which an operator of the same
    expressions goes on after ``restore``.
    """

    def __init__(self, scheme: RowScheme) -> None:
        self.scheme = scheme
        self._delay = scheme.stream.delay
        self._making = repr((scheme.schema, scheme.stream.settings, scheme.meaning, "rows", scheme.emit))
        self.clear()

    def clear(self) -> None:
        """Begin anew."""
        self.late_count = 0
        self.watermark: int | None = None
        self.closed = self.torn = False
        self._keys = Keys(self.scheme.stream.key_types)
        self._looked = FEW
        self.waiting: list[KeyedRows] = []  # whole rows that have not left
        self.context: list[KeyedRows] = []  # rows that frames reach, as far as they are needed
        self.pasts = [Past(self.scheme, window_columns) for window_columns in self.scheme.by_window]
        self._late: list[pa.Table] = []

    # What a user does

    def push(self, batch: Any) -> pa.Table:
        """Take a batch of rows; gives the rows that leave by now, with their answers."""
        rows = self.absorb(batch)
        with self._whole():
            if self._delay is not None and len(rows.codes):
                assert rows.time is not None
                self._see(int(rows.time.max()) - self._delay)
            return self._leaving()

    def absorb(self, batch: Any) -> KeyedRows:
        """Take a batch of rows, and leave the answers for later; gives the rows that are not late."""
        self._open()
        table = checked(batch, self.scheme.schema)
        with self._whole():
            rows = self._placed(table)
            if len(rows.codes):
                self.waiting.append(rows)
            return rows

    def advance(self, watermark: Any) -> pa.Table:
        """Say that no row before a time comes any more; gives the rows that leave by then."""
        self._open()
        ticks = as_ticks(watermark, self.scheme.stream.time_type)
        with self._whole():
            self._see(ticks)
            return self._leaving()

    def close(self) -> pa.Table:
        """Say that nothing comes any more; gives all rows that are left."""
        self._open()
        with self._whole():
            self._see(MOST)
            left = self._leaving()
        self.closed = True
        return left

    def passed(self, watermark: int | None) -> pa.Table:
        """What ``advance`` or, without a watermark, ``push`` of no rows gives."""
        self._open()
        with self._whole():
            if watermark is not None:
                self._see(watermark)
            return self._leaving()

    def late(self) -> pa.Table:
        """The rows set aside since this was last asked, with the reason of each."""
        tables, self._late = self._late, []
        return pa.concat_tables([Late.schema(self.scheme.schema).empty_table(), *tables])

    def snapshot(self) -> bytes:
        """All that must be kept to go on later, as bytes."""
        if self.torn:
            raise SashError("an earlier call stopped half-way with an error; there is no state to keep")
        waiting, context = (self._joined(rows, whole) for rows, whole in ((self.waiting, True), (self.context, False)))
        return packed(self._making, {
            **self.rest(), "closed": self.closed, "waiting": waiting.table, "context": context.table,
            "late": pa.concat_tables([Late.schema(self.scheme.schema).empty_table(), *self._late]).combine_chunks(),
        })  # fmt: skip

    def restore(self, state: bytes) -> None:
        """Go on where an operator of the same expressions was when its snapshot was taken."""
        parts = unpacked(self._making, state)
        before = vars(self).copy()
        try:
            self.clear()
            self.restore_rest(parts)
            self.closed = typed_of(parts, "closed", bool)
            self._late = [table_of(parts, "late", Late.schema(self.scheme.schema))]
            schema = self.scheme.schema
            self.waiting = self.rows_of(table_of(parts, "waiting", schema))
            needed = schema.empty_table().select(list(self.scheme.needed)).schema
            self.context = self.rows_of(table_of(parts, "context", needed))
        except Exception:
            vars(self).update(before)  # a state that is refused changes nothing
            raise

    @property
    def answer_schema(self) -> pa.Schema:
        """The columns of rows that leave."""
        return self.scheme.answers

    @property
    def size(self) -> int:
        """About how many bytes it has in memory."""
        rows = sum(total_bytes(rows.table) + 16 * len(rows.codes) for rows in (*self.waiting, *self.context))
        return rows + self._keys.size + sum(past.size for past in self.pasts)

    # The state but for rows that frames reach by time

    @property
    def formats(self) -> list[Any]:
        """What the partials are known by."""
        return [each.text for past in self.pasts for each in past.formats]

    def rest(self) -> dict[str, Any]:
        """The state without the rows that wait, and those that frames reach by time."""
        parts: dict[str, Any] = {
            "partials": self.formats,
            "watermark": self.watermark,
            "late count": self.late_count,
        }
        for k, past in enumerate(self.pasts):
            parts |= dict(past.parts(f"past {k}"))
        return parts

    def restore_rest(self, parts: dict[str, Any]) -> None:
        """Go on with that."""
        refuse_others(part_of(parts, "partials"), [each for past in self.pasts for each in past.formats])
        self.watermark, self.late_count = watermark_of(parts), whole_of(parts, "late count", 0)
        for k, past in enumerate(self.pasts):
            past.restore(parts, f"past {k}", self._coded)

    def rows_of(self, table: pa.Table) -> list[KeyedRows]:
        """Rows that were kept, as they were."""
        if not table.num_rows:
            return []
        time, known = ticks_of(evaluate(self.scheme.time, table), self.scheme.stream.time_type)
        if known is not None:
            raise SashError("state must have the time of each row, got NULL")
        refuse_outside(time, "times of rows", -self.scheme.far, self.scheme.far)
        return [KeyedRows(table, self._coded(table), time)]

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
        """The rows that are not late; others are set aside with the reason."""
        scheme = self.scheme
        with column_named(next(iter(scheme.columns))):
            time, known = ticks_of(evaluate(scheme.time, table), scheme.stream.time_type)
        reasons = []
        if known is not None:
            reasons.append((~known, f"{scheme.time} is NULL"))
        far = (time < -scheme.far) | (time > scheme.far)
        if far.any():
            reasons.append((far, f"{scheme.time} is out of reach"))
        if self.watermark is not None:
            reasons.append((time < self.watermark, "late: the watermark had passed it"))
        stays = np.ones(len(time), np.bool_)
        for mask, reason in reasons:
            where = np.flatnonzero(mask & stays)
            if len(where):
                self.late_count += len(where)
                aside = table.take(pa.array(where))
                name = Late.name(table.schema)
                self._late.append(aside.append_column(name, pa.array([reason] * len(where), pa.string())))
                stays[where] = False
        if not stays.all():
            table, time = table.filter(pa.array(stays)), time[stays]
        return KeyedRows(table, self._coded(table), time)

    def _coded(self, table: pa.Table) -> np.ndarray:
        """The number of each row's key."""
        with column_named("key"):
            codes = self._keys.numbers([one_array(evaluate(key, table)) for key in self.scheme.key])
        return np.zeros(table.num_rows, np.int64) if codes is None else codes

    def _see(self, watermark: int) -> None:
        self.watermark = watermark if self.watermark is None else max(self.watermark, watermark)

    # The way of rows out

    def _leaving(self) -> pa.Table:
        """The rows that leave by now, with their answers, in the order of their times."""
        ready = self._ready()
        answered = self._answered(ready)
        if len(ready.codes):
            self.remember(ready._replace(table=ready.table.select(list(self.scheme.needed))))
        if self.watermark is not None:
            self._let_go()
        return answered

    def remember(self, rows: KeyedRows) -> None:
        """Have rows that have left at hand for others."""
        self.context.append(rows)

    @property
    def horizon(self) -> int:
        """The time from which on rows may be in frames of others."""
        return LEAST if self.watermark is None else max(self.scheme.horizon(self.watermark), LEAST)

    def _ready(self) -> KeyedRows:
        """The rows that wait for nothing any more, which wait no more."""
        if self.scheme.emit == EARLY:
            parts, self.waiting = self.waiting, []
            return self._joined(parts, True)
        parts, stay = [], []
        for rows in self.waiting:
            assert rows.time is not None
            ends = self.scheme.ends(rows.table, rows.time)
            mask = np.zeros(len(ends), np.bool_) if self.watermark is None else ends < self.watermark
            if mask.all():
                parts.append(rows)
            elif mask.any():
                parts.append(rows.take(np.flatnonzero(mask)))
                stay.append(rows.take(np.flatnonzero(~mask)))
            else:
                stay.append(rows)
        self.waiting = stay
        ready = self._joined(parts, True)
        assert ready.time is not None
        return ready.take(argsort([biased(ready.time)])) if len(parts) else ready

    def _answered(self, ready: KeyedRows) -> pa.Table:
        if not len(ready.codes):
            return self.answer_schema.empty_table()
        touched = np.zeros(len(self._keys), np.bool_)
        touched[ready.codes] = True
        needed = list(self.scheme.needed)
        early = self.scheme.emit == EARLY  # rows that came before may then be later
        following = self.waiting if self.scheme.follows else []
        before = [rows.table.filter(pa.array(touched[rows.codes])) for rows in self.context]
        after = [rows.table.select(needed).filter(pa.array(touched[rows.codes])) for rows in following]
        columns: dict[str, pa.Array] = {}
        for window_columns, past in zip(self.scheme.by_window, self.pasts, strict=True):
            few, last = (each.where(touched[each.codes]).table for each in (past.few, past.last))
            own, window = ready.table.select(needed), window_columns.window
            around = RowsAround.of(few, [last, *before], own, after, window, early)
            columns |= self._answers(around, window_columns, past)
        return with_columns(ready.table, {name: columns[name] for name in self.scheme.columns})

    def _answers(self, around: RowsAround, window_columns: WindowColumns, past: Past) -> dict[str, pa.Array]:
        break_ties(around, window_columns.columns)
        elsewhere = past.elsewhere(around, around.wanted)
        expressions = {name: local(over) if around.extra and name in elsewhere else over
                 for name, over in window_columns.columns.items()}  # fmt: skip
        return {name: answer.slice(around.first, around.count)
                for name, answer in answers(around, expressions, elsewhere).items()}  # fmt: skip

    def _let_go(self) -> None:
        """Let go of rows that no frame reaches by time any more, once it is known of them what must be."""
        horizon = self.horizon
        left, stay = [], []
        for rows in self.context:
            assert rows.time is not None
            mask = rows.time < horizon
            if mask.any():
                left.append(KeyedTable(rows.table, rows.codes).where(mask))
                rows = rows.take(np.flatnonzero(~mask))
            if len(rows.codes):
                stay.append(rows)
        self.context = stay if len(stay) < RUNS else _merged(stay)
        if left and self.watermark != MOST:
            gone = joined_tables(left)
            touched = np.zeros(len(self._keys), np.bool_)
            touched[gone.codes] = True
            for past in self.pasts:
                past.take(gone, touched)
        if len(self._keys) > 2 * self._looked:
            self._forget_keys()

    def _forget_keys(self) -> None:
        """Number keys anew, without those of which nothing is left, where these are the most."""
        count = len(self._keys)
        some = np.zeros(count, np.bool_)
        stores: list[Any] = [*self.waiting, *self.context]
        stores += [rows for past in self.pasts for rows in (past.few, past.last)]
        for store in stores:
            some[store.codes] = True
        used = np.flatnonzero(some)
        self._looked = max(len(used), FEW)
        if 2 * len(used) > count:
            return
        self._keys = Keys.of(self.scheme.stream.key_types, self._keys.values(used))
        for name in ("waiting", "context"):
            setattr(
                self, name, [rows._replace(codes=np.searchsorted(used, rows.codes)) for rows in getattr(self, name)]
            )
        for past in self.pasts:
            for some_rows in (past.few, past.last):
                some_rows.codes = np.searchsorted(used, some_rows.codes)

    def _joined(self, parts: list[KeyedRows], whole: bool) -> KeyedRows:
        if len(parts) == 1:
            return parts[0]
        if not parts:
            empty = self.scheme.schema.empty_table()
            return KeyedRows(empty if whole else empty.select(list(self.scheme.needed)), NONE, NONE)
        return _merged(parts)[0]


def _merged(parts: list[KeyedRows]) -> list[KeyedRows]:
    """The same rows in one table."""
    times = [rows.time for rows in parts if rows.time is not None]
    tables, codes = [rows.table for rows in parts], [rows.codes for rows in parts]
    return [KeyedRows(pa.concat_tables(tables).combine_chunks(), np.concatenate(codes), np.concatenate(times))]
