"""Answers of holistic queries from sorted runs: quantiles by selection, distinct values by where they are first."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from sash.algebra import Aggregate
from sash.algebra.window_function import CountDistinct, QuantileFunction
from sash.engine.answering.quantiles import side_by_side
from sash.engine.streams.assigners.base import Ending, Positions
from sash.engine.streams.buffer import Buffer
from sash.engine.streams.keys import plain_type
from sash.engine.streams.limits import Limits
from sash.engine.streams.query_answers import PlannedQuery
from sash.engine.streams.run_columns import OccurringColumn, OrderedColumn, RunColumn
from sash.engine.streams.scheme import Scheme
from sash.engine.streams.sorted_runs import SortedRuns
from sash.engine.streams.span_windows import DueWindows
from sash.engine.streams.value_parts import is_text, is_whole
from sash.errors import column_named
from sash.expressions.evaluation import infer
from sash.expressions.parsing import as_predicate
from sash.kernels.operations.quantiles import between, lie_between, places
from sash.windows.over import Over

FEW = 2048  # rows and windows for which the time of a push is that of the calls it makes
WORTH = 16  # rows for each that comes and each window that ends, from which on runs are faster; half to keep them
WIDTH = 160  # bytes of a row and column of runs, about
TREE = "merge_sort_tree"  # the structure that sorted runs are the levels of
BY_RUNS = (None, TREE)  # names that leave windows to them
WORDS = "sorted runs of its rows, merged as they grow; a push about as long as what is open is sorted at once, by "


@dataclass(frozen=True, eq=False)
class RunQuery:
    """A query that sorted runs answer: of which column, and how."""

    planned: PlannedQuery
    column: Any  # what queries of one column have in common
    make: Callable[[Over], RunColumn]
    answer: Callable[[Any, SortedRuns, Any, np.ndarray, np.ndarray, np.ndarray], pa.Array]


def run_queries(scheme: Scheme) -> dict[int, RunQuery]:
    """The queries of a stream that sorted runs can answer, by their numbers."""
    if not scheme.by_time or scheme.spans or scheme.merging or scheme.settings.lateness is not None:
        return {}
    queries = {k: _query(scheme, scheme.planned[k]) for k in scheme.buffered}
    return {k: query for k, query in queries.items() if query is not None}


def _query(scheme: Scheme, planned: PlannedQuery) -> RunQuery | None:
    question, call = planned.question, planned.query.call
    function, condition = question.function, call.condition
    if planned.query.using not in BY_RUNS or not question.columns:
        return None
    counted = None if condition is None else as_predicate(condition).key
    dtypes = [infer(column, scheme.query_schema) for column in question.columns]
    if isinstance(function, QuantileFunction):
        if call.unique or function.weighted or len(dtypes) > 1 or not _has_order(dtypes[0]):
            return None
        down = bool(question.orders) and question.orders[0].descending
        as_numbers = _is_number(dtypes[0]) or (pa.types.is_duration(dtypes[0]) and not function.discrete)
        return RunQuery(
            planned,
            ("order", question.columns[0].key, counted, down, as_numbers),
            lambda of: OrderedColumn(of, dtypes[0], as_numbers, down),
            _quantiles,
        )
    if isinstance(function, CountDistinct) or (isinstance(function, Aggregate) and call.unique and function.counts):
        if not all(map(_has_equality, dtypes)):
            return None
        names = tuple(column.key for column in question.columns)
        return RunQuery(planned, ("occurrences", names, counted), OccurringColumn, _distinct_counts)
    return None


def _is_number(dtype: pa.DataType) -> bool:
    return pa.types.is_integer(dtype) or pa.types.is_floating(dtype) or pa.types.is_decimal(dtype)


def _has_order(dtype: pa.DataType) -> bool:
    """Whether a word of 64 bits orders its values as answers tell them apart."""
    return _is_number(dtype) or is_whole(dtype)


def _has_equality(dtype: pa.DataType) -> bool:
    """Whether whole numbers, or texts, tell its values apart."""
    dtype = plain_type(dtype)
    if pa.types.is_decimal(dtype):
        return int(dtype.precision) <= 38
    return is_text(dtype) or is_whole(dtype) or (pa.types.is_floating(dtype) and dtype.bit_width > 16)


class RunAnswers:
    """The queries of a stream that sorted runs can answer, and when they do."""

    def __init__(self, scheme: Scheme) -> None:
        self.queries, self.extents = run_queries(scheme), len(scheme.assigners)
        self.by_rows = len(self.queries) < len(scheme.buffered)  # whether others need rows in order

    def raised(
        self, positions: Positions, buffer: Buffer, upto: int, limits: Limits | None, known: list[Ending] | None
    ) -> tuple[SortedRuns, list[Ending]] | None:
        """The runs of a buffer and the windows that end, where they are answered faster from these than from rows.

        A batch that brings, or ends, about as much as there is, is sorted at once.
        """
        if not self.queries or not len(buffer):
            return None
        ending = self._ending(positions, buffer, upto, limits, known)
        if ending is None:
            return None
        if buffer.runs is None:
            columns: dict[Any, RunColumn] = {}
            for query in self.queries.values():
                if query.column not in columns:
                    columns[query.column] = query.make(query.planned.question.over)
            buffer.runs = SortedRuns(columns)
            for part in buffer.rows():
                buffer.runs.wait(*part)
        runs = buffer.runs.settled()
        if runs.spoilt or (limits is not None and 2 * buffer.size > limits.bucket):
            return None
        return runs, ending

    def _ending(
        self, positions: Positions, buffer: Buffer, upto: int, limits: Limits | None, known: list[Ending] | None
    ) -> list[Ending] | None:
        """The windows that end, unless they, or the rows that came, are too many."""
        runs, rows = buffer.runs, len(buffer)
        came, worth = (buffer.waiting, WORTH) if runs is None else (runs.waiting, WORTH // 2)
        most = max(rows // worth - came, FEW - rows)
        if most <= 0 or (runs is None and buffer.rest):
            return None
        if limits is not None:
            size = buffer.size + (WIDTH * rows * len(self.queries) if runs is None else 0)
            if 2 * size > limits.bucket:
                return None
        ending = [] if known is None else known
        for spec in range(self.extents if known is None else 0):
            each = positions.ending(spec, upto, most)
            if each is None:
                return None
            ending.append(each)
        every = sum(len(each.ends) for each in ending if each.keys is None)
        few = sum(len(each.ends) for each in ending if each.keys is not None)
        if every > most or few > most:
            return None
        keys = 0
        if every:
            keys = buffer.compact().key_count if runs is None else len(runs.keys)
        return ending if every * keys + few <= most else None

    def answers(self, runs: SortedRuns, asked: Mapping[int, DueWindows]) -> dict[int, pa.Array]:
        """The answers of queries to windows, each by its number."""
        ranges: dict[int, tuple[np.ndarray, np.ndarray]] = {}
        out = {}
        for k, query in self.queries.items():
            windows = asked[k]
            if id(windows) not in ranges:
                ranges[id(windows)] = runs.ranges(*windows[:3])[:2]
            with column_named(query.planned.query.name):
                out[k] = query.answer(query, runs, runs.columns[query.column], windows.key, *ranges[id(windows)])
        return out


def _distinct_counts(
    query: RunQuery, runs: SortedRuns, column: RunColumn, keys: np.ndarray, lo: np.ndarray, hi: np.ndarray
) -> pa.Array:
    return pa.array(runs.count_smaller(column, keys, lo, hi, lo))


def _quantiles(
    query: RunQuery, runs: SortedRuns, column: OrderedColumn, keys: np.ndarray, lo: np.ndarray, hi: np.ndarray
) -> pa.Array:
    function = query.planned.question.function
    sizes = column.counts(runs.rings, keys, lo, hi)
    share = (*function.parameters, 0.5)[0]

    def at(share: Any) -> pa.Array:
        part = np.array([share], np.float64)
        k = places(sizes, part, function.discrete or not column.as_numbers)
        if not column.as_numbers:
            words, _ = runs.select(column, keys, lo, hi, k, np.zeros(len(k), np.bool_))
            return column.array(words, k >= 0)
        pairs = np.zeros(len(k), np.bool_) if function.discrete else lie_between(sizes, part)
        values = column.values(np.concatenate(runs.select(column, keys, lo, hi, k, pairs)))
        which = np.arange(len(values))
        first, second = np.where(k < 0, -1, which[: len(k)]), np.where(pairs, which[len(k) :], -1)
        answers, valid = between(values, which, first, second[: len(k) * (not function.discrete)], sizes, part)
        mask = None if valid.all() else ~valid
        if pa.types.is_duration(column.dtype):
            return pa.array(answers.astype(np.int64), mask=mask).cast(column.dtype)
        return pa.array(answers, mask=mask)

    if not isinstance(share, tuple):
        return at(share)
    return side_by_side([at(each) for each in share], len(keys), column.dtype)
