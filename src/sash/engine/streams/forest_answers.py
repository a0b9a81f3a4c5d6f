"""Answers of windows from a forest of cells: all queries at once, each partial folded in one call."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa

from sash.engine.streams.cells import Cells
from sash.engine.streams.forest import Forest
from sash.engine.streams.forward_windows import ForwardWindows
from sash.engine.streams.query_answers import Folding
from sash.engine.streams.scheme import Scheme
from sash.engine.streams.span_windows import DueWindows
from sash.errors import column_named
from sash.kernels.algorithm import FOLD, declared
from sash.kernels.answers import Answered
from sash.kernels.compiling import Kernel
from sash.planner.techniques import TECHNIQUES

TREE = "flatfat"  # the algorithm that a forest is
BY_TREE = (None, TREE, *TECHNIQUES)  # names that leave windows to it


def answers_of(scheme: Scheme, forest: Forest, asked: Mapping[int, DueWindows]) -> dict[int, pa.Array]:
    """The answers of queries to windows, each by its number; what several ask for is folded once."""
    if not asked:
        return {}
    lists = list({id(windows): windows for windows in asked.values()}.values())
    edges = np.cumsum([0, *(len(windows.key) for windows in lists)]).tolist()
    places = {id(windows): slice(edges[k], edges[k + 1]) for k, windows in enumerate(lists)}
    keys, starts, ends = (_joined(list(arrays)) for arrays in zip(*(each[:3] for each in lists), strict=True))
    lo, hi, _ = forest.ranges(keys, starts, ends)
    partials: dict[int, tuple[np.ndarray, np.ndarray]] = {}
    lowered: dict[int, Any] = {}
    named: dict[Any, Answered | None] = {}
    out = {}
    for k, windows in asked.items():
        folding, planned, place = scheme.foldings[k], scheme.planned[k], places[id(windows)]
        with column_named(planned.query.name):
            if planned.query.using not in BY_TREE:
                alike = id(folding), planned.query.using, id(windows)
                if alike not in named:
                    named[alike] = _by_name(folding, forest, k, planned.query.using, windows, lo[place], hi[place])
                if (answered := named[alike]) is not None:
                    out[k] = folding.read(planned, answered, slice(0, len(windows.key)))
                else:
                    some, *bounds = gathered(forest, keys[place], lo[place], hi[place])
                    out[k] = folding.answer(planned, some, *bounds)
                continue
            if id(folding) not in lowered:
                for source in folding.sources:
                    if source not in partials:
                        partials[source] = _folded(scheme, forest, source, keys, lo, hi)
                states = [partials[source][0] for source in folding.sources]
                lowered[id(folding)] = folding.lowered(states, partials[folding.sources[0]][1])
            out[k] = folding.read(planned, lowered[id(folding)], place)
    return out


def kept_by(using: str | None) -> Kernel | None:
    """What holds windows between pushes that are asked for by name, if it is an algorithm that can."""
    algorithm = declared(FOLD).get(using or "")
    return getattr(algorithm, "between", None)


def words_between(using: str | None, at_once: str) -> str:
    """What is kept of windows between pushes, and what folds those of a push that is long beside them."""
    kernel = kept_by(using)
    if using in BY_TREE:
        kept = f"{TREE}, a tree of partials over each key's slices"
    elif kernel is None:
        return f"nothing but slices; each push folds its windows anew by {at_once}"
    else:
        kept = f"{kernel.name}, of which new slices alone cost anything; a late one has its key's window made anew"
    return f"{kept}; a push about as long as what is open is folded at once by {at_once}"


def _by_name(
    folding: Folding, forest: Forest, k: int, using: str | None, windows: DueWindows, lo: np.ndarray, hi: np.ndarray
) -> Answered | None:
    """The answers of windows by the algorithm that holds those of a query, if one does and they do not go back."""
    kernel = kept_by(using)
    if kernel is None:
        return None
    if k not in forest.forward:
        forest.forward[k] = ForwardWindows(kernel, folding.inputs(lowered=not folding.beyond), folding.sources)
    answered = forest.forward[k].answers(forest, windows.key, windows.start, windows.end, lo, hi)
    if answered is None:
        return None
    beyond = [forest.cells_at(source, windows.key, np.maximum(hi - 1, 0)) for source in folding.beyond]
    return folding.ended(answered, beyond, hi > lo)


def _folded(
    scheme: Scheme, forest: Forest, source: int, keys: np.ndarray, lo: np.ndarray, hi: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """A partial of each window: of spans, of those that end in it and those that go on beyond its last slice."""
    states, filled = forest.fold(source, keys, lo, hi)
    beyond = scheme.beyond.get(source)
    if beyond is None:
        return states, filled
    last, some = forest.cells_at(beyond, keys, np.maximum(hi - 1, 0))
    some = some * (hi > lo)
    both = np.concatenate([states, last])
    which = np.arange(len(both)).reshape(2, -1).T.ravel()[np.stack([filled, some], 1).ravel() != 0]
    counts = filled.astype(np.int64) + some
    return forest.layouts[source].join(both, which, np.append(0, np.cumsum(counts))), (counts != 0).view(np.uint8)


def gathered(forest: Forest, keys: np.ndarray, lo: np.ndarray, hi: np.ndarray) -> tuple[Cells, np.ndarray, np.ndarray]:
    """The cells that some windows have, sorted by key and end, and where those of each begin and end among them."""
    heads = np.flatnonzero(np.append(True, keys[1:] != keys[:-1])[: len(keys)])
    counts = np.diff(np.append(heads, len(keys)))
    first, last = lo[heads], hi[heads + counts - 1]
    sizes = np.maximum(last - first, 0)
    cells = Cells(forest.layouts)
    cells.key, cells.at, cells.states, cells.filled = forest.cells(keys[heads], first, sizes)
    moved = np.repeat(np.cumsum(sizes) - sizes - first, counts)
    return cells, lo + moved, hi + moved


def _joined(arrays: list[np.ndarray]) -> np.ndarray:
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
