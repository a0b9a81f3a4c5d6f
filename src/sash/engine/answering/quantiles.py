"""Quantiles: percentile_disc, percentile_cont, percentile, median and mad of the values of a frame."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import pyarrow as pa

from sash.algebra.window_function import Deviation, QuantileFunction
from sash.engine.answering.asking import Evaluation, Question
from sash.engine.answering.lifted import numbers
from sash.engine.answering.searching import positions_of, select, select_by_index
from sash.engine.placing import Answer, Numbers, Taken, Whole, offsets_of
from sash.engine.sorted_rows import Ranking
from sash.errors import SashError
from sash.expressions.orders import asc
from sash.kernels.algorithm import DISTINCT_SELECT, SELECT, WEIGHTED
from sash.kernels.operations.distinct_count import slide_occurrences
from sash.kernels.operations.mad import mad
from sash.kernels.operations.quantiles import between, lie_between, places
from sash.kernels.operations.weighted_select import totals
from sash.planner import Choice
from sash.windows.bounds import Bounds

NO_ORDER = np.zeros(0, np.int32)  # where rows are known by index
FEW = 0.25  # the share of frames up to which those that need a second row are asked apart


def quantile(question: Question) -> Evaluation:
    """Any quantile, by the order of its column or by an order of its own."""
    function, rows, column = question.function, question.rows, question.columns[0]
    name, discrete = function.name, isinstance(function, QuantileFunction) and function.discrete
    orders = question.orders or (asc(column),)
    weight = question.columns[1] if _is_weighted(question) else None
    selection = question.selection(column) if weight is None else question.selection(column, weight)
    source = rows.source(column)
    numeric = pa.types.is_integer(source.type) or pa.types.is_floating(source.type) or pa.types.is_decimal(source.type)
    length = pa.types.is_duration(source.type) and not discrete
    if not discrete and not numeric and not length:
        if not (isinstance(function, QuantileFunction) and function.any_order):
            raise SashError(
                f"{name} takes a column of numbers, got {source.type}; percentile_disc takes any that has order"
            )
        discrete = True
    question.refuse_another_order()
    ranking = rows.ranking(orders, selection)
    bounds = selection.bounds(question.over.window.frame)

    def values() -> np.ndarray:
        """The column's numbers."""
        array = rows.column(column)
        array = array.cast(pa.int64()) if length else array
        return selection.only(numbers(array, name).astype(np.float64, copy=False))

    def weights_of_rows() -> tuple[np.ndarray, np.ndarray]:
        """What each row weighs, and each frame; frames nothing where weights are no whole numbers."""
        assert weight is not None
        weights = _weights(name, selection.only(numbers(rows.column(weight), "weight")), discrete)
        return weights, totals(weights, bounds) if weights.dtype.kind == "i" else weights[:0]

    def at(share: Any, choice: Choice) -> Answer:
        share = _shares(question, share)
        if weight is not None:
            weights, sizes = weights_of_rows()
            asked = places(sizes, share, discrete) if weights.dtype.kind == "i" else share
            first, second = choice.run(ranking.ranked, bounds, weights, asked)
            second = second[:0] if discrete else second
        elif question.call.unique:
            values_of = ranking.codes.values
            sizes = slide_occurrences(values_of.previous, values_of.following, bounds)  # as selecting needs them, too
            k = places(sizes, share, discrete)
            first, second = choice.run(ranking.ranked, values_of, bounds, k)
            second = second[:0] if discrete else second
        else:
            sizes = bounds.sizes()
            k = places(sizes, share, discrete)
            pairs = None if discrete else lie_between(sizes, share)
            if numeric and choice.algorithm.gives_indices:
                first, second = _selected(select_by_index, choice, ranking, bounds, k, pairs)
                return Numbers(*between(values(), NO_ORDER, first, second, sizes, share))
            first, second = _selected(select, choice, ranking, bounds, k, pairs)
        if numeric:  # as in Spark, a double
            return Numbers(*between(values(), ranking.ranked.order, first, second, sizes, share))
        if length:
            ticks, valid = between(values(), ranking.ranked.order, first, second, sizes, share)
            return Numbers(ticks.astype(np.int64), valid, source.type)
        return Taken(positions_of(first, ranking, selection), source)

    def answer(choices: Sequence[Choice]) -> Answer:
        if isinstance(function, Deviation):
            by_rank, sizes = values()[ranking.ranked.order], bounds.sizes()
            deviations = mad(by_rank, sizes, lambda k: select(choices[0], ranking, bounds, k)[0])
            return Numbers(
                deviations.astype(np.int64) if length else deviations, sizes > 0, source.type if length else None
            )
        share = (*question.columns[question.call.of_frame :], *function.parameters, 0.5)[0]
        if not isinstance(share, tuple):
            return at(share, choices[0])
        return Whole(side_by_side([by_position(at(each, choices[0])) for each in share], len(bounds), source.type))

    def by_position(answer: Any) -> pa.Array:
        if isinstance(answer, Taken):
            return rows.column(column).take(pa.array(answer.positions, mask=answer.positions < 0))
        array = pa.array(answer.values, mask=~answer.valid)
        return array if answer.type is None else array.cast(answer.type)

    operation = DISTINCT_SELECT if question.call.unique else SELECT if weight is None else WEIGHTED
    return Evaluation((question.task(operation, bounds),), answer, bounds)


def _is_weighted(question: Question) -> bool:
    return isinstance(question.function, QuantileFunction) and question.function.weighted


def _weights(name: str, weights: np.ndarray, discrete: bool) -> np.ndarray:
    """Weights as whole numbers where they are such, otherwise as doubles."""
    if len(weights) and not weights.min() >= 0:
        raise SashError(f"weight must be 0 or more in every row, got {weights.min()}")
    if weights.sum(dtype=np.float64) >= 2.0**62:
        raise SashError(f"weight must be less than 2^62 in all, got {weights.sum(dtype=np.float64):.3g}")
    if weights.dtype.kind != "f" or np.array_equal(weights, np.floor(weights)):
        return weights.astype(np.int64)
    if not discrete:
        wrong = weights[weights != np.floor(weights)][0]
        raise SashError(f"weight of {name} must be a whole number in every row, got {wrong}; percentile_disc takes any")
    return weights.astype(np.float64)


def _selected(
    find: Callable[..., tuple[np.ndarray, np.ndarray]],
    choice: Choice,
    ranking: Ranking,
    bounds: Bounds,
    k: np.ndarray,
    pairs: np.ndarray | None,
) -> tuple[np.ndarray, np.ndarray]:
    """The rows at these places, and the rows after them for the frames that need both."""
    if pairs is None:
        return find(choice, ranking, bounds, k)
    count = int(np.count_nonzero(pairs))
    if count > FEW * len(bounds):
        return find(choice, ranking, bounds, k, second=True)
    where = np.flatnonzero(pairs)
    first, _ = find(choice, ranking, bounds, k)
    second = np.full_like(first, -1)
    if len(where):
        some = bounds.some(where)
        second[where] = find(choice, ranking, some, k[where] + (k[where] >= 0).astype(k.dtype))[0]
    return first, second


def _shares(question: Question, share: Any) -> np.ndarray:
    """One share for all rows, or one for each; NaN where it is NULL."""
    if isinstance(share, (int, float)):
        return np.array([share], np.float64)
    array, askers = question.rows.of_asker(share), question.rows.askers
    shares = numbers(array, question.function.name)
    shares = np.where(array.is_valid().to_numpy(zero_copy_only=False), shares, np.nan) if array.null_count else shares
    if np.any((shares < 0) | (shares > 1)):
        raise SashError(
            f"percentage must be between 0 and 1 in every row, got {np.nanmin(shares)} to {np.nanmax(shares)}"
        )
    if len(shares) == 1:
        return shares.astype(np.float64)
    return np.ascontiguousarray(shares if askers is None else shares[askers], np.float64)


def side_by_side(answers: list[pa.Array], frames: int, dtype: pa.DataType) -> pa.Array:
    """Several quantiles of each frame as one list; NULL where the frame is empty."""
    if not answers:
        return pa.array([[]] * frames, pa.list_(dtype))
    offsets = pa.array(offsets_of(np.full(frames, len(answers))), pa.int32())
    woven = np.arange(frames * len(answers)).reshape(len(answers), frames).T.ravel()
    return pa.ListArray.from_arrays(offsets, pa.concat_arrays(answers).take(pa.array(woven)), mask=answers[0].is_null())
