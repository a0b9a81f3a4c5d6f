"""Answers of all queries of a board at once: a walk finds the windows, and each aggregate is folded in one call.

Queries of one aggregate are windows over the same slices, whatever their ranges. Where a structure that answers any
range costs less than folding the windows of each query by itself, it is built once for all of them; a forest is such
a structure. Answers are written into one array for each aggregate, of which each query's column is a part.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from sash.engine.streams.cells import Cells
from sash.engine.streams.forest import Forest
from sash.engine.streams.forest_answers import BY_TREE
from sash.engine.streams.query_answers import Folding
from sash.engine.streams.scheme import Scheme
from sash.errors import column_named
from sash.kernels.answers import Answered
from sash.kernels.slices.board_windows import BoardWindows, KeySegments
from sash.windows.bounds import ARBITRARY

CALL = 1e-4  # seconds that a fold of one query takes, however few windows it has


class Asked(NamedTuple):
    """The windows of some extents one after the other, and where those of each begin in a matrix of all rows."""

    place: np.ndarray
    row: np.ndarray
    lo: np.ndarray
    hi: np.ndarray


def segments_of(store: Any) -> KeySegments:
    """Where the cells or rows of each key lie in a store, which is sorted by key."""
    key = store.key
    first = np.flatnonzero(np.append(True, key[1:] != key[:-1])[: len(key)])
    stop = np.append(first[1:], len(key))
    return KeySegments(key[first], first, stop, np.zeros(len(first), np.int64), store.at)


def due_masks(windows: BoardWindows) -> list[np.ndarray | None]:
    """Of each extent, the rows in which a window is due; None for all."""
    rows, masks = len(windows.key), []
    for first, last in pairwise(windows.offsets.tolist()):
        mask = None
        if last - first < rows:
            mask = np.zeros(rows, np.bool_)
            mask[windows.row[first:last]] = True
        masks.append(mask)
    return masks


def board_answers(
    scheme: Scheme, cells: Cells, windows: BoardWindows, types: Sequence[pa.DataType]
) -> dict[int, pa.Array]:
    """The columns of those queries that are answered together, NULL where none of their windows is due."""
    rows, columns = len(windows.key), {}
    folds = ForestFolds(scheme, cells.forest, windows) if cells.forest is not None else None
    for queries in together(scheme, windows, cells).values():
        first = scheme.planned[queries[0]]
        folding = scheme.foldings[queries[0]]
        specs = list(dict.fromkeys(scheme.planned[k].spec for k in queries))
        with column_named(first.query.name):
            asked = windows_of(windows, specs)
            answered = folds.answered(folding, specs, asked) if folds else folding.at_once(cells, asked.lo, asked.hi)
            every = spread(answered, asked.place, rows * len(specs))
            array = folding.read(first, every, slice(0, len(every.valid)))
        for k in queries:
            column = array.slice(rows * specs.index(scheme.planned[k].spec), rows)
            columns[k] = column if column.type == types[k] else column.cast(types[k])
    return columns


def together(scheme: Scheme, windows: BoardWindows, cells: Cells) -> dict[int, list[int]]:
    """The queries that are folded together, by aggregate."""
    groups: dict[int, list[int]] = {}
    for k, folding in scheme.foldings.items():
        using = scheme.planned[k].query.using
        if folding.by_numbers and (using is None if cells.forest is None else using in BY_TREE):
            groups.setdefault(id(folding), []).append(k)
    if cells.forest is not None:
        return groups
    return {each: queries for each, queries in groups.items() if _pays(scheme, windows, cells, queries)}


def _pays(scheme: Scheme, windows: BoardWindows, cells: Cells, queries: list[int]) -> bool:
    """Whether one structure for all ranges costs less than each query's windows folded by themselves."""
    specs = {scheme.planned[k].spec for k in queries}
    if len(specs) == 1:
        return False
    folding, rows = scheme.foldings[queries[0]], len(cells)
    count = sum(int(windows.offsets[spec + 1] - windows.offsets[spec]) for spec in specs)
    alone = folding.choice(None, count // len(specs), rows, rows).seconds or 0.0
    every = folding.choice(None, count, rows, rows, ARBITRARY).seconds or 0.0
    return every + CALL < len(specs) * (alone + CALL)


def windows_of(windows: BoardWindows, specs: Sequence[int]) -> Asked:
    """The windows of some extents."""
    rows = len(windows.key)
    edges = windows.offsets.tolist()
    if len(specs) == len(edges) - 1 and list(specs) == sorted(specs):
        place = windows.row
        if len(specs) > 1:
            place = place + np.repeat(np.arange(len(specs)) * rows, np.diff(windows.offsets))
        return Asked(place, windows.row, windows.lo, windows.hi)
    parts = [slice(edges[spec], edges[spec + 1]) for spec in specs]
    row, lo, hi = (np.concatenate([array[part] for part in parts]) for array in windows[3:])
    moved = np.repeat(np.arange(len(specs)) * rows, [part.stop - part.start for part in parts])
    return Asked(row + moved, row, lo, hi)


def spread(answered: Answered, place: np.ndarray, size: int) -> Answered:
    """Answers in their places among so many, NULL in the others."""
    if len(place) == size:  # all of them, in order
        return answered
    values, valid = np.zeros(size, answered.values.dtype), np.zeros(size, np.bool_)
    values[place], valid[place] = answered
    return Answered(values, valid)


class ForestFolds:
    """Partials of windows from a forest, each folded once for all extents that ask for it."""

    def __init__(self, scheme: Scheme, forest: Forest, windows: BoardWindows) -> None:
        self.scheme, self.forest, self.windows = scheme, forest, windows
        self._partials: dict[tuple[int, ...], tuple[np.ndarray, np.ndarray]] = {}

    def answered(self, folding: Folding, specs: Sequence[int], asked: Asked) -> Answered:
        """The answers of an aggregate to the windows of some extents."""
        parts = [self._folded(source, specs, asked) for source in folding.sources]
        return folding.lowered([states for states, _ in parts], parts[0][1])

    def _folded(self, source: int, specs: Sequence[int], asked: Asked) -> tuple[np.ndarray, np.ndarray]:
        place = (source, *specs)
        if place not in self._partials:
            self._partials[place] = self.forest.fold(source, self.windows.key[asked.row], asked.lo, asked.hi)
        return self._partials[place]
