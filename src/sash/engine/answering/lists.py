"""Aggregates that are lists of the frame's rows: collect_list, concat, first_n and their kin."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from sash.algebra.catalogue.positions import joined as join
from sash.engine.answering.asking import Evaluation, Question, occurring
from sash.engine.answering.searching import positions_of, select
from sash.engine.placing import Answer, Taken, Whole, offsets_of, take
from sash.engine.sorted_rows import Ranking, Selection
from sash.errors import SashError
from sash.expressions.arrow.casting import convert
from sash.expressions.arrow.operands import Trouble, plain
from sash.kernels.algorithm import DISTINCT, SELECT
from sash.kernels.coordinates import Indices, Positions
from sash.kernels.operations.listing import first_occurrences, lowered
from sash.planner import Choice
from sash.windows.bounds import ARBITRARY, MONOTONIC, Bounds


def listed(question: Question) -> Evaluation:
    """The rows of each frame, or those of them that the function takes, in its own order or the window's."""
    function, rows = question.function, question.rows
    column = question.columns[0]
    selection = question.selection(column) if function.returns == "rows" else question.selection()
    ranking = rows.ranking(question.orders, selection) if question.orders else None
    frame = question.over.window.frame
    bounds = selection.bounds(frame)
    unique = question.call.unique or function.unique
    if unique:
        question.refuse_another_order()

    def answer(choices: Sequence[Choice]) -> Answer:
        if function.returns == "row":
            which, valid = lowered(function, bounds.sizes())
            k = np.where(valid, which, -1).astype(bounds.lo.dtype)
            ranks, _ = select(choices[0], ranking, bounds, k)
            return Taken(positions_of(ranks, ranking, selection), rows.source(column))
        if unique:
            offsets, indices = _unique(question, choices[0], selection, bounds, ranking)
            starts, stops = _taken(function, np.diff(offsets))
            first = offsets[:-1] + starts
            offsets, which = _spread(first, stops - starts)
            return Whole(_lists(question, offsets, selection.positions_of(Indices(indices[which]))))
        starts, stops = _taken(function, bounds.sizes())
        offsets, k = _spread(starts, stops - starts)
        asking = bounds.some(np.repeat(np.arange(len(bounds)), stops - starts))
        ranks, _ = select(choices[0], ranking, asking, k.astype(bounds.lo.dtype))
        return Whole(_lists(question, offsets, positions_of(ranks, ranking, selection)))

    if unique and function.returns != "row":
        return Evaluation((question.task(DISTINCT, bounds),), answer, bounds)
    shape = MONOTONIC if bounds.moves_forward else ARBITRARY  # a frame asks for each of its rows in turn
    task = replace(question.task(SELECT, bounds, ordered=ranking is not None), shape=shape)
    return Evaluation((task,), answer, bounds)


def joined(question: Question) -> Evaluation:
    """The strings of each frame, in the function's order or the window's, each after the delimiter of its row."""
    rows, (column, delimiter) = question.rows, question.columns
    selection = question.selection(column)
    ranking = rows.ranking(question.orders, selection) if question.orders else None
    bounds = selection.bounds(question.over.window.frame)

    def answer(choices: Sequence[Choice]) -> Answer:
        sizes = bounds.sizes()
        offsets, k = _spread(np.zeros(len(sizes), np.int64), sizes)
        asking = bounds.some(np.repeat(np.arange(len(bounds)), sizes))
        ranks, _ = select(choices[0], ranking, asking, k.astype(bounds.lo.dtype))
        where = pa.array(positions_of(ranks, ranking, selection))
        strings, dtype = _strings(question.function.name, rows.column(column))
        before, _ = _strings(question.function.name, rows.column(delimiter))
        before = pc.if_else(pa.array(k == 0), "", pc.fill_null(before.take(where), ""))
        parts = pc.binary_join_element_wise(before, strings.take(where), "")
        lists = pa.ListArray.from_arrays(pa.array(offsets, pa.int32()), parts)
        return Whole(join(lists, "").view(dtype))

    shape = MONOTONIC if bounds.moves_forward else ARBITRARY
    task = replace(question.task(SELECT, bounds, ordered=ranking is not None), shape=shape)
    return Evaluation((task,), answer, bounds)


def _taken(function: Any, sizes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Which rows of its frame, counted from 0, the function takes."""
    ranges, valid = lowered(function, sizes)
    return np.where(valid, ranges["f0"], 0), np.where(valid, ranges["f1"], 0)


def _spread(starts: np.ndarray, lengths: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The numbers of ranges one after the other, and where the numbers of each range start."""
    offsets = offsets_of(lengths)
    return offsets, np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)


def _unique(
    question: Question, choice: Choice, selection: Selection, bounds: Bounds, ranking: Ranking | None
) -> tuple[np.ndarray, np.ndarray]:
    """The indices of the first occurrences in each frame, in order."""
    rows = question.rows
    values = occurring(question, question.columns, selection)
    previous, offsets = values.previous, offsets_of(choice.run(values, bounds))
    if not bounds.holes:
        indices = first_occurrences(previous, bounds.lo, bounds.hi, offsets)
    else:
        offsets, indices = _across_holes(rows.identity(question.columns), selection, previous, bounds)
    if ranking is not None:
        owner = np.repeat(np.arange(len(bounds)), np.diff(offsets))
        indices = indices[np.lexsort((ranking.ranked.rank[indices], owner))]
    return offsets, indices


def _across_holes(
    identity: np.ndarray, selection: Selection, previous: np.ndarray, bounds: Bounds
) -> tuple[np.ndarray, np.ndarray]:
    """The first occurrences in each piece, less those whose value an earlier piece has."""
    pieces = [(bounds.lo, bounds.a), (bounds.b, bounds.hi)]
    if len(bounds.own):
        pieces.insert(1, (np.maximum(bounds.own, 0), np.where(bounds.own < 0, 0, bounds.own + 1)))
    owners, indices = [], []
    for start, stop in pieces:
        counts = np.zeros(len(bounds), np.int64)
        first_occurrences(previous, start, stop, counts, counting=True)
        offsets = offsets_of(counts)
        firsts = first_occurrences(previous, start, stop, offsets)
        owners.append(np.repeat(np.arange(len(bounds)), np.diff(offsets)))
        indices.append(firsts)
    owner, index = np.concatenate(owners), np.concatenate(indices)
    value = selection.only(identity)[index]
    by_value = np.lexsort((index, value, owner))
    owner, index, value = owner[by_value], index[by_value], value[by_value]
    fresh = np.ones(len(owner), np.bool_)
    fresh[1:] = (owner[1:] != owner[:-1]) | (value[1:] != value[:-1])
    owner, index = owner[fresh], index[fresh]
    index = index[np.lexsort((index, owner))]
    return np.concatenate([[0], np.cumsum(np.bincount(owner, minlength=len(bounds)))]), index


def _lists(question: Question, offsets: np.ndarray, positions: Positions) -> pa.Array:
    function, column = question.function, question.rows.column(question.columns[0])
    where, starts = pa.array(positions), pa.array(offsets, pa.int32())
    if function.takes != "texts":
        lists = pa.ListArray.from_arrays(starts, take(column, where))
        return lists if function.finish is None or function.unique else function.finish(lists)
    strings, dtype = _strings(function.name, column)
    try:
        joined = function.finish(pa.ListArray.from_arrays(starts, strings.take(where)))
    except (pa.ArrowInvalid, pa.ArrowCapacityError):
        raise SashError(
            f"the strings of {function.name} are longer than one array can hold; use smaller frames"
        ) from None
    return joined.view(dtype)


def _strings(name: str, column: pa.Array) -> tuple[pa.Array, pa.DataType]:
    """Values as strings to be joined, as Spark writes them; and the type to read the joined ones as.

    Bytes are joined as if they were strings.
    """
    dtype = column.type
    if pa.types.is_dictionary(dtype):
        return _strings(name, column.cast(dtype.value_type))
    if pa.types.is_fixed_size_binary(dtype) or pa.types.is_large_binary(dtype):
        column, dtype = column.cast(pa.binary()), pa.binary()
    if pa.types.is_binary(dtype):
        return column.view(pa.string()), dtype
    try:
        return convert(plain(column), pa.string()), pa.string()
    except (Trouble, pa.ArrowException):
        raise SashError(f"{name} takes a column of strings, or what can be cast to one, got {dtype}") from None
