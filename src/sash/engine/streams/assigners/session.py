"""Sessions: the rows of a key that follow each other by less than a gap; rows that come may join, or extend them.

A cell is of rows that are of one session for sure: of less than a gap, or, where each row has a gap of its own, of one
time. Beside its partials it has its bounds: its first row, and up to where its rows reach. Sessions are found anew in
the cells, so that a row that joins two of them needs nothing. What has been answered loses its bounds and partials,
which are of this extent alone: other windows may still need the cell, and rows that come are of a new session.
"""

from __future__ import annotations

from functools import cached_property
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pyarrow as pa

from sash.algebra import Aggregate
from sash.engine.encoding import biased
from sash.engine.streams.assigners.base import LEAST, MISSED, MOST, NONE, OwnPartial, SortedStore
from sash.engine.streams.assigners.by_time import Arriving, Behind, EventTimeAssigner, Joining, Missed
from sash.engine.streams.partial_layouts import PartialLayout
from sash.engine.tables import one_array
from sash.errors import SashError, column_named
from sash.expressions.binding import check_names
from sash.expressions.evaluation import evaluate, infer
from sash.kernels.slices.due import bounds_of
from sash.kernels.slices.merging_pieces import Joined, joined
from sash.kernels.sorting import argsort
from sash.windows.extents import OwnSessionExtent, SessionExtent
from sash.windows.grids import PER_MICROSECOND, Grid
from sash.windows.intervals import DAY, Interval

BOUNDS_FORMAT = 1
CALENDAR = np.dtype([("months", np.int32), ("days", np.int32), ("nanoseconds", np.int64)])
PER_UNIT = {"s": 10**9, "ms": 10**6, "us": 1000, "ns": 1}
BOUNDS = Aggregate(
    "session bounds",
    lift=lambda time, reach: (time, reach, 1),
    combine=lambda a, b: (min(a[0], b[0]), max(a[1], b[1]), a[2] + b[2]),
    lower=lambda s: s[2],
    commutative=True,
)  # of a cell: its first row, up to where its rows reach, and how many these are


class Pieces(NamedTuple):
    """The cells of open sessions: their numbers and keys, their bounds, and the session of each."""

    cells: np.ndarray
    key: np.ndarray
    first: np.ndarray
    rows: np.ndarray
    of: Joined

    @property
    def heads(self) -> np.ndarray:
        """The first piece of each session."""
        return np.flatnonzero(np.append(True, self.of.which[1:] != self.of.which[:-1])[: len(self.of.which)])


class Reach(NamedTuple):
    """Up to where rows reach, and which have a gap at all; None for all."""

    ends: np.ndarray
    known: np.ndarray | None = None


class SessionAssigner(EventTimeAssigner):
    """Windows of rows that are less than a gap apart."""

    kind: ClassVar[str] = "session"
    known_ends: ClassVar[bool] = False
    merges: ClassVar[bool] = True
    extent: SessionExtent | OwnSessionExtent

    @classmethod
    def takes(cls, extent: Any) -> bool:
        """Gaps, and columns of gaps."""
        return isinstance(extent, (SessionExtent, OwnSessionExtent))

    def check(self) -> None:
        """Refuse a column that is no gap, and a gap that times do not reach."""
        super().check()
        if MISSED in self.stream.schema.names:
            raise SashError(f"a stream with sessions cannot have a column {MISSED}, which Sash adds itself; rename it")
        if isinstance(self.extent, SessionExtent):
            _ = self.gap
            return
        with column_named("range"):
            check_names(self.extent.column, self.stream.schema.names)
            dtype = infer(self.extent.column, self.stream.schema)
            if not pa.types.is_duration(dtype) and dtype != pa.month_day_nano_interval():
                raise SashError(
                    f"gap of session must be a column of intervals, got {self.extent.column} of type {dtype}"
                )

    @cached_property
    def gap(self) -> int:
        """The gap in ticks."""
        assert isinstance(self.extent, SessionExtent)
        return self.stream.ticks("gap of session", self.extent.gap)

    @property
    def lengths(self) -> tuple[Interval, ...]:
        """The gap."""
        return (self.extent.gap,) if isinstance(self.extent, SessionExtent) else ()

    @property
    def margin(self) -> int:
        """How far from a row its session may end, unless others join; gaps of rows are cut where times end."""
        return super().margin if self.lengths else 0

    @property
    def columns(self) -> tuple[Any, ...]:
        """The column of gaps."""
        return (self.extent.column,) if isinstance(self.extent, OwnSessionExtent) else ()

    @property
    def cuts(self) -> tuple[Grid, ...]:
        """Rows of one slice are of one session."""
        size = self.gap if isinstance(self.extent, SessionExtent) else 1
        return (Grid(size, size),)

    @cached_property
    def spec(self) -> int:
        """Its number among the extents of the stream."""
        return int(self.stream.specs[self.extent.key])

    @property
    def words(self) -> list[str]:
        """How sessions are kept."""
        gap = self.extent.gap if isinstance(self.extent, SessionExtent) else self.extent.column
        return [
            f"sessions: rows less than {gap} apart; a piece of one has its partials, its first row and up to where it "
            "reaches, and pieces are joined as rows come; a session is answered when the watermark passes its end"
        ]

    # Rows

    @cached_property
    def own_partial(self) -> OwnPartial:
        """The bounds of cells."""
        dtypes = (np.dtype(np.int64),) * 2
        return OwnPartial(PartialLayout(BOUNDS.of(dtypes), dtypes), BOUNDS_FORMAT, f"the bounds of {self.extent}")

    def lift_own(self, table: pa.Table, time: np.ndarray) -> tuple[np.ndarray, ...]:
        """Where rows are, and up to where they reach."""
        return time, self.reach(table, time).ends

    def holds(self, table: pa.Table) -> np.ndarray | None:
        """Rows of sessions that have not been answered."""
        mask = one_array(table[MISSED]).to_numpy() >> self.spec & 1 == 0
        return None if mask.all() else mask

    def reach(self, table: pa.Table, time: np.ndarray) -> Reach:
        """Up to where each row reaches."""
        if isinstance(self.extent, SessionExtent):
            return Reach(time + self.gap)
        with column_named("range"):
            gaps, known = _ticks(one_array(evaluate(self.extent.column, table)), self.stream.unit)
        gaps = np.where(known, np.minimum(gaps, MOST - 1 - np.maximum(time, 0)), 1)
        return Reach(time + gaps, None if known.all() else known)

    def joining(self, cells: Any, rows: Arriving, watermark: int | None) -> Joining:
        """Which rows are of sessions that have ended, with all that came by now, and which have a gap."""
        ends, known = self.reach(rows.table, rows.time)
        some = rows.placed if known is None else rows.placed & known
        late = np.zeros(len(rows.time), np.bool_)
        doubted = rows.codes[some & (ends <= watermark)] if watermark is not None else NONE
        if not len(doubted):
            return Joining(late, known)
        doubted = np.unique(doubted)
        asked = np.flatnonzero(some & np.isin(rows.codes, doubted))
        pieces = self.pieces(cells)
        near = np.flatnonzero(np.isin(pieces.key, doubted))
        key = np.concatenate([pieces.key[near], rows.codes[asked]])
        first = np.concatenate([pieces.first[near], rows.time[asked]])
        ends = np.concatenate([pieces.of.ends[pieces.of.which[near]], ends[asked]])
        order = argsort([key.view(np.uint64), biased(first)]).astype(np.int64)
        sessions = joined(key[order], first[order], ends[order])
        over = np.zeros(len(key), np.bool_)
        over[order] = sessions.ends[sessions.which] <= watermark
        late[asked] = over[len(near) :]
        return Joining(late, known)

    def missed(self, rows: Behind) -> Missed:
        """Nothing that times alone would tell."""
        none = np.zeros(len(rows.time), np.bool_)
        return Missed(none, ~none, rows.time, rows.time)

    # Cells

    def pieces(self, cells: Any) -> Pieces:
        """The cells that have bounds, in order, and their sessions."""
        cells.compact()
        k = self.stream.bounds[self.spec]
        which = np.flatnonzero(cells.filled[k])
        key, states = cells.key[which], cells.states[k][which]
        first, reach, rows = (np.ascontiguousarray(states[name]) for name in states.dtype.names)
        return Pieces(which, key, first, rows, joined(key, first, reach))

    def forget_answered(self, cells: Any, buffer: Any, upto: int) -> int:
        """Let go of what is of sessions that end up to a time; gives how many rows these had."""
        pieces = self.pieces(cells)
        over = pieces.of.ends <= upto
        if not over.any():
            return 0
        gone = over[pieces.of.which]
        for k in self.stream.own_partials[self.spec]:
            cells.filled[k] = cells.filled[k].copy()
            cells.filled[k][pieces.cells[gone]] = 0
        if self.stream.buffered:
            self._mark(buffer, pieces.key[pieces.heads][over], pieces.of.starts[over], pieces.of.ends[over])
        return int(pieces.rows[gone].sum())

    def _mark(self, buffer: Any, keys: np.ndarray, starts: np.ndarray, ends: np.ndarray) -> None:
        """Mark the buffered rows of sessions as of none any more."""
        buffer.compact()
        mask = self.holds(buffer.table)
        rows = np.arange(len(buffer)) if mask is None else np.flatnonzero(mask)
        lo, hi = bounds_of(buffer.key[rows], buffer.at[rows], keys, starts, ends)
        steps = np.zeros(len(rows) + 1, np.int64)
        np.add.at(steps, lo, 1)
        np.add.at(steps, hi, -1)
        bits = one_array(buffer.table[MISSED]).to_numpy().copy()
        bits[rows[np.cumsum(steps[:-1]) > 0]] |= 1 << self.spec
        buffer.table = buffer.table.set_column(buffer.table.column_names.index(MISSED), MISSED, pa.array(bits))

    def coarsen(self, cells: Any) -> None:
        """Make one cell of each session, where no other windows need more."""
        pieces = self.pieces(cells)
        if len(pieces.of.starts) < len(cells.key) == len(pieces.cells):
            cells.coarsen(cells.at[pieces.heads][pieces.of.which])

    # Windows

    def ended(self, store: SortedStore, after: int, upto: int) -> tuple[np.ndarray, np.ndarray]:
        """Keys and ends of sessions that end after one time and up to another."""
        pieces = self.pieces(store)
        some = (pieces.of.ends > after) & (pieces.of.ends <= upto)
        return pieces.key[pieces.heads][some], pieces.of.ends[some]

    def counts(self, store: SortedStore, after: int, upto: int, out: np.ndarray) -> None:
        """Add how many such sessions each key has."""
        there = store.key[np.append(True, store.key[1:] != store.key[:-1])]
        out += np.bincount(np.searchsorted(there, self.ended(store, after, upto)[0]), minlength=len(out))

    def open_windows(self, store: SortedStore, after: int) -> int:
        """How many sessions end after a time."""
        return len(self.ended(store, after, MOST)[0])

    def ends_between(self, after: int, upto: int) -> bool:
        """Only rows would tell."""
        return True

    def ends_at(self, ends: np.ndarray) -> np.ndarray | None:
        """Only rows tell."""
        return None

    def starts(self, keys: np.ndarray, ends: np.ndarray, store: Any) -> np.ndarray:
        """Where sessions begin: at their first rows."""
        if not len(keys):
            return NONE
        pieces = self.pieces(store)
        heads, all_ends = pieces.key[pieces.heads], pieces.of.ends
        order = argsort([np.concatenate([heads, keys]).view(np.uint64), biased(np.concatenate([all_ends, ends]))])
        return pieces.of.starts[np.cumsum(order < len(heads))[order >= len(heads)] - 1]

    def bounds(
        self, store: Any, keys: np.ndarray, starts: np.ndarray, ends: np.ndarray
    ) -> tuple[np.ndarray, np.ndarray]:
        """Where the cells or rows of each session begin and end in a store."""
        if not hasattr(store, "states"):
            return bounds_of(store.key, store.at, keys, starts, ends)
        pieces = self.pieces(store)
        lo, hi = bounds_of(pieces.key, pieces.first, keys, starts, ends)
        if not len(keys):
            return lo, hi
        return pieces.cells[lo], pieces.cells[hi - 1] + 1

    def last_ends(self, at: np.ndarray) -> np.ndarray:
        """Only rows to come decide."""
        return np.full(len(at), MOST)

    def needed(self, store: Any, passed: int) -> np.ndarray:
        """Which cells or rows are of an open session."""
        if hasattr(store, "states"):
            return store.filled[self.stream.bounds[self.spec]] != 0
        mask = self.holds(store.table)
        return np.ones(len(store), np.bool_) if mask is None else mask

    def opens(self, passed: int) -> int:
        """Anywhere: rows to come may be joined to a session from the front."""
        return LEAST


def _ticks(gaps: pa.Array, unit: str) -> tuple[np.ndarray, np.ndarray]:
    """Intervals in ticks, and which are known, above zero, and of a fixed length."""
    known = gaps.is_valid().to_numpy(zero_copy_only=False)
    if pa.types.is_duration(gaps.type):
        whole, size = gaps.view(pa.int64()).fill_null(0).to_numpy(), PER_UNIT[gaps.type.unit]
        per = PER_UNIT[unit]
        ticks = whole * (size // per) if size >= per else -(-whole // (per // size))
        if size > per:  # ticks that do not fit are of a gap that does not end
            ticks = np.where(np.abs(whole) > MOST // (size // per), MOST, ticks)
    else:
        parts = np.frombuffer(gaps.buffers()[1], CALENDAR)[gaps.offset : gaps.offset + len(gaps)]
        known &= parts["months"] == 0
        days = parts["days"].astype(np.int64) * (DAY * PER_MICROSECOND[unit])
        ticks = days - (-parts["nanoseconds"] // PER_UNIT[unit])
    return ticks, known & (ticks > 0)
