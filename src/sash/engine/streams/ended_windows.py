"""Windows that have ended: which they are, what each query answers to them, and how a user sees that."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.engine.encoding import biased
from sash.engine.sizes import row_bytes, stretches
from sash.engine.streams.assigners.base import Ending, Positions
from sash.engine.streams.board_answers import board_answers, due_masks, segments_of
from sash.engine.streams.buffer import Buffer, WindowRows
from sash.engine.streams.cells import Cells
from sash.engine.streams.emitting import WindowAnswers
from sash.engine.streams.filling import Filling
from sash.engine.streams.forest_answers import answers_of
from sash.engine.streams.keys import Keys
from sash.engine.streams.limits import Limits
from sash.engine.streams.queries import REVISION, WINDOW_END
from sash.engine.streams.query_answers import PlannedQuery, answer_of_rows
from sash.engine.streams.run_answers import RunAnswers
from sash.engine.streams.scheme import Scheme
from sash.engine.streams.sorted_runs import SortedRuns
from sash.engine.streams.span_windows import DueWindows, SpanWindows, is_swept, swept_type
from sash.engine.streams.timed_stream import FIRST
from sash.errors import SashError, column_named
from sash.kernels.slices.board_windows import BoardWindows, GridArrays, board_windows
from sash.kernels.sorting import argsort

NONE = np.zeros(0, np.int64)
ROOM = 8  # how much larger a forest may be than its cells
FEW = 2048  # cells and windows for which the time of a push is that of the calls it makes


class EndedWindows:
    """The queries of a stream, asked of its cells and of the rows it holds."""

    def __init__(self, scheme: Scheme, starts: bool) -> None:
        self.scheme, self.with_starts = scheme, starts
        self.since: dict[str, int] = {}  # for queries that were added later: where their first window may begin
        self.by_runs = RunAnswers(scheme)
        self.filling: Filling | None = None  # of an operator that fills windows without events
        if starts and (hidden := [each for each in scheme.assigners if not each.known_starts]):
            raise SashError(f"starts are of windows by time and by count, got windows by {hidden[0].kind}")
        taken = {*scheme.key_names, *(query.name for query in scheme.queries)}
        if starts and (both := [name for name in self.start_names if name in taken]):
            raise SashError(f"starts cannot be added: there is a column {both[0]} already; rename the query")

    @property
    def start_names(self) -> list[str]:
        """The columns of starts: one where all windows are alike, otherwise one for each query."""
        return ["window_start"] if self._alike else [f"{query.name}_start" for query in self.scheme.queries]

    @property
    def _alike(self) -> bool:
        return len(self.scheme.assigners) == 1

    def answers(
        self, positions: Positions, cells: Cells, buffer: Buffer, upto: int, limits: Limits | None = None
    ) -> Iterator[WindowAnswers]:
        """The answers of windows that hold a row, and have ended or end up to a position.

        They come in parts where there are limits, some keys in each, or some windows of a key, in the order of both.
        """
        folds = self.scheme.by_cells
        ending = planted(positions, cells, len(self.scheme.assigners), upto, limits) if folds else None
        raised = None
        if cells.plants and (ending or not folds):
            raised = self.by_runs.raised(positions, buffer, upto, limits, ending)
        if raised is None:
            buffer.drop_runs()
        runs, ending = raised or (None, ending)
        if self.scheme.buffered and (runs is None or self.by_runs.by_rows):
            buffer.compact()
        if ending:
            yield from self._of(positions, cells, buffer, None, upto, limits, ending, runs)
            return
        store: Any = cells.compact() if folds else buffer
        if not len(store.key):
            return
        if limits is None:
            yield from self._of(positions, cells, buffer, store, upto, None)
            return
        for first, last in self._ranges(positions, store, upto, limits.answers):
            some, rows = cells.of_keys(first, last), buffer.of_keys(first, last) if self.scheme.buffered else buffer
            yield from self._of(positions, some, rows, some if store is cells else rows, upto, limits)

    def _ranges(self, positions: Positions, store: Any, upto: int, most: int) -> Iterator[tuple[int, int]]:
        """First and last keys with about so many windows together; a key with more is alone."""
        heads = np.flatnonzero(np.append(True, store.key[1:] != store.key[:-1]))
        counts = np.zeros(len(heads), np.int64)
        for spec in range(len(self.scheme.assigners)):
            positions.counts(spec, store, upto, counts)
        if self.filling is not None and counts.any():
            tails = np.append(heads[1:], len(store.key)) - 1
            counts[counts > 0] += self.filling.most(
                positions, *(each[counts > 0] for each in (store.key[heads], store.at[heads], store.at[tails]))
            )
        for start, stop in stretches(counts, most):
            if counts[start:stop].any():
                yield int(store.key[heads[start]]), int(store.key[heads[stop - 1]])

    def _of(
        self,
        positions: Positions,
        cells: Cells,
        buffer: Buffer,
        store: Any,
        upto: int,
        limits: Limits | None,
        ending: list[Ending] | None = None,
        runs: SortedRuns | None = None,
    ) -> Iterator[WindowAnswers]:
        """The answers of the windows of some keys, or, without a store, of those that end in a forest or in runs."""
        if limits is None and (store is not None or self.scheme.by_cells):
            grids = self._grids(positions)
            if grids is not None:
                segments = cells.planted().segments if store is None else segments_of(store)
                windows = board_windows(segments, grids, positions.passed, upto)
                yield from self._on_grids(positions, cells, buffer, store, windows, runs)
                return
        ended = (
            [positions.ended(spec, store, upto) for spec in range(len(self.scheme.assigners))]
            if ending is None
            else [_held_by(cells.planted() if self.scheme.by_cells else runs, each) for each in ending]
        )
        for spec, start in self.least_starts.items():
            keys, ends = ended[spec]
            whole = positions.starts(spec, keys, ends, store) >= start
            ended[spec] = keys[whole], ends[whole]
        key, end, places = union_of_windows(ended)
        if not len(key):
            return
        if self.filling is not None:
            key, end, places = union_of_windows([*ended, self.filling.gaps(positions, key, end, self.least_starts)])
        due, held = [], [np.isin(np.arange(len(key)), place) for place in places] if self._repeats else []
        for spec, place in enumerate(places[: len(ended)]):
            mask = positions.ends_at(spec, end)
            if mask is None:
                mask = np.zeros(len(key), np.bool_)
                mask[place] = True
            due.append(mask)
        shown = positions.shown(key, end)
        parts = (
            [(0, len(key))]
            if limits is None
            else self._cut(
                positions, buffer, store, key, end, due, limits, {} if runs is None else self.by_runs.queries
            )
        )
        for start, stop in parts:
            masks = [None if (mask := each[start:stop]).all() else mask for each in due]
            some = key[start:stop], end[start:stop], shown[start:stop]
            answers = self.answered(positions, cells, buffer, store, *some, masks, runs)
            if held:
                answers.held = [held[planned.spec][start:stop] for planned in self.scheme.planned]
            yield answers

    def _grids(self, positions: Positions) -> GridArrays | None:
        """The windows of all extents as grids, where nothing else says which are answered."""
        return None if self.since or self.filling is not None or self.scheme.spans else positions.grids

    def _on_grids(
        self,
        positions: Positions,
        cells: Cells,
        buffer: Buffer,
        store: Any,
        windows: BoardWindows,
        runs: SortedRuns | None,
    ) -> Iterator[WindowAnswers]:
        """The answers of windows that were found together."""
        if not len(windows.key):
            return
        due, columns = due_masks(windows), {}
        if self.scheme.folded and not self.with_starts:
            columns = board_answers(self.scheme, cells, windows, self.types)
        rows = windows.key, windows.end, windows.end
        yield self.answered(positions, cells, buffer, store, *rows, due, runs, columns)

    @property
    def _repeats(self) -> bool:
        return self.filling is not None and self.filling.repeats

    def _cut(
        self,
        positions: Positions,
        buffer: Buffer,
        store: Any,
        key: np.ndarray,
        end: np.ndarray,
        due: list[np.ndarray],
        limits: Limits,
        by_runs: Collection[int],
    ) -> Iterator[tuple[int, int]]:
        """Where windows are parted: by their number, and by the bytes of the rows that they list or take a value of."""
        weight = np.ones(len(key), np.int64) * -(-limits.body // limits.answers)
        if (specs := [each for k, each in self._varying.items() if k not in by_runs]) and len(buffer):
            sizes = np.broadcast_to(row_bytes(buffer.table), len(buffer.key))
            upto, most = np.append(0, np.cumsum(sizes)), sizes.max()
            for spec, lists in specs:
                keys, ends = key[due[spec]], end[due[spec]]
                lo, hi = positions.bounds(spec, buffer, keys, positions.starts(spec, keys, ends, store), ends)
                weight[due[spec]] += upto[hi] - upto[lo] if lists else np.minimum(upto[hi] - upto[lo], most)
        return stretches(weight, limits.body)

    @cached_property
    def _varying(self) -> dict[int, tuple[int, bool]]:
        """The extents of queries whose answers are as long as the rows of their windows, or as one of them."""
        varying = {}
        for k, (planned, dtype) in enumerate(zip(self.scheme.planned, self.types, strict=True)):
            lists = pa.types.is_nested(dtype) or getattr(planned.query.call.aggregate, "returns", "") == "rows"
            varies = not isinstance(row_bytes(pa.table({"": pa.array([], dtype)})), int)
            if not planned.by_partials and not self.scheme.spans and (lists or varies):
                varying[k] = planned.spec, lists
        return varying

    def answered(
        self,
        positions: Positions,
        cells: Cells,
        buffer: Buffer,
        store: Any,
        key: np.ndarray,
        end: np.ndarray,
        shown: np.ndarray,
        due: list[np.ndarray | None],
        runs: SortedRuns | None = None,
        known: Mapping[int, pa.Array] = MappingProxyType({}),
    ) -> WindowAnswers:
        """The answers of each query to the windows that are due; the columns of some may be known."""
        buffered = (
            BufferedRows(self.scheme, positions, buffer) if self.scheme.buffered and not self.scheme.spans else None
        )
        spans = SpanWindows(buffer) if self.scheme.buffered and self.scheme.spans else None
        due_windows: dict[Any, DueWindows] = {}
        columns, starts, dues = [], [], []
        bounds_of: dict[Any, tuple[np.ndarray, np.ndarray]] = {}
        windows_of: dict[int, DueWindows] = {}
        for k, planned in enumerate(self.scheme.planned):
            if k in known:
                continue
            spec, since = planned.spec, self.since.get(planned.query.name)
            if (spec, since) not in due_windows:
                due_windows[spec, since] = _due_windows(positions, spec, key, end, due[spec], store, since)
            windows_of[k] = due_windows[spec, since]
        standing = {}
        if cells.forest is not None:
            asked = {k: windows_of[k] for k in self.scheme.folded if k not in known}
            standing = answers_of(self.scheme, cells.forest, asked)
        if runs is not None:
            standing |= self.by_runs.answers(runs, windows_of)

        def bounds(store: Any, windows: DueWindows, place: Any) -> tuple[np.ndarray, np.ndarray]:
            if place not in bounds_of:
                bounds_of[place] = positions.bounds(place[0], store, windows.key, windows.start, windows.end)
            return bounds_of[place]

        for k, planned in enumerate(self.scheme.planned):
            spec = planned.spec
            if k in known:
                columns.append(known[k])
                dues.append(due[spec])
                continue
            since, windows = self.since.get(planned.query.name), windows_of[k]
            dues.append(windows.due)
            with column_named(planned.query.name):
                if k in standing:
                    answer = standing[k]
                elif planned.by_partials:
                    answer = self.scheme.foldings[k].answer(
                        planned, cells, *bounds(cells, windows, (spec, since, "cells"))
                    )
                elif spans is not None:
                    answer = spans.answer(self.scheme, planned, windows)
                else:
                    assert buffered is not None
                    some, rows = buffered.of(spec)
                    answer = answer_of_rows(rows, planned, *bounds(some, windows, (spec, since, "rows")), since)
                answer = answer if answer.type == self.types[k] else answer.cast(self.types[k])
            columns.append(_spread(answer, windows.due))
            if self.with_starts:
                starts.append(_spread(pa.array(windows.start), windows.due))
        if buffered is not None:
            buffered.forget()
        return WindowAnswers(key, end, shown, columns, starts, dues)

    @property
    def least_starts(self) -> dict[int, int]:
        """Where the first window of an extent may begin, for those of which all queries were added later."""
        if not self.since:
            return {}
        starts_of: dict[int, list[int | None]] = {}
        for planned in self.scheme.planned:
            starts_of.setdefault(planned.spec, []).append(self.since.get(planned.query.name))
        return {spec: min(each for each in starts if each is not None)
                for spec, starts in starts_of.items() if None not in starts}  # fmt: skip

    @property
    def none(self) -> WindowAnswers:
        """No answers, of the right types."""
        columns = list(none_of(self.scheme))
        starts = [pa.array(NONE)] * (len(columns) if self.with_starts else 0)
        return WindowAnswers(NONE, NONE, NONE, columns, starts, [None] * len(columns))

    @cached_property
    def types(self) -> list[pa.DataType]:
        """The types of the queries' answers."""
        return [column.type for column in none_of(self.scheme)]

    def table(self, answers: WindowAnswers, keys: Keys) -> pa.Table:
        """Answers as a user sees them."""
        scheme = self.scheme
        names, columns = list(scheme.key_names), keys.values(answers.key)
        columns = [column.cast(dtype) if column.type != dtype else column
                   for column, dtype in zip(columns, scheme.key_types, strict=True)]  # fmt: skip
        if self.with_starts and self._alike:
            names += self.start_names
            columns.append(_shown(pc.coalesce(*answers.starts), scheme.assigners[0].start_type))
        names.append(WINDOW_END)
        columns.append(_shown(answers.shown, scheme.end_type))
        if scheme.settings.lateness is not None:
            names.append(REVISION)
            first = np.zeros(len(answers), np.int64)
            columns.append(pa.array(first if answers.revision is None else answers.revision, pa.int32()))
        for k, query in enumerate(scheme.queries):
            if self.with_starts and not self._alike:
                names.append(self.start_names[k])
                columns.append(_shown(answers.starts[k], scheme.assigners[scheme.planned[k].spec].start_type))
            names.append(query.name)
            columns.append(answers.columns[k])
        return pa.Table.from_arrays(columns, names)


class BufferedRows:
    """Buffered rows as each extent sees them: without those that are of no window of it any more."""

    def __init__(self, scheme: Scheme, positions: Positions, buffer: Buffer) -> None:
        self.scheme, self.positions, self.buffer = scheme, positions, buffer
        self._all: tuple[Buffer, WindowRows] | None = None
        self._own: dict[int, tuple[Buffer, WindowRows]] = {}

    def of(self, spec: int) -> tuple[Buffer, WindowRows]:
        """The rows of an extent, in a buffer and as questions are asked of them."""
        if spec not in self._own:
            mask = self.positions.assigners[spec].holds(self.buffer.table)
            if mask is not None:
                some = self.buffer.of_mask(mask)
                self._own[spec] = some, WindowRows(some)
        if spec in self._own:
            return self._own[spec]
        if self._all is None:
            self._all = self.buffer, WindowRows(self.buffer)
        return self._all

    def forget(self) -> None:
        """Let go of what was computed of them."""
        for _, rows in (*self._own.values(), *([self._all] if self._all else [])):
            rows.forget()


def none_of(scheme: Scheme) -> list[pa.Array]:
    """The answers of each query to no windows."""
    return scheme.none.once("answers", lambda: no_answers(scheme))


def no_answers(scheme: Scheme) -> list[pa.Array]:
    """The answers of each query to no windows, which have their type."""
    rows, columns = WindowRows(Buffer(scheme.schema)), []
    for k, planned in enumerate(scheme.planned):
        with column_named(planned.query.name):
            if planned.by_partials:
                columns.append(_typed(scheme.foldings[k].none, scheme, planned))
            elif is_swept(planned):
                columns.append(pa.array([], swept_type(scheme, planned)))
            elif planned.lifted is not None:
                buffer = Buffer(scheme.schema.append(pa.field(FIRST, pa.int64())))
                columns.append(SpanWindows(buffer).answer(scheme, planned, DueWindows(NONE, NONE, NONE, None)))
            else:
                columns.append(_typed(answer_of_rows(rows, planned, NONE, NONE), scheme, planned))
    return columns


def planted(positions: Positions, cells: Cells, specs: int, upto: int, limits: Limits | None) -> list[Ending] | None:
    """The windows that end, where a forest answers them faster than all cells in order; these are one then, or none.

    A batch that brings, or ends, about as much as there is, is folded at once.
    """
    if not cells.plants:
        return None
    forest = cells.forest is not None
    most = max((cells.settled - 2 * cells.waiting) // (2 if forest else 8), FEW - len(cells))
    size = cells.size if forest else ROOM * cells.size
    if most < 0 or (limits is not None and 2 * size > limits.bucket):
        return None
    ending = []
    for spec in range(specs):
        each = positions.ending(spec, upto, most)
        if each is None:
            return None
        ending.append(each)
    keys = cells.keys
    if sum(len(each.ends) * (keys if each.keys is None else 1) for each in ending) > most:
        return None
    cells.planted()
    return ending


def _held_by(forest: Any, ending: Ending) -> tuple[np.ndarray, np.ndarray]:
    """Keys and ends of those windows that hold a row of a forest, or of sorted runs."""
    keys, starts, ends = ending
    if keys is None:
        there = forest.keys
        keys, starts, ends = np.repeat(there, len(ends)), np.tile(starts, len(there)), np.tile(ends, len(there))
    lo, hi, count = forest.ranges(keys, starts, ends)
    if count == len(keys):
        return keys, ends
    some = lo < hi
    return keys[some], ends[some]


def _due_windows(
    positions: Positions,
    spec: int,
    key: np.ndarray,
    end: np.ndarray,
    due: np.ndarray | None,
    store: Any,
    since: int | None,
) -> DueWindows:
    """The windows of one extent that are due, as far as they begin where queries were there."""
    keys, ends = (key, end) if due is None else (key[due], end[due])
    starts = positions.starts(spec, keys, ends, store)
    if since is None or (whole := starts >= since).all():
        return DueWindows(keys, starts, ends, due)
    places = np.flatnonzero(whole if due is None else due)
    mask = np.zeros(len(key), np.bool_)
    mask[places if due is None else places[whole]] = True
    return DueWindows(keys[whole], starts[whole], ends[whole], mask)


def _typed(none: pa.Array, scheme: Scheme, planned: PlannedQuery) -> pa.Array:
    """No answers, of the type that plain Python gives for a row of ones, where no rows have none."""
    if not pa.types.is_null(none.type) or getattr(planned.query.call.aggregate, "compiled", True):
        return none
    row = [_one(field.type) for field in scheme.schema]
    buffer = Buffer(scheme.schema)
    buffer.append(pa.Table.from_arrays(row, schema=scheme.schema), np.zeros(1, np.int64), np.zeros(1, np.int64))
    try:
        answer = answer_of_rows(WindowRows(buffer.compact()), planned, np.zeros(1, np.int64), np.ones(1, np.int64))
    except Exception as error:
        raise SashError(
            f"{planned.query.call} must give an answer to a row of ones, which says its type, got {error!r}"
        ) from None
    return answer.slice(0, 0)


def _one(dtype: pa.DataType) -> pa.Array:
    try:
        return pa.array([1]).cast(dtype)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return pa.nulls(1, dtype)


def union_of_windows(lists: Sequence[tuple[np.ndarray, np.ndarray]]) -> tuple[np.ndarray, np.ndarray, list[np.ndarray]]:
    """All keys and ends once, sorted, and where those of each list are among them; each list is sorted."""
    if len(lists) == 1:
        return *lists[0], [np.arange(len(lists[0][0]))]
    key, end = (np.concatenate(parts) for parts in zip(*lists, strict=True))
    if not len(key):
        return key, end, [NONE for _ in lists]
    order = argsort([key.view(np.uint64), biased(end)])
    key, end = key[order], end[order]
    heads = np.append(True, (key[1:] != key[:-1]) | (end[1:] != end[:-1]))
    places = np.empty(len(order), np.int64)
    places[order] = np.cumsum(heads) - 1
    edges = np.cumsum([len(keys) for keys, _ in lists])[:-1]
    return key[heads], end[heads], np.split(places, edges)


def _spread(answers: pa.Array, due: np.ndarray | None) -> pa.Array:
    """Answers in their rows, NULL in the others."""
    if due is None:
        return answers
    places = np.cumsum(due) - 1
    return answers.take(pa.array(places, mask=~due))


def _shown(values: Any, dtype: pa.DataType) -> pa.Array:
    if pa.types.is_decimal(dtype):
        pairs = np.stack([values, values >> 63], 1)  # 128 bits of a whole number
        return pa.Array.from_buffers(pa.decimal128(38, dtype.scale), len(values), [None, pa.py_buffer(pairs)]).cast(
            dtype
        )
    array = values if isinstance(values, pa.Array) else pa.array(values)
    if pa.types.is_timestamp(dtype):
        return array.view(dtype) if array.type == pa.int64() else array.cast(pa.int64()).view(dtype)
    return array.cast(dtype)
