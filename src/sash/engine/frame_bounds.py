"""Frames to bounds: which positions each row's frame holds, for all partitions at once."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property, partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.errors import SashError
from sash.kernels import framing as routines
from sash.kernels.threads import shares, together
from sash.windows.bounds import ARBITRARY, CONSTANT, MONOTONIC, NOTHING, Bounds, positions
from sash.windows.frame import CLOSED, Bound, Frame
from sash.windows.range_keys import RangeKeys, plain_array

_NONE = np.zeros(0, np.int64)


class FrameBounds(NamedTuple):
    """Bounds, and with EXCLUDE where the group that it takes out around each row starts and stops, uncut."""

    bounds: Bounds
    groups: tuple[np.ndarray, np.ndarray] | None = None


def frame_bounds(
    frame: Frame,
    *,
    segments: np.ndarray,
    peers: np.ndarray | None = None,
    key: Any = None,
    descending: bool = False,
    nulls_first: bool = True,
    offsets: tuple[Any, Any] = (None, None),
) -> FrameBounds:
    """Bounds of a frame for every position.

    ``segments`` is where each partition starts, and then the number of rows. ``peers`` is the position at which
    each row's peers start; without it all rows of a partition are peers. RANGE with an offset needs ``key``, the
    order key by position. ``offsets`` are those of the start and the end, by position too, where a bound is a column;
    negative is preceding.
    """
    rows = _Rows(segments, peers, nulls_first)
    keys = RangeKeys(key, descending) if frame.kind == "range" and frame.has_offset else None
    start_in, end_in = CLOSED[frame.closed]
    lo = _edge(rows, frame.kind, frame.start, keys, offsets[0], stops=False, past=not start_in)
    hi = _edge(rows, frame.kind, frame.end, keys, offsets[1], stops=True, past=end_in)
    bounds = _settled(rows, frame, lo, hi)
    if frame.exclude == "no others":
        return FrameBounds(bounds)
    groups = rows.themselves if frame.exclude == "current row" else (rows.peers, rows.peer_stops)
    return FrameBounds(_torn(rows, bounds, groups, keep_own=frame.exclude == "ties"), groups)


def selected_before(selected: np.ndarray) -> np.ndarray:
    """How many rows are kept before each position, and then how many there are."""
    before = np.zeros(len(selected) + 1, positions(len(selected)))
    selected = np.ascontiguousarray(selected, np.bool_)
    parts = shares(len(selected))
    counted = np.cumsum([0, *(np.count_nonzero(selected[r0:r1]) for r0, r1 in parts)])
    on_all(lambda r0, r1, n: routines.count_selected(selected, r0, r1, int(n), before), parts, counted)
    return before


def remapped(bounds: Bounds, selected: np.ndarray | None) -> Bounds:
    """The same frames over the indices of rows that are selected, by a mask or by its ``selected_before``."""
    if selected is None:
        return bounds
    before = selected_before(selected) if selected.dtype == np.bool_ else selected
    lo, hi = edges_among(bounds.lo, before), edges_among(bounds.hi, before)
    shape, length = ARBITRARY if bounds.shape == ARBITRARY else MONOTONIC, int(before[-1])
    if not bounds.holes:
        return Bounds(lo, hi, length, shape)
    own = bounds.own
    if len(own):
        own = _mapped(routines.rows_through, before, own)
    return Bounds(lo, hi, length, shape, a=edges_among(bounds.a, before), b=edges_among(bounds.b, before), own=own)


def edges_among(edges: np.ndarray, before: np.ndarray) -> np.ndarray:
    """The indices of edges, of groups or of segments too."""
    return _mapped(routines.through, before, edges)


def _mapped(routine: Callable[..., int], before: np.ndarray, edges: np.ndarray) -> np.ndarray:
    out = np.empty(len(edges), edges.dtype)
    on_all(lambda r0, r1: routine(before, edges, r0, r1, out), shares(len(edges)))
    return out


def on_all(task: Callable[..., Any], parts: list[tuple[int, int]], *more: Any) -> list[Any]:
    """Run a task for every part of the rows, on all threads; ``more`` has something for each part."""
    return together([partial(task, *part, *rest) for part, *rest in zip(parts, *more, strict=False)])


class _Rows:
    """The rows of all partitions, and the passes over them that fill one edge."""

    def __init__(self, segments: np.ndarray, peers: np.ndarray | None, nulls_first: bool) -> None:
        self.nulls_first = nulls_first
        self.segments = np.ascontiguousarray(segments, np.int64)
        self.count = int(self.segments[-1])
        self.dtype = positions(self.count)
        self.parts = shares(self.count)
        self.partitions = [int(np.searchsorted(self.segments, r0, "right")) - 1 for r0, _ in self.parts]
        if peers is not None:
            self.peers = np.ascontiguousarray(peers, self.dtype)

    def filled(self, routine: Callable[..., int], *arguments: Any) -> np.ndarray:
        """An edge, written by a routine in one pass."""
        out = np.empty(self.count, self.dtype)
        on_all(lambda r0, r1, p: routine(self.segments, p, r0, r1, *arguments, out), self.parts, self.partitions)
        return out

    def partition_edge(self, stops: bool) -> np.ndarray:
        return self.filled(routines.rows_edge, self.count if stops else -self.count)

    def known_rows(self, valid: np.ndarray | None) -> tuple[np.ndarray, np.ndarray]:
        """Where the rows whose key is not NULL begin and end in each partition."""
        if valid is None:
            return self.segments[:-1], self.segments[1:]
        firsts, lasts = np.empty(len(self.segments) - 1, np.int64), np.empty(len(self.segments) - 1, np.int64)
        routines.known_rows(self.segments, valid, int(self.nulls_first), firsts, lasts)
        return firsts, lasts

    @cached_property
    def peers(self) -> np.ndarray:
        return self.partition_edge(stops=False)

    @cached_property
    def peer_stops(self) -> np.ndarray:
        out = np.empty(self.count, self.dtype)
        lasts = [np.searchsorted(self.peers, self.peers[r1 - 1], "right") for _, r1 in self.parts if r1]
        on_all(lambda r0, r1, last: routines.peer_stops(self.peers, r0, r1, int(last), out), self.parts, lasts)
        return out

    @cached_property
    def themselves(self) -> tuple[np.ndarray, np.ndarray]:
        each = np.arange(self.count + 1, dtype=self.dtype)
        return each[:-1], each[1:]

    @cached_property
    def groups(self) -> tuple[np.ndarray, np.ndarray]:
        """The number of each row's group of peers, and where the groups start."""
        numbers, starts = np.empty(self.count, self.dtype), np.empty(self.count + 1, self.dtype)
        routines.number_groups(self.peers, numbers, starts)
        return numbers, starts


def _edge(
    rows: _Rows, kind: str, bound: Bound, keys: RangeKeys | None, offsets: Any, stops: bool, past: bool
) -> np.ndarray:
    """Where frames begin, or stop, which is one past the last row; ``past`` the rows exactly at the bound, or before.

    A frame begins past them, or stops before them, only where that side of a range is open.
    """
    if bound.is_unbounded:
        return rows.partition_edge(stops)
    if kind != "rows" and bound.is_current_row:
        return rows.peer_stops if past else rows.peers
    name = f"{kind}Between: {'end' if stops else 'start'}"
    each = None if bound.column is None else offsets_of_rows(offsets, rows.count, name)
    if keys is not None:
        searched = keys.targets(bound.constant if each is None else each, past, name)
        stretches = rows.known_rows(keys.valid)
        if searched.ascend:
            return rows.filled(
                routines.merge_edge, *stretches, searched.keys, searched.targets, searched.shift, int(past)
            )
        return rows.filled(routines.seek_edge, *stretches, searched.keys, searched.targets, int(past))
    whole = _NONE if each is None else whole_offsets(each, name)
    more = int(stops) + (max(-rows.count - 1, min(bound.constant, rows.count)) if each is None else 0)
    if kind == "groups":
        return rows.filled(routines.groups_edge, *rows.groups, whole, more)
    if each is None:
        return rows.filled(routines.rows_edge, more)
    return rows.filled(routines.rows_edge_each, whole, more)


def _settled(rows: _Rows, frame: Frame, lo: np.ndarray, hi: np.ndarray) -> Bounds:
    """Bounds with their shape, none of which begins after its end."""
    if frame.kind == "rows" and frame.start.constant is not None and frame.end.constant is not None:
        before, after = (max(-rows.count, min(n, rows.count)) for n in (-frame.start.constant, frame.end.constant))
        return Bounds(lo, hi, rows.count, CONSTANT, before, after)
    if frame.closed == "both" and (not frame.has_offset or (frame.kind != "range" and not frame.has_columns)):
        return Bounds(lo, hi, rows.count, MONOTONIC)
    flags = _survey(rows, lo, hi)
    if flags & routines.CROSSES:
        hi = np.maximum(lo, hi)  # moves right wherever both do
        flags = _survey(rows, lo, hi)
    return Bounds(lo, hi, rows.count, ARBITRARY if flags & routines.FALLS else MONOTONIC)


def _survey(rows: _Rows, lo: np.ndarray, hi: np.ndarray) -> int:
    flags = on_all(lambda r0, r1: routines.survey(lo, hi, r0, r1), rows.parts)
    return int(np.bitwise_or.reduce(flags))


def _torn(rows: _Rows, bounds: Bounds, groups: tuple[np.ndarray, np.ndarray], keep_own: bool) -> Bounds:
    lo, hi = bounds.lo, bounds.hi
    a, b, own = np.empty_like(lo), np.empty_like(hi), np.empty_like(lo) if keep_own else NOTHING
    for edges, out in zip(groups, (a, b), strict=True):
        on_all(lambda r0, r1, edges=edges, out=out: routines.cut_to_frames(edges, lo, hi, r0, r1, out), rows.parts)
    if keep_own:
        on_all(lambda r0, r1: routines.rows_in_frames(lo, hi, r0, r1, own), rows.parts)
    shape = MONOTONIC if bounds.moves_forward else ARBITRARY
    return Bounds(lo, hi, rows.count, shape, a=a, b=b, own=own)


def offsets_of_rows(values: Any, rows: int, name: str) -> pa.Array:
    """The offsets of all rows, none of them unknown."""
    offsets = plain_array(values)
    if len(offsets) != rows:
        raise SashError(f"{name} must have an offset for each of {rows} rows, got {len(offsets)}")
    if offsets.null_count:
        raise SashError(f"{name} must not be NULL, got a column with {offsets.null_count} of them")
    return offsets


def whole_offsets(offsets: pa.Array, name: str) -> np.ndarray:
    """Offsets as whole numbers of 64 bits."""
    if not pa.types.is_integer(offsets.type):
        raise SashError(f"{name} must be a column of whole numbers, got one of type {offsets.type}")
    if offsets.type == pa.uint64():  # beyond 64 bits is beyond every partition
        offsets = pc.min_element_wise(offsets, pa.scalar(2**63 - 1, pa.uint64()))
    return offsets.cast(pa.int64()).to_numpy()
