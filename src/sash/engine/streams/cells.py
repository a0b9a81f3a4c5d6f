"""Cells: what each key has of each slice, as packed partials sorted by key and slice."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from sash.engine.encoding import biased
from sash.engine.streams.forest import Forest
from sash.engine.streams.keys import Keys
from sash.engine.streams.partial_layouts import PartialLayout
from sash.engine.streams.restoring import flags_of, numbers_of, refuse_disorder
from sash.kernels.slices.assigning import Assigning, Span, grown, span
from sash.kernels.slices.cell_folding import find_heads
from sash.kernels.sorting import argsort
from sash.kernels.threads import shares, together
from sash.windows.slicers import Edges

PIECE = 1 << 18  # rows that one thread folds at least
MANY = 1 << 12  # cells that may wait to be merged, in any case
CHUNK = 1 << 16  # rows that are assigned and folded while they are in cache


class LiftedColumns(NamedTuple):
    """What one partial lifts of a batch: its columns, of those rows that it counts; None for all rows."""

    values: tuple[np.ndarray, ...]
    rows: np.ndarray | None

    def among(self, mask: np.ndarray) -> LiftedColumns:
        """The columns of those rows alone that are in a mask of all."""
        some = mask if self.rows is None else mask[self.rows]
        rows = np.flatnonzero(mask) if self.rows is None else self.rows[some]
        return LiftedColumns(tuple(column[some] for column in self.values), rows)


class KeyedPositions(NamedTuple):
    """Positions of rows, the number of each one's key (None for one key), how many keys there are, and the span."""

    at: np.ndarray
    codes: np.ndarray | None
    keys: int
    times: Span


class Cells:
    """Keys, slices and partials, all in one order; ``filled`` says which cells have a row that a partial counts."""

    def __init__(self, layouts: Sequence[PartialLayout]) -> None:
        self.layouts = tuple(layouts)
        self.key, self.at = np.zeros(0, np.int64), np.zeros(0, np.int64)
        self.states = [np.zeros(0, layout.partial.state) for layout in layouts]
        self.filled = [np.zeros(0, np.uint8) for _ in layouts]
        self.plants = True  # whether they may be a forest
        self.forest: Forest | None = None  # what holds them in the place of arrays, while pushes are small
        self._new: list[tuple[Any, ...]] = []
        self.waiting = 0  # cells that came, and are not among the others yet

    def __len__(self) -> int:
        return self.settled + self.waiting

    @property
    def keys(self) -> int:
        """About how many keys have a cell."""
        if self.forest is not None:
            return len(self.forest.keys)
        return int(np.count_nonzero(self.key[1:] != self.key[:-1])) + 1

    @property
    def settled(self) -> int:
        """How many cells there are, but for those that wait."""
        return len(self.key) if self.forest is None else len(self.forest)

    def fold(
        self,
        at: np.ndarray,
        codes: np.ndarray | None,
        keys: int,
        edges: Edges,
        columns: list[LiftedColumns],
        times: Span | None = None,
    ) -> None:
        """Fold rows at some positions into the cells; ``times`` is the span of these, where it is known."""
        if not len(at):
            return
        times = times or span(at)
        pieces = shares(len(at), least=PIECE, parts=max(len(at) // PIECE, 1))  # however many threads there are
        if codes is None and times.ordered and edges.how_many(times.least, times.most) <= max(len(at) // 8, 64):
            tasks = [partial(self._in_order, at, edges, columns, *piece) for piece in pieces]
        else:
            rows = KeyedPositions(at, codes, keys, times)
            tasks = [partial(self._folded, rows, edges, columns, *piece) for piece in pieces]
        self._wait(together(tasks))

    def _in_order(
        self, at: np.ndarray, edges: Edges, columns: list[LiftedColumns], first: int, last: int
    ) -> tuple[Any, ...]:
        """Slices, states and flags of the cells of one key, whose rows are in order: runs between edges."""
        starts = edges.between(int(at[first]), int(at[last - 1]))
        runs = np.full(len(starts) + 1, last)
        runs[:-1] = first + np.searchsorted(at[first:last], starts)
        runs[0] = first
        some = runs[:-1] < runs[1:]
        if not some.all():
            starts, runs = starts[some], np.append(runs[:-1][some], last)
        states, filled = [], []
        for layout, (values, rows) in zip(self.layouts, columns, strict=True):
            runs_of_states = layout.fold_runs(values, runs if rows is None else np.searchsorted(rows, runs))
            states.append(runs_of_states[0])
            filled.append(runs_of_states[1])
        return np.zeros(len(starts), np.int64), starts, states, filled

    def _folded(
        self, keyed: KeyedPositions, edges: Edges, columns: list[LiftedColumns], first: int, last: int
    ) -> tuple[Any, ...]:
        """Keys, slices, states and flags of the cells that some of the rows make."""
        at, codes = keyed.at, keyed.codes
        assigning = Assigning(edges, keyed.times.least, keyed.times.most, last - first, keyed.keys)
        states = [np.zeros(0, layout.partial.state) for layout in self.layouts]
        filled = [np.zeros(0, np.uint8) for _ in self.layouts]
        for start in range(first, last, CHUNK):
            stop = min(start + CHUNK, last)
            cells = assigning.cells(at[start:stop], None if codes is None else codes[start:stop])
            for k, (layout, (values, rows)) in enumerate(zip(self.layouts, columns, strict=True)):
                if assigning.count > len(filled[k]):
                    states[k], filled[k] = (grown(array, assigning.count) for array in (states[k], filled[k]))
                some, here = slice(start, stop), cells
                if rows is not None:
                    some = slice(*np.searchsorted(rows, (start, stop)))
                    here = cells[rows[some] - start]
                layout.fold(tuple(column[some] for column in values), here, states[k], filled[k])
        count = assigning.count
        return (
            assigning.key[:count],
            assigning.at[:count],
            [array[:count] for array in states],
            [array[:count] for array in filled],
        )

    def append(self, key: np.ndarray, at: np.ndarray, states: list[np.ndarray], filled: list[np.ndarray]) -> None:
        """Add cells; they are merged when they are asked for, or as many as there were."""
        self._wait([(key, at, states, filled)])

    def _wait(self, parts: list[tuple[Any, ...]]) -> None:
        self._new += parts
        self.waiting += sum(len(part[0]) for part in parts)
        if self.waiting > max(self.settled, MANY):
            self.compact()

    def planted(self) -> Forest:
        """All cells as a forest, which they are from then on until they are put in order."""
        if self.forest is None:
            self.compact()
            self.forest = Forest.of(self.layouts, self.key, self.at, self.states, self.filled)
            self._drop()
        elif self._new:
            came = Cells(self.layouts)
            came._new, self._new, self.waiting = self._new, [], 0
            came.compact()
            self.forest.insert(came.key, came.at, came.states, came.filled)
        return self.forest

    def packed(self) -> Cells:
        """All cells in order, each once; a forest stays one."""
        if self.forest is None:
            return self.compact()
        some = Cells(self.layouts)
        some.key, some.at, some.states, some.filled = self.forest.dump()
        some._new = list(self._new)
        return some.compact()

    def let_go(self, keys: np.ndarray | None, cuts: np.ndarray) -> None:
        """Let go of the cells of a forest before a position, of some keys or of all."""
        forest = self.planted()
        forest.let_go(forest.keys if keys is None else keys, cuts)
        if forest.wasteful:
            self.compact()

    def _drop(self) -> None:
        self.key, self.at = self.key[:0], self.at[:0]
        self.states, self.filled = [array[:0] for array in self.states], [array[:0] for array in self.filled]

    def compact(self) -> Cells:
        """Put all cells in order, each once; returns itself."""
        if self.forest is not None:
            self.key, self.at, self.states, self.filled = self.forest.dump()
            self.forest = None
        if self._new:
            parts = [(self.key, self.at, self.states, self.filled), *self._new]
            self._new, self.waiting = [], 0
            if not len(self.key) and len(parts) == 2:
                self.key, self.at, self.states, self.filled = parts[1]
            else:
                keys, ats, states, filled = zip(*parts, strict=True)
                self.key, self.at = np.concatenate(keys), np.concatenate(ats)
                self.states = [np.concatenate(arrays) for arrays in zip(*states, strict=True)]
                self.filled = [np.concatenate(arrays) for arrays in zip(*filled, strict=True)]
            self.merge()
        return self

    def merge(self) -> None:
        """Sort cells, and make one of those that are the same; the older rows stay in front."""
        key, at, order, heads = self.key, self.at, None, np.empty(len(self.key), np.bool_)
        distinct = find_heads(key, at, heads)
        if distinct == len(key):
            return
        if distinct < 0:
            order = argsort([key.view(np.uint64), biased(at)]).astype(np.int64)
            key, at = key[order], at[order]
            find_heads(key, at, heads)
        which = np.arange(len(key)) if order is None else order
        starts = np.append(np.flatnonzero(heads), len(key))
        for k, layout in enumerate(self.layouts):
            some = self.filled[k][which] != 0
            edges = np.append(0, np.cumsum(some))[starts]
            self.states[k] = layout.join(self.states[k], which[some], edges)
            self.filled[k] = (edges[1:] > edges[:-1]).view(np.uint8)
        self.key, self.at = key[heads], at[heads]

    def keep(self, mask: np.ndarray) -> None:
        """Let go of all other cells."""
        if mask.all():
            return
        self.key, self.at = self.key[mask], self.at[mask]
        self.states = [array[mask] for array in self.states]
        self.filled = [array[mask] for array in self.filled]

    @property
    def width(self) -> int:
        """About how many bytes a cell has."""
        return 17 * len(self.layouts) + 16 + sum(layout.partial.state.itemsize for layout in self.layouts)

    @property
    def size(self) -> int:
        """About how many bytes all cells have."""
        return len(self) * self.width if self.forest is None else self.forest.size + self.waiting * self.width

    def slice(self, lo: int, hi: int) -> Cells:
        """The cells from one place to another, once all are in order; nothing is copied."""
        some = Cells(self.layouts)
        some.key, some.at = self.key[lo:hi], self.at[lo:hi]
        some.states, some.filled = [states[lo:hi] for states in self.states], [filled[lo:hi] for filled in self.filled]
        return some

    def of_keys(self, first: int, last: int) -> Cells:
        """The cells of keys from one number to another."""
        return self.slice(*np.searchsorted(self.key, (first, last + 1)))

    def of_numbers(self, numbers: np.ndarray) -> Cells:
        """The cells of some keys, which are sorted, and are numbered anew."""
        some = self.slice(0, len(self.key))
        some.keep(np.isin(self.key, numbers))
        some.key = np.searchsorted(numbers, some.key)
        return some

    def coarsen(self, at: np.ndarray) -> None:
        """Let each cell begin where told, and merge those that are then the same."""
        self.at = at
        self.merge()

    def parts(self) -> dict[str, Any]:
        """All that must be kept to go on later."""
        some = self.packed()
        parts: dict[str, Any] = {"cell key": some.key, "cell at": some.at}
        for k, (states, filled) in enumerate(zip(some.states, some.filled, strict=True)):
            parts |= {f"cell states {k}": self.layouts[k].packed(states, filled), f"cell held {k}": filled}
        return parts

    def restore(self, parts: dict[str, Any], keys: int) -> None:
        """Go on with what was kept of so many keys."""
        key = numbers_of(parts, "cell key", None, 0, keys - 1)
        at = numbers_of(parts, "cell at", len(key))
        refuse_disorder(key, at, "cells", once=True)
        filled = [flags_of(parts, f"cell held {k}", len(key)) for k in range(len(self.layouts))]
        self.states = [layout.unpacked(parts, f"cell states {k}", filled[k]) for k, layout in enumerate(self.layouts)]
        self.key, self.at, self.filled = key, at, filled


KEY, AT, STATE = "key", "at", "state"
MOST = 1 << 30  # bytes of one array


def cells_table(cells: Cells, keys: Keys, names: Sequence[str]) -> pa.Table:
    """A row for each cell: the columns of its key, where its slice begins, and each partial as bytes, or NULL."""
    cells = cells.packed()
    columns = {f"{KEY} {k}": array for k, array in enumerate(keys.values(cells.key))}
    columns[AT] = pa.array(cells.at)
    for k, (states, filled) in enumerate(zip(cells.states, cells.filled, strict=True)):
        rows, layout = max(MOST // max(states.dtype.itemsize, 256), 1), cells.layouts[k]
        parts = [
            layout.binary(states[at : at + rows], filled[at : at + rows]) for at in range(0, max(len(filled), 1), rows)
        ]
        columns[f"{STATE} {names[k]}"] = pa.chunked_array(parts, pa.binary())
    return pa.table(columns)


def take_cells(cells: Cells, keys: Keys, names: Sequence[str], table: pa.Table) -> None:
    """Add the cells of a table, and merge those that are the same; a partial that it has not is of no row."""
    if not table.num_rows:
        return
    codes = keys.numbers([table[name].combine_chunks() for name in table.column_names if name.startswith(KEY)])
    codes = np.zeros(table.num_rows, np.int64) if codes is None else codes
    states, filled = [], []
    for k, layout in enumerate(cells.layouts):
        name = f"{STATE} {names[k]}"
        if name not in table.column_names:
            states.append(np.zeros(table.num_rows, layout.partial.state))
            filled.append(np.zeros(table.num_rows, np.uint8))
            continue
        column = table[name]
        states.append(np.concatenate([layout.of_binary(chunk) for chunk in column.chunks]))
        filled.append(column.is_valid().to_numpy().view(np.uint8))
    cells.append(codes, table[AT].to_numpy(), states, filled)
