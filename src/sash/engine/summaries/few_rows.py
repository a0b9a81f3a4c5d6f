"""The few rows of each part that alone can matter to an expression."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from sash.algebra.catalogue.extremes import MAX_BY, MIN_BY
from sash.engine.answering.asking import Question
from sash.engine.answering.folds import counted
from sash.engine.answering.searching import positions_of
from sash.engine.frame_bounds import edges_among
from sash.engine.sorted_rows import Selection
from sash.engine.summaries.contents import Few, few_of
from sash.expressions.columns import Order
from sash.expressions.orders import asc, desc
from sash.kernels.coordinates import Indices
from sash.kernels.structures.segment_tree import ALGORITHM as SEGMENT_TREE
from sash.windows.bounds import Bounds


def few_rows(question: Question, starts: np.ndarray, stops: np.ndarray) -> np.ndarray:
    """The positions of rows in some parts of the table of which each row elsewhere needs to know no others."""
    few = few_of(question.call)
    assert few is not None
    if few.end in ("smallest", "largest"):
        if few.count == 1:
            return _extremes(question, few, starts, stops)
        column = question.columns[-1]
        order = asc(column) if few.end == "smallest" else desc(column)
        return _from_end(question, question.selection(column), (order,), Few("first", few.count), starts, stops)
    if question.function.nth is None:
        selection, _ = counted(question)
    elif question.call.nulls == "ignore":
        selection = question.selection(question.columns[0])
    else:
        selection = question.selection()
    return _from_end(question, selection, question.orders, few, starts, stops)


def edges(selection: Selection, starts: np.ndarray, stops: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The indices at which parts start and stop."""
    if selection.before is None:
        return starts, stops
    return edges_among(starts, selection.before), edges_among(stops, selection.before)


def _extremes(question: Question, few: Few, starts: np.ndarray, stops: np.ndarray) -> np.ndarray:
    """The row of the smallest or the largest value, the first of equal ones: found as min_by and max_by are."""
    by = MIN_BY if few.end == "smallest" else MAX_BY
    column = question.columns[-1]
    call = replace(question.call, aggregate=by, columns=(column, column), unique=False)
    selection, lifted = counted(replace(question, over=replace(question.over, call=call)))
    bounds = Bounds(*edges(selection, starts, stops), selection.length)
    extremes = SEGMENT_TREE.run(lifted.aggregate, lifted.columns, selection.length, bounds)
    return selection.positions_of(Indices(np.asarray(extremes.values[extremes.valid], question.rows.dtype)))


def _from_end(
    question: Question, selection: Selection, orders: tuple[Order, ...], few: Few, starts: np.ndarray, stops: np.ndarray
) -> np.ndarray:
    """The first or last rows in an order, or in the window's own."""
    lo, hi = edges(selection, starts, stops)
    if few.end == "first":
        hi = np.minimum(hi, lo + few.count)
    else:
        lo = np.maximum(lo, hi - few.count)
    ranks = np.concatenate([np.zeros(0, np.int64), *(np.arange(*pair) for pair in zip(lo, hi, strict=True))])
    ranks = ranks.astype(question.rows.dtype)
    return positions_of(ranks, question.rows.ranking(orders, selection) if orders else None, selection)
